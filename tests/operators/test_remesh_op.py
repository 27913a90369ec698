# SPDX-License-Identifier: BSD-3-Clause
"""How a RemeshOp puts particles that have moved anyhow back on the points of a grid."""

import numpy as np
import particles as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from particles import kernels

from tests.reference import reference
from tests.support.sweeps import (
    CFL,
    SHAPES,
    box,
    components,
    error_of_sweep,
    field,
    noise,
    wave,
)

KERNELS = ["M'4", "M'6", "M'8", "L6_4", "L8_4"]


def remeshed(fields, moves, axis, kernel="M'6"):
    pt.RemeshOp(fields, kernel).apply(pt.Positions(moves, axis))


def check(u, moves, axis, kernel):
    """Remesh a field and compare with the reference."""
    (before,), (cells,) = components(u), components(moves)
    remeshed(u, moves, axis, kernel)
    expected = reference.remesh(before, cells, axis, kernel)
    limit = error_of_sweep(u.dtype, before, cells, axis, kernel)
    assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.drawn(10)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("make", [wave, noise])
def test_remeshing_is_that_of_the_reference(device, dtype, shape, make):
    grid = box(*shape)
    for axis in range(grid.ndim):
        for cfl in CFL:
            u = field(make(grid, 0), grid, dtype, device)
            moves = field(cfl * make(grid, 1), grid, dtype, device)
            check(u, moves, axis, "M'6")


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_is_that_of_the_reference(device, dtype, kernel):
    for shape in [(2, 5, 17), (16, 33, 9)]:
        grid = box(*shape)
        for axis in (0, 2):
            u = field(noise(grid, 0), grid, dtype, device)
            moves = field(3 * noise(grid, 1), grid, dtype, device)
            check(u, moves, axis, kernel)


@settings(max_examples=40)
@given(
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(lambda s: np.prod(s) < 9000),
    axis=st.integers(0, 2),
    far=st.floats(-1e4, 1e4),
    wide=st.floats(0, 50),
    seed=st.integers(0, 99),
)
def test_remeshing_on_any_grid_by_any_moves(device, dtype, shape, axis, far, wide, seed):
    grid = box(*shape)
    u = field(noise(grid, seed), grid, dtype, device)
    moves = field(far + wide * noise(grid, seed + 1), grid, dtype, device)
    check(u, moves, axis % grid.ndim, "M'6")


@pytest.mark.parametrize("kernel", KERNELS)
def test_moments_are_kept(device, dtype, kernel):
    grid = pt.Grid((64, 16))
    u = np.zeros(grid.shape)
    u[24:40] = noise(grid, 0)[24:40]
    strengths = field(u, grid, dtype, device)
    moves = field(8 * wave(grid, 1), grid, dtype, device)
    (u,), (cells,) = components(strengths), components(moves)
    remeshed(strengths, moves, 0, kernel)
    node = np.arange(64)[:, None] - 31.5
    for moment in range(kernels.get(kernel).moments + 1):
        before = (u * (node + cells) ** moment).sum(0)
        after = (components(strengths)[0] * node**moment).sum(0)
        size = (np.abs(u) * (np.abs(node + cells) + 4) ** moment).sum(0)
        assert (np.abs(after - before) <= 4 * np.finfo(dtype).eps * size).all(), moment


def test_remeshing_is_linear(device, dtype):
    grid = box(5, 16, 33)
    a, b = (field(noise(grid, seed), grid, dtype, device) for seed in (0, 1))
    both = field(2 * components(a)[0] - 0.25 * components(b)[0], grid, dtype, device)
    moves = field(5 * noise(grid, 2), grid, dtype, device)
    for axis in range(3):
        (u,), (cells,) = components(both), components(moves)
        remeshed([a, b], moves, axis)
        remeshed(both, moves, axis)
        expected = 2 * components(a)[0] - 0.25 * components(b)[0]
        limit = 4 * error_of_sweep(dtype, u, cells, axis, "M'6")
        assert np.abs(components(both)[0] - expected).max() <= limit


@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4"])
def test_whole_cells_are_a_shift_to_the_bit(device, dtype, kernel):
    grid = box(6, 16, 33)
    for axis in range(3):
        for cells in (0, 1, -2, 100):
            u = field(noise(grid, 0), grid, dtype, device)
            before = u.get()
            moves = field(np.full(grid.shape, float(cells)), grid, dtype, device)
            remeshed(u, moves, axis, kernel)
            np.testing.assert_array_equal(u.get(), np.roll(before, cells, axis))


