# SPDX-License-Identifier: BSD-3-Clause
"""Makes sure that a CPU's driver can be trusted, and finds the widest vectors it computes right.

Drivers have been seen to end the process at a multiply-add of wide vectors, and to damage vectors
on their way into their own library. So sweeps are first tried in a child process, once per machine,
driver and version of this package, with narrower vectors until they come out right.
"""

import functools
import itertools
import json
import os
import platform
from pathlib import Path
from typing import Any, NamedTuple

from particles import __version__, _cache, _core, _toolchain
from particles._child import Outcome, run_in_child
from particles._progress import say
from particles.errors import DeviceError

DOING = {"check": "trying", "time": "timing"}
CHILD = "import sys; from particles import _trial; _trial.main(*sys.argv[1:])"
WIDTHS = (64, 32, 16)  # bytes
UNKNOWN_PROCESSOR = "unknown target CPU"  # in Clang's words
OTHER_DRIVERS = (
    "\nIts compiler is older than this processor and does not know it; another driver's may: on "
    "Debian and Ubuntu apt-get install pocl-opencl-icd, or without root, on x86-64, "
    "pip install 'particles-opencl[intel]', a driver under Intel's licence."
)


class Driver(NamedTuple):
    """What tells a driver, on one device, from others, and whether it should have fma()."""

    platform: str
    version: str
    driver: str
    name: str
    has_fma: bool


class Vectors(NamedTuple):
    """What kernels may use: the bytes of the widest vectors, and whether fma() takes them."""

    bytes: int
    fma: bool


def usable(device: _core.DeviceInfo) -> _core.DeviceInfo:
    """Make sure that a device computes right, before its first kernel; return it with its vectors.

    Raises
    ------
    DeviceError
        A CPU's driver lacks its linker, ends the process, computes wrong, or is too old for it.
    """
    _toolchain.ensure_linker(device)
    return device.with_vectors(*_vectors(driver_of(device))) if device.is_cpu else device


def driver_of(device: _core.DeviceInfo) -> Driver:
    """Return the driver of a device."""
    return Driver(
        device.platform_name, device.platform_version, device.driver, device.name, device.has_fma
    )


def run_trial(task: str, driver: Driver, vectors: Vectors) -> Outcome:
    """Do a task of `_trial` in a child process."""
    say(f"{DOING[task]} {driver.name}, {driver.platform} {driver.driver}, once: some seconds")
    request = json.dumps([driver, vectors])
    return run_in_child(CHILD, task, request, PARTICLES_TUNE="off")


def machine() -> list[str]:
    """Return what decides, besides the drivers, how fast and how right kernels are."""
    return [__version__, _kernels(), _processor()]


@functools.cache
def _vectors(driver: Driver) -> Vectors:
    path = _cache.path_of("driver", *map(str, driver), *machine())
    facts = _cache.read_facts(path)
    if not _is_valid(facts):
        facts, is_final = _try(driver)
        if is_final:
            _cache.write_facts(path, facts)
    if "failure" not in facts:
        return Vectors(facts["bytes"], facts["fma"])
    advice = OTHER_DRIVERS if UNKNOWN_PROCESSOR in facts["failure"] else ""
    again = f"\nIt is tried again when {path} is removed." if path.exists() else ""
    raise DeviceError(
        f"{driver.name} is not used: its driver ({driver.platform} {driver.driver}) failed a trial "
        f"in a child process:\n{facts['failure']}{advice}{again}"
    )


def _is_valid(facts: dict[str, Any]) -> bool:
    if "failure" in facts:
        return isinstance(facts["failure"], str)
    width, fma = facts.get("bytes"), facts.get("fma")
    return isinstance(width, int) and width in WIDTHS and isinstance(fma, bool)


def _try(driver: Driver) -> tuple[dict[str, Any], bool]:
    """Return the widest vectors that pass, or the last failure, and whether that is for good."""
    outcome = Outcome("", "", is_final=False)
    for fma, width in itertools.product(dict.fromkeys((driver.has_fma, False)), WIDTHS):
        outcome = run_trial("check", driver, Vectors(width, fma))
        if outcome.failure is None:
            return Vectors(width, fma)._asdict(), True
        if not outcome.is_final or UNKNOWN_PROCESSOR in str(outcome.failure):
            break
    return {"failure": outcome.failure}, outcome.is_final


@functools.cache
def _kernels() -> str:
    return _core.sha256(repr(sorted(_core.embedded_kernels().items())).encode())


@functools.cache
def _processor() -> str:
    """Return what the processor is called and can do; a home folder may be many machines'."""
    names = {"model name", "flags", "Features", "CPU implementer", "CPU part"}
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    told = sorted({line for line in lines if line.split("\t")[0].strip() in names})
    return os.linesep.join([platform.machine(), platform.processor(), *told])
