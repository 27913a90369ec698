# SPDX-License-Identifier: BSD-3-Clause
"""What a child process does to find out about a driver: whether it computes right, how fast."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.errors import BuildError, DeviceError
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.kernels import get
from particles.operators.advection import AdvectionOp
from particles.operators.form import Form
from particles.operators.remesh import RemeshOp
from particles.runtime import loader, processor_name
from particles.runtime.cache import program_folder
from particles.runtime.device import Device
from particles.runtime.drivers import LINKED, Driver, Vectors, driver_of
from particles.stepping.splitting import Splitting

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
        print(LINKED)
        raise SystemExit(str(error)) from None
    except DeviceError as error:
        _give_up(str(error))


def _do(task: str, device: Device) -> None:
    if task == "time":
        print(nanoseconds_per_particle(device))
    else:
        check(device, task)


def _give_up(reason: str) -> NoReturn:
    """End so that it is tried another time."""
    print(reason, file=sys.stderr)
    raise SystemExit(os.EX_TEMPFAIL)


def _device(driver: Driver, vectors: Vectors) -> Device:
    loader.load()
    for platform in _core.list_platforms():
        for info in platform.devices:
            if driver_of(info) == driver._replace(processor=""):
                if driver.processor:
                    processor_name.tell(info, driver.processor)
                own = info.with_vectors(*vectors)
                folder = program_folder(own.caches_programs)
                return Device(own, _core.Context.open(own, folder))
    _give_up(f"the device {driver.name} of {driver.platform} was not found")


def check(device: Device, part: str) -> None:
    """Do a part of a trial, and compare with NumPy.

    In float32 alone: what matters is how many bytes vectors have, and doubles go the same ways.
    The programs are those of the choices that are most often made, so that a driver that keeps
    them has them when the fields of whoever waits for the trial need them. Either part, in which
    lines lie across the memory or along it, takes about as long as the other.
    """
    if part == "across":
        # An option of its own: what a driver has kept needs no linker.
        device.core.run_self_test(f"-DTRIAL={os.getpid()}_{time.time_ns()}")
        print(LINKED, flush=True)
        _check_formula(device)
        _check_sums(device)
        _check_sweeps(device, 0)
    else:
        _check_values(device)
        _check_sweeps(device, 1)


def speed(x: Array) -> Array:
    """Return a speed that differs from point to point, by functions of the driver's library."""
    near: Array = np.sin(3 * x) + np.exp(-x) * np.sqrt(x) + np.tanh(x - 0.5)
    far: Array = np.sin(2.0**14 * x) + np.cos(2.0**14 * x)
    steps: Array = 2 * np.floor(4 * x)
    return 3 * near + far + steps


def _check_formula(device: Device) -> None:
    """Compute a formula in the widest vectors, as a field that it is assigned to does."""
    grid = Grid(320, extent=1.25, comm="self")  # coordinates are exact, and so are their products
    field = Field(grid, 1, np.float32, device)
    field[...] = speed
    _compare(np.asarray(field), speed(grid.coordinates()[0]), "a formula")


def _check_values(device: Device) -> None:
    """Write and read so much, more than a MiB, that the device does it."""
    values = np.random.default_rng(0).random((512, 640))
    field = Field(Grid(values.shape, comm="self"), 1, np.float32, device)
    for dtype in (np.float64, np.float32):
        field[...] = values.astype(dtype)
        _compare(np.asarray(field), values, "what was written")


def _check_sums(device: Device) -> None:
    values = np.random.default_rng(0).random((64, 80), np.float32)
    field = Field(Grid(values.shape, comm="self"), 1, np.float32, device)
    field[...] = values
    _compare(field.sum(), np.sum(values), "a sum")
    facts = np.sum(values), np.sum(values**2), np.min(values), np.max(values)
    _compare(field.core.summary(), facts, "a summary")


def _check_sweeps(device: Device, axis: int) -> None:
    """Sweep along an axis, near and far."""
    grid = Grid((24, 40), comm="self")
    random = np.random.default_rng(0)
    start = random.random(grid.shape, np.float32)
    speeds = 3 * random.standard_normal(grid.shape[1 - axis], np.float32)
    velocity = Field(grid, grid.ndim, np.float32, device)
    velocity.component(axis)[...] = np.broadcast_to(np.expand_dims(speeds, axis), grid.shape)
    field = Field(grid, 1, np.float32, device)
    push = AdvectionOp(velocity).core_for(device, field.dtype)
    # Along the other axis in the form that is built fastest. And the core's, which builds the
    # sweeps alone.
    forms = [Form() if own == axis else Form("private") for own in range(grid.ndim)]
    transport = _core.Splitting(push, RemeshOp(field, KERNEL).core_in(forms), 1)
    for cells_per_speed in (0.05, 1.0):
        field[...] = start
        transport.sweep(axis, 0.0, cells_per_speed * grid.spacing[axis])
        expected = moved(start, axis, cells_per_speed * np.float64(speeds))
        _compare(np.asarray(field), expected, f"a sweep along axis {axis}")
    _compare(push.measure([axis], [0.0])[0][0], np.max(np.abs(speeds)), "the greatest speed")


def moved(u: npt.NDArray[Any], axis: int, cells: Array) -> Array:
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
    grid = Grid((POINTS,) * 3, comm="self")
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


if __name__ == "__main__":
    main(*sys.argv[1:])
