# SPDX-License-Identifier: BSD-3-Clause
"""Every Runge-Kutta scheme at its order, by formulas and on grids, and in every form."""

from fractions import Fraction

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.reference import reference_motion
from tests.reference.reference_motion import ORDERS, order_of, path
from tests.support.sweeps import (
    FLOWS,
    advection_core,
    box,
    check_every_form,
    components,
    error_of_moves,
    field,
    formula_gradient,
    noise,
    one_kernel,
    remesh_core,
    spread,
    wave,
)

SCHEMES = list(ORDERS)
TABLE = {scheme.name: scheme for scheme in _core.schemes()}
schemes_and_dtypes = pytest.mark.parametrize(
    ("scheme", "dtype"),  # which know nothing of each other
    [*[(scheme, "float32") for scheme in SCHEMES], ("rk4", "float64")],
    indirect=["dtype"],
)


def tableau(scheme):
    """Butcher's a, b and c, exactly."""
    row = TABLE[scheme]
    b = [Fraction(*share) for share in row.weights]
    a = [[Fraction(*share) for share in shares] for shares in ([], *row.places)]
    a = np.array([shares + [Fraction(0)] * (len(b) - len(shares)) for shares in a])
    return a, np.array(b), a.sum(axis=1)


def order_of_tableau(scheme):
    """The greatest order of which all conditions hold, up to 4 (Hairer, Norsett, Wanner, II.2)."""
    a, b, c = tableau(scheme)
    conditions = {
        1: [(b.sum(), 1)],
        2: [(b @ c, 2)],
        3: [(b @ c**2, 3), (b @ a @ c, 6)],
        4: [(b @ c**3, 4), (b @ (c * (a @ c)), 8), (b @ a @ c**2, 12), (b @ a @ a @ c, 24)],
    }
    order = 0
    while order < 4 and all(left * right == 1 for left, right in conditions[order + 1]):
        order += 1
    return order


def test_schemes_of_the_table_have_their_orders():
    assert {scheme: order_of_tableau(scheme) for scheme in TABLE} == ORDERS


