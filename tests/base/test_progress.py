# SPDX-License-Identifier: BSD-3-Clause
"""Who waits is told what for, where somebody looks."""

import contextlib
import threading

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
    monkeypatch.setattr(progress, "_is_shown", lambda wanted: True)
    return texts, event


def test_long_work_is_told_of_while_it_lasts(said, monkeypatch):
    texts, event = said
    monkeypatch.setattr(progress, "_PATIENCE", 1e-3)
    with progress.said_if_long("building"):
        assert event.wait(60)
    assert texts == ["building"]


def timers():
    return [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


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
