# SPDX-License-Identifier: BSD-3-Clause
"""Runs: how many steps they have, who is called on the way, what interrupts them, and two at once."""

import itertools
import threading

import numpy as np
import particles as pt
import pytest
from particles.base import progress as progress_module
from particles.stepping.runs import fewest_steps, steps_between

from tests.support.refusals import refused, scalar, vector
from tests.support.sweeps import box, field, noise
from tests.support.transports import swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

WORDS_OF_BUSY = "is being advanced already, by another thread or by the run whose callback this is"


def transports(device, count=2, kind=pt.Splitting, velocity=None):
    velocity = swirl(16, "float32", device, 0.1) if velocity is None else velocity
    grid = velocity.grid
    fields = [field(noise(grid, 3), grid, "float32", device) for _ in range(count)]
    return [kind(pt.AdvectionOp(velocity), pt.RemeshOp(u)) for u in fields]


def values(transport):
    return transport.remesh.fields[0].get()


def timed(grid):
    return pt.Velocity(grid, lambda x, y, t: (0.1 * np.cos(t) * np.sin(2 * np.pi * y), 0.1 * x * 0))


@pytest.mark.parametrize("kind", [pt.Splitting, pt.Unsplit])
def test_a_callback_every_few_steps(device, kind):
    """It sees what so many steps, not joined to others, make of the field."""
    run, other = transports(device, kind=kind)
    seen = []
    run.run(
        0.65, 0.1, every=3, callback=lambda one: seen.append((one.steps, one.time, values(one)))
    )
    assert [steps for steps, _, _ in seen] == [3, 6]
    assert run.steps == 7
    assert run.time == 0.65
    for _, time, found in seen:
        other.run(time, 0.1)
        assert other.time == time
        np.testing.assert_array_equal(found, values(other))
    other.run(0.65, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.parametrize("how", [{"dt": 0.3}, {"lcfl": 0.3}], ids=str)
@pytest.mark.parametrize("is_timed", [False, True])
def test_a_step_ends_at_each_time(device, how, is_timed):
    velocity = timed(box(16, 16)) if is_timed else None
    (run,) = transports(device, 1, velocity=velocity)
    times = np.array([0.0, 0.1, 1 / 3, 0.7, 2.0])
    seen = []
    run.run(2.0, **how, callback=lambda one: seen.append(one.time), at=times)
    assert seen == list(times)
    assert run.time == 2.0


def test_calls_are_made_however_near_their_times_are(device):
    """No step is shorter than what rounding makes of a time, but none of a call is left out."""
    (run,) = transports(device, 1)
    seen = []
    run.run(0.6, 0.1, callback=lambda one: seen.append(one.time), at=[0, 0.3, 0.1 * 3, 0.6])
    assert seen == [0.0, 0.3, 0.1 * 3, 0.6]
    assert run.steps == 6
    times = [0.6 + k * 1e-9 for k in range(11)]
    run.run(times[-1], 1.0, callback=lambda one: seen.append(one.time), at=times)
    assert seen[4:] == times
    assert run.steps == 16


def test_what_gives_the_times_may_fail_in_its_own_words(device):
    """Before anything has been done."""
    (run,) = transports(device, 1)
    before = values(run)

    def times():
        yield 0.5
        raise ZeroDivisionError("division by zero")

    with pytest.raises(ZeroDivisionError, match="division by zero"):
        run.run(1.0, 0.1, callback=lambda _: None, at=times())
    assert (run.time, run.steps) == (0.0, 0)
    np.testing.assert_array_equal(values(run), before)


@pytest.mark.parametrize("how", [{"dt": 1.0}, {"dt": 0.1}, {"lcfl": 0.5}], ids=str)
def test_a_run_much_shorter_than_a_step_is_done(device, how):
    fast = pt.Velocity(pt.Grid(16), "1e9")
    u = pt.Field(fast.grid, device=device)
    u[0] = 1
    run = pt.Splitting(pt.AdvectionOp(fast), pt.RemeshOp(u))
    run.run(0.25e-9, **how)
    assert (run.steps, run.time, u.get().argmax()) == (1, 0.25e-9, 4)


def test_times_that_steps_meet_anyway_make_no_steps_more(device):
    run, other = transports(device)
    seen = []
    run.run(1.0, 0.1, callback=lambda one: seen.append(one.time), at=np.linspace(0, 1, 11)[1:])
    assert run.steps == 10
    for time in seen:
        other.run(time, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


def test_a_run_without_calls_is_one_run(device):
    """The first call comes after the last step: nothing before it knows of it."""
    run, other = transports(device)
    run.run(1.0, 0.1, callback=lambda _: None, every=10)
    other.run(1.0, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


def test_a_callback_may_change_the_velocity(device):
    velocity = swirl(16, "float32", device, 0.1)
    run, other = transports(device, velocity=velocity)
    start = velocity.get()

    def faster(_):
        velocity[...] = 2 * velocity.get()

    run.run(0.9, 0.3, callback=faster, every=1)
    velocity.set(start)
    for time in (0.3, 0.6, 0.9):
        other.run(time, 0.3)
        faster(None)
    np.testing.assert_array_equal(values(run), values(other))


def test_steps_that_fit_follow_a_callback(device):
    """Whatever a callback makes of the velocity, no step strains more than it may."""
    velocity = swirl(16, "float32", device, 0.1)
    (run,) = transports(device, 1, velocity=velocity)
    strains = []

    def faster(one):
        strains.append(one.lcfl(one.last_dt))
        if one.steps < 4:
            velocity[...] = 2 * velocity.get()

    run.run(1.0, lcfl=0.1, callback=faster, every=1)
    assert run.time == 1.0
    assert len(strains) == run.steps
    assert max(strains) <= 0.1 * (1 + 1e-6)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_in_a_callback(device, error):
    """The field is at the end of the step, and the run can go on."""

    def fails(one):
        if one.steps == 4:
            raise error

    run, other = transports(device)
    with pytest.raises(error):
        run.run(1.0, 0.1, callback=fails, every=2)
    assert run.steps == 4
    assert run.time == pytest.approx(0.4)
    other.run(0.2, 0.1)
    other.run(0.4, 0.1)
    np.testing.assert_array_equal(values(run), values(other))
    run.run(1.0, 0.1)
    assert run.time == 1.0


def test_the_time_is_right_whenever_it_is_asked(device, monkeypatch):
    """Between any two calls of the core, where an interrupt may come."""
    (run,) = transports(device, 1)
    times = []

    class Spy:
        def __init__(self, core):
            self.core = core

        def __getattr__(self, name):
            return getattr(self.core, name)

        def advance(self, *arguments):
            times.append((run.time, self.core.steps_done))
            self.core.advance(*arguments)
            times.append((run.time, self.core.steps_done))

    monkeypatch.setattr(run, "_core", Spy(run._core))
    monkeypatch.setattr(progress_module.Pace, "note", lambda pace, *_: setattr(pace, "steps", 3))
    run.run(1.0, 0.1)
    assert len(times) > 4
    for time, steps in times:
        assert time == pytest.approx(0.1 * steps)


def test_one_bar_for_all_legs(device, capsys):
    (run,) = transports(device, 1)
    run.run(1.0, 0.1, progress=True, callback=lambda _: None, at=[0.25, 0.5])
    assert "11/11" in capsys.readouterr().err
    run.run(2.0, lcfl=0.01, progress=True, callback=lambda _: None, at=[1.25])
    assert "100%" in capsys.readouterr().err


def test_a_run_within_a_callback_is_refused(device):
    (run,) = transports(device, 1)
    errors = []

    def callback(one):
        for call in (lambda: one.step(0.1), lambda: one.run(2.0, 0.1), lambda: one.sweep(0, 0.1)):
            with pytest.raises(RuntimeError, match=WORDS_OF_BUSY) as caught:
                call()
            errors.append(caught)

    run.run(1.0, 0.5, callback=callback, every=2)
    assert len(errors) == 3
    assert run.steps == 2
    run.step(0.1)


def test_a_run_in_two_threads_is_refused(device):
    """The second one says so, and the first one goes on as if nothing had been."""
    run, other = transports(device)
    refusals = []

    def intrude():
        with pytest.raises(RuntimeError, match=WORDS_OF_BUSY):
            run.step(0.1)
        refusals.append(True)

    def callback(_):
        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()

    run.run(0.6, 0.1, callback=callback, every=3)
    assert refusals == [True, True]
    other.run(0.3, 0.1)
    other.run(0.6, 0.1)
    np.testing.assert_array_equal(values(run), values(other))


CALL = {"callback": print}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"every": 2}, TypeError, "every and at say when to call: they need a callback"),
        ({"at": [1.5]}, TypeError, "every and at say when to call: they need a callback"),
        (CALL, TypeError, "a callback needs one of every and at, not every=None and at=None"),
        (
            {**CALL, "every": 1, "at": [1.5]},
            TypeError,
            "a callback needs one of every and at, not every=1 and at=[1.5]",
        ),
        ({"callback": 1, "every": 1}, TypeError, "callback must be callable, not 1"),
        ({**CALL, "every": 0}, ValueError, "every must be at least 1, not 0"),
        ({**CALL, "every": 1.5}, TypeError, "every must be an integer, not 1.5"),
        ({**CALL, "at": 1.5}, TypeError, "at must be a sequence of times, not 1.5"),
        ({**CALL, "at": "1.5"}, TypeError, "at must be a sequence of times, not '1.5'"),
        ({**CALL, "at": [None]}, TypeError, "at must be a number, not None"),
        ({**CALL, "at": [float("nan")]}, ValueError, "at must be finite, not nan"),
        (
            {**CALL, "at": [0.5, 1.5]},
            ValueError,
            "at must be from the present time 1.0 to 2.0, not 0.5",
        ),
        (
            {**CALL, "at": [2.5]},
            ValueError,
            "at must be from the present time 1.0 to 2.0, not 2.5",
        ),
        (
            {**CALL, "at": itertools.repeat(2.5)},
            ValueError,
            "at must be from the present time 1.0 to 2.0, not 2.5",
        ),
        ({**CALL, "at": itertools.repeat(1.5)}, ValueError, "at must ascend, not be 1.5 after 1.5"),
        (
            {**CALL, "at": (1 + number * 2**-30 for number in itertools.count())},
            ValueError,
            "at must be at most 1048576 times, not more",
        ),
        ({**CALL, "at": [1.5, 1.5]}, ValueError, "at must ascend, not be 1.5 after 1.5"),
        ({"check": "always"}, ValueError, 'check must be "step", "end" or None, not \'always\''),
    ],
)
def test_refused_arguments(options, error, words):
    transport = pt.Splitting(pt.AdvectionOp(vector()), pt.RemeshOp(scalar()), time=1.0)
    refused(error, words, transport.run, 2.0, 0.5, **options)
    assert transport.time == 1.0
    assert transport.steps == 0


