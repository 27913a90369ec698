# SPDX-License-Identifier: BSD-3-Clause
"""Time of one directional sweep per particle, beside the device's measured bandwidth.

``python -m benchmarks.sweep --shape 256 --cfl 2 25``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import particles as pt


def vortex(grid: pt.Grid, dtype: str, device: pt.Device) -> pt.Field:
    """A velocity of largest component one, smooth along every axis."""
    velocity = pt.Field(grid, grid.ndim, dtype, device)
    for axis in range(grid.ndim):
        value = np.ones((1,) * grid.ndim)
        for other, x in enumerate(grid.coordinates()):
            wave = np.sin(np.pi * x) ** 2 if other == axis else np.sin(2 * np.pi * x)
            value = value * wave
        velocity.component(axis)[...] = value
    return velocity


def shortest(work: Callable[[], None], device: pt.Device, repeats: int) -> float:
    """Shortest wall time of `work`, after a first call that does not count."""
    times = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        work()
        device.finish()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def measure(arguments: argparse.Namespace) -> None:
    """Print a line for each axis and CFL number."""
    device = pt.default_device()
    grid = pt.Grid(tuple(arguments.shape) if len(arguments.shape) > 1 else arguments.shape * 3)
    field = pt.Field(grid, arguments.components, arguments.dtype, device)
    field[...] = np.random.default_rng(0).random(grid.shape)
    velocity = vortex(grid, arguments.dtype, device)
    transport = pt.Splitting(
        pt.AdvectionOp(velocity), pt.RemeshOp(field, kernel=arguments.kernel), order=1
    )
    bandwidth = device.core.measure_triad()
    print(f"{device.name}, {device.platform} {device.driver}: triad {bandwidth / 1e9:.1f} GB/s")
    print(f"{grid.shape} {arguments.dtype} x {arguments.components}, {arguments.kernel}, rk2")
    particle_bytes = (1 + 2 * arguments.components) * field.dtype.itemsize
    for cfl in arguments.cfl:
        for axis in range(grid.ndim):
            dt = cfl * grid.spacing[axis]
            try:
                seconds = shortest(
                    lambda axis=axis, dt=dt: transport.sweep(axis, dt), device, arguments.repeats
                )
            except ValueError as refusal:
                print(f"CFL {cfl:g} axis {axis}: skipped, {refusal}")
                continue
            nanoseconds = seconds / grid.size * 1e9
            share = particle_bytes * grid.size / seconds / bandwidth
            print(
                f"CFL {cfl:g} axis {axis}: {nanoseconds:.3f} ns per particle, {share:.0%} of triad"
            )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs="+", default=[256])
    parser.add_argument("--kernel", default="M'6")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--components", type=int, default=1)
    parser.add_argument("--cfl", type=float, nargs="+", default=[2.0, 25.0])
    parser.add_argument("--repeats", type=int, default=10)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
