# SPDX-License-Identifier: BSD-3-Clause
"""How long the parts of a test take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Wall times of parts that may come several times.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch.part("set-up"):
    ...     pass
    >>> list(watch.seconds)
    ['set-up']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the time of a block to that of a part."""
        begin = perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin


def line_of(seconds: dict[str, float]) -> str:
    """Return a line that says what each part took.

    Examples
    --------
    >>> line_of({"set-up": 0.5, "steps": 0.04})
    'set-up 0.50 s, steps 0.04 s'
    """
    return ", ".join(f"{part} {time:.2f} s" for part, time in seconds.items())
