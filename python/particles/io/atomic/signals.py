# SPDX-License-Identifier: BSD-3-Clause
"""Signals that wait until what must not be cut has ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Held:
    """Signals of Python's handlers that have come."""

    def __init__(self) -> None:
        self._usual: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._came: list[tuple[int, FrameType | None]] = []
        self._is_over = False

    def begin(self) -> None:
        """Have signals wait from now on."""
        for number in sorted(signal.valid_signals()):
            handler = signal.getsignal(number)
            if callable(handler):
                self._usual[number] = handler
                signal.signal(number, self._keep)

    def deliver(self) -> None:
        """Call the handlers of what has come, where nothing is in the middle; all, if one raises."""
        while self._came:
            number, frame = self._came.pop(0)
            try:
                self._usual[number](number, frame)
            except BaseException:
                self.deliver()
                raise

    def end(self) -> None:
        """Have them come as ever."""
        # That of Ctrl-C comes last: it raises, and what comes after it would not be restored.
        for number, handler in sorted(self._usual.items(), key=lambda it: it[0] == signal.SIGINT):
            signal.signal(number, handler)
        self._is_over = True  # for who has noted our handler meanwhile

    def _keep(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            self._usual[number](number, frame)
        else:
            self._came.append((number, frame))


@contextmanager
def held() -> Iterator[Held]:
    """Have signals wait; in other threads than the first they never come.

    A handler that raises, as that of Ctrl-C, within a call that HDF5 makes into Python would leave
    HDF5 in the middle of its work.
    """
    signals = Held()
    try:
        if threading.current_thread() is threading.main_thread():
            signals.begin()
        yield signals
    finally:
        try:
            signals.end()
        finally:
            signals.deliver()
