# SPDX-License-Identifier: BSD-3-Clause
"""One at a time: what is used twice at once says so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Alone:
    """Lets one caller in, and refuses others until that one has gone.

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
        self._lock = threading.Lock()
        self._holder: int | None = None  # the thread that is in

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(self._words)
        self._holder = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._holder = None
        self._lock.release()

    @contextmanager
    def or_called(self) -> Iterator[None]:
        """Let in, too, who is called by the one that is in."""
        if self._holder == threading.get_ident():
            yield
            return
        with self:
            yield
