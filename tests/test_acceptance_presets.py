# SPDX-License-Identifier: BSD-3-Clause
"""Choices that go well together by one word, and what cubic interpolation is needed for."""

import numpy as np
import particles as pt
import pytest
from carried import exact_swirl
from problems import SWIRL, UNEVEN, order, relative_l1

PRESETS = {
    "default": ("M'6", "rk2", "linear", None),
    "accurate": ("L6_4", "rk4", "cubic", None),
    "positive": ("M'6", "rk2", "linear", "positive"),
}


def fields(problem, n, device, dtype):
    grid = pt.Grid((n,) * problem.ndim)
    x = grid.coordinates()
    velocity = pt.Field(grid, problem.ndim, dtype, device)
    samples = [np.broadcast_to(a, grid.shape) for a in problem.velocity(*x)]
    velocity[...] = np.stack(samples).reshape(velocity.shape)
    u = pt.Field(grid, dtype=dtype, device=device)
    u[...] = problem.initial(*x)
    return velocity, u


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_what_it_says(device, dtype, preset):
    kernel, scheme, interpolation, limiter = PRESETS[preset]
    velocity, u = fields(SWIRL, 64, device, dtype)
    pt.Splitting.from_preset(preset, velocity, u).run(until=0.5, dt=1 / 16)
    velocity, by_hand = fields(SWIRL, 64, device, dtype)
    advection = pt.AdvectionOp(velocity, scheme, interpolation=interpolation)
    remesh = pt.RemeshOp(by_hand, kernel, limiter=limiter)
    pt.Splitting(advection, remesh).run(until=0.5, dt=1 / 16)
    np.testing.assert_array_equal(np.asarray(u), np.asarray(by_hand))


def test_the_accurate_preset_is_more_accurate(device, dtype):
    errors = {}
    for preset in ("default", "accurate"):
        velocity, u = fields(SWIRL, 128, device, dtype)
        pt.Splitting.from_preset(preset, velocity, u).run(until=1.0, dt=1 / 64)
        errors[preset] = relative_l1(np.asarray(u, dtype=np.float64), exact_swirl(128))
    assert errors["accurate"] <= 0.5 * errors["default"]


@pytest.mark.parametrize(
    ("interpolation", "least", "most"), [("linear", 1.8, 2.3), ("cubic", 3.5, 9)]
)
def test_cubic_interpolation_is_needed_beyond_second_order(device, interpolation, least, most):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (64, 128, 256):
        velocity, u = fields(UNEVEN, n, device, "float64")
        exact = UNEVEN.exact(u.grid.coordinates(), 0.4)
        advection = pt.AdvectionOp(velocity, "rk4", interpolation=interpolation)
        transport = pt.Splitting(advection, pt.RemeshOp(u, "L6_4"))
        transport.run(until=0.4, dt=0.4 / round(0.6 * n / 2))
        errors.append(relative_l1(np.asarray(u), exact))
    assert least <= order(errors) <= most


@pytest.mark.parametrize(("kernel", "least"), [("L6_4", 5.6), ("L8_4", 7.4), ("M'8", 4.6)])
def test_order_in_one_dimension_by_a_formula(device, kernel, least):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (128, 256):
        _, u = fields(UNEVEN, n, device, "float64")
        formula = pt.Velocity(u.grid, lambda x: (1 + 0.5 * np.sin(2 * np.pi * x),))
        start = np.asarray(u)
        remesh = pt.RemeshOp(u, kernel)
        transport = pt.Splitting(pt.AdvectionOp(formula, "rk4"), remesh)
        steps = int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8))
        transport.run(until=UNEVEN.duration, dt=UNEVEN.duration / steps)
        errors.append(relative_l1(np.asarray(u), start))
    assert order(errors) >= least
