# SPDX-License-Identifier: BSD-3-Clause
"""Files of series, opened so that what is read is as it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from particles.base.checks import shown
from particles.io import series_layout
from particles.io.atomic import DamageError, Held, Reader, held, reading
from particles.io.atomic.pages import PAGE


@contextmanager
def reading_series(path: Path) -> Iterator[tuple[Any, Reader, Held]]:
    """Open a series to be read: the file of HDF5, its pages, and the signals that wait."""
    with (
        held() as signals,
        reading(path, signals.deliver) as disk,
        opened(path, disk, "r") as file,
    ):
        yield file, disk, signals


@contextmanager
def opened(path: Path, disk: Reader, mode: str) -> Iterator[Any]:
    """Open what stands for the file; refuse what is damaged or something else."""
    made = {"userblock_size": PAGE} if mode == "w" else {}
    try:
        with _as_made(path, lambda: import_h5py().File(disk, mode, **made)) as file:
            if mode != "w":
                _as_made(path, lambda: series_layout.check_layout(file, disk.size))
            yield file
    except Exception:
        if disk.damage is None:
            raise
        raise DamageError(f"{path} is damaged: {disk.damage}") from None


def _as_made(path: Path, read: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return what is read, which is as it was made."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  whatever h5py finds there
        raise DamageError(f"{path} is damaged: {shown(error)}") from None


def import_h5py() -> Any:  # noqa: ANN401  it has no types
    """Return h5py, or say what needs it."""
    try:
        return import_module("h5py")
    except ImportError as error:
        raise ImportError(f"Series needs h5py: pip install h5py ({error})") from error