def test_legs_of_every_kind_keep_the_time(device):
    """Whatever calls there are, the times of steps are those of a run without."""
    (run,) = transports(device, 1)
    times = itertools.count()
    run.run(0.7, 0.1, callback=lambda _: next(times), every=1)
    assert next(times) == 7
    assert run.last_dt == 0.1
    assert transport_of(run.remesh.fields[0], run.advection.velocity).time == 0


def test_a_run_ends_at_the_time_it_is_asked_for_even_without_a_step(device):
    (run,) = transports(device, 1)
    run.run(0.3, 0.1)
    end = np.nextafter(run.time, 1)
    run.run(end, 0.1)
    assert run.steps == 3
    assert run.time == end


def test_times_that_are_outside_a_run_by_rounding_alone_are_its_ends(device):
    (run,) = transports(device, 1)
    for _ in range(20):
        run.step(0.01)
    reached = run.time
    assert reached > 0.2
    run.run(0.2, 0.01)
    assert (run.time, run.steps) == (reached, 20)
    times = np.arange(0.2, 0.6, 0.1)
    assert times[-1] > 0.5
    called = []
    run.run(0.5, 0.05, callback=lambda _: called.append(run.time), at=times)
    assert called == [reached, *times[1:-1], 0.5]
    with pytest.raises(ValueError, match=r"^at must be from the present time 0\.5 to 0\.9, not "):
        run.run(0.9, 0.1, callback=called.append, at=[0.9 * (1 + 1e-9)])
    with pytest.raises(ValueError, match=r"^until must not be before the present time 0\.5, not "):
        run.run(0.5 * (1 - 1e-9), 0.1)


