# SPDX-License-Identifier: BSD-3-Clause
"""Forms that may be faster than the one that suits a kind of device, most promising first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from particles.base.checks import arithmetic
from particles.fields.grid import Grid
from particles.kernels import RemeshingKernel
from particles.operators.form import KINDS, LANES, MOST, Form
from particles.operators.velocity import Velocity
from particles.runtime.device import Device

TILES = (4, 16, 64, 256)
# Work for every thread, several times over: the time of processors does not tell idle ones.
JOBS_PER_UNIT = 4
GROUPS = (16, 32, 64, 128, 256)
NODES = (64, 32, 128, 256)


class Task(NamedTuple):
    """Sweeps of fields with so many components together, from a time on.

    The velocity is on the grid where it is None.
    """

    device: Device
    grid: Grid
    dtype: np.dtype[np.floating]
    components: int
    kernel: RemeshingKernel
    velocity: Velocity | None
    time: float = 0.0
    limiter: str | None = None
    conservative: bool = True

    def is_along_memory(self, axis: int) -> bool:
        """Whether the nodes of a line along an axis are neighbours in memory."""
        return axis == self.grid.ndim - 1


def candidates(task: Task, axis: int, thorough: bool) -> list[Form]:
    """Return what may be worth its measurement; everything else as well where `thorough`.

    The functions of a driver give other bits for other numbers of lanes: where a formula may call
    them, lanes stay what they are.
    """
    is_cpu = task.device.is_cpu
    found = list(_on_cpus(task, axis) if is_cpu else _on_gpus(task, axis))
    if thorough:
        found += _all_kinds(task, axis)
    if task.velocity is not None:
        found = [form for form in found if form.kind not in (KINDS if is_cpu else ("lanes",))]
    return list(dict.fromkeys(found))


def _on_cpus(task: Task, axis: int) -> Iterator[Form]:
    device = task.device
    lanes = device.info.widest_vector // arithmetic(task.dtype).itemsize
    lines = task.grid.size // task.grid.shape[axis]
    if task.velocity is None and not task.is_along_memory(axis):
        yield Form(copied=True)
    for tiles in TILES:
        if lines >= lanes * tiles * JOBS_PER_UNIT * device.compute_units:
            yield Form(tiles=tiles)
    if lanes // 2 in LANES[1:]:
        yield Form("lanes", lanes=lanes // 2)


def _on_gpus(task: Task, axis: int) -> Iterator[Form]:
    device = task.device
    groups = [group for group in GROUPS if group <= device.largest_work_group]
    own = min(task.grid.shape[axis], MOST)
    for nodes in (*(few for few in NODES if few < own), own):  # pieces, and whole lines
        yield Form(nodes=nodes)
    for group in groups:
        yield Form(group=group)
    if task.velocity is None:
        yield Form(copied=True)
        if device.has_images and arithmetic(task.dtype) == np.float32:
            yield Form(images=True)
    if task.is_along_memory(axis) and task.grid.ndim > 1:
        yield Form("registers", transposed=True)


def _all_kinds(task: Task, axis: int) -> Iterator[Form]:
    can_transpose = task.is_along_memory(axis) and task.grid.ndim > 1
    has_images = task.device.has_images and arithmetic(task.dtype) == np.float32
    for kind, copied, transposed, images in product(
        KINDS,
        (None, True) if task.velocity is None else (None,),
        (False, True) if can_transpose else (None,),
        (None, True) if task.velocity is None and has_images else (None,),
    ):
        if not (kind == "lanes" and images):
            yield Form(kind, copied=copied, transposed=transposed, images=images)
