# SPDX-License-Identifier: BSD-3-Clause
"""With this folder on ``PYTHONPATH`` PyPI's PoCL does not know the processor, in children as well.

It is made to forget the processor's name when its device is first described.
"""

import ctypes

from particles import _core
from particles.runtime import processor_name

list_platforms, describe_device = _core.list_platforms, _core.describe_device
forgotten = set()
GENERIC = ctypes.create_string_buffer(b"generic")


def forget(device):
    """Let a device's driver not know the processor, once."""
    layout = processor_name.LAYOUTS.get(processor_name._sum(_core.library_of(device)))
    if layout is not None and device.pointer not in forgotten:
        forgotten.add(device.pointer)
        name = ctypes.c_void_p.from_address(device.pointer + layout[0])
        name.value = ctypes.addressof(GENERIC)
    return device


def list_and_forget():
    """List platforms whose drivers may not know the processor."""
    platforms = list_platforms()
    for platform in platforms:
        for device in platform.devices:
            forget(device)
    return platforms


_core.list_platforms = list_and_forget
_core.describe_device = lambda pointer: forget(describe_device(pointer))
