# SPDX-License-Identifier: BSD-3-Clause
"""Runs whose steps are as large as a strain allows."""

import warnings

import numpy as np
import particles as pt
import pytest
from particles.operators.flow import Flow

from tests.support.refusals import refused, scalar, vector
from tests.support.sweeps import box, field, noise, wave
from tests.support.transports import (
    joined,
    joined_steps,
    strained,
    swept_one_by_one,
    swirl,
    transport_of,
)

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


def pair(velocity, device, dtype="float32"):
    """Two transports of the same colour, which bears more than masses within a range."""
    grid = velocity.grid
    colour = (wave(grid, 5) > 0).astype(float)
    fields = [field(colour, grid, dtype, device) for _ in range(2)]
    return [transport_of(u, velocity) for u in fields]


def values(transport):
    return transport.remesh.fields[0].get()


class Recorder:
    """A core whose steps are written down."""

    def __init__(self, core):
        self.core, self.begins, self.durations, self.joined = core, [], [], []

    def __getattr__(self, name):
        return getattr(self.core, name)

    def advance(self, times, dt, steps, joined, first=0):
        self.durations += [dt] * (steps * len(times))
        self.core.advance(times, dt, steps, joined, first)

    def advance_fitted(self, fitted):
        self.begins += fitted.begins
        self.durations += fitted.durations
        self.joined += fitted.joined
        self.core.advance_fitted(fitted)


@pytest.mark.parametrize("lcfl", [0.1, 0.35, 0.5, 0.9])
def test_a_steady_velocity_makes_equal_steps_of_the_fewest_sweeps(device, dtype, lcfl):
    run, other = pair(swirl(32, dtype, device), device, dtype)
    rate = run.lcfl(1.0)  # of joints, too: both axes are strained alike
    alone, together = (int(np.ceil(1.5 * rate / most)) for most in (lcfl, min(lcfl, 0.25)))
    fewest = together if 2 * together + 1 < 3 * alone else alone
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.LCFLWarning)  # the strain has been asked for
        warnings.filterwarnings("ignore", "steps of .* take points")
        run.run(1.5, lcfl=lcfl)
    assert run.time == 1.5
    assert run.steps == fewest
    assert run.last_dt == 1.5 / run.steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LCFLWarning)
        other.run(1.5, 1.5 / run.steps)
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize(("stronger", "share"), [(1.05, 0.75), (1.4, 0.99), (1.6, None)])
def test_steps_are_shorter_where_joining_takes_fewer_sweeps(device, stronger, share, timed):
    """The joint is swept along the axis that is strained more, and whole: by 1.05, beside 1 of single steps."""
    grid = pt.Grid((24, 24))

    def flow(x, y, t=0.0):
        beat = 1 + 0.2 * np.sin(7 * t + x) if timed else 1
        return stronger * beat * np.sin(2 * np.pi * x), beat * np.sin(2 * np.pi * y)

    velocity = pt.Velocity(grid, flow if timed else lambda x, y: flow(x, y))
    fitted, watched = (
        transport_of(field(noise(grid, 5), grid, "float32", device), velocity) for _ in range(2)
    )
    fitted.run(1.0, lcfl=0.2, progress=False)
    watched.run(1.0, lcfl=0.2, progress=False, callback=lambda _: None, every=1)
    assert fitted.report().lcfl <= 0.2 * (1 + 1e-5)
    assert watched.sweeps == 3 * watched.steps
    if share is None and not timed:
        assert fitted.sweeps == 3 * fitted.steps
    elif share is not None:
        assert fitted.steps >= watched.steps
        assert fitted.sweeps < share * watched.sweeps


@pytest.mark.parametrize("timed", [False, True])
def test_calls_of_few_steps_are_counted_with_the_sweeps_that_they_cost(device, timed):
    """Steps are not joined across a call: two by two, with 5 sweeps, or alone, with 3 each."""

    def flow(x, y, t=0.0):
        beat = 1 + 0.2 * np.sin(7 * t + x) if timed else 1
        return 1.3 * beat * np.sin(2 * np.pi * x), beat * np.sin(2 * np.pi * y)

    velocity = pt.Velocity(pt.Grid((24, 24)), flow if timed else lambda x, y: flow(x, y))
    sweeps = []
    for every in 1, 2, 8:
        run, _ = pair(velocity, device)
        run.run(4.0, lcfl=0.2, callback=lambda _: None, every=every, progress=False)
        sweeps.append(run.sweeps)
    assert sweeps[1] <= 1.01 * sweeps[0]
    assert sweeps[2] < 0.97 * sweeps[0]


