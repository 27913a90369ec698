# SPDX-License-Identifier: BSD-3-Clause
"""Runs along all axes at once: their strain, their orders, known flows, and what is refused."""

import warnings

import numpy as np
import particles as pt
import pytest
from particles import levelset

from tests.reference import reference_unsplit
from tests.support.problems import LEVEL_SET, SWIRL, relative_l1, volume
from tests.support.refusals import NAN, refused, scalar, vector
from tests.support.sweeps import box, components, field, noise, wave
from tests.support.transports import swirl
from tests.support.unsplits import unsplit, waves

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


def test_components_and_fields_are_carried_alike(device, dtype):
    grid = box(12, 17)
    velocity = waves(grid, dtype, device)
    pair = field([noise(grid, 8), noise(grid, 9)], grid, dtype, device)
    single = field(noise(grid, 9), grid, dtype, device)
    transport = pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp([pair, single]))
    transport.step(0.4 / reference_unsplit.strain(components(velocity), grid))
    np.testing.assert_array_equal(components(pair)[1], components(single)[0])


def test_strain_counts_all_axes(device, dtype):
    grid = box(12, 17, 9)
    velocity = waves(grid, dtype, device)
    transport = unsplit(pt.Field(grid, 1, dtype, device), velocity)
    for scale in (1.0, 3.0):
        for axis in range(3):
            velocity[axis] = scale * wave(grid, axis)
        expected = 0.01 * reference_unsplit.strain(components(velocity), grid)
        assert transport.lcfl(0.01) == pytest.approx(expected, rel=1e-5)


def test_large_strains_are_warned_of_and_refused(device):
    grid = box(12, 17)
    velocity = waves(grid, np.dtype("float32"), device)
    transport = unsplit(pt.Field(grid, device=device), velocity)
    strain = reference_unsplit.strain(components(velocity), grid)
    with pytest.warns(pt.LCFLWarning, match=r"strain of a step is 0\.6,"):
        transport.step(0.6 / strain)
    with pytest.raises(ValueError, match=r"strain of a step is 0\.95,"):
        transport.step(0.95 / strain)


def test_a_series_strains_as_much_as_it_does_at_any_time(device):
    """Not only in the middle of a step, where it may strain less."""
    grid = pt.Grid(20)
    (x,) = grid.coordinates()
    wave = np.sin(2 * np.pi * x)
    fields = [field(size * wave, grid, "float32", device) for size in (0.0, 1.0, 0.0)]
    series = pt.VelocitySeries(fields, [0.0, 0.1, 1.0])
    most = np.abs(np.diff(wave)).max() / grid.spacing[0]
    transport = unsplit(pt.Field(grid, device=device), series)
    assert transport.lcfl(0.05) == pytest.approx(0.05 * most / 2, rel=1e-5)
    assert transport.lcfl(0.1) == pytest.approx(0.1 * most, rel=1e-5)
    assert transport.lcfl(1.0) == pytest.approx(most, rel=1e-5)
    with pytest.raises(ValueError, match=r"above 0\.9 particles lose their order"):
        transport.step(0.95 / most)


def test_runs(device):
    """By equal steps and a shorter one, or by a strain; a run is its steps."""
    grid = box(16, 20)
    velocity = waves(grid, np.dtype("float32"), device)
    start = noise(grid, 9)
    u, other = (field(start, grid, np.dtype("float32"), device) for _ in range(2))
    dt = 0.3 / reference_unsplit.strain(components(velocity), grid)
    run, steps = unsplit(u, velocity), unsplit(other, velocity)
    run.run(2.5 * dt, dt, progress=False)
    for duration in (dt, dt, 2.5 * dt - 2 * dt):
        steps.step(duration)
    assert (run.time, run.steps) == (2.5 * dt, 3)
    np.testing.assert_array_equal(components(u), components(other))
    run.run(4.5 * dt, lcfl=0.31, progress=False)
    assert run.steps == 5
    assert repr(run).startswith(f"Unsplit(time={run.time:g},\n  AdvectionOp(")


