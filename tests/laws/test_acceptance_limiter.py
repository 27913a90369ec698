# SPDX-License-Identifier: BSD-3-Clause
"""The figures that remeshing without undershoots must reach, measured on every device."""

import numpy as np
import particles as pt
import pytest

from tests.support.carried import (
    FLOAT64_MASS,
    Flow,
    change_of_volume,
    check_mass,
    level_set_error,
)
from tests.support.problems import LEVEL_SET, UNEVEN, Problem, bump, relative_l1, uneven_velocity

pytestmark = pytest.mark.one_device


def plateau(x):
    return ((x > 0.3) & (x < 0.6)).astype(np.float64)


SQUARE = Problem(1, uneven_velocity, plateau, UNEVEN.duration)
FIGURES = {"M'4": (0.0875, 0.0565), "M'6": (0.0623, 0.0445), "L6_4": (0.0600, 0.0419)}


@pytest.mark.parametrize("cfl", [0.8, 4.0])
@pytest.mark.parametrize("kernel", FIGURES)
def test_a_square_wave_stays_above_zero(device, dtype, kernel, cfl):
    flow = Flow(SQUARE, 256, device, dtype, kernel, limiter="monotone")
    steps = int(np.ceil(SQUARE.duration * 1.5 * 256 / cfl))
    least = 0.0
    for _ in range(steps):
        flow.transport.step(SQUARE.duration / steps)
        least = min(least, flow.u.min())
    assert least >= 0
    assert relative_l1(flow.values(), flow.start) == pytest.approx(
        FIGURES[kernel][cfl > 1], rel=0.1
    )
    check_mass(flow, dtype)


def test_smooth_extrema_are_clipped(device):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (64, 128, 256):
        flow = Flow(UNEVEN, n, device, "float64", limiter="monotone")
        steps = int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8))
        errors.append(relative_l1(flow.run(UNEVEN.duration, steps), bump(*flow.grid.coordinates())))
    assert 1.4 <= np.log2(errors[0] / errors[-1]) / 2 <= 1.9


def turning(x, y, t):
    """LeVeque's swirl: what it deforms until the time 2 is as it was at the time 4."""
    turn = np.cos(np.pi * t / 4)
    return (
        turn * np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y),
        -turn * np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2,
    )


def distance(x, y):
    return np.hypot(x - 0.5, y - 0.75)


BODIES = {
    "hill": lambda r: np.exp(-(r**2) / 0.01),
    "hill on a plain": lambda r: 0.2 + np.exp(-(r**2) / 0.01),
    "bell": lambda r: np.where(r < 0.2, 0.5 + 0.5 * np.cos(np.pi * r / 0.2), 0),
    "disk": lambda r: (r < 0.15).astype(float),
}
ORDERS = {"hill": 2.6, "hill on a plain": 2.8, "bell": 2.9, "disk": 0.65}


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("body", BODIES)
def test_a_floor_costs_no_order(device, body):
    """Drawn out and back at a CFL number of 4: errors are those of the kernel, or smaller."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = {None: [], "positive": []}
    for n in (48, 96, 192):
        start = BODIES[body](distance(*pt.Grid((n, n)).coordinates()))
        for limiter, found in errors.items():
            u = pt.Field(pt.Grid((n, n)), dtype="float64", device=device)
            u[...] = start
            advection = pt.AdvectionOp(pt.Velocity(u.grid, turning), "rk4")
            transport = pt.Splitting(advection, pt.RemeshOp(u, limiter=limiter))
            transport.run(until=4.0, dt=4.0 / n)
            found.append(relative_l1(u.get(), start))
        assert u.min() >= 0
        assert abs(u.sum() / start.sum() - 1) <= FLOAT64_MASS
    assert np.all(np.array(errors["positive"]) <= 1.001 * np.array(errors[None]))
    assert np.log2(errors["positive"][0] / errors["positive"][-1]) / 2 >= ORDERS[body]


@pytest.mark.sampled
@pytest.mark.any_form
def test_a_floor_leaves_what_is_far_from_it(device, dtype):
    """A constant that is thinned out and piled up is what the kernel makes of it."""
    grid = pt.Grid(64)
    found = []
    for limiter in (None, "positive", "monotone"):
        u = pt.Field(grid, dtype=dtype, device=device)
        u.fill(1)
        advection = pt.AdvectionOp(pt.Velocity(grid, uneven_velocity), "rk4")
        pt.Splitting(advection, pt.RemeshOp(u, limiter=limiter), 1).run(until=0.5, dt=1 / 96)
        found.append(u.get().astype(np.float64))
    plain, positive, monotone = found
    assert np.abs(positive - plain).max() <= 100 * np.finfo(dtype).eps
    assert np.abs(monotone - plain).max() > 0.03


@pytest.mark.parametrize("cfl", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4", "L8_4", "M'8"])
@pytest.mark.parametrize("limiter", ["positive", "monotone"])
def test_noise_stays_above_zero_whatever_carries_it(device, dtype, limiter, kernel, cfl):
    """A velocity of any size that strains by less than 0.9."""
    n = 200
    rng = np.random.default_rng(int(10 * cfl))
    grid = pt.Grid(n)
    velocity, u = (pt.Field(grid, dtype=dtype, device=device) for _ in range(2))
    strain = min(0.85, 4 * cfl / n) * rng.uniform(-1, 1, n)
    wave = np.cumsum(strain - strain.mean()) / n
    velocity[...] = cfl / n + wave
    start = rng.random(n) * (rng.random(n) < 0.3)
    u[...] = start
    remesh = pt.RemeshOp(u, kernel, limiter=limiter)
    transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
    for _ in range(5):
        transport.sweep(0, 0.5)
        assert u.min() >= 0
    mass = np.asarray(u).astype(np.float64).sum() / np.asarray(u.dtype.type(start)).sum(dtype=float)
    assert abs(mass - 1) <= {"float32": 3e-7, "float64": FLOAT64_MASS}[dtype.name]


@pytest.mark.drawn(1)
@pytest.mark.slow
def test_level_set_stays_above_zero_on_128(device, dtype):
    flow = Flow(LEVEL_SET, 128, device, dtype, limiter="monotone")
    u = flow.run(1.0, 10)
    assert u.min() >= 0
    assert abs(change_of_volume(u, flow) + 0.0035) <= 0.005
    assert level_set_error(u, flow.start) <= 0.40
    u = flow.run_back(1.0, 10)
    assert u.min() >= 0
    assert change_of_volume(u, flow) == pytest.approx(0.013, abs=0.006)
    assert relative_l1(u, flow.start) <= 1.1 * 0.329
    assert u.max() <= 1.45
    check_mass(flow, dtype)
