# SPDX-License-Identifier: BSD-3-Clause
"""Finds an OpenCL library when the first device is asked for; nothing is linked against one."""

import ctypes
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from particles import _core
from particles.base.errors import DeviceError
from particles.base.frames import frames_of_package
from particles.runtime import cache, environment

SYSTEM_LIBRARIES = {
    "Linux": "libOpenCL.so.1",
    "Darwin": "/System/Library/Frameworks/OpenCL.framework/OpenCL",
    "Windows": "OpenCL.dll",
}
WAYS_TO_INSTALL = {
    "Linux x86_64": 'Install one with: pip install "pyopencl[pocl]" (for the CPU; for a GPU its '
    "vendor's OpenCL driver), or on Debian and Ubuntu with: apt-get install pocl-opencl-icd",
    "Linux": "PyPI has no OpenCL device for Linux {machine}: install your distribution's (Debian "
    "and Ubuntu: apt-get install ocl-icd-libopencl1 pocl-opencl-icd) or that of your device's vendor",
    "Darwin": "macOS brings one, OpenCL.framework; another is PoCL: conda install -c conda-forge "
    "pocl, with PARTICLES_OPENCL set to the path of its library",
    "Windows": "The graphics drivers of AMD, Intel and NVIDIA bring one; for the CPU install "
    "Intel's CPU Runtime for OpenCL Applications",
}


class Attempt(NamedTuple):
    """A library that was tried, and why it could not be used (None: it is in use)."""

    path: str
    error: str | None


attempts: list[Attempt] = []
drivers: list[Attempt] = []

# Packages that bring a driver for CPUs but register it nowhere, and the name of its library.
DRIVER_PACKAGES = {"intel-opencl-rt": "libintelocl.so"}
HIDING_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")


def load() -> None:
    """Load the first OpenCL library that works, once per process.

    Raises
    ------
    DeviceError
        None works; the message lists what was tried and says what to install here.
    """
    if attempts and attempts[-1].error is None:
        return
    attempts.clear()
    if os.environ.get("POCL_CACHE_DIR") == "":
        del os.environ["POCL_CACHE_DIR"]  # PoCL 3.1 aborts the process on an empty one
    if folder := cache.folder_of_pocl():
        os.environ["POCL_CACHE_DIR"] = folder
    for name, find in _candidates():
        try:
            path = find()
            _core.load_opencl(path)
        except (DeviceError, ImportError, OSError) as error:
            attempts.append(Attempt(name, str(error)))
        else:
            attempts.append(Attempt(path, None))
            _add_drivers()
            _tell_of_named(path)
            return
    tried = "".join(f"\n  {path}: {error}" for path, error in attempts)
    raise DeviceError(f"no OpenCL library was found. {what_to_install()}\nTried:{tried}")


def what_to_install() -> str:
    """Return how an OpenCL library and device are had on this platform."""
    system, machine = platform.system(), platform.machine()
    ways = WAYS_TO_INSTALL.get(f"{system} {machine}") or WAYS_TO_INSTALL.get(system)
    if ways is None:
        return "Install your device's driver and set PARTICLES_OPENCL to its OpenCL library"
    return ways.format(machine=machine)


def explain_no_device(platforms: list[_core.PlatformInfo]) -> str:
    """Return why a loaded OpenCL library offers no device, and what helps."""
    hidden = "".join(
        f"{name} is set to {os.environ[name]!r}, which hides other drivers. "
        for name in HIDING_VARIABLES
        if name in os.environ
    )
    if not platforms:
        return f"no OpenCL platform is known to {attempts[-1].path}. {hidden}{what_to_install()}"
    found = "".join(
        f"\n  {found.name}: {found.error or 'lists no device and gives no error'}"
        for found in platforms
    )
    has_pocl = any(found.name == "Portable Computing Language" for found in platforms)
    advice = _pocl_advice() if has_pocl else what_to_install()
    return f"no OpenCL platform has a device. {hidden}{advice}\nPlatforms:{found}"


def _pocl_advice() -> str:
    folder = os.environ.get("POCL_CACHE_DIR")
    where = "~/.cache/pocl" if folder is None else f"POCL_CACHE_DIR is {folder!r}"
    return (
        f"PoCL hides its devices when it cannot write to its cache folder ({where}): "
        "set POCL_CACHE_DIR to a folder that can be written"
    )


def _candidates() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield each place to look: its name, and a function that gives the library's path."""
    if own := environment.wanted_library():
        yield own, lambda: _prepared(own)
    yield "pyopencl", _library_of_pyopencl
    system = SYSTEM_LIBRARIES.get(platform.system(), "libOpenCL.so.1")
    yield system, lambda: system


def _tell_of_named(path: str) -> None:
    """Warn if the library that the user has named is not the one in use."""
    if environment.wanted_library() and attempts[0].error is not None:
        name, error = attempts[0]
        warnings.warn(
            f"PARTICLES_OPENCL names {name}, which cannot be used, so {path} is: {error}",
            RuntimeWarning,
            stacklevel=frames_of_package(),
        )


def _add_drivers() -> None:
    """Open the drivers that packages have brought, unless the user names the drivers to be seen."""
    drivers.clear()
    if any(name in os.environ for name in HIDING_VARIABLES):
        return
    for path in _packaged_drivers():
        try:
            _core.add_driver(path)
        except DeviceError as error:
            drivers.append(Attempt(path, str(error)))
        else:
            drivers.append(Attempt(path, None))


def _packaged_drivers() -> Iterator[str]:
    for package, library in DRIVER_PACKAGES.items():
        if not _has_metadata(package):
            continue
        from importlib import metadata  # slow to import

        for file in metadata.files(package) or []:
            if file.name == library:
                yield str(Path(str(file.locate())).resolve())


def _has_metadata(package: str) -> bool:
    name = f"{package.replace('-', '_')}-*.dist-info"
    return any(any(Path(folder).glob(name)) for folder in sys.path)


def _prepared(path: str) -> str:
    if Path(path).parent.name in (".libs", "pyopencl.libs"):
        _open_pyopencl()
    return path


def _library_of_pyopencl() -> str:
    """Return the loader that PyOpenCL bundles, or else the one it is linked to."""
    package = _open_pyopencl()
    for folder in (package / ".libs", package.parent / "pyopencl.libs", package / ".dylibs"):
        for library in sorted(folder.glob("libOpenCL*")):
            return str(library)
    maps = Path("/proc/self/maps")
    linked = re.search(r"\S*/libOpenCL\S*", maps.read_text()) if maps.exists() else None
    if linked is None:
        raise ImportError("PyOpenCL is installed but brings no OpenCL library of its own")
    return linked.group()


def _open_pyopencl() -> Path:
    """Open PyOpenCL's extension without its package, which is slow to import; return its folder.

    The loader in its wheel crashes the process unless this variable says where it is, and finds the
    driver in the wheel only if the extension, which knows the way, has opened it.
    """
    spec = find_spec("pyopencl")
    if spec is None or spec.origin is None:
        raise ImportError("PyOpenCL is not installed")
    package = Path(spec.origin).parent
    extensions = (package / f"_cl{suffix}" for suffix in EXTENSION_SUFFIXES)
    extension = next((path for path in extensions if path.exists()), None)
    if extension is None:
        raise ImportError(f"{package} has no extension for this Python")
    os.environ["PYOPENCL_HOME"] = str(package)
    ctypes.CDLL(str(extension))
    return package
