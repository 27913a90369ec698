# SPDX-License-Identifier: BSD-3-Clause
"""Oclgrind, which runs kernels as a GPU would and sees what no driver shows: https://github.com/jrprice/Oclgrind."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

NAME = "Oclgrind"
MISSING = (
    "Oclgrind is missing; on Debian and Ubuntu root installs it with: "
    "apt-get install --no-install-recommends oclgrind"
)
# It lacks intrinsics: one that Clang makes of what it inlines in large kernels, and that of its own rintf.
BUILD_OPTIONS = "-Dalways_inline=noinline -D__builtin_rintf=rint"


def driver() -> Path:
    """Return its driver for OpenCL, or end with a line that says how to install it.

    Its package registers the driver nowhere: no program uses it unless it is told to.
    """
    program = shutil.which("oclgrind")
    if program is not None:
        path = Path(program).resolve().parents[1] / "lib/oclgrind/liboclgrind-rt-icd.so"
        if path.exists():
            return path
    sys.exit(MISSING)


def environment(folder: str, **settings: str) -> dict[str, str]:
    """Return an environment in which Oclgrind is the device, with its own cache in a folder.

    Compiled programs are not told apart by the settings, so each folder is for some of them.
    """
    Path(folder, "oclgrind.icd").write_text(f"{driver()}\n", encoding="utf-8")
    return {
        **os.environ,
        "OCL_ICD_VENDORS": folder,
        "PARTICLES_CACHE": tempfile.mkdtemp(dir=folder),
        "PARTICLES_DEVICE": NAME,
        "PARTICLES_TUNE": "off",
        "OCLGRIND_BUILD_OPTIONS": BUILD_OPTIONS,
        **settings,
    }
