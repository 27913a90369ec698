# SPDX-License-Identifier: BSD-3-Clause
"""How fast devices are beside each other, by sweeps that all of them do at once."""

from __future__ import annotations

import time

from particles import _core, kernels
from particles.runtime.device_group import DeviceGroup

_POINTS = 96  # along each axis
_CELLS = 2.0  # moved by all particles
_SECONDS = 0.3


def speeds_of(group: DeviceGroup) -> list[float]:
    """Return how many sweeps a second each device of a group does."""
    kernel = kernels.get("M'6")
    box = (_POINTS,) * 3, (0.0,) * 3, (1.0,) * 3, [("periodic", "periodic")] * 3
    forms = [_core.Form()] * 3

    def speed(rank: int) -> float:
        context, grid = group.devices[rank].core, _core.Grid(*box)
        field = _core.Field(context, grid, 1, "float32", "a field to be timed")
        wind = _core.Field(context, grid, 3, "float32", "a velocity to be timed")
        wind.fill((0,) * 4, (3, *box[0]), (1,) * 4, _CELLS)
        push = _core.AdvectionOp(wind, forms[0])
        remesh = _core.RemeshOp([field], kernels.opencl_source(kernel), kernel.stencil, forms)
        transport = _core.Splitting(push, remesh, 1)

        def sweep() -> None:
            for axis in range(3):
                transport.sweep(axis, 0.0, 1.0)
            context.finish()

        sweep()  # builds kernels
        group.crew.every(rank, None)
        sweeps, begin = 0, time.perf_counter()
        while (passed := time.perf_counter() - begin) < _SECONDS or sweeps == 0:
            sweep()
            sweeps += 1
        return sweeps / passed

    return group.crew.call(speed)
