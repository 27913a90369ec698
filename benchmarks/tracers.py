# SPDX-License-Identifier: BSD-3-Clause
"""What a step of tracers takes: kernels, schemes, walls, formulas, and Numba beside.

``python -m benchmarks.tracers --json FILE``
    a particle a cell of 96³ and 1000² cells: two minutes on two cores
``python -m benchmarks.tracers --quick``
    of 48³ and 256² cells

Numba, where it is installed, makes the first of these steps (``benchmarks.peers.tracers``). All are
timed in turns, and the least counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import particles as pt
from particles.cli.bench import device_of
from particles.cli.machine import facts
from tqdm.auto import tqdm

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.tables import Row, table

TURNS = 10
CELLS = 1.5
"""By which the fastest particle moves in a step."""


@dataclass(frozen=True)
class Case:
    """What differs from particles in rows, linear interpolation and rk2 in a periodic box."""

    name: str
    scheme: str = "rk2"
    kernel: str = "L1"
    boundary: str = "periodic"
    is_formula: bool = False
    in_rows: bool = True
    dtype: str = "float32"

    def step(self, shape: tuple[int, ...], device: pt.Device) -> Callable[[], object]:
        """Return a step of as many particles as cells, which the device has done when it ends."""
        grid = pt.Grid(shape, boundary=self.boundary)
        places = np.random.default_rng(0).random((grid.size, grid.ndim))
        swarm = pt.ParticleSet(grid, places, dtype=self.dtype, device=device)
        if self.in_rows:
            swarm.sort(by="row")
        velocity = formula(grid)
        if not self.is_formula:
            velocity = pt.Field.from_arrays(
                grid, *velocity.on_grid(), dtype=self.dtype, device=device
            )
        tracers = pt.Tracers(swarm, velocity, scheme=self.scheme, kernel=self.kernel)
        return lambda: (tracers.step(1.0), device.finish())


CASES = (
    Case("linear, rk2"),
    Case("rk4", scheme="rk4"),
    Case("M'4", kernel="M'4"),
    Case("M'6", kernel="M'6"),
    Case("float64", dtype="float64"),
    Case("walls", boundary="wall"),
    Case("by a formula", is_formula=True),
    Case("in no order", in_rows=False),
)


def formula(grid: pt.Grid) -> pt.Velocity:
    """Return vortices across the first axis of a box, or in a plane, that go through no wall."""
    h, k = CELLS * grid.spacing[-2], CELLS * grid.spacing[-1]
    sin, cos, pi = np.sin, np.cos, np.pi
    if grid.ndim == 2:
        return pt.Velocity(
            grid,
            lambda x, y: (h * sin(pi * x) * cos(pi * y), -k * cos(pi * x) * sin(pi * y)),
        )
    return pt.Velocity(
        grid,
        lambda x, y, z: (0, h * sin(pi * y) * cos(pi * z), -k * cos(pi * y) * sin(pi * z)),
    )


def numba_step(shape: tuple[int, ...]) -> Callable[[], object]:
    """Return the first case in Numba."""
    from benchmarks.peers.tracers import step_for

    grid = pt.Grid(shape)
    places = np.random.default_rng(0).random((grid.size, grid.ndim)) * shape
    rows = np.ravel_multi_index(tuple(places.T.astype(int))[:-1], shape[:-1])
    positions = places[np.argsort(rows, kind="stable")].astype("float32")
    across = (grid.ndim, *[1] * grid.ndim)
    velocity = np.stack(formula(grid).on_grid()) / np.reshape(grid.spacing, across)
    step, velocity = step_for(grid.ndim), velocity.astype("float32")
    return lambda: step(positions, velocity, np.float32(1))


def measure(device: pt.Device, quick: bool) -> Iterator[Row]:
    """Yield the time of each case, in ns a particle."""
    for shape in ((48,) * 3, (256,) * 2) if quick else ((96,) * 3, (1000,) * 2):
        steps = {case.name: case.step(shape, device) for case in CASES}
        if find_spec("numba"):
            steps["linear, rk2, Numba"] = numba_step(shape)
        least = dict.fromkeys(steps, np.inf)
        for turn in tqdm(range(TURNS + 1), desc=str(shape), leave=False):
            for name, step in steps.items():
                begin = time.perf_counter()
                step()
                if turn > 0:  # the first one builds
                    least[name] = min(least[name], time.perf_counter() - begin)
        for name, seconds in least.items():
            yield {"shape": shape, "case": name, "ns": seconds / np.prod(shape) * 1e9}


def report(rows: list[Row]) -> str:
    """Return a table: a row for each case, a column for each grid."""
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    names = list(dict.fromkeys(row["case"] for row in rows))
    found = {(row["case"], row["shape"]): float(row["ns"]) for row in rows}
    head = ["ns a particle and step", *(" x ".join(map(str, shape)) for shape in shapes)]
    return table(head, [[name, *(found[name, shape] for shape in shapes)] for name in names])


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    device = device_of(arguments)
    found = {**facts(device), "tracers": list(measure(device, arguments.quick))}
    print(report(found["tracers"]))
    write(found, arguments.json)


if __name__ == "__main__":
    main()
