# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on a grid coarser than that of the particles."""

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.reference import reference, reference_motion
from tests.reference.reference_motion import order_of
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    EXTENT,
    ORIGIN,
    advection_core,
    check_every_form,
    components,
    error_of_moves,
    error_of_sweep,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    spread,
    wave,
)


def boxes(coarse, ratios):
    """A coarse grid and a fine one of the same box."""
    ndim = len(coarse)
    fine = tuple(n * ratio for n, ratio in zip(coarse, ratios, strict=True))
    place = {"origin": ORIGIN[:ndim], "extent": EXTENT[:ndim]}
    return pt.Grid(coarse, **place), pt.Grid(fine, **place)


CASES = [
    ((1,), (5,)),
    ((2,), (8,)),
    ((3,), (2,)),
    ((25,), (4,)),
    ((1, 2), (3, 4)),
    ((9, 8), (2, 3)),
    ((8, 9), (1, 2)),
    ((8, 9), (8, 1)),
    ((5, 9, 8), (2, 2, 2)),
    ((3, 2, 7), (4, 1, 3)),
    ((6, 5, 17), (1, 3, 1)),
]


@pytest.mark.parametrize(("coarse", "ratios"), CASES, ids=str)
@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
def test_moves_are_those_of_the_reference(device, dtype, coarse, ratios, interpolation):
    grid, fine = boxes(coarse, ratios)
    velocity = field([noise(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    a = components(velocity)
    advection = pt.AdvectionOp(velocity, interpolation=interpolation, grid=fine)
    for axis in range(grid.ndim):
        sample = reference_motion.on_grid(a[axis], axis, interpolation, ratios)
        for cells in (0.0, 0.4, -3.7, 30.0):
            dt = cells * fine.spacing[axis]
            found = advection.apply(dt, axis).displacement.get()
            exact = reference_motion.displacement(sample, "rk2", 0, dt, fine.spacing[axis])
            # A weight each along, across and further across; the cubic is up to 5/4 of its nodes.
            slope = 2 * abs(cells) * spread(a[axis], axis) / ratios[axis]
            limit = 4 * error_of_moves(dtype, abs(cells) + slope, slope)
            assert np.abs(found - exact).max() <= limit


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
def test_strain_is_that_of_the_interpolated_velocity(device, dtype, interpolation):
    ratios = (2, 3)
    grid, fine = boxes((9, 7), ratios)
    velocity = field([noise(grid, axis) for axis in range(2)], grid, dtype, device)
    a = components(velocity)
    samples = [reference_motion.on_grid(a[k], k, interpolation, ratios) for k in (0, 1)]
    on_fine = [sample(np.float64(0), 0) for sample in samples]
    expected = [reference.strain(on_fine, axis, fine) for axis in (0, 1)]
    advection = pt.AdvectionOp(velocity, interpolation=interpolation, grid=fine)
    limit = 40 * np.finfo(dtype).eps  # of differences a few times smaller than what is subtracted
    np.testing.assert_allclose(advection.strain(), expected, rtol=limit)
    velocity[...] = 2 * velocity.get()
    np.testing.assert_allclose(advection.strain(), 2 * np.array(expected), rtol=limit)


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("interpolation", "order"), [("linear", 2), ("cubic", 4)])
def test_order_in_the_coarse_spacing(device, interpolation, order):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides the order")
    fine = pt.Grid((96, 96))
    text = "sin(2 * M_PI * x) * cos(2 * M_PI * y)"
    formula = pt.Velocity(fine, [text, text])
    exact = pt.AdvectionOp(formula, "rk4", dtype="float64", device=device)
    sizes = np.array([12, 16, 24, 32, 48])
    for axis in (0, 1):
        expected, errors = exact.apply(0.05, axis).displacement.get(), []
        for n in sizes:
            grid = pt.Grid((n, n))
            x, y = grid.coordinates()
            value = np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y)
            velocity = field([value, value], grid, "float64", device)
            advection = pt.AdvectionOp(velocity, "rk4", interpolation=interpolation, grid=fine)
            errors.append(np.abs(advection.apply(0.05, axis).displacement.get() - expected).max())
        found = -order_of(errors, sizes)
        assert found == pytest.approx(order, abs=0.25)


@pytest.mark.sampled
def test_forms_give_the_same_bits(device):
    grid, fine = boxes((9, 11), (2, 3))
    velocity = field([noise(grid, axis) for axis in range(2)], grid, "float32", device)

    def make(form):
        return advection_core(velocity, form=form, interpolation="cubic", grid=fine.core)

    check_every_form(make, fine, device)


def test_a_gpu_gives_the_same_bits(device):
    grid, fine = boxes((15, 50), (2, 3))
    results = []
    for place in (device, as_gpu(device, 8 * 1024)):
        velocity = field([noise(grid, axis) for axis in range(2)], grid, "float32", place)
        u = field(noise(fine, 9), fine, "float32", place)
        advection = advection_core(velocity, grid=fine.core)
        for axis in range(2):
            one_kernel(advection, u, remesh_core([u]), axis, 26.3 * fine.spacing[axis])
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.sampled
@in_single
@pytest.mark.parametrize(
    ("coarse", "ratios", "axis"),
    [((3000,), (3,), 0), ((1, 5000), (3, 2), 1), ((2500, 1), (2, 3), 0)],
    ids=str,
)
def test_long_lines(device, dtype, coarse, ratios, axis):
    grid, fine = boxes(coarse, ratios)
    velocity = field([wave(grid, k) for k in range(grid.ndim)], grid, dtype, device)
    (*_, a) = components(velocity)[: axis + 1]
    u = field(noise(fine, 9), fine, dtype, device)
    (start,) = components(u)
    for interpolation in ("linear", "cubic"):
        sample = reference_motion.on_grid(a, axis, interpolation, ratios)
        for cells in (0.4, 30.0):
            u[...] = start
            dt = cells * fine.spacing[axis]
            advection = advection_core(velocity, interpolation=interpolation, grid=fine.core)
            one_kernel(advection, u, remesh_core([u]), axis, dt)
            moves = reference_motion.displacement(sample, "rk2", 0, dt, fine.spacing[axis])
            wrong_by = 4 * error_of_moves(dtype, cells, cells * spread(a, axis))
            limit = error_of_sweep(dtype, start, moves, axis, "M'6", wrong_by)
            expected = reference.remesh(start, moves, axis, "M'6")
            assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.one_device
@pytest.mark.any_form
def test_a_splitting_follows_a_velocity_that_is_rewritten(device, dtype):
    grid, fine = boxes((8, 9, 10), (2, 2, 2))
    velocity = field([0.1 * wave(grid, axis) for axis in range(3)], grid, dtype, device)
    u = field(noise(fine, 3), fine, dtype, device)
    other = u.copy()
    transport = pt.Splitting(pt.AdvectionOp(velocity, grid=fine), pt.RemeshOp(u))
    transport.run(0.2, 0.1)
    velocity[...] = 0.5 * velocity.get()
    transport.run(0.4, 0.1)
    again = field([0.1 * wave(grid, axis) for axis in range(3)], grid, dtype, device)
    for end in (0.2, 0.4):
        fresh = pt.Splitting(pt.AdvectionOp(again, grid=fine), pt.RemeshOp(other), time=end - 0.2)
        fresh.run(end, 0.1)
        again[...] = 0.5 * again.get()
    np.testing.assert_array_equal(u.get(), other.get())


def test_the_same_grid_is_the_velocity_itself(device, dtype):
    grid, _ = boxes((9, 16), (1, 1))
    velocity = field([noise(grid, axis) for axis in range(2)], grid, dtype, device)
    same = pt.Grid(grid.shape, origin=grid.origin, extent=grid.extent)
    for axis in (0, 1):
        found = pt.AdvectionOp(velocity, grid=same).apply(0.3, axis).displacement.get()
        expected = pt.AdvectionOp(velocity).apply(0.3, axis).displacement.get()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("thin", [1e-12, 1e-6, 1e6])
def test_a_box_is_the_same_whatever_its_sides_are_to_each_other(device, thin):
    for n in range(1, 12):
        coarse = pt.Grid((n, 4), spacing=(0.1, thin))
        fine = pt.Grid((3 * n, 8), spacing=(0.1 / 3, thin / 2))
        velocity = pt.Field(coarse, 2, device=device)
        assert pt.AdvectionOp(velocity, grid=fine).grid == fine
        other = pt.Grid((3 * n, 8), spacing=(0.1 / 3, 1.001 * thin / 2))
        with pytest.raises(ValueError, match="grid must be of the velocity's box"):
            pt.AdvectionOp(velocity, grid=other)


def test_refused_grids(device):
    grid, fine = boxes((4, 6), (2, 2))
    velocity = pt.Field(grid, 2, device=device)
    place = {"origin": fine.origin, "extent": fine.extent}
    wrong = [
        pt.Grid((8, 13), **place),
        pt.Grid((2, 3), **place),
        pt.Grid((8, 12), origin=fine.origin),
        pt.Grid((8, 12), origin=(0, 0), extent=fine.extent),
        pt.Grid((8,)),
        pt.Grid((8, 12), boundary="wall", **place),
    ]
    for other in wrong:
        with pytest.raises(
            ValueError, match=r"^grid must be of the velocity's box, with a whole mu"
        ):
            pt.AdvectionOp(velocity, grid=other)
    with pytest.raises(TypeError, match=r"^grid must be a Grid, not \(8, 12\)"):
        pt.AdvectionOp(velocity, grid=(8, 12))
    with pytest.raises(ValueError, match=r"^grid must not be given with a formula"):
        pt.AdvectionOp(pt.Velocity(grid, lambda x, y: (x, y)), grid=fine)
    with pytest.raises(ValueError, match=r"^the velocity must be on the grid of the fields"):
        pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(fine, device=device)))
    with pytest.raises(
        ValueError, match=r"^grid: expected whole multiples of the velocity's points"
    ):
        _core.AdvectionOp(velocity.core, _core.Form(), grid=wrong[0].core)
