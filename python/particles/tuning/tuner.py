# SPDX-License-Identifier: BSD-3-Clause
"""Chooses the form of sweeps by measurement: once for a device and a kind of task.

No choice changes a bit of a result, as only forms that give the same bits take part.
"""

from __future__ import annotations

import math
import threading
from pathlib import Path

from particles.base.errors import DeviceError
from particles.base.progress import say
from particles.operators.advection import AdvectionOp
from particles.operators.form import Form
from particles.operators.remesh import RemeshOp
from particles.operators.velocity import Velocity
from particles.runtime import cache, drivers, environment
from particles.tuning.candidates import Task, candidates
from particles.tuning.race import race, winner

SECONDS = 2.0  # for all axes of a task, if PARTICLES_TUNE says nothing else
WORTH_TUNING = 2**18  # particles; fewer are done before it would pay
LONG = 2**36  # updates of a run that is worth a race: a minute's, or half of one
TOGETHER = 4  # components that one launch carries at most

KIND = "form"  # of files in the cache folder

_lock = threading.Lock()
_chosen: dict[Path, Form] = {}  # what this process uses, whatever others find out


def forms_for(
    advection: AdvectionOp, remesh: RemeshOp, time: float, steps: float = 0
) -> list[Form]:
    """Return the form of the sweeps along each axis: the user's, or else the fastest known.

    Where none is known and so many steps are worth it, they are raced.
    """
    effort = environment.effort()
    axes = range(remesh.grid.ndim)
    if effort == "off" or remesh.form != Form():
        return [remesh.form for _ in axes]
    task = task_of(advection, remesh, time)
    thorough = effort == "full"
    with _lock:
        unknown = [axis for axis in axes if _known(task, axis, thorough) is None]
        can_race = not task.device.core.is_dry
        if unknown and can_race and (thorough or _is_worth(remesh, steps)):
            _choose(task, unknown, thorough)
        return [_known(task, axis, thorough) or Form() for axis in axes]


def _is_worth(remesh: RemeshOp, steps: float) -> bool:
    size, components = remesh.grid.size, sum(field.components for field in remesh.fields)
    return size >= WORTH_TUNING and steps * remesh.grid.ndim * size * components >= LONG


def task_of(advection: AdvectionOp, remesh: RemeshOp, time: float) -> Task:
    """Return what decides which form is the fastest."""
    field = remesh.fields[0]
    components = sum(field.components for field in remesh.fields)
    velocity = advection.velocity if isinstance(advection.velocity, Velocity) else None
    together = min(components, TOGETHER)
    device, grid = field.device, field.grid
    return Task(
        device,
        grid,
        field.dtype,
        together,
        remesh.kernel,
        velocity,
        time,
        remesh.limiter,
        remesh.conservative,
    )


def remember(task: Task, axis: int, form: Form, thorough: bool) -> None:
    """Use a form from now on, unless this process has chosen another one."""
    path = _path(task, axis)
    cache.write_facts(path, {"form": repr(form), "thorough": thorough})
    _chosen.setdefault(path, form)


def remembered() -> int:
    """Return how many choices there are in the cache folder."""
    folder = cache.cache_folder()
    return len(list(Path(folder).glob(f"{KIND}-*"))) if folder else 0


def _choose(task: Task, axes: list[int], thorough: bool) -> None:
    say("timing forms of sweeps on this device, once: some seconds")
    try:
        timings = race(task, axes, thorough, math.inf if thorough else SECONDS)
    except (DeviceError, ValueError):
        # Too little memory, or a formula that cannot be raced: the next process tries again.
        for axis in axes:
            _chosen[_path(task, axis)] = Form()
        return
    for axis in axes:
        if _known(task, axis, thorough) is None:  # no other process was first
            form = winner(timings[axis]) if axis in timings else Form()
            remember(task, axis, form, thorough)


def _known(task: Task, axis: int, thorough: bool) -> Form | None:
    """Return what has been chosen here, or what was in another process."""
    path = _path(task, axis)
    if path not in _chosen:
        facts = cache.read_facts(path)
        names = {repr(form): form for form in (Form(), *candidates(task, axis, thorough=True))}
        form = names.get(str(facts.get("form")))
        if form is None or (thorough and facts.get("thorough") is not True):
            return None
        _chosen[path] = form
    return _chosen[path]


def _path(task: Task, axis: int) -> Path:
    """Return where the choice is kept for all alike: shapes count by powers of two."""
    shape = task.grid.shape
    parts = (shape[axis], math.prod(shape[:axis]), math.prod(shape[axis + 1 :]))
    facts = [
        *drivers.driver_of(task.device.info),
        *drivers.machine(),
        axis - task.grid.ndim,
        *(round(math.log2(part)) for part in parts),
        task.dtype.name,
        task.components,
        task.kernel.stencil,
        task.velocity is None,
        task.limiter,
        task.conservative,
        task.grid.boundary[axis] == "periodic",
    ]
    return cache.path_of(KIND, *map(str, facts))
