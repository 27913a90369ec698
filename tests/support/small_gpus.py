# SPDX-License-Identifier: BSD-3-Clause
"""``pytest -p tests.support.small_gpus``: every device is told to be a GPU with little local memory.

It is told so wherever the core describes a device, so that nothing meets it undisguised but child
processes. Tests of what drivers themselves say are marked ``as_it_is`` and left out.
"""

from types import SimpleNamespace

import particles as pt
import pytest
from particles import _core
from particles._core import testing
from particles.runtime import drivers

from tests.support.usable import refusal

LOCAL_MEMORY = 16 * 1024

list_platforms, describe_device = _core.list_platforms, _core.describe_device


def disguised(platform):
    """Return what a platform says of itself, with its usable devices in disguise."""
    said = {name: getattr(platform, name) for name in ("name", "vendor", "version", "error")}
    usable = [device for device in map(pt.Device, platform.devices) if refusal(device) is None]
    devices = [testing.as_gpu(device.info, LOCAL_MEMORY) for device in usable]
    return SimpleNamespace(**said, devices=devices)


_core.list_platforms = lambda: list(map(disguised, list_platforms()))
_core.describe_device = lambda pointer: testing.as_gpu(
    drivers.usable(describe_device(pointer)), LOCAL_MEMORY
)


def pytest_collection_modifyitems(items):
    """Leave out what compares a device with what its driver says of it."""
    for item in items:
        if item.get_closest_marker("as_it_is"):
            item.add_marker(pytest.mark.skip(reason="the device is in disguise"))
