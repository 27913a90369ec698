# SPDX-License-Identifier: BSD-3-Clause
"""Every OpenCL device found is tested; ``PARTICLES_TEST`` narrows by index or part of a name."""

import os

import numpy as np
import pytest
from particles.device import devices

os.environ["PARTICLES_TUNE"] = "off"  # what tests it sets it


def short_name(device):
    """Return a name that is unique and fits in a test's id."""
    kind = "pocl" if device.info.is_pocl else device.name.replace(" ", "-")
    return f"{device.index}-{kind}-{device.driver}"


def tested_devices():
    """Return the devices that ``PARTICLES_TEST`` leaves."""
    wanted = os.environ.get("PARTICLES_TEST", "").lower()
    found = [
        device
        for device in devices()
        if wanted in (str(device.index), "")
        or (not wanted.isdecimal() and wanted in f"{short_name(device)} {device.name}".lower())
    ]
    if not found:
        raise pytest.UsageError(f"PARTICLES_TEST={wanted!r} leaves none of {devices()}")
    return found


@pytest.fixture(scope="session", params=tested_devices(), ids=short_name)
def device(request):
    """Return each device in turn."""
    return request.param


@pytest.fixture(params=["float32", "float64"])
def dtype(request, device):
    """Return each dtype that the device has."""
    dtype = np.dtype(request.param)
    if dtype not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    return dtype