def test_a_number_of_steps_that_is_rounded_down_joins_nevertheless(device):
    """Of more steps, which are to be joined, none is too long by a rounding."""
    velocity = pt.Velocity(
        pt.Grid((24, 24)), lambda x, y: (1.3 * np.sin(2 * np.pi * x), np.sin(2 * np.pi * y))
    )
    run, _ = pair(velocity, device)
    joint = run._strain_at(0.0, 0.0).joint
    for rounding in -5e-10, -1e-12, 0.0, 1e-12, 1e-9:
        run, _ = pair(velocity, device)
        run.run(1.0, lcfl=joint / 41 / (1 + 1e-6) * (1 + rounding), progress=False)
        assert run.sweeps == 2 * run.steps + 1


def test_a_strain_met_exactly_costs_no_further_step(device):
    velocity = strained((1.0, 1.0), box(8, 6), "float32", device)
    run, _ = pair(velocity, device)
    run.run(2.5, lcfl=0.25 * run.lcfl(1.0))
    assert run.steps == 10


def test_joints_keep_to_the_strain_that_is_asked_for(device):
    """Axis 0 is swept by halves, or wholly where steps are joined: strained by 1 or 2."""
    velocity = strained((2.0, 0.1), box(8, 6), "float32", device)
    run, other = pair(velocity, device)
    run.run(1.0, lcfl=0.2)
    assert run.steps == 5
    for _ in range(5):
        other.step(0.2)
    np.testing.assert_array_equal(values(run), values(other))


def test_steps_of_a_steady_velocity_are_joined(device):
    run, other = pair(strained((0.9, 0.9), box(8, 6), "float32", device), device)
    run.run(1.0, lcfl=0.25)
    assert run.steps == 4
    for axis, duration in joined(run.joined_schedule, 4, 0.25):
        other.sweep(axis, duration)
    np.testing.assert_array_equal(values(run), values(other))


def test_particles_may_cross_many_cells(device):
    """Nothing strains: the whole run is one step, at a CFL number of 40."""
    grid = pt.Grid((16, 16))
    run, other = pair(pt.Velocity(grid, ["2.5", "1"]), device)
    run.run(1.0, lcfl=0.5)
    assert (run.steps, run.last_dt, run.time) == (1, 1.0, 1.0)
    other.step(1.0)
    np.testing.assert_array_equal(values(run), values(other))


def timed(grid, strength):
    """A swirl with a strength that depends on time."""
    return pt.Velocity(
        grid,
        lambda x, y, t: (
            strength(t) * np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
            -strength(t) * np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
        ),
    )


