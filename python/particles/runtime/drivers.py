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
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from particles import __version__, _core
from particles.base.errors import DeviceError
from particles.base.progress import say
from particles.runtime import cache, processor_name
from particles.runtime import linker as linker_module
from particles.runtime.child import Outcome, run_together

DOING = {"check": "trying", "time": "timing"}
CHILD = ("-m", "particles.trials.driver_trial")
PARTS = ("across", "along")  # of a trial, each in a process of its own, at once
LINKED = "linked"  # is printed when a kernel was, or when the compiler had none for the linker
WIDTHS = (64, 32, 16)  # bytes
UNKNOWN_PROCESSOR = "unknown target CPU"  # in Clang's words
TOO_OLD = (
    "\nIts compiler is older than this processor and does not know it ({reason}); another driver's "
    "may: on Debian and Ubuntu apt-get install pocl-opencl-icd, or without root, on x86-64, "
    "pip install intel-opencl-rt intel-cmplr-lib-rt, a driver under Intel's licence."
)


class Driver(NamedTuple):
    """What tells a driver, on one device, from others.

    And whether it says that it has fma(), whether it starts a linker, and which processor it is told.
    """

    platform: str
    version: str
    driver: str
    name: str
    has_fma: bool
    needs_linker: bool = False
    processor: str = ""


class Vectors(NamedTuple):
    """What kernels may use: the bytes of the widest vectors, and whether products and sums fuse."""

    bytes: int
    fma: bool


class TrialFailedError(DeviceError):
    """A driver failed its trial."""


def usable(device: _core.DeviceInfo, may_tell: bool = True) -> _core.DeviceInfo:
    """Make sure that a device computes right, before its first kernel; return it with its vectors.

    Parameters
    ----------
    device
        As listed.
    may_tell : bool
        Whether a driver that refuses the processor may be told of another.

    Raises
    ------
    DeviceError
        A CPU's driver lacks its linker, ends the process, computes wrong, or is too old for it.
    """
    if not device.is_cpu:
        return device
    if processor_name.is_taken_for_less(device):
        with suppress(DeviceError):
            return _told_of_another(device)
    elif processor_name.told(device) and not may_tell:
        raise DeviceError(f"{device.name}: {UNKNOWN_PROCESSOR}: its driver is told of another one")
    try:
        return device.with_vectors(*_vectors(driver_of(device)))
    except TrialFailedError as failure:
        if UNKNOWN_PROCESSOR not in str(failure) or not may_tell:
            raise
        try:
            return _told_of_another(device)
        except DeviceError as error:
            raise DeviceError(f"{failure}{TOO_OLD.format(reason=error)}") from None


def _told_of_another(device: _core.DeviceInfo) -> _core.DeviceInfo:
    """Use a driver that is told of a processor that it knows, if it computes right then."""
    for name in processor_name.names_for(device):
        with suppress(TrialFailedError):
            vectors = _vectors(driver_of(device)._replace(processor=name))
            processor_name.tell(device, name)
            return device.with_vectors(*vectors)
    raise DeviceError("told of an older one it fails its trial")


def driver_of(device: _core.DeviceInfo) -> Driver:
    """Return the driver of a device."""
    return Driver(
        device.platform_name,
        device.platform_version,
        device.driver,
        device.name,
        device.has_fma,
        device.needs_linker,
        processor_name.told(device),
    )


def run_trial(task: str, driver: Driver, vectors: Vectors) -> Outcome:
    """Do a task of `driver_trial` in child processes."""
    say(f"{DOING[task]} {driver.name}, {driver.platform} {driver.driver}, once: some seconds")
    request = json.dumps([driver, vectors])
    parts = PARTS if task == "check" else (task,)
    return run_together([(*CHILD, part, request) for part in parts], PARTICLES_TUNE="off")


def machine() -> list[str]:
    """Return what decides, besides the drivers, how fast and how right kernels are."""
    return [__version__, _kernels(), _processor()]


@functools.cache
def _vectors(driver: Driver) -> Vectors:
    path = cache.path_of("driver", *map(str, driver), *machine(), *_linking(driver))
    facts = cache.read_facts(path)
    if not _is_valid(facts):
        facts, is_final = _try(driver)
        if is_final:
            cache.write_facts(path, facts)
    if facts.get("archives"):
        linker_module.add_archives()
    if "failure" not in facts:
        return Vectors(facts["bytes"], facts["fma"])
    again = f"\nIt is tried again when {path} is removed." if path.exists() else ""
    raise TrialFailedError(
        f"{driver.name} is not used: its driver ({_words(driver)}) failed a trial in a child "
        f"process:\n{facts['failure']}{again}"
    )


def _linking(driver: Driver) -> list[str]:
    """Return what decides whether a driver can link, if it has to."""
    if not driver.needs_linker:
        return []
    linker = linker_module.linker_of(driver.name, _words(driver))
    return linker_module.facts_of(linker)


def _is_valid(facts: dict[str, Any]) -> bool:
    if not isinstance(facts.get("archives"), bool):
        return False
    if "failure" in facts:
        return isinstance(facts["failure"], str)
    width, fma = facts.get("bytes"), facts.get("fma")
    return isinstance(width, int) and width in WIDTHS and isinstance(fma, bool)


def _try(driver: Driver) -> tuple[dict[str, Any], bool]:
    """Return the widest vectors that pass, or the last failure, and whether that is for good."""
    outcome, archives = Outcome("", "", is_final=False), False
    for fma, width in itertools.product(dict.fromkeys((driver.has_fma, False)), WIDTHS):
        vectors = Vectors(width, fma)
        outcome = run_trial("check", driver, vectors)
        if not archives and not _is_linked(driver, outcome):
            outcome, archives = _with_archives(driver, vectors), True
        if outcome.failure is None:
            return {**vectors._asdict(), "archives": archives}, True
        if not outcome.is_final or UNKNOWN_PROCESSOR in outcome.failure:
            break
    return {"failure": outcome.failure, "archives": archives}, outcome.is_final


def _is_linked(driver: Driver, outcome: Outcome) -> bool:
    """Whether a trial has shown that kernels can be linked, or nothing of it."""
    return not (driver.needs_linker and outcome.is_final) or LINKED in outcome.output


def _with_archives(driver: Driver, vectors: Vectors) -> Outcome:
    """Make a trial once more where archives lie that the linker may miss."""
    linker_module.add_archives()
    outcome = run_trial("check", driver, vectors)
    if not _is_linked(driver, outcome):
        linker_module.remove_archives()
        raise linker_module.error(driver.name, _words(driver), outcome.failure)
    return outcome


def _words(driver: Driver) -> str:
    return f"{driver.platform} {driver.driver}"


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
        told = [platform.processor()]  # starts another program, on Linux
    else:
        told = sorted({line for line in lines if line.split("\t")[0].strip() in names})
    return os.linesep.join([platform.machine(), *told])
