# SPDX-License-Identifier: BSD-3-Clause
"""Locks that processes and threads wait for."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PATIENCE = 30.0  # seconds; a change takes as long as the disk needs for some pages
_PAUSE = 0.01

SHARED, ALONE = fcntl.LOCK_SH, fcntl.LOCK_EX


def lock(number: int, kind: int, path: Path, between: Callable[[], None]) -> bool:
    """Wait for a lock, of ``flock`` as HDF5's; return whether the file system has locks at all.

    It belongs to the open file: processes that are forked meanwhile share it, and it ends with
    `unlock`, or with the last of them. `between` is called while this waits, and may raise.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(number, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > end:
                words = "the file is in use by others"
                raise OSError(error.errno, words, str(path)) from None
        except OSError:
            return False
        else:
            return True
        between()
        time.sleep(_PAUSE)


def unlock(number: int, process: int) -> None:
    """End a lock of a process, for its children too; they themselves do not."""
    if os.getpid() == process:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(number, fcntl.LOCK_UN)