STRENGTHS = {
    "growing": lambda t: 0.1 + 4 * t * t,
    "fading": lambda t: np.exp(-3 * t),
    "reversing": lambda t: np.cos(np.pi * t),
    "vanishing at both ends": lambda t: np.sin(np.pi * t),
    "sudden": lambda t: np.where(t > 0.55, 3.0, 0.01),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", STRENGTHS)
def test_every_step_of_a_timed_velocity_keeps_to_the_strain(device, name):
    grid = pt.Grid((24, 24))
    run, other = pair(timed(grid, STRENGTHS[name]), device)
    run._core = recorder = Recorder(run._core)
    run.run(1.0, lcfl=0.3)
    assert run.time == 1.0
    durations = recorder.durations
    assert len(durations) == run.steps
    assert run.last_dt == durations[-1]
    assert sum(durations) == pytest.approx(1.0)
    steps = []
    for begin, dt, is_joined in zip(recorder.begins, durations, recorder.joined, strict=True):
        other.time = begin
        assert other.lcfl(dt) <= 0.3
        steps.append((other.joined_schedule, begin, dt, is_joined))
    sweeps = joined_steps(steps)
    for axis, begin, duration in sweeps:
        assert other._gauge.of_sweep(axis, begin, duration).rate * duration <= 0.3 * (1 + 1e-6)
    swept_one_by_one(other, sweeps)
    np.testing.assert_array_equal(values(run), values(other))
    lengths = np.array(durations)
    assert lengths[0] <= 1 / 8
    assert (lengths[1:] <= 2 * lengths[:-1] * (1 + 1e-12)).all()


@pytest.mark.sampled
def test_steps_follow_the_strength(device):
    """Where the velocity is ten times as strong, steps are about a tenth as long."""
    grid = pt.Grid((24, 24))
    run, _ = pair(timed(grid, lambda t: 0.5 + 9.5 * t), device)
    run._core = recorder = Recorder(run._core)
    run.run(1.0, lcfl=0.2)
    first, last = recorder.durations[0], recorder.durations[-1]
    assert last < 0.2 * first
    plain, _ = pair(timed(grid, lambda t: 10 + 0 * t), device)
    plain.run(1.0, lcfl=0.2, check=None)  # it ruins the colour, of which a look would warn
    assert run.steps < 0.7 * plain.steps


def test_callbacks_see_the_time_go_on(device):
    """Were it to go back the run would not end, but for the callback."""
    for velocity in (swirl(16, "float32", device), timed(pt.Grid((16, 16)), np.cos)):
        run, _ = pair(velocity, device)
        times = [0.0]

        def look(one, times=times):
            times.append(one.time)
            assert times[-1] > times[-2]

        run.run(1.0, lcfl=0.3, callback=look, every=1)
        assert len(times) == 1 + run.steps > 2


def test_a_run_to_the_present_does_nothing(device):
    for velocity in (swirl(16, "float32", device), timed(pt.Grid((16, 16)), np.cos)):
        run, _ = pair(velocity, device)
        run.run(0.0, lcfl=0.5)
        assert (run.steps, run.last_dt, run.time) == (0, None, 0.0)


def test_progress_of_fitted_steps(device, capsys):
    run, _ = pair(timed(pt.Grid((16, 16)), np.cos), device)
    run.run(0.5, lcfl=0.3, progress=True)
    assert "100/100" in capsys.readouterr().err
    run.run(0.6, lcfl=0.3)
    assert capsys.readouterr().err == ""


@pytest.fixture
def transport():
    return pt.Splitting(pt.AdvectionOp(vector()), pt.RemeshOp(scalar()), time=1.0)


@pytest.mark.parametrize("strength", ["steady", "reversing"])
def test_with_both_steps_are_as_large_as_both_allow(device, strength):
    velocity = (
        swirl(24, "float32", device)
        if strength == "steady"
        else timed(pt.Grid((24, 24)), STRENGTHS[strength])
    )
    run, other = pair(velocity, device)
    other.run(1.0, lcfl=0.3)
    run.run(1.0, dt=10.0, lcfl=0.3)
    assert run.steps == other.steps
    np.testing.assert_array_equal(values(run), values(other))
    run, other = pair(velocity, device)
    run._core = recorder = Recorder(run._core)
    longest = 0.4 / other.lcfl(1.0)
    run.run(1.0, dt=longest, lcfl=0.5)
    assert max(recorder.durations) <= longest * (1 + 1e-12)
    run, _ = pair(velocity, device)
    run.run(1.0, dt=0.01, lcfl=0.9)
    assert (run.steps, run.time) == (100, 1.0)


def test_one_of_dt_and_lcfl_is_needed(transport):
    words = "run needs dt, lcfl or both, not dt=None and lcfl=None"
    refused(TypeError, words, transport.run, 2.0)


def gray_scott(device):
    """Spots in a weak wind, which strains nothing: the flow allows any step, the reaction one of 1."""
    grid = pt.Grid((16, 16))
    u, v = (pt.Field(grid, device=device, name=name) for name in "uv")
    u.fill(0.5)
    v.fill(0.5)
    reaction = pt.SourceOp(
        [u, v],
        lambda u, v, x, y: (-u * v * v + 0.04 * (1 - u), u * v * v - 0.1 * v + 0 * x),
    )
    wind = pt.AdvectionOp(pt.Velocity(grid, ["1e-3", "0"]))
    return pt.Splitting(wind, pt.RemeshOp([u, v]), source=reaction)


def test_a_source_needs_a_longest_step(device):
    transport = gray_scott(device)
    words = (
        "dt must be given with lcfl where there is a source, not None: it is the longest step, "
        "as lcfl limits steps by the flow alone"
    )
    refused(ValueError, words, transport.run, 100.0, lcfl=0.2)
    assert transport.time == 0
    transport.run(100.0, dt=1.0, lcfl=0.2)
    assert transport.steps == 100
    assert all(0 <= field.min() <= field.max() <= 1.1 for field in transport.fields)


def test_where_steps_are_too_long_for_a_source_the_error_says_so(device):
    transport = gray_scott(device)
    words = (
        r"^field 'u' is .*, after step 1, at time 10000, with dt = 10000; SourceOp\(u0: .*\) may "
        r"need a smaller dt$"
    )
    with pytest.raises(pt.NotFiniteError, match=words):
        transport.run(1e4, dt=1e5, lcfl=0.2)
    transport = gray_scott(device)
    transport.step(1e4)
    with pytest.warns(pt.NotFiniteWarning, match=words):
        transport.fields[0].get()


def test_strains_that_cannot_be_asked_for(transport):
    for lcfl in (0.0, -0.5, 0.91):
        words = f"lcfl must be above 0 and at most 0.9, not {lcfl}"
        refused(ValueError, words, transport.run, 2.0, lcfl=lcfl)
    transport.run(1.0, lcfl=0.9)
    refused(TypeError, "lcfl must be a number, not '1'", transport.run, 2.0, lcfl="1")
    words = "until must not be before the present time 1.0, not 0.5"
    refused(ValueError, words, transport.run, 0.5, lcfl=0.5)
    assert transport.time == 1.0


def told(velocity, until, device, **steps):
    """What a run warns of."""
    u = pt.Field(velocity.grid, device=device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transport.run(until, **steps)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("is_stored", [False, True])
def test_steps_that_shear_the_box_are_told(device, is_stored):
    """A rotation strains no sweep: one step would take it around."""
    grid = pt.Grid((32, 32))
    velocity = pt.Velocity(grid, lambda x, y: (0.5 - y, x - 0.5))
    if is_stored:
        x, y = grid.coordinates()
        velocity = field([0.5 - y + 0 * x, x - 0.5 + 0 * y], grid, "float32", device)
    (words,) = told(velocity, 2 * np.pi, device, lcfl=0.2)
    assert words == (
        "steps of 6.28 take points of the box 6.1 times its extent apart along axis 0: that is "
        "shear, of which lcfl knows nothing; give dt as well, about 0.1"
    )
    assert not told(velocity, 2 * np.pi, device, lcfl=0.2, dt=0.1)
    assert not told(velocity, 0.1, device, lcfl=0.2)
    for steps in {"dt": np.pi}, {"dt": np.pi, "lcfl": 0.2}:
        (words,) = told(velocity, 2 * np.pi, device, **steps)
        assert words.endswith("apart along axis 0: that is shear; take dt of about 0.1")


@pytest.mark.parametrize("kind", ["formula", "series", "shared", "changed"])
def test_shear_is_told_of_any_velocity(device, kind):
    """Also of one that is known at each time anew; what stands still at one time may move at others."""
    grid = pt.Grid((32, 32))
    formula = pt.Velocity(grid, lambda x, y, t: (-np.sin(t) * (y - 0.5), np.sin(t) * (x - 0.5)))
    x, y = grid.coordinates()
    turning = field([0.5 - y + 0 * x, x - 0.5 + 0 * y], grid, "float32", device)
    velocity, calls = turning, {}
    if kind == "formula":
        velocity = formula
    elif kind == "series":
        still = pt.Field(grid, 2, device=device)
        velocity = pt.VelocitySeries([still, turning, turning], [0, 1, 9])
    elif kind == "shared":
        np.from_dlpack(turning)
    else:
        calls = {"callback": lambda _: turning.__imul__(1.0), "at": [3.0]}
    words = told(velocity, 2 * np.pi, device, lcfl=0.2, **calls)
    assert any("that is shear" in one for one in words)


def test_nothing_but_shear_is_told(device):
    box = pt.Grid((32, 32), boundary="outflow")
    strained = pt.Velocity(box, lambda x, y: (x - 0.5, 0.5 - y))
    assert not told(strained, 0.4, device, lcfl=0.4)
    thin = pt.Grid((32, 1), extent=(1, 1 / 32))
    assert not told(
        pt.Velocity(thin, lambda x, y: (0.5, 0.2 * np.sin(2 * np.pi * x))), 1.0, device, dt=0.5
    )
    grid = pt.Grid((32, 32))
    x, y = grid.coordinates()
    still = pt.Field(grid, 2, device=device)
    fast = field([30 * (0.5 - y) + 0 * x, 30 * (x - 0.5) + 0 * y], grid, "float32", device)
    assert not told(pt.VelocitySeries([still, fast], [0, 100]), 1.0, device, dt=0.5)
    burst = pt.Velocity(
        pt.Grid((64, 64)),
        lambda x, y, t: tuple(
            (0.05 + 10 * np.exp(-(((t - 0.5) / 0.02) ** 2))) * one
            for one in (
                np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
                -np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
            )
        ),
    )
    assert not [one for one in told(burst, 1.0, device, lcfl=0.35) if "shear" in one]


def test_shear_is_not_looked_for_in_vain(device, monkeypatch):
    """Of steps that are too short for it, and of steps that have been looked at."""
    grid = pt.Grid((32, 32))
    velocity = pt.Velocity(grid, lambda x, y, t: (0.5 - y, x - 0.5 + 0 * t))
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(grid, device=device)))
    with pytest.warns(pt.LCFLWarning, match="that is shear"):
        transport.run(2.0, 1.0)
    monkeypatch.setattr(Flow, "_components", None)
    transport.run(4.0, 1.0)
    transport.run(5.0, 0.1)


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y: (3.0, 2.0),
        lambda x, y: (np.sin(2 * np.pi * y), 0.0),  # no other sweep takes part
        lambda x, y: (np.sin(2 * np.pi * x), np.cos(2 * np.pi * y)),  # strained, so steps are short
    ],
    ids=["uniform", "along one axis", "strained"],
)
def test_steps_that_follow_the_flow_are_not_told(device, formula):
    assert not told(pt.Velocity(pt.Grid((32, 32)), formula), 1.0, device, lcfl=0.2)
