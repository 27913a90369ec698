# SPDX-License-Identifier: BSD-3-Clause
"""Particles that carry values: constants, ranges, order, one result in all forms."""

import numpy as np
import particles as pt
import pytest
import reference_limiter
from gpu_forms import as_gpu
from problems import UNEVEN, order
from sweeps import (
    advection_core,
    box,
    check_forms,
    components,
    error_of_sweep,
    field,
    noise,
    one_kernel,
    remesh_core,
    wave,
)

KERNELS = ["M'4", "M'6", "M'8", "L6_4"]


def values(fields, kernel="M'6", **options):
    return pt.RemeshOp(fields, kernel, conservative=False, **options)


def eps(dtype):
    return float(np.finfo(dtype).eps)


@pytest.mark.parametrize("limiter", [None, "positive"])
@pytest.mark.parametrize("kernel", KERNELS)
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


FORMS = [("private", None, False), ("local", 9, True), ("lanes", 8, False), ("lanes", 8, True)]


@pytest.mark.parametrize(("form", "capacity", "limited"), FORMS, ids=str)
def test_forms_give_the_same_bits(device, dtype, form, capacity, limited):
    for shape in [(19,), (16, 17)]:
        grid = box(*shape)
        velocity = field([wave(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
        options = {"conservative": False, "limited": limited}
        check_forms(velocity, grid, dtype, device, form, capacity, remeshing=options)


def test_components_share_the_density(device, dtype):
    grid = box(17, 33)
    velocity = advection_core(field([noise(grid, k) for k in range(2)], grid, dtype, device))
    for axis in range(2):
        dt = 0.4 * grid.spacing[axis]
        together = field([noise(grid, seed) for seed in range(3)], grid, dtype, device)
        one_by_one = together.copy()
        one_kernel(velocity, together, remesh_core([together], conservative=False), axis, dt)
        for index in range(3):
            component = one_by_one.component(index)
            remesh = remesh_core([component], conservative=False)
            one_kernel(velocity, component, remesh, axis, dt)
        np.testing.assert_array_equal(together.get(), one_by_one.get())


def test_a_gpu_with_little_local_memory_gives_the_same_bits(device, dtype):
    grid = box(30, 300)
    results = []
    for place in (device, as_gpu(device, 8 * 1024)):
        velocity = field([wave(grid, axis) for axis in range(2)], grid, dtype, place)
        u = field([noise(grid, 5), noise(grid, 6)], grid, dtype, place)
        for axis in range(2):
            dt = 3.3 * grid.spacing[axis]
            one_kernel(advection_core(velocity), u, remesh_core([u], conservative=False), axis, dt)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


def test_what_cannot_be(device):
    u = pt.Field(box(8), device=device)
    with pytest.raises(TypeError, match=r"^conservative must be True or False, not 0$"):
        pt.RemeshOp(u, conservative=0)
    with pytest.raises(
        ValueError, match=r"^form: expected sums in private or local memory .*global$"
    ):
        values(u, form="global")
    assert repr(values(u)) == f'RemeshOp([{u!r}], kernel="M\'6", conservative=False)'