def errors_of_swirl(device, stepper, kernel, cases, scheme="rk4"):
    """Relative errors at the time 0.5, by cases (points along an axis, steps), in float64."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for points, steps in cases:
        velocity = swirl(points, "float64", device)
        x = velocity.grid.coordinates()
        u = field(SWIRL.initial(*x), velocity.grid, "float64", device)
        advection = pt.AdvectionOp(velocity, scheme, interpolation="cubic")
        stepper(advection, pt.RemeshOp(u, kernel)).run(0.5, 0.5 / steps, progress=False)
        errors.append(relative_l1(components(u)[0], SWIRL.exact(x, 0.5)))
    return errors


STEPS = (8, 12, 16)


def slope(numbers, errors):
    return -np.polyfit(np.log(numbers), np.log(errors), 1)[0]


@pytest.mark.slow
@pytest.mark.drawn(3)
@pytest.mark.parametrize(
    ("scheme", "least"), [("euler", 0.85), ("rk2", 1.9), ("heun", 1.9), ("rk3", 2.9), ("rk4", 3.9)]
)
def test_order_in_time(device, scheme, least):
    errors = errors_of_swirl(device, pt.Unsplit, "L6_4", [(96, n) for n in STEPS], scheme)
    assert slope(STEPS, errors) >= least


@pytest.mark.sampled
def test_there_is_no_error_of_splitting(device):
    cases = [(96, n) for n in STEPS]
    errors = errors_of_swirl(device, pt.Unsplit, "L6_4", cases)
    split = errors_of_swirl(device, pt.Splitting, "L6_4", cases)
    assert slope(STEPS, split) <= 2.3
    assert errors[-1] <= split[-1] / 10


@pytest.mark.sampled
@pytest.mark.parametrize(("kernel", "least"), [("M'4", 2.5), ("M'6", 3.9), ("L6_4", 4.9)])
def test_order_in_space(device, kernel, least):
    points = (32, 48, 64)
    errors = errors_of_swirl(device, pt.Unsplit, kernel, [(n, 24) for n in points])
    assert slope(points, errors) >= least


@pytest.mark.slow
def test_level_set(device):
    """Twenty steps on 64^3 points: as far from the solution as steps of Strang are."""
    grid = pt.Grid((64, 64, 64))
    x = grid.coordinates()
    exact = levelset.exact(grid, [1.0])[0]
    errors = []
    for stepper in (pt.Splitting, pt.Unsplit):
        u = field(LEVEL_SET.initial(*x), grid, "float32", device)
        velocity = [np.broadcast_to(a, grid.shape) for a in LEVEL_SET.velocity(*x)]
        advection = pt.AdvectionOp(field(velocity, grid, "float32", device))
        before = u.sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            stepper(advection, pt.RemeshOp(u)).run(1.0, 0.05, progress=False)
        (values,) = components(u)
        errors.append(relative_l1(values, exact))
        assert abs(u.sum() / before - 1) <= 3e-7
        assert -0.04 <= volume(values) / exact.sum() - 1 <= 0
    assert errors[1] <= 1.05 * errors[0]


@pytest.mark.parametrize("shape", [(30,), (12, 17)], ids=str)
def test_halves_are_rounded_once_a_step(device, shape):
    grid = box(*shape)
    velocity = waves(grid, np.dtype("float32"), device)
    half = field(noise(grid, 9), grid, "float16", device)
    single = field(components(half)[0], grid, "float32", device)
    dt = 0.4 / reference_unsplit.strain(components(velocity), grid)
    for u in (half, single):
        unsplit(u, velocity).step(dt)
    rounded = components(single)[0].astype(np.float16).astype(np.float64)
    np.testing.assert_array_equal(components(half)[0], rounded)


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        ({"limiter": "positive"}, "remesh must have no limiter for Unsplit, not 'positive'"),
        (
            {"conservative": False},
            "remesh must be conservative for Unsplit, not conservative=False",
        ),
        (
            {"form": "global"},
            "remesh must have no form for Unsplit, which has no lines, not Form(kind='global')",
        ),
    ],
    ids=str,
)
def test_what_it_cannot_do_is_refused(operator, words):
    refused(
        ValueError, words, pt.Unsplit, pt.AdvectionOp(vector()), pt.RemeshOp(scalar(), **operator)
    )


def test_wrong_arguments_are_refused():
    advection, remesh = pt.AdvectionOp(vector()), pt.RemeshOp(scalar())
    refused(TypeError, "advection must be an AdvectionOp, not None", pt.Unsplit, None, remesh)
    refused(TypeError, "remesh must be a RemeshOp, not None", pt.Unsplit, advection, None)
    velocity = vector()
    velocity[0] = NAN
    transport = pt.Unsplit(pt.AdvectionOp(velocity), remesh)
    words = (
        "velocity must be finite, but its component 0 is not: it is nan at index (0, 0), "
        "place (0, 0)"
    )
    refused(ValueError, words, transport.step, 0.1)
    velocity.fill(1.0)
    words = (
        "dt must move particles by less than 2**30 cells, not 4e+09 along axis 0, "
        "where the velocity is 1 at index (0, 0), place (0, 0)"
    )
    refused(ValueError, words, transport.step, 1e9)
