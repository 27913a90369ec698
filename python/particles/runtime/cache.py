# SPDX-License-Identifier: BSD-3-Clause
"""Where things that are costly to make again are kept between runs."""

import atexit
import functools
import json
import os
import re
import shutil
import stat
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from particles import _core
from particles.base.disk import unfinished_for
from particles.base.frames import frames_of_package
from particles.runtime import environment
from particles.runtime.private_folder import NotOurs, is_ours_alone, own_folder

_KEY = "[0-9a-f]{32}"
_PROGRAMS, ARCHIVES = "programs", "empty-archives"
# Kinds of files with the folders and names they have; whatever else is there is not ours.
_KINDS = {
    "programs": (_PROGRAMS, r"[0-9a-f]{64}\.clbin(\.[0-9]+\.tmp)?"),
    **{kind: ("", f"{kind}-{_KEY}") for kind in ("form", "fastest", "driver")},
    "archives": (ARCHIVES, r"lib(c|gcc|gcc_s)\.a"),
}

LEAST_ROOM = 2**24  # bytes; what a driver builds for one program is a few hundred KiB

_said: set[str] = set()


def cache_folder() -> str:
    """Return the folder for built programs and what was found out, or "" when none can be used.

    ``PARTICLES_CACHE`` names it; otherwise it is ``particles`` below ``XDG_CACHE_HOME`` or
    ``~/.cache``, or where that cannot be written or others can change it, a folder of the user's
    own for temporary files. What is kept there is run: so one that others can change is not used.
    """
    return _usable("")


def program_folder(driver_keeps_programs: bool) -> str:
    """Return where built programs are kept: nowhere for a driver that keeps its own."""
    return "" if driver_keeps_programs else _usable(_PROGRAMS)


def archives_folder() -> str:
    """Return where empty archives are kept, or "" when that is nowhere."""
    return _usable(ARCHIVES)


def folder_of_pocl() -> str:
    """Return where PoCL shall keep what it builds: "" for where it does so by itself.

    It has no device where it cannot write, and runs what it finds there, whoever wrote it.
    """
    if os.environ.get("POCL_CACHE_DIR") or _fault(_default_of_pocl()) is None:
        return ""
    return _usable("pocl") or temporary_folder()


def where_pocl_keeps() -> str:
    """Return the folder that PoCL uses in this process."""
    return folder_of_pocl() or os.environ.get("POCL_CACHE_DIR") or str(_default_of_pocl())


@functools.cache
def temporary_folder() -> str:
    """Return a folder that lasts as long as this process."""
    import tempfile  # slow to import

    folder = tempfile.mkdtemp(prefix="particles-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def why_not_used() -> str:
    """Return why the cache folder is not the one that was wanted, "" where it is."""
    return _told(*_top())


def _usable(name: str) -> str:
    """Return a folder within the cache folder, or "", which is said once if others are why."""
    folder, wanted, fault = _top()
    if folder and name:
        wanted = Path(folder, name)
        fault = _fault(wanted)
        folder = str(wanted) if fault is None else ""
    told = _told(folder, wanted, fault)
    if not folder and isinstance(fault, NotOurs) and told not in _said:
        _said.add(told)
        warnings.warn(told, RuntimeWarning, stacklevel=frames_of_package())
    return folder


def _top() -> tuple[str, Path | None, Exception | None]:
    """Return the cache folder or "", the one that is wanted, and why that cannot be used."""
    first: tuple[Path | None, Exception | None] = None, None
    for wanted in _choices():
        fault = _fault(wanted)
        if fault is None:
            return os.path.realpath(wanted), *first
        if first[0] is None:
            first = wanted, fault
    return "", *first


def _told(folder: str, wanted: Path | None, fault: Exception | None) -> str:
    if fault is None:
        return ""
    nothing = "" if folder else ", and nothing is kept"
    return f"the cache folder {wanted} is not used{nothing}: {fault}"


def _choices() -> Iterator[Path]:
    if own := environment.wanted_cache():
        wanted = Path(own)
        with suppress(RuntimeError):  # ~ of nobody
            wanted = wanted.expanduser()
        yield wanted
        return
    with suppress(RuntimeError):  # there is no home folder
        yield _caches() / "particles"
    from tempfile import gettempdir  # slow to import, and hardly ever needed

    with suppress(OSError):
        yield Path(gettempdir(), f"particles-{os.geteuid()}")


def _fault(wanted: Path) -> Exception | None:
    """Return why a folder cannot be used, or None."""
    try:
        folder = own_folder(wanted)
    except (NotOurs, OSError, ValueError) as error:
        return error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return PermissionError(f"{folder} cannot be written")
    if _is_full(folder):
        return OSError(f"the disk of {folder} is full")
    return None


def _is_full(folder: Path) -> bool:
    disk = os.statvfs(folder)
    return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < LEAST_ROOM


def contents() -> dict[str, list[Path]]:
    """Return the files of each kind in the cache folder, and no others."""
    # A link may lead to the whole folder, but none within it is followed.
    top = cache_folder() or os.devnull
    return {kind: _files(Path(top, folder), name) for kind, (folder, name) in _KINDS.items()}


def remove_empty_folders() -> None:
    """Remove the folders within the cache folder that nothing is left in."""
    top = cache_folder()
    for name in (_PROGRAMS, ARCHIVES):
        folder = Path(top, name)
        if top and folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()


def _files(folder: Path, name: str) -> list[Path]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if re.fullmatch(name, path.name) and path.is_file() and not path.is_symlink()
    )


def path_of(kind: str, *facts: str) -> Path:
    """Return the file that holds what was found out where all these facts are the same."""
    digest = _core.sha256("\0".join(facts).encode())[:32]
    # Without a cache folder it is a path that can be neither read nor written.
    return Path(cache_folder() or os.devnull, f"{kind}-{digest}")


def read(path: Path) -> str | None:
    """Return what a file holds, or None when it cannot be read or others may have written it."""
    try:
        # What is asked is the file that has been opened. A FIFO would wait for its other end.
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(number, encoding="ascii") as file:  # noqa: PTH123  it is open
            found = os.fstat(number)
            is_trusted = stat.S_ISREG(found.st_mode) and is_ours_alone(found)
            return file.read() if is_trusted else None
    except (OSError, ValueError):
        return None


def write(path: Path, content: bytes) -> None:
    """Write a file that others see whole or not at all; do without where that is impossible."""
    try:
        if os.path.lexists(path) and not stat.S_ISREG(path.lstat().st_mode):
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with unfinished_for(path, 0o600) as (number, _), open(number, "wb", closefd=False) as file:
            file.write(content)
    except OSError:
        pass


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts that a file holds: none when it is missing or damaged."""
    try:
        facts = json.loads(read(path) or "")
    except (RecursionError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def write_facts(path: Path, facts: dict[str, Any]) -> None:
    """Write facts as `write` does."""
    write(path, json.dumps(facts).encode("ascii"))


def _caches() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME")
    return Path(caches) if caches else Path.home() / ".cache"


def _default_of_pocl() -> Path:
    """Return what PoCL uses by itself; without HOME, that is a folder which anybody may have made."""
    known = os.environ.get("XDG_CACHE_HOME") or "HOME" in os.environ
    return (_caches() if known else Path("/tmp")) / "pocl" / "kcache"
