# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing within bounds: floor, mass, order, figures, one result in all forms."""

import numpy as np
import particles as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import reference, reference_limiter
from tests.support.problems import LEVEL_SET, SWIRL, UNEVEN, order, relative_l1, volume
from tests.support.sweeps import (
    advection_core,
    box,
    components,
    error_of_sweep,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    wave,
)

KERNELS = ["M'4", "M'6", "M'8", "L6_4"]
LIMITERS = ["positive", "monotone"]
either = pytest.mark.parametrize(  # what rounds knows nothing of bounds
    ("limiter", "dtype"), [("positive", "float64"), ("monotone", "float32")], indirect=["dtype"]
)


def limited(fields, kernel="M'6", limiter="positive"):
    return pt.RemeshOp(fields, kernel, limiter=limiter)


def in_order(grid, far, strain, seed, axis):
    """Moves by about `far` cells that bring no particle past the next, at an LCFL of `strain`."""
    return (
        far + strain / 2 * noise(grid, seed) if grid.shape[axis] > 1 else np.full(grid.shape, far)
    )


@pytest.mark.parametrize(
    ("kernel", "dtype", "limiter"),  # which know nothing of one another
    [
        *[(kernel, "float32", LIMITERS[k % 2]) for k, kernel in enumerate(KERNELS)],
        *[("M'6", "float64", limiter) for limiter in LIMITERS],
    ],
    indirect=["dtype"],
)
@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (5, 1), (17, 33, 7), (13, 101)], ids=str)
def test_it_is_that_of_the_reference(device, dtype, kernel, limiter, shape):
    """Of values of both signs, below zero and around it."""
    grid = box(*shape)
    for axis in range(grid.ndim):
        for far in (0.0, 0.8, 30.0):
            u = field(noise(grid, 0) + 0.5, grid, dtype, device)
            moves = field(in_order(grid, far, 0.9, 1, axis), grid, dtype, device)
            (before,), (cells,) = components(u), components(moves)
            limited(u, kernel, limiter).apply(pt.Positions(moves, axis))
            expected = reference_limiter.remesh(before, cells, axis, kernel, limiter)
            # A share of a flux is a quotient of two differences of sums.
            limit = 8 * error_of_sweep(dtype, before, cells, axis, kernel)
            assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.sampled
@settings(max_examples=40)
@given(
    limiter=st.sampled_from(LIMITERS),
    shape=st.lists(st.integers(1, 40), min_size=1, max_size=3).filter(lambda s: np.prod(s) < 9000),
    axis=st.integers(0, 2),
    far=st.floats(-30, 30),
    strain=st.floats(0, 0.9),
    seed=st.integers(0, 99),
    few=st.booleans(),
)
def test_nothing_falls_below_zero_and_nothing_is_lost(
    device, dtype, limiter, shape, axis, far, strain, seed, few
):
    grid = box(*shape)
    axis %= grid.ndim
    values = np.abs(noise(grid, seed))
    if few:  # jumps from nothing and back
        values = (values > 0.7).astype(float)
    u = field(values, grid, dtype, device)
    moves = field(in_order(grid, far, strain, seed + 1, axis), grid, dtype, device)
    (before,) = components(u)
    limited(u, limiter=limiter).apply(pt.Positions(moves, axis))
    (after,) = components(u)
    assert after.min() >= 0
    assert abs(after.sum() - before.sum()) <= 4 * np.finfo(dtype).eps * before.sum()


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("limiter", "dtype", "magnitudes"),
    [
        ("positive", "float32", (-45, 35)),  # all that there are
        ("positive", "float64", (-324, -300)),  # of few digits
        ("monotone", "float64", (-324, 300)),
        ("monotone", "float32", (-45, -30)),
    ],
    indirect=["dtype"],
)
def test_no_rounding_falls_below_zero(device, dtype, limiter, magnitudes):
    """Neither that of shares, nor that of numbers which have lost digits already."""
    grid = pt.Grid((128, 96))
    powers = np.random.default_rng(0).uniform(*magnitudes, grid.shape)
    values = np.abs(noise(grid, 1)) * 10.0**powers
    for axis in range(grid.ndim):
        for far in (0.3, -7.4):
            u = field(values.astype(dtype), grid, dtype, device)
            moves = field(in_order(grid, far, 0.9, 2, axis), grid, dtype, device)
            limited(u, "L6_4", limiter).apply(pt.Positions(moves, axis))
            assert u.min() >= 0