@pytest.mark.parametrize("scheme", SCHEMES)
def test_times_and_reach_are_those_of_the_tableau(scheme):
    a, b, c = tableau(scheme)
    assert TABLE[scheme].times == [float(time) for time in c]
    assert max(1, abs(a).sum(axis=1).max()) <= TABLE[scheme].reach
    assert b.sum() == 1
    assert (b >= 0).all()


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("kind", ["pushed", "unsplit"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_kernels_compute_what_the_table_says(device, scheme, kind):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides how stages differ")

    def velocity(x, t):
        return (2 + np.sin(2 * np.pi * x + t)) * np.cos(3 * t)

    grid, time, dt = pt.Grid(24), 0.3, 0.05
    formula = pt.Velocity(grid, lambda x, t: velocity(x, t))
    advection = pt.AdvectionOp(formula, scheme, dtype="float64", device=device)
    (x,) = grid.coordinates()
    a, b, c = (part.astype(float) for part in tableau(scheme))
    slopes = []
    for shares, instant in zip(a, c, strict=True):
        reached = x + dt * sum(s * k for s, k in zip(shares, slopes, strict=False))
        slopes.append(velocity(reached, time + instant * dt))
    moved = dt * (b @ np.array(slopes))
    if kind == "pushed":
        np.testing.assert_allclose(np.asarray(advection.apply(dt, 0, time=time)), x + moved, 1e-13)
        return
    carried = np.cos(2 * np.pi * x)
    u = pt.Field(grid, dtype="float64", device=device)
    u[...] = carried
    pt.Unsplit(advection, pt.RemeshOp(u, "L1"), time=time).step(dt)
    cells = np.floor(place := (x + moved) / grid.spacing[0])
    expected = np.zeros(24)
    for node, weight in ((0, cells + 1 - place), (1, place - cells)):
        np.add.at(expected, (cells.astype(int) + node) % 24, weight * carried)
    np.testing.assert_allclose(u.get(), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", SCHEMES)
def test_order_in_time_by_a_formula(device, scheme):
    """A push is wrong by one order more than what follows from many of them."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides the order")

    def velocity(x, t):
        return np.sin(2 * np.pi * x + t) * np.cos(3 * t)

    grid = pt.Grid(64)
    formula = pt.Velocity(grid, lambda x, t: velocity(x, t))
    advection = pt.AdvectionOp(formula, scheme, dtype="float64", device=device)
    (x,) = grid.coordinates()
    steps = np.array([0.02, 0.01, 0.005, 0.0025])
    errors = []
    for dt in steps:
        exact = path(velocity, x, 0.3, dt)
        errors.append(np.abs(np.asarray(advection.apply(dt, 0, time=0.3)) - exact).max())
    assert order_of(errors, steps) == pytest.approx(ORDERS[scheme] + 1, abs=0.15)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", SCHEMES)
def test_order_in_time_on_a_grid(device, scheme):
    """The cubic on 4096 points is so exact that what is left is the scheme's own error."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides the order")
    grid = pt.Grid(4096)
    (x,) = grid.coordinates()
    velocity = field(1 + 0.5 * np.sin(2 * np.pi * x), grid, "float64", device)
    advection = pt.AdvectionOp(velocity, scheme, interpolation="cubic")
    steps = np.array([0.02, 0.014, 0.01, 0.007])
    errors = []
    for dt in steps:
        exact = path(lambda x, _: 1 + 0.5 * np.sin(2 * np.pi * x), x, 0.0, dt)
        errors.append(np.abs(np.asarray(advection.apply(dt, 0)) - exact).max())
    assert order_of(errors, steps) == pytest.approx(ORDERS[scheme] + 1, abs=0.15)


@pytest.mark.parametrize("shape", [(1,), (101,), (2, 3), (17, 33, 7)], ids=str)
@schemes_and_dtypes
def test_moves_by_a_field_are_those_of_the_reference(device, dtype, scheme, shape):
    grid = box(*shape)
    velocity = field([noise(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    a = components(velocity)
    advection = pt.AdvectionOp(velocity, scheme)
    for axis in range(grid.ndim):
        sample = reference_motion.on_grid(a[axis], axis)
        for cells in (0.4, 3.7, -30.0):
            dt = cells * grid.spacing[axis]
            found = advection.apply(dt, axis).displacement.get()
            exact = reference_motion.displacement(sample, scheme, 0, dt, grid.spacing[axis])
            # Where a stage lands decides the next one: errors grow with each of them.
            stages = 3 * abs(cells) * spread(a[axis], axis)
            limit = error_of_moves(dtype, abs(cells), sum(stages**k for k in (1, 2, 3)))
            assert np.abs(found - exact).max() <= limit


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(101,), (9, 16), (7, 17, 10)], ids=str)
@schemes_and_dtypes
def test_moves_by_a_formula_are_those_of_the_reference(device, dtype, scheme, shape):
    grid = box(*shape)
    flow = FLOWS[grid.ndim]
    advection = pt.AdvectionOp(pt.Velocity(grid, flow), scheme, dtype=dtype, device=device)
    for axis in range(grid.ndim):
        sample = reference_motion.by_formula(flow, axis, grid)
        for cells in (0.4, -3.7):
            dt = cells * grid.spacing[axis]
            found = advection.apply(dt, axis, time=0.3).displacement.get()
            exact = reference_motion.displacement(sample, scheme, 0.3, dt, grid.spacing[axis])
            strain = 3 * 2 * np.pi * abs(cells) / grid.shape[axis]
            gradient = formula_gradient(grid, 0.3 + abs(dt))
            growth = strain + strain**2 + strain**3
            assert np.abs(found - exact).max() <= error_of_moves(
                dtype, abs(cells), growth, gradient
            )


@pytest.mark.sampled
@pytest.mark.parametrize("scheme", SCHEMES)
def test_uniform_velocity_moves_whole_cells_exactly(device, dtype, scheme):
    grid = box(40, 9)
    velocity = field([np.full(grid.shape, 2.0), np.full(grid.shape, -1.0)], grid, dtype, device)
    for interpolation in ("linear", "cubic"):
        advection = pt.AdvectionOp(velocity, scheme, interpolation=interpolation)
        for axis, cells in ((0, 2.0), (1, -1.0)):
            moved = advection.apply(grid.spacing[axis], axis).displacement.get()
            np.testing.assert_allclose(moved, cells, rtol=np.finfo(dtype).eps)


@pytest.mark.sampled
def test_forms_give_the_same_bits(device):
    grid = box(18, 33)
    velocity = field([noise(grid, axis) for axis in range(2)], grid, "float32", device)

    def make(form):
        return advection_core(velocity, form=form, scheme="rk4")

    check_every_form(make, grid, device)


@pytest.mark.parametrize("boundary", ["periodic", "outflow"])
def test_each_stage_looks_where_the_one_before_has_led(device, boundary):
    """Rows of a block that are in the same cells in one stage are in others in the next."""
    grid = pt.Grid((64, 48), boundary=boundary)
    flow = [1.1 + 0.7 * wave(grid, axis) for axis in range(2)]
    velocity = field(flow, grid, "float32", device)
    moves = pt.Field(grid, 1, "float32", device)
    for axis in range(2):
        for cells in np.linspace(0.4, 6.0, 15):
            found = []
            for form in (None, "private"):
                advection = advection_core(velocity, form=form, scheme="rk4")
                advection.displace(axis, 0.0, cells * grid.spacing[axis], moves.core)
                found.append(moves.get())
            np.testing.assert_array_equal(*found)


@pytest.mark.sampled
def test_forms_give_the_same_bits_with_a_formula(device):
    grid = box(18, 33)
    velocity = pt.Velocity(grid, lambda x, y, t: (x * np.sin(9 * x) + t, np.cos(y * x - t)))

    def make(form):
        return advection_core(velocity, np.dtype("float32"), device, form, scheme="rk3")

    check_every_form(make, grid, device)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("scheme", "interpolation"), [("heun", "cubic"), ("rk3", "linear"), ("rk4", "cubic")]
)
def test_long_lines_look_as_far_as_particles_come(device, scheme, interpolation):
    """Segments give the bits of the displacements that another kernel has computed."""
    grid = box(9000)
    velocity = field(wave(grid, 1) + 0.2 * noise(grid, 2), grid, "float32", device)
    advection = advection_core(velocity, scheme=scheme, interpolation=interpolation)
    u = field(noise(grid, 9), grid, "float32", device)
    whole = u.copy()
    moves = pt.Field(grid, 1, "float32", device)
    dt = 30 * grid.spacing[0]
    advection.displace(0, 0.3, dt, moves.core)
    remesh_core([whole]).apply(0, moves.core, moves.core.max_abs())
    np.testing.assert_array_equal(one_kernel(advection, u, remesh_core([u]), 0, dt), whole.get())


def test_only_rk3_is_refused_beyond_the_cells_that_its_stages_can_count(device):
    grid = pt.Grid(4, extent=4.0)
    velocity = field(np.full(4, 2.0**28), grid, "float32", device)
    for scheme in SCHEMES:
        advection = pt.AdvectionOp(velocity, scheme)
        if scheme == "rk3":
            with pytest.raises(ValueError, match=r"^dt must .* less than 2\*\*28 cells"):
                advection.apply(1.0, 0)
        else:
            assert (advection.apply(1.0, 0).displacement.get() == 2.0**28).all()
