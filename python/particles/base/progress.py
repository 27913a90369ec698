# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from particles.base.checks import as_optional_flag

if TYPE_CHECKING:
    from tqdm.std import tqdm

# Seconds between two looks at the device: often enough for a progress bar and an interrupt, rarely
# enough to cost nothing.
_INTERVAL = 0.2
_PATIENCE = 1.0  # seconds that nothing need be said
_MEMORY = 60.0  # seconds in which the same need not be said again
BUILDING = "building kernels for this device, which are kept: some seconds"


class Pace:
    """How many steps take about a fifth of a second, going by the last ones.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.note(steps=1, seconds=1e-3)
    >>> pace.steps
    200
    """

    def __init__(self) -> None:
        self.steps = 1

    def note(self, steps: int, seconds: float) -> None:
        """Take note of what some steps took."""
        self.steps = max(1, round(steps * _INTERVAL / max(seconds, 1e-9)))


def in_chunks(
    steps: int, pace: Pace | int, progress: bool | None, finish: Callable[[], None]
) -> Iterator[tuple[int, int]]:
    """Yield (steps done, steps to do next), with a progress bar; `finish` waits for the work."""
    with step_bar(progress, steps) as show:
        yield from chunks(steps, pace, show, finish)


def chunks(
    steps: int, pace: Pace | int, show: Callable[[int], None] | None, finish: Callable[[], None]
) -> Iterator[tuple[int, int]]:
    """Yield (steps done, steps to do next); `show` is told of those that are finished.

    Chunks are of so many steps, or as long as a pace says, which is kept up to date.
    """
    done = 0
    while done < steps:
        count = min(pace.steps if isinstance(pace, Pace) else pace, steps - done)
        begin = time.perf_counter()
        yield done, count
        if isinstance(pace, Pace):
            finish()
            pace.note(count, time.perf_counter() - begin)
        done += count
        if show is not None:
            finish()
            show(count)


def say(text: str) -> None:
    """Say what is being done where a bar would be shown."""
    if _is_shown(None):
        line = f"particles: {text}\n"
        if bars := sys.modules.get("tqdm.std"):
            bars.tqdm.write(line, sys.stderr, end="")  # above those that are shown
        else:
            sys.stderr.write(line)


@contextmanager
def said_if_long(
    text: str, finish: Callable[[], None] | None = None, usual: float = 0.0
) -> Iterator[None]:
    """Say what is being done as soon as it has taken a second more than usual.

    Unless it has just been said. Where somebody looks, `finish` waits for what has been enqueued.
    """
    if not _is_shown(None):
        yield
        return
    timer = threading.Timer(_PATIENCE + usual, _say_again, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
        if finish is not None:
            finish()
    finally:
        timer.cancel()


_said: dict[str, float] = {}  # when


def _say_again(text: str) -> None:
    now = time.monotonic()
    if now - _said.get(text, -_MEMORY) >= _MEMORY:
        _said[text] = now
        say(text)


@contextmanager
def step_bar(
    progress: bool | None,
    steps: int,
    unit: str = "step",
    tell: Callable[[], str] | None = None,
) -> Iterator[Callable[[int], None] | None]:
    """Yield a function that shows how many steps more are done, or None if no bar is wanted.

    `tell` is asked now and then what to say beside the bar.
    """
    if not _is_shown(progress):
        yield None
        return
    with _bar(total=steps, unit=unit) as bar:
        say_beside = _beside(bar, tell)

        def show(count: int) -> None:
            say_beside()
            bar.update(count)

        yield show


@contextmanager
def share_bar(
    progress: bool | None, tell: Callable[[], str] | None = None
) -> Iterator[Callable[[float], None] | None]:
    """Yield a function that shows which share of the work is done, or None if no bar is wanted.

    `tell` is asked now and then what to say beside the bar.
    """
    if not _is_shown(progress):
        yield None
        return
    with _bar(total=100, unit="%") as bar:
        say_beside = _beside(bar, tell)

        def show(share: float) -> None:
            say_beside()
            bar.update(round(100 * share) - bar.n)

        yield show


def _beside(bar: tqdm[NoReturn], tell: Callable[[], str] | None) -> Callable[[], None]:
    """Return what puts a text beside a bar, at most five times a second."""
    last = 0.0

    def put() -> None:
        nonlocal last
        now = time.perf_counter()
        if tell is not None and now - last >= _INTERVAL:
            last = now
            bar.set_postfix_str(tell(), refresh=False)

    return put


def _is_shown(progress: bool | None) -> bool:
    wanted = as_optional_flag("progress", progress)
    if wanted is None:
        return _is_on_a_terminal() or _is_in_a_notebook()
    return wanted


def _is_on_a_terminal() -> bool:
    """Return whether messages go to one; there may be no stderr, a closed one, or a stand-in."""
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def _is_in_a_notebook() -> bool:
    """Return whether a Jupyter kernel runs this program; that it could is not enough."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _bar(total: int, unit: str) -> tqdm[NoReturn]:
    # tqdm.auto takes a notebook for granted as soon as its packages are imported.
    made: tqdm[NoReturn] = import_module("tqdm.auto" if _is_in_a_notebook() else "tqdm.std").tqdm(
        total=total, unit=unit
    )
    return made
