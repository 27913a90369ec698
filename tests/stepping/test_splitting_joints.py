# SPDX-License-Identifier: BSD-3-Clause
"""Steps of a run are joined where that is right, and nobody sees them half done."""

import itertools
import warnings

import numpy as np
import particles as pt
import pytest
from particles._core import testing
from particles.base import progress as progress_module

from tests.support.problems import SWIRL, order, relative_l1
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


def waves(grid, dtype, device):
    return field([0.2 * wave(grid, k) for k in range(grid.ndim)], grid, dtype, device)


def formula(grid):
    return pt.Velocity(grid, ["0.2*sin(6.25*x)", "0.3*cos(6.25*y)", "0.1*sin(6.25*z)"][: grid.ndim])


def pair(velocity, dtype, device, order=2):
    """Two transports of equal fields."""
    grid = velocity.grid
    fields = [field(noise(grid, 3), grid, dtype, device) for _ in range(2)]
    return [transport_of(u, velocity, order) for u in fields]


def values(transport):
    return transport.remesh.fields[0].get()


def assert_joined(run, other, steps, dt):
    """The run has done what the other does by single sweeps."""
    for axis, duration in joined(run.joined_schedule, steps, dt):
        other.sweep(axis, duration)
    np.testing.assert_array_equal(values(run), values(other))


def assert_plain(run, other, steps, dt):
    for _ in range(steps):
        other.step(dt)
    np.testing.assert_array_equal(values(run), values(other))


def sweeps_of_run(transport, steps, dt):
    before = transport.sweeps
    transport.run(transport.time + steps * dt, dt)
    return transport.sweeps - before


@pytest.mark.parametrize("shape", [(33, 16), (9, 17, 33), (6000, 3)], ids=str)
@pytest.mark.parametrize("kind", ["grid", "formula"])
def test_a_run_is_its_joined_sweeps_to_the_bit(device, dtype, shape, kind):
    grid = box(*shape)
    velocity = waves(grid, dtype, device) if kind == "grid" else formula(grid)
    dt = 0.5 / transport_of(pt.Field(grid, 1, dtype, device), velocity).lcfl(4.0)
    run, other = pair(velocity, dtype, device)
    run.run(5 * dt, dt)
    assert_joined(run, other, 5, dt)


@pytest.mark.sampled
def test_order_in_time_of_joined_steps(device):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    velocity = swirl(192, "float64", device)
    x = velocity.grid.coordinates()
    exact, errors = SWIRL.exact(x, 0.5), []
    for steps in (8, 16, 32):
        u = field(SWIRL.initial(*x), velocity.grid, "float64", device)
        transport = transport_of(u, velocity, kernel="L8_4")
        assert sweeps_of_run(transport, steps, 0.5 / steps) == 2 * steps + 1
        errors.append(relative_l1(u.get(), exact))
    assert 1.85 <= order(errors) <= 2.2


def test_a_joint_is_one_sweep(device):
    run, _ = pair(swirl(16, "float32", device, 0.1), "float32", device)
    assert sweeps_of_run(run, 10, 0.1) == 2 * 10 + 1


@pytest.fixture
def chunks(monkeypatch):
    """Have runs go on by chunks of so many steps."""

    def choose(size):
        def chunks(steps, _, *others):
            return progress_module.chunks(steps, size, *others)

        monkeypatch.setattr("particles.stepping.transport.chunks", chunks)

    return choose


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("kind", ["grid", "formula", "in time"])
def test_chunks_change_no_bit(device, dtype, chunks, size, kind):
    grid = box(33, 16, 8)
    velocity = waves(grid, dtype, device) if kind == "grid" else formula(grid)
    if kind == "in time":
        velocity = pt.Velocity(grid, [f"{one}*cos(t)" for one in ("0.2*y", "0.3*sin(6*x)", "0.1")])
    whole, other = pair(velocity, dtype, device)
    chunks(100)
    whole.run(0.63, 0.05)
    chunks(size)
    other.run(0.63, 0.05)
    np.testing.assert_array_equal(values(whole), values(other))
    assert whole.time == other.time == 0.63


