# SPDX-License-Identifier: BSD-3-Clause
"""What transport keeps: mass, symmetries, constants, and its bits."""

from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from math import fsum

import numpy as np
import particles as pt
import pytest

from tests.support.problems import SWIRL
from tests.support.sweeps import (
    box,
    components,
    error_of_moves,
    error_of_sweep,
    field,
    noise,
    spread,
    wave,
)
from tests.support.transports import swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


def rounding(u, velocity, axis, dt):
    """How far two ways of computing one sweep may be apart."""
    a, grid = components(velocity)[axis], velocity.grid
    moves = a * dt / grid.spacing[axis]
    wrong_by = error_of_moves(u.dtype, np.abs(moves).max(), spread(moves, axis))
    return error_of_sweep(u.dtype, components(u)[0], moves, axis, "M'6", wrong_by)


def test_the_sum_is_kept_over_100_steps(device, dtype):
    grid = pt.Grid((48, 48))
    u = field(SWIRL.initial(*grid.coordinates()), grid, dtype, device)
    before = fsum(components(u)[0].flat)
    steps, sweeps = 100, 300
    transport_of(u, swirl(48, dtype, device)).run(1.0, 1.0 / steps)
    drift = abs(fsum(components(u)[0].flat) / before - 1)
    assert drift <= sweeps * np.finfo(dtype).eps / 48


