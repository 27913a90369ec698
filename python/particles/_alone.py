# SPDX-License-Identifier: BSD-3-Clause
"""One at a time: what is used twice at once says so."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from types import FrameType


class _Visit:
    """One who is in while a call is running; and who has come after."""

    def __init__(self, frame: FrameType | None) -> None:
        self.frame = frame
        self.thread = threading.get_ident()
        self.next: dict[str, _Visit] = {}

    def lasts(self) -> bool:
        """Whether the call is running: only what has ended can be cleared."""
        if self.frame is None:
            return False
        try:
            self.frame.clear()
        except RuntimeError:
            return True
        return False


class Alone:
    """Lets one caller in, and refuses others until that one has gone.

    No lock can be left behind: a caller is in as long as its call is running, however that ends. An
    interrupt may come between any two operations here; what matters is one, `setdefault`. The call is
    that of a plain function: a generator that waits would be ended by the question whether it runs.

    Examples
    --------
    >>> alone = Alone("door")
    >>> with alone:
    ...     pass
    """

    def __init__(self, name: str) -> None:
        self._words = (
            f"this {name} is being advanced already, by another thread or by the run whose callback "
            "this is"
        )
        self._last = _Visit(None)

    def __enter__(self) -> None:
        visit, last = _Visit(sys._getframe(1)), self._last
        while last is not visit:
            if last.lasts():
                raise RuntimeError(self._words)
            last = last.next.setdefault("visit", visit)  # one alone comes next
        self._last = visit

    def __exit__(self, *_: object) -> None:
        self._last.frame = None

    def or_called(self) -> AbstractContextManager[None]:
        """Let in, too, who is called by the one that is in."""
        last = self._last
        is_called = last.thread == threading.get_ident() and last.lasts()
        return nullcontext() if is_called else self
