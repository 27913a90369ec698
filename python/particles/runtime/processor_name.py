# SPDX-License-Identifier: BSD-3-Clause
"""What a driver is told whose compiler is older than the processor: the name of one that it knows.

PoCL compiles for the processor that LLVM's table names. The library on PyPI is of 2022; of what is
younger its table says "generic", a name which its own compiler refuses, or an older processor of
the same family that lacks vectors of 64 bytes. Here it gets the name of an older processor that has
the same instructions, in memory and for this process alone; no file is changed. What the driver
then does is tried out like any driver.
"""

import functools
import mmap
import os
import platform
from pathlib import Path
from typing import NamedTuple

from particles import _core
from particles.base.errors import DeviceError
from particles.runtime import cache, environment

TAKEN_FOR_LESS = "-znver3"  # at the end of a version: so it calls AMD's with AVX-512, too

# Where the library keeps the name, of each build that is known, by its SHA-256 sum: offsets of
# `llvm_cpu` and `ops` in `struct _cl_device_id`, of `build_hash` in `struct pocl_device_ops`, and of
# the count in the map `targetMachines`, which lies 40 bytes behind that symbol. The library has debug
# information: `gdb -batch -ex "ptype /o struct _cl_device_id" -ex "info variables Machines" LIBRARY`.
LAYOUTS = {
    # pocl-binary-distribution 3.0: PoCL 3.0-rc2 with LLVM 14.0.6
    "d214aece60df73c75d8a678d33e4a51f4e5b594772dc74891b5451f909db6025": (640, 880, 480, 0x54A8BC8),
}


class Known(NamedTuple):
    """A processor that old compilers know.

    And the flags, as in /proc/cpuinfo, of all that they write of their own accord for it.
    """

    name: str
    flags: frozenset[str]


_OF_2013 = frozenset(
    {"pni", "ssse3", "sse4_1", "sse4_2", "cx16", "popcnt", "movbe", "abm", "avx", "avx2"}
    | {"fma", "f16c", "bmi1", "bmi2"}
)
_OF_2017 = _OF_2013 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
KNOWN = (Known("skylake-avx512", _OF_2017), Known("haswell", _OF_2013))


def names_for(device: _core.DeviceInfo) -> list[str]:
    """Return the names that a device's driver may be told, the best first.

    Raises
    ------
    DeviceError
        There is none; the message says why.
    """
    if not environment.may_repair():
        raise DeviceError("PARTICLES_REPAIR is off: it is not told of an older one")
    if _sum(_core.library_of(device)) not in LAYOUTS:
        raise DeviceError("it is none of the builds that can be told of an older one")
    has = _flags()
    names = [known.name for known in KNOWN if known.flags <= has]
    if is_taken_for_less(device):
        return names[:1]
    if not names:
        lacking = ", ".join(sorted(KNOWN[-1].flags - has))
        raise DeviceError(f"this processor lacks what {KNOWN[-1].name} has: {lacking}")
    return names


def is_taken_for_less(device: _core.DeviceInfo) -> bool:
    """Return whether a device's driver knows the processor as one without its widest vectors.

    Those vectors would be damaged on their way into the driver's library, which has them.
    """
    return TAKEN_FOR_LESS in device.version and KNOWN[0].flags <= _flags()


def tell(device: _core.DeviceInfo, name: str) -> None:
    """Tell a device's driver, in this process, which processor to compile for.

    Raises
    ------
    DeviceError
        The driver is not known, was told another name, or has compiled already.
    """
    layout = LAYOUTS.get(_sum(_core.library_of(device)))
    if layout is None:
        raise DeviceError(f"the driver of {device.name} is not the one that was tried")
    # Its cached programs must be told from those of processors with other instructions.
    digest = _core.sha256(" ".join(sorted(_flags())).encode())[:8]
    kind = device.version.rpartition(" ")[2]
    _core.tell_processor(device, *layout, name, f"{kind}-{name}-{digest}")
    _told[device.pointer] = name


def told(device: _core.DeviceInfo) -> str:
    """Return what a device's driver was told in this process, or ""."""
    return _told.get(device.pointer, "")


_told: dict[int, str] = {}


@functools.cache
def _sum(path: str) -> str:
    """Return the sum of a library, which is read once; "" if it cannot be."""
    try:
        with Path(path).open("rb") as file:
            found = os.fstat(file.fileno())
            identity = found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
            kept = cache.path_of("driver", "sum", path, *map(str, identity))
            sum_ = cache.read_facts(kept).get("sum")
            if not isinstance(sum_, str):
                sum_ = _sum_of(file.fileno())
                cache.write_facts(kept, {"sum": sum_})
            return sum_
    except (OSError, ValueError):
        return ""


def _sum_of(file: int) -> str:
    import hashlib  # slow to import; for 100 MB it is the faster one

    with mmap.mmap(file, 0, prot=mmap.PROT_READ) as all_:
        return hashlib.sha256(all_).hexdigest()


def _flags() -> frozenset[str]:
    """Return the flags that every processor of this machine has."""
    if platform.machine() != "x86_64":
        return frozenset()
    lines = _cpuinfo().splitlines()
    sets = [line.partition(":")[2].split() for line in lines if line.startswith("flags")]
    return frozenset(sets[0]).intersection(*sets[1:]) if sets else frozenset()


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return ""