@pytest.mark.parametrize("pace", [1, 3])
def test_how_fast_a_device_is_changes_no_bit(device, pace):
    """Of what depends on time: steps begin when they do, however many are enqueued together."""
    dtype = np.float64 if np.dtype(np.float64) in device.dtypes else np.float32
    found = []
    for steps in (pace, 40):
        velocity = swirl(16, dtype, device, 0.1)
        u = field(noise(velocity.grid, 3), velocity.grid, dtype, device)
        source = pt.SourceOp(u, "-2*u*cos(t)")
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), source=source)
        transport._pace.steps = steps
        transport.run(0.83, 0.05, progress=False)
        found.append(u.get())
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("steps", [1, 3, 10**6, 10**9])
@pytest.mark.parametrize("rounded", [-1e-10, 0.0, 1e-10])
def test_whole_steps_leave_nothing(steps, rounded):
    assert steps_between(2.0, 2.0 + 0.125 * steps * (1 + rounded), 0.125) == (steps, 0.0)


@pytest.mark.parametrize(("ratio", "whole"), [(0.25, 0), (3.5, 3), (10**6 + 0.25, 10**6)])
def test_what_is_no_step_is_left(ratio, whole):
    assert steps_between(2.0, 2.0 + 0.125 * ratio, 0.125) == (whole, 0.125 * (ratio - whole))


@pytest.mark.parametrize(("start", "end"), [(0.3, 0.1 * 3), (1e9, np.nextafter(1e9, 2e9))])
def test_what_rounding_makes_of_a_time_is_no_step(start, end):
    assert end > start
    assert steps_between(start, end, 0.1) == (0, 0.0)


@pytest.mark.parametrize("end", [1e-300, 1e-11, 2.5e-10])
def test_much_less_than_a_step_is_one(end):
    assert steps_between(0.0, end, 1.0) == (0, end)


@pytest.mark.parametrize(
    ("ratio", "count"), [(0.0, 1), (0.5, 1), (1.0, 1), (1 + 1e-10, 1), (1.01, 2), (5.0, 5)]
)
def test_parts_are_no_larger_than_allowed_but_for_rounding(ratio, count):
    assert fewest_steps(ratio) == count
