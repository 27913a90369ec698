# SPDX-License-Identifier: BSD-3-Clause
"""Where an AdvectionOp moves particles, and what it says about its velocity."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference
from tests.support.sweeps import (
    FLOWS,
    SHAPES,
    advection_core,
    box,
    cases,
    components,
    error_of_moves,
    field,
    formula_gradient,
    noise,
    spread,
    wave,
)


@pytest.mark.drawn(8)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("make", [wave, noise])
def test_moves_by_a_field_are_those_of_the_reference(device, dtype, shape, make):
    grid = box(*shape)
    velocity = field([make(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    a = components(velocity)
    advection = pt.AdvectionOp(velocity)
    for axis, cfl, dt in cases(grid):
        found = advection.apply(dt, axis).displacement.get()
        exact = reference.displacement(a, axis, dt, grid)
        limit = error_of_moves(dtype, cfl, cfl * spread(a[axis], axis))
        assert np.abs(found - exact).max() <= limit, (axis, cfl)


@pytest.mark.sampled
@pytest.mark.drawn(8)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_moves_by_a_formula_are_those_of_the_reference(device, dtype, shape):
    grid = box(*shape)
    flow = FLOWS[grid.ndim]
    advection = pt.AdvectionOp(pt.Velocity(grid, flow), dtype=dtype, device=device)
    for axis, cfl, dt in cases(grid):
        found = advection.apply(dt, axis, time=0.3).displacement.get()
        exact = reference.displacement(flow, axis, dt, grid, 0.3)
        strain = 2 * np.pi * cfl / grid.shape[axis]
        limit = error_of_moves(dtype, cfl, strain, formula_gradient(grid, 0.3 + dt))
        assert np.abs(found - exact).max() <= limit, (axis, cfl)


def test_a_formula_is_evaluated_half_way_in_space_and_time(device, dtype):
    grid = box(16, 8)
    advection = pt.AdvectionOp(
        pt.Velocity(grid, lambda x, y, t: (x + 4 * t, y * x)), dtype=dtype, device=device
    )
    positions = advection.apply(0.125, 0, time=2.0)
    x, _ = grid.coordinates()
    # Moving by half of 0.125 (x + 8) changes x + 8 by a 16th of it, and the time by a 16th; beyond
    # the end of the box the formula begins anew.
    middle = x + (x + 8) / 16
    middle = np.where(middle < 0.5, middle, middle - 2)
    exact = np.broadcast_to(x + 0.125 * (middle + 8.25), grid.shape)
    np.testing.assert_allclose(np.asarray(positions), exact, rtol=30 * np.finfo(dtype).eps)


def test_a_formula_by_itself_is_in_float32_on_the_default_device():
    advection = pt.AdvectionOp(pt.Velocity(box(5), lambda x: 1 + 0 * x))
    assert advection.device is pt.default_device()
    assert advection.apply(0.1, 0).displacement.dtype == np.float32


def test_positions_are_cells_and_offsets(device, dtype):
    grid = box(4, 3)
    velocity = field([np.full(grid.shape, 2.5), np.full(grid.shape, -0.25)], grid, dtype, device)
    advection = pt.AdvectionOp(velocity)
    forward, backward = advection.apply(0.5, 0), advection.apply(0.5, -1)
    assert (forward.axis, backward.axis) == (0, 1)
    assert advection.apply(0.5, -2).axis == 0
    assert (forward.cells() == np.arange(4)[:, None] + 2).all()
    assert (forward.offsets() == 0.5).all()
    assert (backward.cells() == np.arange(3) - 1).all()
    assert (backward.offsets() == 0.5).all()
    assert backward.offsets().dtype == dtype
    np.testing.assert_array_equal(
        np.asarray(forward), np.broadcast_to(grid.coordinates()[0] + 1.25, grid.shape)
    )
    assert np.asarray(forward, dtype=np.float32).dtype == np.float32


def test_the_smallest_move_back_is_no_cell(device, dtype):
    """What is left of it in the cell before would be rounded to a whole one."""
    moved = pt.Field(pt.Grid(4), 1, dtype, device)
    moved.fill(-np.finfo(dtype).eps / 8)
    positions = pt.Positions(moved, 0)
    np.testing.assert_array_equal(positions.offsets(), np.zeros(4, dtype), strict=True)
    np.testing.assert_array_equal(positions.cells(), range(4))


def test_no_time_is_no_move(device, dtype):
    grid = box(9, 16)
    velocity = field([noise(grid, 0), noise(grid, 1)], grid, dtype, device)
    for axis in (0, 1):
        moved = pt.AdvectionOp(velocity).apply(0.0, axis).displacement.get()
        np.testing.assert_array_equal(moved, np.zeros(grid.shape))


def test_backwards_in_time_is_the_velocity_reversed(device, dtype):
    grid = box(9, 16)
    velocity = field([noise(grid, 0), noise(grid, 1)], grid, dtype, device)
    reverse = field([-a for a in components(velocity)], grid, dtype, device)
    for axis in (0, 1):
        found = pt.AdvectionOp(velocity).apply(-0.7, axis).displacement.get()
        expected = pt.AdvectionOp(reverse).apply(0.7, axis).displacement.get()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(101,), (33, 15), (1, 1), (17, 33, 7), (5, 1, 40)], ids=str)
def test_strain_is_the_greatest_difference_quotient(device, dtype, shape):
    grid = box(*shape)
    velocity = field([noise(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    advection = pt.AdvectionOp(velocity)
    for values in (components(velocity), [wave(grid, axis) for axis in range(grid.ndim)]):
        for axis, value in enumerate(values):
            velocity.component(axis)[...] = value
        a = components(velocity)
        exact = [reference.strain(a, axis, grid) for axis in range(grid.ndim)]
        np.testing.assert_allclose(advection.strain(), exact, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("place", [(0, 0, 0), (4, 16, 8), (2, 15, 7), (3, 7, 0)], ids=str)
def test_extremes_are_found_wherever_they_are(device, dtype, place):
    grid = box(5, 17, 9)
    velocity = pt.Field(grid, 3, dtype, device)
    velocity[(slice(None), *place)] = -2
    core = advection_core(velocity)
    for axis, spacing in enumerate(grid.spacing):
        assert core.measure([axis], [0.0])[0][:2] == pytest.approx((2, 2 / spacing), rel=1e-15)


def test_strain_from_the_last_point_to_the_first(device, dtype):
    grid = box(9, 17)
    ramps = np.broadcast_arrays(np.arange(9)[:, None], np.arange(17))
    velocity = field([ramp.astype(dtype) for ramp in ramps], grid, dtype, device)
    expected = 8 / grid.spacing[0], 16 / grid.spacing[1]
    assert pt.AdvectionOp(velocity).strain() == pytest.approx(expected, rel=1e-15)


def test_strain_of_a_formula_follows_the_time(device, dtype):
    grid = box(33, 16)
    flow = FLOWS[2]
    advection = pt.AdvectionOp(pt.Velocity(grid, flow), dtype=dtype, device=device)
    for time in (0.0, 1.5, 0.0):
        exact = [reference.strain(flow, axis, grid, time) for axis in (0, 1)]
        limit = 10 * formula_gradient(grid, 1.5) * np.finfo(dtype).eps * 16
        np.testing.assert_allclose(advection.strain(time), exact, rtol=limit)


def test_velocity_in_an_array_of_pyopencl(device, dtype):
    import pyopencl.array

    grid = box(7, 10, 17)
    velocity = field([noise(grid, axis) for axis in range(3)], grid, dtype, device)
    array = pyopencl.array.to_device(device.queue, velocity.get())
    wrapped = pt.AdvectionOp(pt.Field.from_pyopencl(array, grid))
    for axis in range(3):
        expected = pt.AdvectionOp(velocity).apply(0.4, axis).displacement.get()
        np.testing.assert_array_equal(wrapped.apply(0.4, axis).displacement.get(), expected)
    before = wrapped.strain()
    array *= 2  # written without our knowledge
    assert wrapped.strain() == tuple(2 * strain for strain in before)


def test_repr_tells_velocity_and_scheme():
    advection = pt.AdvectionOp(pt.Velocity(box(8), lambda x: x, name="wind"))
    assert repr(advection) == "AdvectionOp(Velocity(wind, shape=(8,), x: x), scheme='rk2')"
    positions = repr(advection.apply(0.1, 0))
    assert positions.startswith("Positions(axis=0, (8,), float32, ")