def test_a_bar_changes_no_bit(device, capsys):
    quiet, shown = pair(swirl(24, "float32", device, 0.1), "float32", device)
    quiet.run(1.0, 0.1, progress=False)
    shown.run(1.0, 0.1, progress=True)
    assert "10/10" in capsys.readouterr().err
    np.testing.assert_array_equal(values(quiet), values(shown))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_run_has_done_whole_steps(device, dtype, monkeypatch, error):
    """What was going on when the interrupt came is done, to the end of its last step."""
    calls = itertools.count(1)

    def interrupted(pace, _steps, _seconds):
        pace.steps = 3
        if next(calls) == 3:
            raise error

    run, other = pair(waves(box(33, 16), dtype, device), dtype, device)
    with monkeypatch.context() as patch:
        patch.setattr(progress_module.Pace, "note", interrupted)
        with pytest.raises(error):
            run.run(1.0, 0.1)
    assert run.time == pytest.approx(0.7)
    assert_joined(run, other, 7, 0.1)
    run.run(1.0, 0.1)
    other.run(0.3, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


def test_a_run_of_a_moment_is_one_call(device, monkeypatch):
    """After a first one, which does not know yet how long a step takes."""
    transport, _ = pair(swirl(16, "float32", device, 0.1), "float32", device)
    transport.run(1.0, 0.1)
    monkeypatch.setattr(transport._pace, "steps", 10)
    sizes = []

    class Spy:
        def __init__(self, core):
            self.core = core

        def __getattr__(self, name):
            return getattr(self.core, name)

        def advance(self, times, dt, steps, joined, first=0):
            sizes.append(steps)
            self.core.advance(times, dt, steps, joined, first)

    transport._core = Spy(transport._core)
    transport.run(2.0, 0.1)
    assert sizes == [10]


def test_steps_strained_too_much_by_joints_are_not_joined(device, dtype):
    velocity = strained((1.0, 0.4), box(8, 6), dtype, device)
    run, other = pair(velocity, dtype, device)
    run.run(4 * 0.249, 0.249)
    assert_joined(run, other, 4, 0.249)
    run, other = pair(velocity, dtype, device)
    run.run(4 * 0.251, 0.251)
    assert_plain(run, other, 4, 0.251)


@pytest.mark.parametrize("strains", [*itertools.permutations((1.0, 2.0, 3.0))], ids=str)
def test_no_order_of_the_axes_strains_less(device, strains):
    """Of single steps; of joined ones, where the outer halves count as whole sweeps."""
    velocity = strained(strains, box(8, 6, 4), "float32", device)
    transport = transport_of(pt.Field(velocity.grid, device=device), velocity)

    def strain(outer, inner, full, share):
        return max(share * strains[outer], strains[inner] / 2, strains[full])

    for schedule, share in ((transport.schedule, 0.5), (transport.joined_schedule, 1.0)):
        axes = [stage.axis for stage in schedule][:3]
        orders = itertools.permutations(range(3))
        assert strain(*axes, share) == min(strain(*order, share) for order in orders)


def test_axes_strained_alike_keep_their_order(device):
    for strains, axes in (
        ((2.0, 2.01, 1.0), (0, 1, 2, 1, 0)),
        ((2.0, 1.0, 1.0), (1, 0, 2, 0, 1)),
        ((0.0, 0.0, 0.0), (0, 1, 2, 1, 0)),
    ):
        velocity = strained(strains, box(8, 6, 4), "float32", device)
        transport = transport_of(pt.Field(velocity.grid, device=device), velocity)
        assert tuple(stage.axis for stage in transport.joined_schedule) == axes


@pytest.mark.parametrize("shape", [(33, 16), (9, 17, 33), (6000, 3)], ids=str)
def test_a_joint_of_a_velocity_that_depends_on_time_is_one_sweep_over_its_own_time(
    device, dtype, shape
):
    grid = box(*shape)
    formulas = ["0.2*sin(6.25*x + 3*t)", "0.1*cos(6.25*y)*exp(-t)", "0.1*sin(6.25*z - t)"]
    velocity = pt.Velocity(grid, formulas[: grid.ndim])
    run, other = pair(velocity, dtype, device)
    dt = 0.05 / run.lcfl(1.0)
    before = run.sweeps
    run.run(5 * dt, dt)
    assert run.sweeps - before == 5 * 2 * (grid.ndim - 1) + 1
    steps = [(run.joined_schedule, step * dt, dt, True) for step in range(5)]
    swept_one_by_one(other, joined_steps(steps))
    np.testing.assert_array_equal(values(run), values(other))


def growing(grid):
    """Strains axis 0 by t, and axis 1 hardly."""
    return pt.Velocity(grid, ["x*t", "0.01*y*t"])


@pytest.mark.parametrize("size", [1, 3])
def test_steps_of_a_growing_velocity_are_joined_while_they_bear_it(device, dtype, chunks, size):
    """Whichever steps are looked at together."""
    grid = pt.Grid((12, 10), boundary="outflow")
    dt = 0.125
    runs = [*pair(growing(grid), dtype, device), *pair(growing(grid), dtype, device)]
    for run, together in zip(runs[:2], (100, size), strict=True):
        chunks(together)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            run.run(4.0, dt)
    np.testing.assert_array_equal(values(runs[0]), values(runs[1]))
    counted = runs[0].sweeps
    assert 2 * 32 + 1 < counted < 3 * 32
    rates = [dt * (step * dt + dt / 2) for step in range(32)]
    assert counted == 3 * 32 - sum(after <= 0.25 for after in rates[1:])


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_strain_that_is_the_limit_is_joined_however_it_is_rounded(device, dtype, chunks, size):
    """Of a flow that comes to strain by it for good; steps are looked at in other groups."""
    grid = pt.Grid((24, 20), boundary="outflow")
    velocity = pt.Velocity(grid, ["2*(x - 0.5)*tanh(3*t)", "1.9*(y - 0.5)*tanh(3*t)"])
    run, other = pair(velocity, dtype, device)
    for one, together in (run, 100), (other, size):
        chunks(together)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            one.run(5.0, 0.125)
        assert one.sweeps == 2 * 40 + 1
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.parametrize("how", [{"lcfl": 0.2}, {"lcfl": 0.1, "dt": 0.1}, {"dt": 0.1}], ids=str)
def test_what_a_joint_strains_is_told_and_kept_to(device, how):
    """Though the flow strains most where steps begin and end."""
    grid = pt.Grid((24, 20))
    turn = "(1.02 + cos(12*t))" if "dt" not in how else "cos(31.41592653589793*t)"
    velocity = pt.Velocity(grid, [f"{turn}*0.1*sin(6.25*x)", f"{turn}*0.1*cos(6.25*y)"])
    run, _ = pair(velocity, "float64", device)
    swept = []

    class Spy:
        def __init__(self, core):
            self.core = core

        def __getattr__(self, name):
            return getattr(self.core, name)

        def advance(self, times, dt, steps, joined, first=0):
            swept.extend((time, dt, joined) for time in times)
            self.core.advance(times, dt, steps, joined, first)

        def advance_fitted(self, fitted):
            swept.extend(zip(fitted.begins, fitted.durations, fitted.joined, strict=True))
            self.core.advance_fitted(fitted)

    run._core = Spy(run._core)
    before = run.sweeps
    run.run(1.0, **how)
    told = run.report().lcfl
    assert told <= how.get("lcfl", 0.25) * (1 + 1e-4)
    axis = run.joined_schedule[0].axis
    joints = [
        (one[0] + one[1] / 2, two[0] + two[1] / 2)
        for one, two in itertools.pairwise(swept)
        if one[2] and two[2]
    ]
    assert len(joints) > 1
    for begin, end in joints:
        sweep = run._gauge.of_sweep(axis, begin, end - begin)
        assert sweep.rate * (end - begin) <= told * (1 + 1e-6)
    if "lcfl" not in how:
        assert len(joints) == 9
        assert run.sweeps - before == 2 * 10 + 1


def test_order_in_time_of_joined_steps_of_a_velocity_that_depends_on_time(device):
    """Beside a run by steps that are far smaller: there is no exact solution."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = pt.Grid((96, 96))
    velocity = pt.Velocity(
        grid,
        lambda x, y, t: (
            0.3 * np.sin(2 * np.pi * (y - t)) + 0.1 * np.sin(2 * np.pi * (x - 2 * t)),
            0.3 * np.sin(2 * np.pi * (x + 2 * t)) + 0.1 * np.cos(2 * np.pi * (y + t)),
        ),
    )
    found = []
    for steps in (16, 32, 64, 512):
        x, y = grid.coordinates()
        u = field(np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y), grid, "float64", device)
        transport = transport_of(u, velocity, kernel="L8_4")
        assert sweeps_of_run(transport, steps, 0.6 / steps) == 2 * steps + 1
        found.append(u.get())
    errors = [relative_l1(some, found[-1]) for some in found[:-1]]
    assert 1.85 <= order(errors) <= 2.3


def test_a_fitted_step_that_is_alone_between_two_calls_is_a_single_one(device):
    """In which other axes are swept by halves than in joined ones."""
    grid = pt.Grid((16, 16, 16))
    velocity = pt.Velocity(
        grid, ["cos(t)*0.4*sin(6.25*x)", "cos(t)*0.2*sin(6.25*y)", "cos(t)*0.1*sin(6.25*z)"]
    )
    run, other = pair(velocity, "float32", device)
    dt = 0.0625
    run.run(8 * dt, lcfl=0.2, dt=dt, callback=lambda run: None, at=dt * np.arange(1, 8))
    assert run.steps == 8
    assert run.joined_schedule[0].axis != run.schedule[0].axis
    assert_plain(run, other, 8, dt)


@pytest.mark.parametrize("kind", ["steady", "in time"])
@pytest.mark.parametrize("how", [{"dt": 0.1}, {"dt": 0.1, "lcfl": 0.2}], ids=str)
def test_a_run_that_calls_after_every_step_does_single_steps(device, kind, how):
    """In which other axes are swept by halves than in joined ones."""
    grid = pt.Grid((16, 15, 16))
    turn = "cos(t)*" if kind == "in time" else ""
    strengths = {"x": 0.25, "y": 0.15, "z": 0.1}
    velocity = pt.Velocity(grid, [f"{turn}{a}*sin(6.25*{x})" for x, a in strengths.items()])
    run, other = pair(velocity, "float32", device)
    assert run.joined_schedule[0].axis != run.schedule[0].axis
    durations = []
    run.run(0.5, **how, callback=lambda run: durations.append(run.last_dt), every=1)
    assert len(durations) == run.steps >= 5
    for dt in durations:
        other.step(dt)
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.parametrize("shared", ["velocity", "field"])
def test_memory_shared_with_others_makes_no_difference(device, shared):
    """Nobody writes there while a run goes on."""
    velocity = waves(box(33, 16), "float32", device)
    run, other = pair(velocity, "float32", device)
    (velocity if shared == "velocity" else run.remesh.fields[0]).to_pyopencl()
    run.run(0.5, 0.1)
    assert_joined(run, other, 5, 0.1)


@pytest.mark.parametrize(("shape", "order"), [((33, 16), 1), ((33,), 1), ((33,), 2)], ids=str)
def test_steps_without_halves_are_not_joined(device, dtype, shape, order):
    run, other = pair(waves(box(*shape), dtype, device), dtype, device, order)
    run.run(0.5, 0.1)
    assert_plain(run, other, 5, 0.1)


def test_the_shorter_last_step_is_not_joined(device, dtype):
    run, other = pair(waves(box(33, 16), dtype, device), dtype, device)
    run.run(0.45, 0.1)
    for axis, duration in joined(run.joined_schedule, 4, 0.1):
        other.sweep(axis, duration)
    other.time = 0.4
    other.run(0.45, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


def test_joints_follow_a_velocity_that_is_rewritten(device, dtype):
    """Another schedule, and another judgement whether to join."""
    grid = box(8, 6)
    velocity = strained((1.0, 0.4), grid, dtype, device)
    run, other = pair(velocity, dtype, device)
    run.run(0.6, 0.2)
    assert_joined(run, other, 3, 0.2)
    strained((0.3, 0.9), grid, dtype, device, velocity)
    run.run(1.2, 0.2)
    assert [stage.axis for stage in run.joined_schedule] == [1, 0, 1]
    assert_joined(run, other, 3, 0.2)
    strained((0.3, 1.5), grid, dtype, device, velocity)
    run.run(1.8, 0.2)
    assert_plain(run, other, 3, 0.2)


@pytest.mark.sampled
def test_how_far_a_steady_formula_moves_long_lines_is_found_once(device):
    run, _ = pair(formula(box(6000, 3)), "float32", device)
    run.run(0.05, 0.01)
    core = device.core

    def state():
        programs = testing.programs_compiled(core), testing.programs_loaded(core)
        return programs, testing.buffers_held(core), core.bytes_held

    before = state()
    with pt.profile(device) as profile:
        run.run(0.1, 0.01, check=None)  # which would be a reduction too
    assert "sweep" in profile.kernels
    assert "reduce" not in profile.kernels
    assert state() == before
