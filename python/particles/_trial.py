# SPDX-License-Identifier: BSD-3-Clause
"""What a child process does to find out about a driver: whether it computes right, how fast."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from particles import _core, _loader
from particles._cache import program_folder
from particles._probe import Driver, Vectors, driver_of
from particles.advection import AdvectionOp
from particles.device import Device
from particles.errors import BuildError, DeviceError
from particles.field import Field
from particles.grid import Grid
from particles.kernels import get
from particles.remesh import RemeshOp
from particles.splitting import Splitting
from particles.velocity import Velocity

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-4  # of what a wrong vector would be off by
KERNEL = "M'6"
POINTS = 128  # along each axis, for the timing
CELLS = 2.0  # moved by the fastest particle, for the timing
REPEATS, SECONDS = 5, 0.5  # at least


def main(task: str, request: str) -> None:
    """Do a task on the device of the driver that is named, with the vectors that are given.

    A call that fails says nothing of the vectors, unless it is the compiler's.
    """
    driver, vectors = json.loads(request)
    try:
        _do(task, _device(Driver(*driver), Vectors(*vectors)))
    except BuildError as error:
        raise SystemExit(str(error)) from None
    except DeviceError as error:
        _give_up(str(error))


def _do(task: str, device: Device) -> None:
    if task == "check":
        check(device)
    else:
        print(nanoseconds_per_particle(device))


def _give_up(reason: str) -> NoReturn:
    """End so that it is tried another time."""
    print(reason, file=sys.stderr)
    raise SystemExit(os.EX_TEMPFAIL)


def _device(driver: Driver, vectors: Vectors) -> Device:
    _loader.load()
    for platform in _core.list_platforms():
        for info in platform.devices:
            if driver_of(info) == driver:
                own = info.with_vectors(*vectors)
                folder = program_folder(own.caches_programs)
                return Device(own, _core.Context.open(own, folder))
    _give_up(f"the device {driver.name} of {driver.platform} was not found")


def speed_across(x: Array) -> Array:
    """Return a speed that differs between lines, by functions of the driver's library."""
    near: Array = np.sin(3 * x) + np.exp(-x) * np.sqrt(x) + np.tanh(x - 0.5)
    far: Array = np.sin(2.0**14 * x) + np.cos(2.0**14 * x)
    steps: Array = 2 * np.floor(4 * x)
    return 3 * near + far + steps


def check(device: Device) -> None:
    """Sweep along each axis, near and far, and sum up; compare with NumPy.

    In float32 alone: what matters is how many bytes vectors have, and doubles go the same ways.
    """
    grid = Grid((24, 40), extent=(0.75, 1.25))  # coordinates are exact, and so are their products
    velocity = Velocity(grid, lambda x, y: (speed_across(y), speed_across(x)))
    start = np.random.default_rng(0).random(grid.shape)
    field = Field(grid, 1, np.float32, device)
    push = AdvectionOp(velocity).core_for(device, field.dtype)
    # The core's, which builds the sweeps alone: nothing is to be known about the strain.
    transport = _core.Splitting(push, RemeshOp(field, KERNEL).core, 1)
    for axis in range(grid.ndim):
        across = np.ravel(grid.coordinates()[1 - axis])
        for cells_per_speed in (0.05, 1.0):
            field[...] = start
            transport.sweep(axis, 0.0, cells_per_speed * grid.spacing[axis])
            expected = moved(start, axis, cells_per_speed * speed_across(across))
            _compare(np.asarray(field), expected, f"a sweep along axis {axis}")
    _compare(field.sum(), np.sum(start), "a sum")


def moved(u: Array, axis: int, cells: Array) -> Array:
    """Return what a sweep makes of `u`, each line of which moves by its own number of cells."""
    kernel = get(KERNEL)
    lines = np.moveaxis(u, axis, 1)
    whole = np.floor(cells).astype(int)
    weights = kernel.weights(cells - whole)
    first = whole - kernel.half_width + 1
    result = [
        sum(weights[j, i] * np.roll(line, first[i] + j) for j in range(kernel.stencil))
        for i, line in enumerate(lines)
    ]
    return np.moveaxis(np.array(result), 1, axis)


def _compare(result: npt.ArrayLike, expected: npt.ArrayLike, what: str) -> None:
    error = np.max(np.abs(np.subtract(result, expected)) / np.maximum(1, np.abs(expected)))
    if not error <= TOLERANCE:
        raise SystemExit(f"{what} is wrong by {error:.3g}")


def nanoseconds_per_particle(device: Device) -> float:
    """Time sweeps along all axes; return the least time per particle and sweep."""
    grid = Grid((POINTS,) * 3)
    waves = [np.sin(2 * np.pi * x) for x in grid.coordinates()]
    velocity = Field(grid, grid.ndim, np.float32, device)
    for axis in range(grid.ndim):
        velocity.component(axis)[...] = waves[axis - 1] * waves[axis - 2]
    field = Field(grid, 1, np.float32, device)
    field[...] = np.random.default_rng(0).random(grid.shape)
    transport = Splitting(AdvectionOp(velocity), RemeshOp(field, KERNEL), order=1)
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) <= REPEATS or time.perf_counter() - begin < SECONDS:
        times.append(_seconds(transport, grid))
        if len(times) == 1:  # builds the kernels
            begin = time.perf_counter()
    return min(times[1:]) / (grid.ndim * grid.size) * 1e9


def _seconds(transport: Splitting, grid: Grid) -> float:
    begin = time.perf_counter()
    for axis in range(grid.ndim):
        transport.sweep(axis, CELLS * grid.spacing[axis])
    transport.remesh.fields[0].device.finish()
    return time.perf_counter() - begin