@pytest.mark.one_device
@pytest.mark.any_form
def test_the_kernel_alone_would_fall_below_zero(device, dtype):
    grid = pt.Grid(64)
    moves = field(np.full(64, 0.5), grid, dtype, device)
    results = []
    for limiter in (None, *LIMITERS):
        u = field((np.arange(64) // 8 % 2).astype(float), grid, dtype, device)
        pt.RemeshOp(u, limiter=limiter).apply(pt.Positions(moves, 0))
        results.append(u.get())
    plain, positive, monotone = results
    assert plain.min() < -0.05
    assert positive.min() == monotone.min() == 0
    assert positive.max() > 1.05
    assert monotone.max() <= 1


@pytest.mark.slow
@in_single
@pytest.mark.one_device
@pytest.mark.any_form
def test_rounding_takes_no_mass(device, dtype):
    """Not in 600 sweeps: linear weights sum up to one, however the places of particles round."""
    grid = pt.Grid((96, 96))
    x, y = grid.coordinates()
    u = field(1.2 + np.sin(2 * np.pi * x) * np.sin(4 * np.pi * y), grid, dtype, device)
    (start,) = components(u)
    swirl = pt.Velocity(grid, SWIRL.velocity)
    transport = pt.Splitting(pt.AdvectionOp(swirl, "rk4"), limited(u))
    for _ in range(192):
        transport.step(4 / 192)
    assert abs(components(u)[0].sum() / start.sum() - 1) <= 1e-7


@in_single
@pytest.mark.any_form
def test_what_is_below_zero_gives_nothing(device, dtype):
    """The linear kernel decides there: no value falls below what that one makes of it."""
    grid = box(13, 101)
    for axis in range(grid.ndim):
        moves = field(in_order(grid, 0.5, 0.9, 1, axis), grid, dtype, device)
        linear, positive = (field(noise(grid, 0), grid, dtype, device) for _ in range(2))
        pt.RemeshOp(linear, "L1").apply(pt.Positions(moves, axis))
        limited(positive).apply(pt.Positions(moves, axis))
        assert np.all(positive.get() >= np.minimum(linear.get(), 0) - 1e-6)
        below = field(-np.abs(noise(grid, 0)), grid, dtype, device)
        linear = below.copy()
        pt.RemeshOp(linear, "L1").apply(pt.Positions(moves, axis))
        limited(below).apply(pt.Positions(moves, axis))
        np.testing.assert_allclose(below.get(), linear.get(), atol=1e-6)


@either
def test_whole_cells_are_a_shift_to_the_bit(device, dtype, limiter):
    grid = box(6, 16, 33)
    for axis in range(3):
        for cells in (0, 1, -2, 100):
            u = field(noise(grid, 0), grid, dtype, device)
            before = u.get()
            moves = field(np.full(grid.shape, float(cells)), grid, dtype, device)
            limited(u, "L6_4", limiter).apply(pt.Positions(moves, axis))
            np.testing.assert_array_equal(u.get(), np.roll(before, cells, axis))


def transported(problem, n, cfl, kernel, limiter, start, dtype, device):
    """What a problem in one dimension makes of a field: once through, in steps of a CFL number."""
    grid = pt.Grid(n)
    (x,) = grid.coordinates()
    u = field(start(x), grid, dtype, device)
    velocity = pt.Velocity(grid, problem.velocity)
    steps = int(np.ceil(1.5 * problem.duration * n / cfl))
    transport = pt.Splitting(pt.AdvectionOp(velocity), limited(u, kernel, limiter), 1)
    least = 0.0
    for _ in range(steps):
        transport.step(problem.duration / steps)
        least = min(least, float(u.min()))
    return components(u)[0], least


def square(x):
    return ((x > 0.3) & (x < 0.6)).astype(float)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("kernel", "errors"),
    [("M'4", (0.0875, 0.0565)), ("M'6", (0.0623, 0.0445)), ("L6_4", (0.0600, 0.0419))],
)
def test_a_square_comes_back(device, kernel, errors):
    """Figures of an independent prototype in double precision."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    for cfl, error in zip((0.8, 4), errors, strict=True):
        u, least = transported(UNEVEN, 256, cfl, kernel, "monotone", square, "float64", device)
        exact = square(pt.Grid(256).coordinates()[0])
        assert least >= 0
        assert abs(u.sum() / exact.sum() - 1) < 1e-13
        assert relative_l1(u, exact) == pytest.approx(error, rel=0.1)


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
def test_clipped_extrema_leave_an_order_of_more_than_one(device, dtype):
    errors = []
    for n in (256, 512):
        u, _ = transported(UNEVEN, n, 0.8, "M'6", "monotone", UNEVEN.initial, dtype, device)
        errors.append(relative_l1(u, UNEVEN.exact(pt.Grid(n).coordinates(), UNEVEN.duration)))
    assert order(errors) >= 1.5


@either
def test_long_lines(device, dtype, limiter):
    grid = box(3, 9000)
    velocity = field([wave(grid, k) for k in range(2)], grid, dtype, device)
    u = field(noise(grid, 9) + 1, grid, dtype, device)
    (start,), rates = components(u), components(velocity)
    dt = 30 * grid.spacing[1]
    one_kernel(advection_core(velocity), u, remesh_core([u], limiter=limiter), 1, dt)
    moves = reference.displacement(rates, 1, dt, grid)
    expected = reference_limiter.remesh(start, moves, 1, "M'6", limiter)
    wrong_by = 100 * np.finfo(dtype).eps
    limit = 8 * error_of_sweep(dtype, start, moves, 1, "M'6", wrong_by)
    assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.one_device
@pytest.mark.slow
def test_a_ball_keeps_its_floor_and_nearly_its_volume(device):
    grid = pt.Grid((128, 128, 128))
    u = field(LEVEL_SET.initial(*grid.coordinates()), grid, "float32", device)
    start = u.get()
    velocity = field(
        list(np.broadcast_arrays(*LEVEL_SET.velocity(*grid.coordinates()))), grid, "float32", device
    )
    transport = pt.Splitting(pt.AdvectionOp(velocity), limited(u, limiter="monotone"))
    volumes, least = [], 0.0
    for _ in range(2):
        for _ in range(10):
            transport.step(0.1)
            least = min(least, float(u.min()))
        volumes.append(volume(u.get()) / volume(start) - 1)
        velocity[...] = -velocity.get()
    back = u.get()
    assert least >= 0
    assert abs(volumes[0]) <= 0.006
    assert abs(volumes[1]) <= 0.02
    assert relative_l1(back, start) <= 0.36
    assert abs(back.sum(dtype=float) / start.sum(dtype=float) - 1) <= 3e-7
    assert back.max() <= 1.2


def test_what_cannot_be(device):
    u = pt.Field(box(8), device=device)
    with pytest.raises(
        ValueError, match=r"^limiter must be one of positive, monotone or None, not 'minmod'$"
    ):
        pt.RemeshOp(u, limiter="minmod")
    words = "form: expected sums in private or local memory where they are limited, got global"
    with pytest.raises(ValueError, match=f"^{words}$"):
        pt.RemeshOp(u, limiter="positive", form="global")
    assert repr(limited(u)) == f"RemeshOp([{u!r}], kernel=\"M'6\", limiter='positive')"