def test_a_nan_spreads_over_its_nodes_and_no_further(device, dtype):
    grid = box(11, 9, 35)
    for axis, lost in ((0, 3), (1, 4), (2, 20)):
        values = noise(grid, 0)
        values[3, 4, 20] = np.nan
        u = field(values, grid, dtype, device)
        moves = field(np.full(grid.shape, 1.5), grid, dtype, device)
        remeshed(u, moves, axis, "M'6")
        expected = np.zeros(grid.shape, bool)
        place = [3, 4, 20]
        place[axis] = (lost + 1 + np.arange(-2, 4)) % grid.shape[axis]
        expected[tuple(place)] = True
        with pytest.warns(pt.NotFiniteWarning, match="after RemeshOp.apply"):
            np.testing.assert_array_equal(np.isnan(u.get()), expected)


def test_infinity_among_strayed_lanes_stays_in_its_stencil(device, dtype):
    """Neighbouring lines that move apart are added up together, with zeros between their nodes."""
    grid = box(4, 40, 37)
    values = noise(grid, 1)
    values[3, 4, 20] = np.inf
    found = []
    for form in ("lanes", "private"):
        for axis in range(3):
            moves = field(6 * noise(grid, axis), grid, dtype, device)
            u = field(values, grid, dtype, device)
            pt.RemeshOp(u, form=form).apply(pt.Positions(moves, axis))
            with pytest.warns(pt.NotFiniteWarning, match="after RemeshOp.apply"):
                found.append(u.get())
    np.testing.assert_array_equal(found[:3], found[3:])
    assert all(0 < np.sum(~np.isfinite(u)) <= kernels.get("M'6").stencil for u in found)


@pytest.mark.sampled
def test_fields_and_components_together_are_as_one_by_one(device, dtype):
    grid = box(7, 18, 35)
    moves = field(4 * noise(grid, 0), grid, dtype, device)
    for axis in range(3):
        for counts in [(2,), (3,), (5,), (9,), (1, 1), (3, 1, 2)]:
            together = [
                field([noise(grid, 10 * k + c) for c in range(count)], grid, dtype, device)
                for k, count in enumerate(counts)
            ]
            alone = [u.copy() for u in together]
            remeshed(together, moves, axis)
            for u, copy in zip(together, alone, strict=True):
                for c in range(u.components):
                    remeshed(copy.component(c), moves, axis)
                np.testing.assert_array_equal(u.get(), copy.get())


def test_arrays_of_pyopencl_and_own_fields_together(device, dtype):
    import pyopencl.array

    grid = box(7, 10, 17)
    own = field([noise(grid, c) for c in range(2)], grid, dtype, device)
    moves = field(4 * noise(grid, 3), grid, dtype, device)
    for axis in range(3):
        array = pyopencl.array.to_device(device.queue, own.get())
        backwards = pyopencl.array.to_device(device.queue, own.get().astype(dtype, order="F"))
        compact = pt.Field.from_pyopencl(array, grid)
        fortran = pt.Field.from_pyopencl(backwards, grid)
        wrapped_moves = pyopencl.array.to_device(device.queue, moves.get())
        remeshed([compact, own, fortran], moves, axis)
        np.testing.assert_array_equal(array.get(), own.get())
        np.testing.assert_array_equal(backwards.get(), own.get())
        alone = field(noise(grid, 5), grid, dtype, device)
        copy = alone.copy()
        remeshed(alone, moves, axis)
        remeshed(copy, pt.Field.from_pyopencl(wrapped_moves, grid), axis)
        np.testing.assert_array_equal(alone.get(), copy.get())


def test_a_field_is_touched_and_nothing_else(device, dtype):
    grid = box(7, 35)
    u, other = (field(noise(grid, seed), grid, dtype, device) for seed in (0, 1))
    moves = field(2.5 * noise(grid, 2), grid, dtype, device)
    kept = other.get(), moves.get()
    version = u.core.version
    remeshed(u, moves, 1)
    assert u.core.version > version
    np.testing.assert_array_equal(other.get(), kept[0])
    np.testing.assert_array_equal(moves.get(), kept[1])


def test_a_component_leaves_the_others_alone(device, dtype):
    grid = box(7, 35)
    u = field([noise(grid, c) for c in range(3)], grid, dtype, device)
    before = u.get()
    moves = field(2.5 * noise(grid, 5), grid, dtype, device)
    for axis in (0, 1):
        remeshed(u.component(1), moves, axis)
    np.testing.assert_array_equal(u.get()[[0, 2]], before[[0, 2]])
    assert (u.get()[1] != before[1]).any()


def test_repr_tells_fields_and_kernel(device):
    u = pt.Field(box(8), device=device, name="phi")
    assert repr(pt.RemeshOp(u, "L4_2")) == f'RemeshOp([{u!r}], kernel="M\'6")'
