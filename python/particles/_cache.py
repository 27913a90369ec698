# SPDX-License-Identifier: BSD-3-Clause
"""Where things that are costly to make again are kept between runs."""

import os
from pathlib import Path


def cache_folder() -> str:
    """Return the folder for built programs and probe results, or "" when none can be used.

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
    return str(Path(folder, "programs")) if folder else ""


def _wanted_folder() -> Path:
    if own := os.environ.get("PARTICLES_CACHE"):
        return Path(own)
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "particles"
