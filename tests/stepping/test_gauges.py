# SPDX-License-Identifier: BSD-3-Clause
"""What bounds steps is looked at, measured and judged for many of them at once."""

import sys
from collections import Counter

import numpy as np
import particles as pt
import pytest

FORMULAS = {
    "steady": ("sin(2*M_PI*x)/9 + y/9", "cos(2*M_PI*z)/9", "x/9"),
    "wave": ("sin(2*M_PI*(x - t))/9", "sin(2*M_PI*(y + z*t))/9", "cos(2*M_PI*(z + t))/9"),
    "product": ("sin(2*M_PI*x)*cos(3*t)/9", "sin(2*M_PI*y)*cos(3*t)/9", "x*cos(3*t)/9"),
}


def transport_of(name, device, points=16, stepper=pt.Splitting):
    grid = pt.Grid((points,) * 3)
    u = pt.Field(grid, device=device)
    return stepper(pt.AdvectionOp(pt.Velocity(grid, FORMULAS[name])), pt.RemeshOp(u))


def frames_of(call):
    """How many Python functions a call enters."""
    entered = Counter()
    sys.setprofile(lambda frame, event, _: entered.update([event]))
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered["call"]


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("name", "of_a_step", "of_a_run"), [("steady", 0, 250), ("wave", 6, 600), ("product", 7, 700)]
)
def test_a_step_costs_few_calls(device, name, of_a_step, of_a_run):
    transport, entered = transport_of(name, device), {}
    transport.run(0.04, 0.01, progress=False)  # what is made by the first call
    for steps in (200, 400):
        transport._pace.steps = steps  # however fast the device is
        end = transport.time + 0.01 * steps
        entered[steps] = frames_of(lambda end=end: transport.run(end, 0.01, progress=False))
    found = (entered[400] - entered[200]) / 200
    assert found <= of_a_step
    assert entered[200] - 200 * found <= of_a_run


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("name", "lcfl"), [("wave", 0.012), ("product", 0.005)])
@pytest.mark.parametrize("stepper", [pt.Splitting, pt.Unsplit])
def test_a_step_that_is_fitted_costs_few_calls(device, name, lcfl, stepper):
    transport = transport_of(name, device, 16, stepper)
    transport.run(0.1, lcfl=lcfl, progress=False)
    transport._pace.steps = 64  # however fast the device is
    before = transport.steps
    end = 1.1 if stepper is pt.Splitting else 0.4
    entered = frames_of(lambda: transport.run(end, lcfl=lcfl, progress=False))
    assert 40 <= transport.steps - before <= 128
    assert entered <= 20 * (transport.steps - before)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("stepper", [pt.Splitting, pt.Unsplit])
@pytest.mark.parametrize("name", ["wave", "product"])
def test_fitted_steps_together_are_those_one_by_one(device, name, stepper):
    """Times, schedules and bits: each is as long as the strain where it begins allows."""
    together, alone = (transport_of(name, device, 6, stepper) for _ in range(2))
    together._pace.steps, times = 64, []
    together.run(1.3, lcfl=0.02, progress=False)
    alone.run(1.3, lcfl=0.02, progress=False, check="step")
    assert together.steps == alone.steps
    assert (together.time, together.last_dt) == (alone.time, alone.last_dt)
    assert together.report().dt == alone.report().dt
    np.testing.assert_array_equal(together.fields[0].get(), alone.fields[0].get())
    watched = transport_of(name, device, 6, stepper)
    watched.run(1.3, lcfl=0.02, progress=False, callback=lambda r: times.append(r.time), every=1)
    assert len(times) == watched.steps <= alone.steps  # shorter ones can be joined
    assert len(set(np.diff(times).round(9))) > 3


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("stepper", [pt.Splitting, pt.Unsplit])
def test_steps_together_are_those_one_by_one(device, stepper):
    """Times, schedules and bits: the axis of least strain changes on the way."""
    together, alone = (transport_of("wave", device, 6, stepper) for _ in range(2))
    together.run(1.3, 0.02, progress=False)
    alone.run(1.3, 0.02, progress=False, check="step")
    assert together.time == alone.time
    np.testing.assert_array_equal(together.fields[0].get(), alone.fields[0].get())


@pytest.mark.one_device
@pytest.mark.any_form
def test_steps_before_one_that_is_refused_are_done(device):
    grid = pt.Grid(16)
    u = pt.Field(grid, device=device)
    transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, "x*t*t + 0.1*t")), pt.RemeshOp(u))
    with (
        pytest.warns(pt.LCFLWarning),
        pytest.raises(ValueError, match=r"above 0\.9 particles lose their order"),
    ):
        transport.run(9.0, 0.125, progress=False)
    assert transport.time == 0.125 * transport.steps > 0
    assert transport.report().lcfl <= 0.9 < transport.lcfl(0.125)
