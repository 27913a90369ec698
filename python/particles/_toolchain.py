# SPDX-License-Identifier: BSD-3-Clause
"""Makes sure that a driver which links its kernels with ``ld`` can do so, before it has to.

PoCL starts the linker when a kernel first runs, and aborts the process when that fails. So one
kernel is first tried in a child process, once per machine.
"""

import functools
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from particles import _cache, _core, _loader
from particles._child import failure_in_child
from particles.errors import BuildError, DeviceError

# PoCL links with -lc -lgcc -lgcc_s, of which its kernels use nothing: empty archives serve.
ARCHIVES = ("libc.a", "libgcc.a", "libgcc_s.a")
EMPTY_ARCHIVE = b"!<arch>\n"
PROBE = "import sys; from particles import _toolchain; _toolchain.run_probe(*sys.argv[1:])"
ADVICE = "On Debian and Ubuntu: apt-get install binutils"


def ensure_linker(device: _core.DeviceInfo) -> None:
    """Make sure that kernels can be linked for a device, before the first is built.

    Raises
    ------
    DeviceError
        The device's driver needs a linker, and that is missing or does not work.
    """
    if device.needs_linker:
        _ensure_linker(device.name, _driver(device))


def _driver(device: _core.DeviceInfo) -> str:
    return f"{device.platform_name} {device.driver}"


@functools.cache
def _ensure_linker(name: str, driver: str) -> None:
    linker = shutil.which("ld")
    if linker is None:
        raise DeviceError(
            f"{name} cannot run kernels: its driver ({driver}) starts the linker ld, and there is "
            f"none on PATH. {ADVICE}. Without root, on x86-64: pip install 'particles-opencl[intel]', "
            "a driver under Intel's licence that needs no linker"
        )
    stamp = _cache.path_of("linker", *_facts(name, driver, linker))
    way = _cache.read(stamp)
    if way not in ("plain", "archives"):
        way = _working_way(name, driver, linker)
        _cache.write(stamp, way.encode())
    if way == "archives":
        os.environ["LIBRARY_PATH"] = _library_path_with_archives()


def _facts(name: str, driver: str, linker: str) -> list[str]:
    facts = [name, driver, os.environ.get("LIBRARY_PATH", "")]
    for tool in (linker, shutil.which("gcc")):
        facts.append(f"{Path(tool).resolve()} {Path(tool).stat().st_mtime_ns}" if tool else "")
    return facts


def _working_way(name: str, driver: str, linker: str) -> str:
    """Find out whether kernels link as things are ("plain") or with empty archives."""
    if _try_kernel(name, driver) is None:
        return "plain"
    error = _try_kernel(name, driver, LIBRARY_PATH=_library_path_with_archives())
    if error is None:
        return "archives"
    raise DeviceError(
        f"{name} cannot run kernels: its driver ({driver}) tried to link one with {linker} in a "
        f"child process, which failed:\n{error}\n{ADVICE} libc6-dev libgcc-12-dev"
    )


def _try_kernel(name: str, driver: str, **variables: str) -> str | None:
    """Build and run a kernel in a child process; return why that failed, if it did."""
    # A fresh cache, as a kernel that is cached needs no linker.
    with tempfile.TemporaryDirectory(prefix="particles-") as folder:
        return failure_in_child(PROBE, name, driver, POCL_CACHE_DIR=folder, **variables)


def _library_path_with_archives() -> str:
    folder = Path(_cache.archives_folder() or _temporary_folder().name)
    for archive in ARCHIVES:
        if _cache.read(folder / archive) != EMPTY_ARCHIVE.decode():
            _cache.write(folder / archive, EMPTY_ARCHIVE)
    # Last, so that they hide nothing.
    return os.pathsep.join(filter(None, [os.environ.get("LIBRARY_PATH"), str(folder)]))


@functools.cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="particles-")  # removed when Python exits


def run_probe(name: str, driver: str) -> None:
    """Build and run one kernel on the device of that name and driver: the child's whole work.

    What the compiler refuses no linker has seen: the trial of the driver tells of it.
    """
    _loader.load()
    for platform in _core.list_platforms():
        for device in platform.devices:
            if (device.name, _driver(device)) == (name, driver):
                with suppress(BuildError):
                    _core.Context.open(device, "").run_self_test()
                return
    raise SystemExit(f"the device {name} of {driver} was not found")
