# SPDX-License-Identifier: BSD-3-Clause
"""The devices that can be used here: a driver may be listed that does not know the processor."""

import functools

import particles as pt
from particles.runtime import drivers


@functools.cache
def refusal(device):
    """Return why a device cannot be used, or None.

    That is nobody's fault if its driver is too old; whatever else it fails at, tests must tell.
    """
    try:
        device.info = drivers.usable(device.info)
    except pt.DeviceError as error:
        if drivers.UNKNOWN_PROCESSOR in str(error):
            return str(error)
    return None


def usable_devices():
    """Return the devices that can be used."""
    return [device for device in pt.devices() if refusal(device) is None]
