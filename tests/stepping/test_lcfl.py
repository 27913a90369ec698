# SPDX-License-Identifier: BSD-3-Clause
"""How much strain a sweep bears: measured, warned of, refused."""

import re

import numpy as np
import particles as pt
import pytest
from particles.operators.limits import Strain
from particles.stepping.splitting import LCFLWarning

from tests.reference import reference
from tests.support.lot import lots
from tests.support.sweeps import FLOWS, box, components, field, formula_gradient, noise
from tests.support.transports import epsilon, strained, swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


def test_lcfl_is_that_of_numpy(device, dtype):
    for velocity in (
        swirl(24, dtype, device),
        strained((1.0, 3.0, 2.0), box(8, 6, 4), dtype, device),
    ):
        grid = velocity.grid
        for splitting in (1, 2):
            transport = transport_of(pt.Field(grid, 1, dtype, device), velocity, splitting)
            exact = reference.lcfl(components(velocity), 0.1, grid, splitting)
            assert transport.lcfl(0.1) == pytest.approx(exact, rel=4 * epsilon(dtype))


@pytest.mark.parametrize("order", [1, 2])
def test_lcfl_of_a_formula_is_that_in_the_middle_of_each_sweep(device, dtype, order):
    """There the midpoint rule takes the velocity that moves the particles."""
    grid = box(33, 16)
    flow = FLOWS[2]
    transport = transport_of(
        pt.Field(grid, 1, dtype, device), pt.Velocity(grid, flow), order, time=1.0
    )
    for dt in (0.1, 0.8):
        strains = [reference.strain(flow, axis, grid, 1 + dt / 2) for axis in (0, 1)]
        exact = max(
            reference.strain(flow, axis, grid, 1 + (begin + length / 2) * dt) * length * dt
            for axis, begin, length in reference.schedule(strains, order)
        )
        limit = 16 * formula_gradient(grid, 2.0) * epsilon(dtype)
        assert transport.lcfl(dt) == pytest.approx(exact, rel=limit)


@pytest.fixture
def at_the_limit(device, dtype):
    """A transport whose sweep along axis 1 is strained by dt, that along axis 0 by dt / 4.

    It carries a colour, which bears more than masses that must stay within a range.
    """
    grid = box(8, 6)
    velocity = strained((0.5, 1.0), grid, dtype, device)
    u = field((noise(grid, 0) > 0).astype(float), grid, dtype, device)
    transport = transport_of(u, velocity, order=1)
    return transport, velocity, u


def test_no_warning_up_to_one_half(at_the_limit):
    transport, _, _ = at_the_limit
    transport.step(0.499)
    transport.run(2.4, 0.499)


ADVANCES = {
    "step": lambda transport, dt: transport.step(dt),
    "run": lambda transport, dt: transport.run(10 * dt, dt),
    "sweep": lambda transport, dt: transport.sweep(1, dt),
}


@pytest.mark.parametrize("advance", ADVANCES)
def test_one_warning_above_one_half(at_the_limit, advance):
    transport, _, u = at_the_limit
    before = u.get()
    words = (
        r"^dt = 0\.6 is large: the strain of a sweep along axis 1 is 0\.6, above 0\.5 accuracy is "
        r"lost; take dt=0\.5 or run\(lcfl=0\.5\); 0\.9 is the limit$"
    )
    with pytest.warns(LCFLWarning, match=words) as warned:
        ADVANCES[advance](transport, 0.6)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert (u.get() != before).any()


@pytest.mark.parametrize("advance", ADVANCES)
def test_refusal_above_nine_tenths_changes_nothing(at_the_limit, advance):
    transport, _, u = at_the_limit
    before = u.get()
    words = (
        r"^dt must be at most 0\.9, not 1\.1: the strain of a sweep along axis 1 is 1\.1, above 0\.9 "
        r"particles lose their order; component 1 of the velocity has the difference quotient 1 at "
        r"index \(0, 0\), place \(.*\)$"
    )
    with pytest.raises(ValueError, match=words):
        ADVANCES[advance](transport, 1.1)
    assert transport.time == 0
    np.testing.assert_array_equal(u.get(), before)


def test_the_largest_dt_that_is_named_is_allowed(at_the_limit):
    transport, _, _ = at_the_limit
    with pytest.warns(LCFLWarning):
        transport.step(0.9)


def test_half_sweeps_bear_twice_the_step(device, dtype):
    grid = box(8, 6)
    velocity = strained((1.0, 0.4), grid, dtype, device)
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity)
    assert transport.schedule[1].axis == 1
    assert transport.lcfl(1.0) == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(ValueError, match=r"^dt must be at most 1\.8, not 2: .* axis 0 is 1, above"):
        transport.step(2)


def test_limits_follow_a_velocity_that_is_rewritten(at_the_limit):
    transport, velocity, _ = at_the_limit
    transport.step(0.4)
    strained((6.0, 1.0), velocity.grid, velocity.dtype, velocity.device, velocity)
    with pytest.raises(
        ValueError, match=r"^dt must be at most 0\.15, not 0\.4: .* axis 0 is 2\.4,"
    ):
        transport.step(0.4)
    velocity.fill(3.0)
    transport.step(0.4)
    assert transport.lcfl(0.4) == 0


def test_limits_of_a_formula_are_watched_during_a_run(device):
    """A run stops before the first step that is too large."""
    grid = box(16)
    velocity = pt.Velocity(grid, lambda x, t: (np.sin(np.pi * x) * t / np.pi,))
    u = field(noise(grid, 0), grid, "float32", device)
    transport = transport_of(u, velocity)
    with pytest.warns(LCFLWarning), pytest.raises(ValueError, match="dt must be at most 0"):
        transport.run(3.0, 0.5)
    assert transport.time == 2.0


@pytest.mark.sampled
def test_the_last_short_step_is_watched_too(device):
    """Its formula may have grown since the step before."""
    grid = box(16)
    velocity = pt.Velocity(
        grid, lambda x, t: (np.where(t > 1.05, 10, 0.1) * np.sin(np.pi * x) / np.pi,)
    )
    u = field(noise(grid, 0), grid, "float32", device)
    transport = transport_of(u, velocity)
    with pytest.raises(ValueError, match=r"^dt must be at most 0\.0\d+, not 0\.5: "):
        transport.run(1.2, 0.5)
    assert transport.time == 1.0


def test_a_run_warns_once_however_the_velocity_changes(device, dtype):
    grid = box(33)
    velocity = pt.Velocity(grid, lambda x, t: ((1 + t) * np.sin(2 * np.pi * x),))
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity)
    with pytest.warns(pt.LCFLWarning) as caught:
        transport.run(0.4, 0.09)
    assert len(caught) == 1


def test_a_limit_that_is_named_is_never_above_what_is_allowed():
    rates = lots("rates of strain").choices(range(1, 10**6), k=200)
    for rate in (number / 7e4 for number in rates):
        strain = Strain(rate, 0, 0.0, 0.0, 0.0)
        with pytest.raises(ValueError, match=r"^dt must be at most ") as refusal:
            strain.refuse(1e9, lambda _: "there")
        named = float(re.search("at most (.*?), not", str(refusal.value))[1])
        assert rate * named > 0.99999 * 0.9
        assert not strain.is_too_large(named)
