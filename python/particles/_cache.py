# SPDX-License-Identifier: BSD-3-Clause
"""Where things that are costly to make again are kept between runs."""

import json
import os
import re
import stat
import warnings
from pathlib import Path
from typing import Any

from particles import _core
from particles._disk import unfinished_for
from particles._frames import frames_of_package
from particles._own_folder import NotOurs, is_ours_alone, own_folder

_KEY = "[0-9a-f]{32}"
_PROGRAMS, ARCHIVES = "programs", "empty-archives"
# Kinds of files with the folders and names they have; whatever else is there is not ours.
_KINDS = {
    "programs": (_PROGRAMS, r"[0-9a-f]{64}\.clbin(\.[0-9]+\.tmp)?"),
    **{kind: ("", f"{kind}-{_KEY}") for kind in ("form", "fastest", "driver")},
    "archives": (ARCHIVES, r"lib(c|gcc|gcc_s)\.a"),
}


_said: set[str] = set()


def cache_folder() -> str:
    """Return the folder for built programs and what was found out, or "" when none can be used.

    ``PARTICLES_CACHE`` names it; otherwise it is ``particles`` below ``XDG_CACHE_HOME`` or
    ``~/.cache``. One that others can change is not used, which is said once: what is kept there is
    run.
    """
    return _usable("")


def program_folder(driver_keeps_programs: bool) -> str:
    """Return where built programs are kept: nowhere for a driver that keeps its own."""
    return "" if driver_keeps_programs else _usable(_PROGRAMS)


def archives_folder() -> str:
    """Return where empty archives are kept, or "" when that is nowhere."""
    return _usable(ARCHIVES)


def why_not_used() -> str:
    """Return why the cache folder cannot be trusted, "" where it can or there is none."""
    return _found("")[1]


def _usable(name: str) -> str:
    folder, refusal = _found(name)
    if refusal and refusal not in _said:
        _said.add(refusal)
        warnings.warn(refusal, RuntimeWarning, stacklevel=frames_of_package())
    return folder


def _found(name: str) -> tuple[str, str]:
    """Return a folder within the cache folder, or why it is not to be trusted; or neither."""
    try:
        wanted = Path(_wanted_folder(), name)
    except RuntimeError:  # there is no home folder
        return "", ""
    try:
        folder = own_folder(wanted)
    except NotOurs as error:
        return "", f"the cache folder {wanted} is not used, and nothing is kept: {error}"
    except (OSError, ValueError):
        return "", ""
    return (str(folder) if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else ""), ""


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


def _wanted_folder() -> Path:
    if own := os.environ.get("PARTICLES_CACHE"):
        return Path(own)
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "particles"
