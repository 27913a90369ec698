# SPDX-License-Identifier: BSD-3-Clause
"""CPUs worked with as if they were GPUs, so that the forms for GPUs are tested everywhere."""

import functools
import os

import particles as pt
import pytest
from particles import _core
from particles._core import testing

FORMS = ["its own forms", "the forms of a GPU"]


@functools.cache
def as_gpu(device, local_memory=None, unit_memory=None):
    """Return a device on the same hardware that is told to be a GPU.

    `local_memory`: so much for a work-group; `unit_memory`: for all groups of a compute unit.
    """
    info = testing.as_gpu(device.core.device, local_memory, unit_memory)
    return pt.Device(info, _core.Context.open(info, ""))


def skip_what_takes_for_ever(device):
    """Skip a test of groups that share sums, where PoCL optimises what it builds for a CPU.

    In some builds of particles_to_tile.cl it asks again and again of each value whether all
    work-items have the same one.
    """
    is_optimised = "-cl-opt-disable" not in os.environ.get("POCL_EXTRA_BUILD_FLAGS", "")
    if device.is_cpu and device.info.is_pocl and is_optimised:
        pytest.skip("PoCL takes for ever to optimise this")


def in_form(device, form):
    """Return the device in one of the FORMS."""
    return device if form == FORMS[0] else as_gpu(device)
