# SPDX-License-Identifier: BSD-3-Clause
"""Where things that are costly to make again are kept between runs."""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

_KEY = "[0-9a-f]{32}"
_PROGRAMS, _ARCHIVES = "programs", "empty-archives"
# Kinds of files with the folders and names they have; whatever else is there is not ours.
_KINDS = {
    "programs": (_PROGRAMS, r"[0-9a-f]{64}\.clbin(\.[0-9]+\.tmp)?"),
    **{kind: ("", f"{kind}-{_KEY}") for kind in ("form", "fastest", "driver", "linker")},
    "archives": (_ARCHIVES, r"lib(c|gcc|gcc_s)\.a"),
}


def cache_folder() -> str:
    """Return the folder for built programs and what was found out, or "" when none can be used.

    ``PARTICLES_CACHE`` names it; otherwise it is ``particles`` below ``XDG_CACHE_HOME`` or
    ``~/.cache``.
    """
    try:
        folder = _wanted_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return ""
    return str(folder) if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else ""


def program_folder(driver_keeps_programs: bool) -> str:
    """Return where built programs are kept: nowhere for a driver that keeps its own."""
    folder = "" if driver_keeps_programs else cache_folder()
    return str(Path(folder, _PROGRAMS)) if folder else ""


def archives_folder(folder: str) -> Path:
    """Return where empty archives are kept within a folder."""
    return Path(folder, _ARCHIVES)


def contents() -> dict[str, list[Path]]:
    """Return the files of each kind in the cache folder, and no others."""
    # A link may lead to the whole folder, but none within it is followed.
    top = os.path.realpath(cache_folder() or os.devnull)
    return {kind: _files(Path(top, folder), name) for kind, (folder, name) in _KINDS.items()}


def remove_empty_folders() -> None:
    """Remove the folders within the cache folder that nothing is left in."""
    top = cache_folder()
    for name in (_PROGRAMS, _ARCHIVES):
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
    digest = hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]
    # Without a cache folder it is a path that can be neither read nor written.
    return Path(cache_folder() or os.devnull, f"{kind}-{digest}")


def read(path: Path) -> str | None:
    """Return what a file holds, or None when it cannot be read."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return None


def write(path: Path, content: bytes) -> None:
    """Write a file that others see whole or not at all; do without where that is impossible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(unfinished).replace(path)
    except OSError:
        Path(unfinished).unlink(missing_ok=True)


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
