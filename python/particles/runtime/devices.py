# SPDX-License-Identifier: BSD-3-Clause
"""All OpenCL devices, and the choice of the one to use."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from particles import _core
from particles.base.checks import shown
from particles.base.errors import DeviceError
from particles.base.kinds import is_a
from particles.runtime import environment, loader
from particles.runtime.choice import Choice, choose, find, listing
from particles.runtime.device import Device
from particles.runtime.profile import KernelTime, Profile

_lock = threading.Lock()
_listed: list[Device] | None = None
_profiles = itertools.count(1)


def devices() -> list[Device]:
    """Return all OpenCL devices of all drivers, always the same objects.

    A driver is tried when one of its devices is first needed: ``particles info`` tries them all.

    Raises
    ------
    DeviceError
        There is no OpenCL library; the message says what to install.

    Examples
    --------
    >>> import particles as pt
    >>> [device.name for device in pt.devices()]  # doctest: +ELLIPSIS
    [...]
    """
    global _listed
    with _lock:
        if _listed is None:
            loader.load()
            found = [
                Device(info) for platform in _core.list_platforms() for info in platform.devices
            ]
            _listed = found or None  # a driver that has failed may have devices later
        return list(_listed or ())


def default_device() -> Device:
    """Return the device that is used by default.

    The environment variable ``PARTICLES_DEVICE`` names it, by index or by a part of its name.
    Otherwise it is the first GPU, or else the CPU with the driver that runs sweeps fastest. If
    several drivers are installed, they are timed once, unless ``PARTICLES_TUNE`` is ``off``.

    Raises
    ------
    DeviceError
        There is no device.
    ValueError
        ``PARTICLES_DEVICE`` names no device.

    Examples
    --------
    >>> import particles as pt
    >>> pt.default_device() in pt.devices()
    True
    """
    return choose_device().device


def choose_device() -> Choice:
    """Return the default device and the reason why it is the one."""
    listed = devices()
    if not listed:
        raise DeviceError(loader.explain_no_device(_core.list_platforms()))
    wanted = environment.wanted_device()
    if wanted:
        device = find(int(wanted) if wanted.isdecimal() else wanted, listed)
        if device is None:
            raise ValueError(f"PARTICLES_DEVICE is {wanted!r}, which is none of {listing(listed)}")
        return Choice(device, f"PARTICLES_DEVICE is {wanted!r}", {})
    return choose(listed)


def as_device(device: Device | int | str | None, name: str = "device") -> Device:
    """Return the device that an argument names: None, an index, a part of a name, or a device."""
    if device is None:
        return default_device()
    if is_a(device, Device):
        if len(device.devices) > 1:
            raise ValueError(
                f"{name} must be one, not the {len(device.devices)} of a grid of several devices: "
                "only what is on that grid can have them"
            )
        return device
    if is_a(device, bool) or not is_a(device, int | str):
        raise TypeError(
            f"{name} must be a Device, an index, a part of a name or None, "
            f"not {type(device).__name__}"
        )
    listed = devices()
    found = find(device, listed)
    if found is None:
        raise ValueError(f"{name} {shown(device)} is none of {listing(listed)}")
    return found


@contextmanager
def profile(device: Device | int | str | None = None) -> Iterator[Profile]:
    """Measure the time of every kernel that a device runs.

    Parameters
    ----------
    device : Device, int or str, optional
        By default the one of `default_device`. One made by `Device.from_pyopencl` needs a queue
        with ``properties=pyopencl.command_queue_properties.PROFILING_ENABLE``.

    Yields
    ------
    Profile
        Filled when the block ends; printed, it is a table.

    Examples
    --------
    >>> import particles as pt
    >>> with pt.profile() as p:
    ...     pt.default_device().finish()
    >>> p.kernels
    {}
    """
    core = (device if is_a(device, Device) else as_device(device)).core
    result, number = Profile(), next(_profiles)
    try:
        core.start_profile(number)
        yield result
    finally:
        times = core.stop_profile(number)
        result.kernels.update({name: KernelTime(*time) for name, time in times.items()})
