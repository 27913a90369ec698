# SPDX-License-Identifier: BSD-3-Clause
"""Particles that carry values: constants, ranges, order, one result in all forms."""

import numpy as np
import particles as pt
import pytest
import reference_limiter
from problems import UNEVEN, order
from sweeps import (
    box,
    components,
    error_of_sweep,
    field,
    in_single,
    noise,
    wave,
)

KERNELS = ["M'4", "M'6", "M'8", "L6_4"]


def values(fields, kernel="M'6", **options):
    return pt.RemeshOp(fields, kernel, conservative=False, **options)


def eps(dtype):
    return float(np.finfo(dtype).eps)


@pytest.mark.parametrize("limiter", [None, "positive"])
@pytest.mark.parametrize(
    ("kernel", "dtype"),  # which know nothing of each other
    [*[(kernel, "float32") for kernel in KERNELS], ("M'6", "float64")],
    indirect=["dtype"],
)
def test_it_is_that_of_the_reference(device, dtype, kernel, limiter):
    for shape in [(1,), (2,), (3,), (17, 33, 7)]:
        grid = box(*shape)
        for axis in range(grid.ndim):
            u = field(noise(grid, 0), grid, dtype, device)
            moves = field(3.7 + 0.2 * wave(grid, 1), grid, dtype, device)
            (before,), (cells,) = components(u), components(moves)
            values(u, kernel, limiter=limiter).apply(pt.Positions(moves, axis))
            expected = reference_limiter.remesh(before, cells, axis, kernel, limiter, False)
            # Both sums are wrong by so much, and their quotient by as much again.
            limit = 8 * error_of_sweep(dtype, np.ones(shape), cells, axis, kernel)
            assert np.abs(components(u)[0] - expected).max() <= limit


@in_single
@pytest.mark.parametrize("limiter", [None, "positive"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("constant", [1.0, -2.0, 0.0])
def test_a_constant_stays(device, dtype, kernel, limiter, constant):
    """To the bit where its products are exact, however much the velocity strains."""
    grid = box(14, 9, 35)
    for axis in range(3):
        u = field(np.full(grid.shape, constant), grid, dtype, device)
        moves = field(2 + 0.45 * noise(grid, 1), grid, dtype, device)
        values(u, kernel, limiter=limiter).apply(pt.Positions(moves, axis))
        np.testing.assert_array_equal(u.get(), u.get() * 0 + constant)


@pytest.mark.one_device
@pytest.mark.any_form
def test_any_constant_stays_to_round_off(device, dtype):
    grid = box(300)
    u = field(np.full(grid.shape, 0.7), grid, dtype, device)
    moves = field(2 + 0.4 * wave(grid, 1), grid, dtype, device)
    for _ in range(10):
        values(u).apply(pt.Positions(moves, 0))
    assert np.abs(components(u)[0] / 0.7 - 1).max() <= 40 * eps(dtype)


@pytest.mark.parametrize("kernel", KERNELS)
def test_noise_at_great_strain_is_bounded(device, dtype, kernel):
    """Where the kernel's weights nearly cancel, linear ones take their place."""
    grid = box(40, 1000)
    u = field(noise(grid, 0), grid, dtype, device)
    moves = field(0.45 * noise(grid, 1), grid, dtype, device)
    (before,), (cells,) = components(u), components(moves)
    values(u, kernel).apply(pt.Positions(moves, 1))
    (after,) = components(u)
    bounded = reference_limiter.remesh(before, cells, 1, kernel, None, False)
    assert np.isfinite(after).all()
    assert np.abs(after).max() <= np.abs(bounded).max() * (1 + 100 * eps(dtype))


def test_linear_weights_are_needed_at_great_strain(device, dtype):
    """Particles two and a half cells from one another, between others that are close."""
    grid = pt.Grid(24)
    cells = np.zeros(24)
    cells[:12] = -0.44 * (np.arange(12) % 2)
    cells[6:9] = -0.45, 0.0, 0.44
    u = field(noise(grid, 0), grid, dtype, device)
    (before,) = components(u)
    moves = field(cells, grid, dtype, device)
    values(u, "M'8").apply(pt.Positions(moves, 0))
    expected = reference_limiter.remesh(before, components(moves)[0], 0, "M'8", None, False)
    assert np.abs(components(u)[0] - expected).max() <= 100 * eps(dtype)


def jump(grid):
    return ((grid.coordinates()[0] % 0.5) < 0.25).astype(float)


@pytest.mark.one_device
@pytest.mark.any_form
def test_compression_leaves_the_range(device, dtype):
    """Masses pile up where a velocity compresses; values do not, and with the limiter not at all."""
    grid = pt.Grid(256)
    (x,) = grid.coordinates()
    moves = field(20 * np.sin(2 * np.pi * x), grid, dtype, device)
    ranges = []
    for options in ({}, {"conservative": False}, {"conservative": False, "limiter": "positive"}):
        u = field(jump(grid), grid, dtype, device)
        for _ in range(3):
            pt.RemeshOp(u, **options).apply(pt.Positions(moves, 0))
        ranges.append((u.get().min(), u.get().max()))
    (_, mass), (least, most), bounded = ranges
    assert mass > 4
    assert -0.5 < least < most < 1.5
    assert 0 <= bounded[0] <= bounded[1] <= 1


def back_in_time(x, time, steps=400):
    """Where particles of the UNEVEN velocity have come from."""
    (departure,) = UNEVEN.departure((x,), time, steps)
    return departure


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("kernel", "least"), [("M'4", 1.8), ("M'6", 3.7), ("L6_4", 5.4)])
def test_order(device, kernel, least):
    """That of the kernel, from steps of a quarter of a cell down to where time does not count."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (64, 128):
        grid = pt.Grid(n)
        (x,) = grid.coordinates()
        exact_move = (back_in_time(x, -0.5 / n) - x) * n
        u = field(UNEVEN.initial(x), grid, "float64", device)
        moves = field(exact_move, grid, "float64", device)
        remesh, positions = values(u, kernel), pt.Positions(moves, 0)
        for _ in range(n):
            remesh.apply(positions)
        expected = UNEVEN.initial(back_in_time(x, 0.5))
        errors.append(np.abs(components(u)[0] - expected).sum() / expected.sum())
    assert order(errors) >= least


def test_what_cannot_be(device):
    u = pt.Field(box(8), device=device)
    with pytest.raises(TypeError, match=r"^conservative must be True or False, not 0$"):
        pt.RemeshOp(u, conservative=0)
    with pytest.raises(
        ValueError, match=r"^form: expected sums in private or local memory .*global$"
    ):
        values(u, form="global")
    assert repr(values(u)) == f'RemeshOp([{u!r}], kernel="M\'6", conservative=False)'
