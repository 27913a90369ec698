# SPDX-License-Identifier: BSD-3-Clause
"""CPUs worked with as if they were GPUs, so that the forms for GPUs are tested everywhere."""

import functools

import particles as pt
from particles import _core
from particles._core import testing

FORMS = ["its own forms", "the forms of a GPU"]


@functools.cache
def as_gpu(device, local_memory=None):
    """Return a device on the same hardware that is told to be a GPU, with so much local memory."""
    info = testing.as_gpu(device.core.device, local_memory)
    return pt.Device(info, _core.Context.open(info, ""))


def in_form(device, form):
    """Return the device in one of the FORMS."""
    return device if form == FORMS[0] else as_gpu(device)
