# SPDX-License-Identifier: BSD-3-Clause
"""Who waits is told what for, where somebody looks."""

import contextlib
import io
import sys
import threading

import particles as pt
import pytest
from particles.base import progress


@pytest.fixture
def said(monkeypatch):
    """Return what was said, and an event that it sets."""
    event, texts = threading.Event(), []

    def say(text):
        texts.append(text)
        event.set()

    monkeypatch.setattr(progress, "say", say)
    monkeypatch.setattr(progress, "_said", {})
    monkeypatch.setattr(progress, "_is_shown", lambda wanted: True)
    return texts, event


def test_long_work_is_told_of_while_it_lasts(said, monkeypatch):
    texts, event = said
    monkeypatch.setattr(progress, "_PATIENCE", 1e-3)
    with progress.said_if_long("building"):
        assert event.wait(60)
    assert texts == ["building"]


def timers():
    """Those that would say something; other tests of this process have their own."""
    ours = (
        thread
        for thread in threading.enumerate()
        if getattr(thread, "function", None) is progress._say_again
    )
    return [timer for timer in ours if not timer.finished.is_set()]  # it ends after it is cancelled


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_short_work_is_not(said, monkeypatch, error):
    monkeypatch.setattr(progress, "_PATIENCE", 3600)
    with contextlib.suppress(KeyboardInterrupt), progress.said_if_long("building"):
        (timer,) = timers()
        if error:
            raise error
    timer.join()
    assert said[0] == []


def test_nothing_is_said_where_nobody_looks(said, monkeypatch):
    monkeypatch.setattr(progress, "_is_shown", lambda wanted: False)
    with progress.said_if_long("building"):
        assert timers() == []
    assert said[0] == []


def test_the_same_is_not_said_twice_in_a_minute(said, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0)

    def build(text):
        with progress.said_if_long(text):
            for timer in timers():
                timer.join()

    for text in ("building", "building", "timing"):
        build(text)
    assert said[0] == ["building", "timing"]
    monkeypatch.setattr(progress, "_MEMORY", 0)
    build("building")
    assert said[0] == ["building", "timing", "building"]


def test_what_is_usual_takes_no_patience(said, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with progress.said_if_long("building", usual=3600):
        assert timers()
    assert said[0] == []


class Waits:
    """Stand in for `said_if_long`; note what is said to be built, and whether it was waited for."""

    def __init__(self):
        self.texts, self.finished = [], 0

    @contextlib.contextmanager
    def __call__(self, text, finish=None, usual=0.0):
        self.texts.append(text)
        yield
        if finish is not None:
            finish()
            self.finished += 1


@pytest.mark.one_device
@pytest.mark.parametrize("split", [True, False])
def test_the_first_step_of_a_transport_tells_that_it_builds(device, monkeypatch, split):
    waits = Waits()
    monkeypatch.setattr("particles.stepping.stepper.said_if_long", waits)
    grid = pt.Grid((16, 16))
    velocity = pt.Velocity(grid, ["1", "0.5"])

    def transport():
        kind = pt.Splitting if split else pt.Unsplit
        return kind(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(grid, device=device)))

    first = transport()
    first.step(0.01)
    assert waits.texts == [progress.BUILDING]
    assert waits.finished == 1
    first.step(0.01)
    first.run(until=0.1, dt=0.01)
    assert len(waits.texts) == 1
    transport().run(until=0.1, dt=0.01, progress=False)
    assert len(waits.texts) == 1
    transport().run(until=0.1, dt=0.01, progress=True)
    assert len(waits.texts) == waits.finished == 2


def test_what_is_said_stands_above_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_is_shown", lambda wanted: True)
    with progress.step_bar(None, 2) as show:
        show(1)
        progress.say("building")
    assert "\rparticles: building\n" in capsys.readouterr().err


def test_what_is_said_needs_no_bars(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_is_shown", lambda wanted: True)
    monkeypatch.delitem(sys.modules, "tqdm.std", raising=False)
    progress.say("building")
    assert capsys.readouterr().err == "particles: building\n"


class Bare:
    """Takes text, and has nothing else of a stream."""

    def write(self, text):
        raise AssertionError(text)


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stderr", [None, closed(), Bare(), io.StringIO()])
def test_nothing_is_said_without_a_terminal(monkeypatch, stderr):
    monkeypatch.setattr(sys, "stderr", stderr)
    progress.say("building")
    with progress.step_bar(None, 2) as show:
        assert show is None
