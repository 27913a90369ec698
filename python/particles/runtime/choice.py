# SPDX-License-Identifier: BSD-3-Clause
"""Which device a name means, and which one is used when none is named."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from particles.base.checks import exact
from particles.base.errors import DeviceError
from particles.base.kinds import is_a
from particles.runtime import cache, drivers, environment
from particles.runtime.child import Outcome
from particles.runtime.drivers import Vectors

if TYPE_CHECKING:
    from particles.runtime.device import Device

FAILED = math.inf  # nanoseconds of a driver that could not be timed


class Choice(NamedTuple):
    """A device, why it is the one, and nanoseconds per particle and sweep where they decided."""

    device: Device
    reason: str
    nanoseconds: dict[int, float]


def choose(listed: list[Device]) -> Choice:
    """Return the first GPU, or else the CPU whose driver runs sweeps fastest.

    Several drivers for CPUs most often drive the same one. Which is fastest is measured once and
    remembered, so that it is the same in every run. A simulator is used only where it is named.
    """
    simulators = [device for device in listed if device.info.is_simulator]
    listed = [device for device in listed if device not in simulators]
    if not listed:
        raise DeviceError(
            f"every device is a simulator, which is used only where it is named: "
            f"{listing(simulators)}"
        )
    first = min(listed, key=lambda device: ("GPU", "CPU", "accelerator").index(device.kind))
    cpus = tuple(device for device in listed if device.kind == "CPU")
    if first.kind != "CPU" or len(cpus) == 1:
        return Choice(first, f"it is the first {first.kind}", {})
    return _best(cpus, may_measure=environment.effort() != "off")


def find(wanted: int | str, listed: list[Device]) -> Device | None:
    """Return the device of an index or of a part of a name, if there is one."""
    if is_a(wanted, int):
        return listed[wanted] if 0 <= wanted < len(listed) else None
    part = exact(wanted).strip().lower()
    for device in listed:
        if part and part in f"{device.name} {device.platform} {device.driver}".lower():
            return device
    return None


def listing(listed: list[Device]) -> str:
    """Return the devices in words."""
    if not listed:
        return "the devices, as there are none"
    return "the devices: " + ", ".join(
        f"{d.index}: {d.name} ({d.platform} {d.driver})" for d in listed
    )


@functools.cache
def _best(cpus: tuple[Device, ...], may_measure: bool) -> Choice:
    failures = _failures(cpus, may_tell=False)
    if all(failures) and any(drivers.UNKNOWN_PROCESSOR in str(failure) for failure in failures):
        failures = _failures(cpus, may_tell=True)
    usable = [cpu for cpu, failure in zip(cpus, failures, strict=True) if failure is None]
    if not usable:
        raise DeviceError("no CPU can be used:\n" + "\n".join(map(str, failures)))
    if len(usable) == 1:
        return Choice(usable[0], "it is the only CPU whose driver can be used", {})
    if not may_measure:
        return Choice(usable[0], "it is the first CPU, and PARTICLES_TUNE is 'off'", {})
    times = _times(usable)
    if min(times) == FAILED:
        return Choice(usable[0], "it is the first CPU, and no driver's sweeps could be timed", {})
    fastest = usable[times.index(min(times))]
    return Choice(
        fastest,
        "its driver runs sweeps fastest",
        {cpu.index: time for cpu, time in zip(usable, times, strict=True) if time < FAILED},
    )


def _failures(cpus: tuple[Device, ...], may_tell: bool) -> list[str | None]:
    """Have the drivers of CPUs tried, side by side; return why each cannot be used, or None."""

    def failure(cpu: Device) -> str | None:
        try:
            cpu.info = drivers.usable(cpu.info, may_tell)
        except DeviceError as error:
            return str(error)
        return None

    from concurrent.futures import ThreadPoolExecutor  # slow to import

    with ThreadPoolExecutor(len(cpus)) as pool:
        return list(pool.map(failure, cpus))


def _times(cpus: list[Device]) -> list[float]:
    """Return the time of each CPU's driver, measured now unless it has been.

    It is remembered unless a trial came to no end: another time it may.
    """
    names = ["\n".join(map(str, drivers.driver_of(cpu.info))) for cpu in cpus]
    path = cache.path_of("fastest", *sorted(names), *drivers.machine())
    known = cache.read_facts(path)
    if not _are_times(known, names):
        trials = {name: _timed(cpu) for name, cpu in zip(names, cpus, strict=True)}
        known = cache.read_facts(path)  # of a process that was first: all shall agree
        if not _are_times(known, names):
            known = {name: _nanoseconds(trial) for name, trial in trials.items()}
            if all(trial.is_final for trial in trials.values()):
                cache.write_facts(path, known)
    return [known[name] for name in names]


def _are_times(facts: dict[str, Any], names: list[str]) -> bool:
    return all(is_a(time := facts.get(name), float) and time > 0 for name in names)


def _timed(cpu: Device) -> Outcome:
    vectors = Vectors(cpu.info.widest_vector, cpu.info.vector_fma)
    return drivers.run_trial("time", drivers.driver_of(cpu.info), vectors)


def _nanoseconds(trial: Outcome) -> float:
    try:
        return float(trial.output)
    except ValueError:
        return FAILED
