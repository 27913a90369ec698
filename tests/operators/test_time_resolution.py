# SPDX-License-Identifier: BSD-3-Clause
"""Times and places that a formula of a device's numbers cannot tell apart are refused."""

import numpy as np
import particles as pt
import pytest

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

GRID = pt.Grid(64, boundary="inflow")
BOX = pt.Grid(64)
DT = 0.025


def swinging(device, dtype, time):
    u = pt.Field(BOX, 1, dtype, device)
    velocity = pt.Velocity(BOX, lambda x, t: np.sin(2 * np.pi * t) + 0 * x)
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), time=time)


def unsplit(device, dtype, time):
    split = swinging(device, dtype, time)
    return pt.Unsplit(split.advection, split.remesh, time=time)


def filled(device, dtype, time):
    u = pt.Field(GRID, 1, dtype, device)
    remesh = pt.RemeshOp(u, inflow=lambda t: np.sin(2 * np.pi * t))
    return pt.Splitting(pt.AdvectionOp(pt.Velocity(GRID, "1")), remesh, time=time)


def heated(device, dtype, time):
    u = pt.Field(BOX, 1, dtype, device)
    source = pt.SourceOp(u, lambda u, x, t: np.sin(2 * np.pi * t))
    still = pt.AdvectionOp(pt.Velocity(BOX, "0.5"))
    return pt.Splitting(still, pt.RemeshOp(u), source=source, time=time)


TIMED = [swinging, unsplit, filled, heated]


@pytest.mark.parametrize("make", TIMED)
@pytest.mark.parametrize("how", ["run", "lcfl", "step"])
@pytest.mark.parametrize("time", [1e6, -1e6, 1.7e9])
def test_steps_that_are_lost_in_the_time_are_refused(device, make, how, time):
    run = make(device, "float32", time)
    steps = {
        "run": lambda: run.run(time + 0.25, DT),
        "lcfl": lambda: run.run(time + 0.25, 0.25 if make is heated else None, lcfl=0.5),
        "step": lambda: run.step(DT),
    }
    with pytest.raises(
        ValueError, match=r"^dt must be at least .* formulas in float32 round the time"
    ):
        steps[how]()
    assert (run.steps, run.time) == (0, time)


@pytest.mark.parametrize("make", TIMED)
def test_what_float32_can_tell_is_near_float64(device, make):
    """As near as its rounding of the time is to a step."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    results = []
    for dtype in ("float32", "float64"):
        run = make(device, dtype, 1e4)
        run.remesh.fields[0][...] = 1 + 0.5 * np.cos(2 * np.pi * np.arange(64) / 64)
        run.run(1e4 + 0.25, DT)
        results.append(run.remesh.fields[0].get())
    np.testing.assert_allclose(*results, rtol=0, atol=0.01)


@pytest.mark.parametrize("time", [1e6, -1e6])
def test_a_run_is_refused_before_it_begins(device, time):
    """Where its beginning or its end is too far from zero for its steps."""
    run = swinging(device, "float32", min(time, 0.0))
    with pytest.raises(ValueError, match=r"^dt must be at least .* round the time 1e\+06"):
        run.run(max(time, 0.0), DT)
    assert run.steps == 0


def test_the_last_step_of_a_run_may_be_short(device):
    run = swinging(device, "float32", 1e4)
    run.run(1e4 + DT + 1e-3, DT)
    assert run.steps == 2


def test_operators_alone_refuse_it_as_well(device):
    u = pt.Field(BOX, device=device)
    push = pt.AdvectionOp(pt.Velocity(BOX, "sin(t)"), device=device)
    source = pt.SourceOp(u, "t")
    for use in lambda: push.apply(DT, 0, time=1e6), lambda: source.apply(DT, time=1e6):
        with pytest.raises(ValueError, match=r"^dt must be at least"):
            use()
    run = swinging(device, "float32", 1e6)
    with pytest.raises(ValueError, match=r"^dt must be at least"):
        run.sweep(0, -DT)


def test_without_the_time_any_will_do(device):
    u = pt.Field(BOX, device=device)
    still = pt.AdvectionOp(pt.Velocity(BOX, "1"))
    transport = pt.Splitting(still, pt.RemeshOp(u), source=pt.SourceOp(u, "1"), time=1.7e9)
    transport.run(1.7e9 + 0.25, DT)
    assert u.sum() == pytest.approx(16, rel=1e-6)


def test_a_source_of_places_that_are_not_told_apart_is_refused(device):
    far = pt.Grid(64, origin=1e9)
    u = pt.Field(far, device=device)
    with pytest.raises(ValueError, match=r"^grid must have points that float32 can distinguish"):
        pt.SourceOp(u, lambda u, x: x - 1e9)
    pt.SourceOp(u, "-u").apply(0.1)
