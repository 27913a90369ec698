# SPDX-License-Identifier: BSD-3-Clause
"""Several devices that work together, as one."""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from particles import _core
from particles.base.checks import entries, shown
from particles.base.kinds import is_a
from particles.runtime.crew import Crew, Several
from particles.runtime.device import Device
from particles.runtime.devices import as_device

if TYPE_CHECKING:
    import pyopencl


class DeviceGroup(Device):
    """What grids of several devices have as their device; made by `group_of` alone.

    Attributes
    ----------
    crew : Crew
        A thread for each of them.
    """

    def __init__(self, devices: tuple[Device, ...], crew: Crew | None = None) -> None:
        super().__init__(devices[0].info)
        self._devices = devices
        self.crew = crew or Crew(len(devices))
        self.index = -1
        self.name = _names([device.name for device in devices])
        self.platform = ", ".join(dict.fromkeys(device.platform for device in devices))
        self.driver = ", ".join(dict.fromkeys(device.driver for device in devices))
        self.is_cpu = all(device.is_cpu for device in devices)
        self.is_gpu = all(device.is_gpu for device in devices)
        self.dtypes = min((device.dtypes for device in devices), key=len)
        self.compute_units = sum(device.compute_units for device in devices)
        self.largest_work_group = min(device.largest_work_group for device in devices)
        self.memory = sum(device.memory for device in devices)
        self.largest_allocation = sum(device.largest_allocation for device in devices)
        self.local_memory = min(device.local_memory for device in devices)
        self.cache_size = min(device.cache_size for device in devices)
        self._contexts: Any = None
        self._speeds: Sequence[float] = ()

    @property
    def devices(self) -> tuple[Device, ...]:
        """Those that work together.

        :meta private:
        """
        return self._devices

    @property
    def core(self) -> _core.Context:
        """The opened devices of the C++ core.

        :meta private:
        """
        if self._contexts is None:
            self._contexts = _Contexts(self.crew, [device.core for device in self.devices])
        contexts: _core.Context = self._contexts
        contexts.check_process()
        return contexts

    @property
    def has_images(self) -> bool:
        """Whether each can put a velocity into image memory."""
        return all(device.has_images for device in self.devices)

    @property
    def context(self) -> pyopencl.Context:
        """There is none of several devices."""
        self._refuse("context")

    @property
    def queue(self) -> pyopencl.CommandQueue:
        """There is none of several devices."""
        self._refuse("queue")

    def _refuse(self, what: str) -> NoReturn:
        raise NotImplementedError(f"several devices have no {what} in common: see grid.devices")

    @property
    def are_alike(self) -> bool:
        """Whether all are of one kind, so that each is as fast."""
        kinds = {(d.name, d.platform, d.driver, d.compute_units) for d in self.devices}
        return len(kinds) == 1

    def speeds(self, measure: Callable[[DeviceGroup], Sequence[float]]) -> Sequence[float]:
        """Return how fast each one is, as it was measured the first time."""
        if not self._speeds:
            self._speeds = measure(self)
        return self._speeds

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self.devices))}]"


class _Contexts(Several):
    """The opened devices, as one."""

    __slots__ = ()

    context_pointer = queue_pointer = None  # there is none that all have

    def check_process(self) -> None:
        """Refuse a process that is another one's child, here and not in a thread that it has not."""
        for part in self.parts:
            part.check_process()

    def stop_profile(self, whose: int) -> dict[str, tuple[int, float, float]]:
        """Return launches, seconds and bytes of each kernel on all devices."""
        found: dict[str, tuple[int, float, float]] = {}
        for times in self.each("stop_profile", whose):
            for name, (launches, seconds, moved) in times.items():
                before = found.get(name, (0, 0.0, 0.0))
                found[name] = (before[0] + launches, before[1] + seconds, before[2] + moved)
        return found


def _names(names: list[str]) -> str:
    """Return each name once, with how many there are of it."""
    return ", ".join(f"{n} x {name}" if n > 1 else name for name, n in Counter(names).items())


_lock = threading.Lock()
_groups: weakref.WeakValueDictionary[tuple[int, ...], DeviceGroup] = weakref.WeakValueDictionary()


def place_of(device: Device | int | str | None, devices: object) -> Device:
    """Return the device that two arguments name, of which one at most is given."""
    if devices is None:
        return as_device(device)
    if device is not None:
        raise ValueError(f"device must be None where devices are given, not {shown(device)}")
    return group_of(devices)


def dry(device: Device) -> Device:
    """Return a device on which nothing is allocated or launched, in place of another."""
    if is_a(device, DeviceGroup):
        return DeviceGroup(tuple(map(dry, device.devices)), device.crew)
    return Device(device.info, _core.Context.dry(device.info))


def group_of(devices: object) -> Device:
    """Return the devices that an argument names as one, the same for the same.

    A group keeps its devices alive, so no other one can have the number of one that is found here.
    """
    given = entries(devices)
    if given is None and is_a(devices, Device | int | str) and not is_a(devices, bool):
        raise TypeError(
            f"devices must be a sequence of devices, not {shown(devices)}: [{shown(devices)}] for one"
        )
    if given is None or any(one is None for one in given):
        raise TypeError(f"devices must be a sequence of devices, not {shown(devices)}")
    if not given:
        raise ValueError(f"devices must name at least one device, not {shown(devices)}")
    places = tuple(as_device(one, "devices") for one in given)
    if len({*map(id, places)}) < len(places):
        raise ValueError(f"devices must each be given once, not {places}")
    if len(places) == 1:
        return places[0]
    key = tuple(map(id, places))
    with _lock:
        found = _groups.get(key)
        if found is None:
            found = _groups[key] = DeviceGroup(places)
    return found
