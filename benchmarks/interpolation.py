# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation between particles and grid, beside the device's bandwidth and the same in Numba.

``python -m benchmarks.interpolation --sides 2048x2048 256x256x256 --json interpolation.jsonl``

There is one particle for each cell, anywhere in the periodic box, and sets are sorted before. Numba
is timed where it is installed, from arrays that it finds best: see `benchmarks.peers.interpolation`.
Operations are those of a particle for a kernel of K weights on d axes: of the weights along each
axis as `particles.kernels.describe` counts them, and for each component 2 K^d, 2 K^(d-1), ..., 2 K.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import particles as pt

from benchmarks.cube import TRIAD
from benchmarks.fields import REPEATS, SECONDS, shortest
from benchmarks.json_lines import write

KERNELS = ("M'4", "M'6")
CASES = (("float32", 1), ("float32", 3), ("float64", 1))
"""Dtypes of everything, and components."""


def operations(kernel: str, ndim: int, components: int) -> int:
    """Return additions and multiplications for one particle."""
    found = pt.kernels.describe(kernel)
    sums = sum(2 * found.nodes**axis for axis in range(1, ndim + 1))
    return ndim * found.operations + components * sums


def rows_of(
    device: pt.Device, shape: tuple[int, ...], kernel: str, dtype: str, components: int
) -> list[dict[str, Any]]:
    """Time both directions."""
    count, rng = int(np.prod(shape)), np.random.default_rng(0)
    values = rng.random((count, components) if components > 1 else count).astype(dtype)
    grid = pt.Grid(shape)
    swarm = pt.ParticleSet.random(grid, count, seed=1, dtype=dtype, device=device, s=values)
    swarm.sort("row")
    field = pt.Field(grid, components, dtype, device)
    give = pt.ParticlesToGrid(swarm, "s", field, kernel)
    sample = pt.GridToParticles(field, swarm, "s", kernel)
    times = {"particles to grid": shortest(give.apply, device)}
    times["grid to particles"] = shortest(sample.apply, device)
    others: dict[str, float] = {}
    if dtype == "float32" and components == 1 and find_spec("numba"):
        others = of_numba(swarm, field, kernel)
    size = np.dtype(dtype).itemsize
    bytes_of_particle = 4 + (len(shape) + components) * size + components * size
    return [
        {
            "direction": direction,
            "shape": list(shape),
            "kernel": kernel,
            "dtype": dtype,
            "components": components,
            "ns": seconds / count * 1e9,
            "gflops": operations(kernel, len(shape), components) * count / seconds * 1e-9,
            "gbytes": bytes_of_particle * count / seconds * 1e-9,
            "numba_ns": others.get(direction, 0.0) / count * 1e9 or None,
        }
        for direction, seconds in times.items()
    ]


def of_numba(swarm: pt.ParticleSet, field: pt.Field, kernel: str) -> dict[str, float]:
    """Time Numba for the same particles, and see that it computes the same."""
    from benchmarks.peers.interpolation import Rival

    cells = swarm.positions.get() * field.shape
    values = swarm["s"].get()
    rival = Rival(kernel, field.shape, cells, values)
    rival.to_grid()
    pt.ParticlesToGrid(swarm, "s", field, kernel).apply()
    expected = field.get()
    if np.abs(rival.received() - expected).max() > 1e-4 * np.abs(expected).max():
        raise RuntimeError("Numba gives other sums")
    found = {"particles to grid": least(rival.to_grid)}
    rival.set(expected)
    pt.GridToParticles(field, swarm, "s", kernel).apply()
    sampled = swarm["s"].get()
    if np.abs(rival.to_particles() - sampled).max() > 1e-4 * np.abs(sampled).max():
        raise RuntimeError("Numba samples other values")
    found["grid to particles"] = least(rival.to_particles)
    return found


def least(work: Callable[[], object]) -> float:
    """Return the shortest time that something takes on the host."""
    times: list[float] = []
    while len(times) < REPEATS or sum(times) < SECONDS:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def report(device: pt.Device, shapes: list[tuple[int, ...]]) -> dict[str, Any]:
    """Measure, and print a line for each case."""
    triad = TRIAD / device.core.measure_triad() * 1e9
    print(f"{device.name}, {device.platform} {device.driver}; a triad takes {triad:.3f} ns")
    results = []
    for shape in shapes:
        for kernel in KERNELS:
            for dtype, components in CASES:
                for row in rows_of(device, shape, kernel, dtype, components):
                    results.append(row)
                    numba = row["numba_ns"]
                    beside = (
                        f"{numba:8.2f} in Numba, {numba / row['ns']:4.1f} times" if numba else ""
                    )
                    print(
                        f"{' x '.join(map(str, shape)):15} {kernel} {dtype} x {components} "
                        f"{row['direction']} {row['ns']:7.2f} ns {1e3 / row['ns']:7.0f} Mparticles/s "
                        f"{row['gflops']:6.1f} GFLOP/s {row['gbytes']:6.1f} GB/s {beside}",
                        flush=True,
                    )
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "triad_ns": triad,
        "results": results,
    }


def _shape(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sides",
        type=_shape,
        nargs="+",
        default=[(1024, 1024), (128, 128, 128)],
        metavar="NxN",
        help="points of each grid",
    )
    parser.add_argument("--json", type=Path, help="a file for the results")
    arguments = parser.parse_args()
    write(report(pt.default_device(), arguments.sides), arguments.json)


if __name__ == "__main__":
    main()
