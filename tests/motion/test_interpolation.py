# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on a grid between its points: linear or cubic along the line, in every form."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_motion
from tests.reference.reference_motion import order_of
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    SHAPES,
    advection_core,
    box,
    check_every_form,
    components,
    error_of_moves,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    spread,
    wave,
)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("make", [wave, noise])
def test_moves_by_the_cubic_are_those_of_the_reference(device, dtype, shape, make):
    grid = box(*shape)
    velocity = field([make(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    a = components(velocity)
    advection = pt.AdvectionOp(velocity, interpolation="cubic")
    for axis in range(grid.ndim):
        sample = reference_motion.on_grid(a[axis], axis, "cubic")
        for cells in (0.0, 0.4, -3.7, 30.0):
            dt = cells * grid.spacing[axis]
            found = advection.apply(dt, axis).displacement.get()
            exact = reference_motion.displacement(sample, "rk2", 0, dt, grid.spacing[axis])
            # The cubic is up to twice as steep as the straight line.
            limit = error_of_moves(dtype, abs(cells), 2 * abs(cells) * spread(a[axis], axis))
            assert np.abs(found - exact).max() <= limit


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("interpolation", "order"), [("linear", 2), ("cubic", 4)])
@pytest.mark.parametrize("axis", [0, 1])
def test_order_in_the_spacing(device, interpolation, order, axis):
    """Errors of displacements by regression over four grids, against the formula by the same rule."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides the order")
    sizes, errors = np.array([32, 64, 128, 256]), []
    for n in sizes:
        grid = pt.Grid((n, 5) if axis == 0 else (5, n))
        x = grid.coordinates()[axis]
        values = np.broadcast_to(1 + 0.5 * np.sin(2 * np.pi * x), grid.shape)
        velocity = field([values, values], grid, "float64", device)
        by_formula = pt.AdvectionOp(formula_of(grid, axis), "rk4", dtype="float64", device=device)
        on_grid = pt.AdvectionOp(velocity, "rk4", interpolation=interpolation)
        found = on_grid.apply(0.05, axis).displacement.get() * grid.spacing[axis]
        exact = by_formula.apply(0.05, axis).displacement.get() * grid.spacing[axis]
        errors.append(np.abs(found - exact).max())
    found = -order_of(errors, sizes)
    assert found == pytest.approx(order, abs=0.25)


def formula_of(grid, axis):
    """The velocity of the test of orders, as a formula."""
    return pt.Velocity(grid, [f"1 + 0.5 * sin(2 * M_PI * {'xy'[axis]})"] * 2)


@in_single
def test_forms_give_the_same_bits(device, dtype):
    grid = box(18, 33)
    velocity = field([noise(grid, axis) for axis in range(2)], grid, dtype, device)

    def make(form):
        return advection_core(velocity, form=form, interpolation="cubic")

    check_every_form(make, grid, device, dtype.name)


def test_a_gpu_gives_the_same_bits(device):
    grid = box(30, 100)
    results = []
    for place in (device, as_gpu(device, 8 * 1024)):
        velocity = field([noise(grid, axis) for axis in range(2)], grid, "float32", place)
        u = field(noise(grid, 9), grid, "float32", place)
        advection = advection_core(velocity, interpolation="cubic")
        for axis in range(2):
            one_kernel(advection, u, remesh_core([u]), axis, 26.3 * grid.spacing[axis])
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


def test_speed_is_a_bound_between_the_nodes_too(device, dtype):
    """The cubic is a quarter above its nodes at most, which it reaches half-way in 1, -1 steps."""
    grid = box(8)
    velocity = field(np.array([-1, 1, 1, -1, 0, 0, 0, 0.0]), grid, dtype, device)
    core = advection_core(velocity, interpolation="cubic")
    assert core.measure([0], [0.0])[0][0] == 1.25
    sample = reference_motion.on_grid(components(velocity)[0], 0, "cubic")
    assert np.abs(sample(np.float64(0.5), 0.0)).max() == 1.25
    assert advection_core(velocity).measure([0], [0.0])[0][0] == 1


def test_a_constant_stays_one(device, dtype):
    grid = box(37)
    velocity = field(np.full(37, 1 / 3), grid, dtype, device)
    for scheme in ("euler", "rk2"):
        results = [
            pt.AdvectionOp(velocity, scheme, interpolation=name).apply(0.1, 0).displacement.get()
            for name in ("linear", "cubic")
        ]
        np.testing.assert_array_equal(results[0], np.full(37, results[0][0]))
        np.testing.assert_array_equal(results[0], results[1])


def test_refused_interpolations(device):
    formula = pt.Velocity(box(4), lambda x: x)
    with pytest.raises(ValueError, match=r"^interpolation must not be given with a formula"):
        pt.AdvectionOp(formula, interpolation="linear")
    with pytest.raises(ValueError, match=r"^interpolation must be one of linear, cubic, not 'quin"):
        pt.AdvectionOp(pt.Field(box(4), device=device), interpolation="quintic")


def test_a_velocity_stored_as_halves_is_refused(device):
    halves = pt.Field(box(4), dtype="float16", device=device)
    words = r"^velocity must be of float32 or float64, not of float16"
    for velocity in (halves, pt.VelocitySeries([halves, halves.copy()], [0, 1])):
        with pytest.raises(TypeError, match=words):
            pt.AdvectionOp(velocity)