@pytest.mark.parametrize("shape", [(101,), (33, 16), (9, 17, 33)], ids=str)
def test_every_sweep_keeps_the_sum_of_rough_strengths(device, dtype, shape):
    grid = box(*shape)
    velocity = field([0.3 * wave(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    u = field(noise(grid, 9), grid, dtype, device)
    transport = transport_of(u, velocity)
    for axis in range(grid.ndim):
        (before,) = components(u)
        transport.sweep(axis, 0.05)
        change = fsum(components(u)[0].flat) - fsum(before.flat)
        # Rounding errors have no preferred sign, and cancel.
        assert abs(change) <= 2 * np.finfo(dtype).eps * np.abs(before).sum() / np.sqrt(grid.size)


def test_transport_is_linear(device, dtype):
    grid = pt.Grid((24, 24))
    velocity = swirl(24, dtype, device)
    u = field([wave(grid, 1), noise(grid, 2)], grid, dtype, device)
    both = field(3 * u.get()[0].astype("f8") - u.get()[1], grid, dtype, device)
    limit = 5 * 3 * rounding(both, velocity, 0, 0.1)
    for carried in (u, both):
        transport_of(carried, velocity).run(0.5, 0.1)
    a, b = components(u)
    assert np.abs(components(both)[0] - (3 * a - b)).max() <= 5 * limit


@pytest.mark.parametrize("cells", [4, -2, 60])
@pytest.mark.parametrize("shape", [(64,), (16, 32), (8, 16, 64)], ids=str)
def test_a_constant_velocity_of_whole_cells_is_an_exact_shift(device, dtype, shape, cells):
    grid = pt.Grid(shape)
    velocity = field([np.full(shape, cells / n) for n in shape], grid, dtype, device)
    u = field(noise(grid, 0), grid, dtype, device)
    before = u.get()
    transport = transport_of(u, velocity)
    transport.step(1.0)
    shifted = np.roll(before, [cells] * grid.ndim, range(grid.ndim))
    np.testing.assert_array_equal(u.get(), shifted)
    transport.run(4.0, 1.0)
    shifted = np.roll(before, [4 * cells] * grid.ndim, range(grid.ndim))
    np.testing.assert_array_equal(u.get(), shifted)


def test_without_velocity_nothing_changes(device, dtype):
    grid = box(9, 17, 33)
    u = field(noise(grid, 0), grid, dtype, device)
    before = u.get()
    transport_of(u, pt.Field(grid, 3, dtype, device)).run(1.0, 0.1)
    np.testing.assert_array_equal(u.get(), before)


@pytest.mark.parametrize(("order", "least"), [(1, 0.9), (2, 1.9)])
def test_a_constant_stays_constant_in_a_solenoidal_flow_to_the_order(device, order, least):
    """Compression along one axis and expansion along the other cancel as the splitting does."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (32, 64, 128):
        grid = pt.Grid((n, n))
        u = field(np.ones(grid.shape), grid, "float64", device)
        transport_of(u, swirl(n, "float64", device), order).run(0.5, 4 / n)
        errors.append(np.abs(components(u)[0] - 1).mean())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (orders >= least).all(), (errors, orders)


def test_reruns_give_the_same_bits(device, dtype):
    grid = box(9, 17, 33)
    a = [0.3 * wave(grid, axis) for axis in range(3)]

    def result(_):
        velocity = field(a, grid, dtype, device)
        u = field([noise(grid, 0), noise(grid, 1)], grid, dtype, device)
        transport_of(u, velocity).run(0.25, 0.05)
        return u.get()

    first = result(0)
    np.testing.assert_array_equal(result(1), first)
    with ThreadPoolExecutor(3) as threads:
        for again in threads.map(result, range(3)):
            np.testing.assert_array_equal(again, first)


def test_steps_and_a_run_give_the_same_bits(device, dtype):
    velocity = swirl(24, dtype, device)
    u = field(wave(velocity.grid, 0), velocity.grid, dtype, device)
    stepped = u.copy()
    transport_of(u, velocity).run(0.6, 0.1)
    transport = transport_of(stepped, velocity)
    for _ in range(6):
        transport.step(0.1)
    np.testing.assert_array_equal(stepped.get(), u.get())


@pytest.mark.parametrize("shape", [(13, 33), (5, 16, 33)], ids=str)
def test_axes_can_be_permuted_to_the_bit(device, dtype, shape):
    """Whatever form suits a direction, a line's particles are added in their own order."""
    grid = box(*shape)
    ndim = grid.ndim
    a = [noise(grid, axis) for axis in range(ndim)]
    start = noise(grid, 9)
    cells = 5.3

    def swept(order):
        turned = pt.Grid(
            [grid.shape[k] for k in order],
            origin=[grid.origin[k] for k in order],
            spacing=[grid.spacing[k] for k in order],
        )
        velocity = field([a[k].transpose(order) for k in order], turned, dtype, device)
        u = field(start.transpose(order), turned, dtype, device)
        for axis in range(ndim):
            place = order.index(axis)
            positions = pt.AdvectionOp(velocity).apply(cells * grid.spacing[axis], place)
            pt.RemeshOp(u).apply(positions)
        return u.get().transpose(np.argsort(order))

    expected = swept(tuple(range(ndim)))
    for order in permutations(range(ndim)):
        np.testing.assert_array_equal(swept(order), expected)


def test_steps_do_not_depend_on_the_names_of_the_axes(device, dtype):
    """The full sweep follows the strain, so a step of a 2-D flow can be turned as a whole."""
    grid = box(24, 35)
    a = [0.2 * wave(grid, 0), 0.1 * wave(grid, 1)]
    velocity = field(a, grid, dtype, device)
    turned = pt.Grid(grid.shape[::-1], origin=grid.origin[::-1], extent=grid.extent[::-1])
    turned_velocity = field([a[1].T, a[0].T], turned, dtype, device)
    u = field(wave(grid, 2), grid, dtype, device)
    turned_u = field(wave(grid, 2).T, turned, dtype, device)
    transport, other = transport_of(u, velocity), transport_of(turned_u, turned_velocity)
    assert [stage.axis for stage in transport.schedule] in ([0, 1, 0], [1, 0, 1])
    assert [1 - stage.axis for stage in transport.schedule] == [s.axis for s in other.schedule]
    for each in (transport, other):
        each.run(0.4, 0.1)
    np.testing.assert_array_equal(turned_u.get().T, u.get())


def test_translation_by_whole_cells(device, dtype):
    grid = box(18, 35)
    a = [0.2 * wave(grid, 0), 0.1 * wave(grid, 1)]
    results = []
    for shift in ((0, 0), (7, 16)):
        velocity = field([np.roll(b, shift, (0, 1)) for b in a], grid, dtype, device)
        u = field(np.roll(wave(grid, 2), shift, (0, 1)), grid, dtype, device)
        limit = 2 * 3 * sum(rounding(u, velocity, axis, 0.1) for axis in (0, 1))
        transport_of(u, velocity).run(0.2, 0.1)
        results.append(np.roll(u.get(), np.negative(shift), (0, 1)))
    assert np.abs(results[1] - results[0]).max() <= limit


@pytest.mark.parametrize("axis", [0, 1])
def test_an_axis_can_be_reversed(device, dtype, axis):
    grid = box(18, 35)
    a = [0.2 * wave(grid, 0), 0.1 * wave(grid, 1)]
    mirrored = [np.flip(b, axis) * (-1 if k == axis else 1) for k, b in enumerate(a)]
    results = []
    for arrays, start in ((a, wave(grid, 2)), (mirrored, np.flip(wave(grid, 2), axis))):
        velocity = field(arrays, grid, dtype, device)
        u = field(start, grid, dtype, device)
        limit = 2 * 3 * sum(rounding(u, velocity, k, 0.1) for k in (0, 1))
        transport_of(u, velocity).run(0.2, 0.1)
        results.append(u.get())
    assert np.abs(np.flip(results[1], axis) - results[0]).max() <= limit


def test_a_nan_is_not_lost(device, dtype):
    velocity = swirl(24, dtype, device)
    values = wave(velocity.grid, 0)
    values[11, 7] = np.nan
    u = field(values, velocity.grid, dtype, device)
    transport_of(u, velocity).run(0.3, 0.1, check=None)
    lost = np.isnan(u.get()).sum()
    assert 1 < lost < u.size
    assert np.isnan(u.sum())


def test_forth_and_back_returns_what_was(device, dtype):
    """As well as this kernel does on this grid: the reference leaves 0.0078."""
    n = 64
    velocity, backwards = swirl(n, dtype, device), swirl(n, dtype, device, -1.0)
    start = SWIRL.initial(*velocity.grid.coordinates())
    u = field(start, velocity.grid, dtype, device)
    transport_of(u, velocity).run(0.5, 4 / n)
    transport_of(u, backwards).run(0.5, 4 / n)
    assert np.abs(u.get() - start).sum() / start.sum() < 0.01


def test_fields_in_one_sweep_are_as_one_by_one(device, dtype):
    import pyopencl.array

    velocity = swirl(24, dtype, device)
    grid = velocity.grid
    phi = field(wave(grid, 1), grid, dtype, device)
    pair = field([wave(grid, 2), noise(grid, 3)], grid, dtype, device)
    array = pyopencl.array.to_device(device.queue, noise(grid, 4).astype(dtype))
    alone = phi.copy(), pair.copy(), pt.Field.from_pyopencl(array.copy(), grid)
    together = phi, pair, pt.Field.from_pyopencl(array, grid)
    transport_of(together, velocity).run(0.3, 0.1)
    for one, other in zip(together, alone, strict=True):
        transport_of(other, velocity).run(0.3, 0.1)
        np.testing.assert_array_equal(other.get(), one.get())
    np.testing.assert_array_equal(array.get(), together[2].get())


def test_a_velocity_in_an_array_of_pyopencl_may_change_unseen(device, dtype):
    import pyopencl.array

    velocity = swirl(24, dtype, device)
    array = pyopencl.array.to_device(device.queue, velocity.get())
    wrapped = pt.Field.from_pyopencl(array, velocity.grid)
    own, other = (field(wave(velocity.grid, 0), velocity.grid, dtype, device) for _ in range(2))
    transports = transport_of(own, velocity), transport_of(other, wrapped)
    for factor in (1, -0.5):
        velocity[...] = factor * velocity.get()
        array *= factor
        for transport in transports:
            transport.run(transport.time + 0.2, 0.1)
        np.testing.assert_array_equal(other.get(), own.get())
