# SPDX-License-Identifier: BSD-3-Clause
"""Several devices for one: each is opened again, with a context and a queue of its own."""

import particles as pt
from particles.runtime.device import Device


def several(device, count):
    """Return so many devices that are all the same one."""
    return [Device(device.info) for _ in range(count)]


class OnDevices:
    """The package, but grids are divided among devices."""

    def __init__(self, devices):
        self._devices = devices

    def __getattr__(self, name):
        return getattr(pt, name)

    def Grid(self, shape, *, comm=None, **box):
        return pt.Grid(shape, **box, devices=self._devices)
