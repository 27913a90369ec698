# SPDX-License-Identifier: BSD-3-Clause
"""Devices that are not there."""

from types import SimpleNamespace

from particles.runtime.device import Device


class Info(SimpleNamespace):
    """What a driver says of a device."""

    def with_vectors(self, width, fma):
        return Info(**{**vars(self), "widest_vector": width, "vector_fma": fma})


class StandIn(Device):
    """A device that cannot be opened."""

    has_images = True


def stand_in(index=0, name="Device", kind="CPU", **facts):
    """Return a device that cannot be opened; `facts` replace what its driver says of it."""
    said = {
        "index": index,
        "pointer": index,
        "name": name,
        "version": "",
        "platform_name": "Platform",
        "platform_version": "OpenCL 3.0",
        "driver": "1.0",
        "is_cpu": kind == "CPU",
        "is_gpu": kind == "GPU",
        "is_simulator": False,
        "needs_linker": False,
        "has_fma": True,
        "widest_vector": 64,
        "vector_fma": True,
        "has_double": kind == "CPU",
        "compute_units": 2,
        "largest_work_group": 64,
        "global_memory": 2**30,
        "largest_allocation": 2**28,
        "local_memory": 2**15,
        "cache_size": 2**20,
    }
    return StandIn(Info(**{**said, **facts}))
