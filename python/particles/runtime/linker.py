# SPDX-License-Identifier: BSD-3-Clause
"""The linker ``ld``, which some drivers start when a kernel first runs.

PoCL aborts the process when that fails. So the trial of such a driver, in a child process, begins
with a kernel that nobody has linked before.
"""

import os
import shutil
from pathlib import Path

from particles.base.errors import DeviceError
from particles.runtime import cache

# PoCL links with -lc -lgcc -lgcc_s, of which its kernels use nothing: empty archives serve.
ARCHIVES = ("libc.a", "libgcc.a", "libgcc_s.a")
EMPTY_ARCHIVE = b"!<arch>\n"
ADVICE = "On Debian and Ubuntu: apt-get install binutils"


def linker_of(device: str, driver: str) -> str:
    """Return the path of the linker that a device's driver starts.

    Raises
    ------
    DeviceError
        There is none.
    """
    linker = shutil.which("ld")
    if linker is None:
        raise DeviceError(
            f"{device} cannot run kernels: its driver ({driver}) starts the linker ld, and there is "
            f"none on PATH. {ADVICE}. Without root, on x86-64: pip install intel-opencl-rt "
            "intel-cmplr-lib-rt, a driver under Intel's licence that needs no linker"
        )
    return linker


def error(device: str, driver: str, failure: str | None) -> DeviceError:
    """Return what is said where the linker fails."""
    return DeviceError(
        f"{device} cannot run kernels: its driver ({driver}) tried to link one with "
        f"{shutil.which('ld')} in a child process, which failed:\n{failure}\n{ADVICE} libc6-dev "
        "libgcc-12-dev"
    )


def facts_of(linker: str) -> list[str]:
    """Return what decides whether kernels can be linked."""
    facts = [os.pathsep.join(_library_path())]
    for tool in (linker, shutil.which("gcc")):
        facts.append(f"{Path(tool).resolve()} {Path(tool).stat().st_mtime_ns}" if tool else "")
    return facts


def add_archives() -> None:
    """Have the linker find empty archives, which are made where they are missing."""
    folder = Path(cache.archives_folder() or Path(cache.temporary_folder(), cache.ARCHIVES))
    for archive in ARCHIVES:
        if cache.read(folder / archive) != EMPTY_ARCHIVE.decode():
            cache.write(folder / archive, EMPTY_ARCHIVE)
    # Last, so that they hide nothing.
    os.environ["LIBRARY_PATH"] = os.pathsep.join([*_library_path(), str(folder)])


def remove_archives() -> None:
    """Have the linker find what it found before."""
    os.environ["LIBRARY_PATH"] = os.pathsep.join(_library_path())
    if not os.environ["LIBRARY_PATH"]:
        del os.environ["LIBRARY_PATH"]


def _library_path() -> list[str]:
    """Return where the linker is told to look, but for archives of ours."""
    told = os.environ.get("LIBRARY_PATH", "").split(os.pathsep)
    return [folder for folder in told if folder and Path(folder).name != cache.ARCHIVES]
