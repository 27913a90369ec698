# SPDX-License-Identifier: BSD-3-Clause
"""The figures that remeshing without undershoots must reach, measured on every device."""

import numpy as np
import particles as pt
import pytest
from carried import (
    FLOAT64_MASS,
    Flow,
    change_of_volume,
    check_mass,
    level_set_error,
)
from problems import LEVEL_SET, UNEVEN, Problem, bump, relative_l1, uneven_velocity

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
