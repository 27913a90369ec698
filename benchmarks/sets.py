# SPDX-License-Identifier: BSD-3-Clause
"""What sets of particles do, beside the device's measured bandwidth and the same with NumPy.

``python -m benchmarks.sets --side 128 --json sets.jsonl``

There is one particle for each cell of a cube on average, anywhere in it, with a mass and a velocity
in single precision. NumPy keeps positions in single precision, within the box, and no turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import particles as pt

from benchmarks import cube
from benchmarks.fields import REPEATS, SECONDS, shortest


def made(device: pt.Device, side: int) -> pt.ParticleSet:
    """Return a set whose particles move by up to half a cell in a step of 1."""
    count, rng = side**3, np.random.default_rng(0)
    return pt.ParticleSet.random(
        pt.Grid((side,) * 3),
        count,
        seed=1,
        device=device,
        mass=np.ones(count, "float32"),
        v=rng.uniform(-0.5 / side, 0.5 / side, (count, 3)).astype("float32"),
    )


def of_sets(device: pt.Device, side: int) -> list[dict[str, Any]]:
    """Time what a set does."""
    swarm, results = made(device, side), []

    def timed(operation: str, work: Callable[[], object]) -> None:
        results.append({"operation": operation, "ns": shortest(work, device) / len(swarm) * 1e9})

    def moved(p: Any, dt: float) -> dict[str, Any]:
        return {"position": p.position + dt * p.v}

    def moved_and_sorted() -> None:
        swarm.update(moved, dt=1.0)
        swarm.sort("row")

    timed("update of an attribute", lambda: swarm.update(lambda p: {"mass": 0.5 * p.mass + 0.5}))
    timed("update by coordinates", lambda: swarm.update(lambda p: {"mass": p.x + p.y * p.z}))
    timed("move", lambda: swarm.update(moved, dt=1.0))
    timed("move and sort by row", moved_and_sorted)
    timed("positions to the host", swarm.positions.get)
    return results


def of_numpy(side: int) -> list[dict[str, Any]]:
    """Time the same on the host."""
    count, rng = side**3, np.random.default_rng(0)
    mass, positions = np.ones(count, "float32"), rng.random((count, 3)).astype("float32")
    v = rng.uniform(-0.5 / side, 0.5 / side, (count, 3)).astype("float32")
    results = []

    def timed(operation: str, work: Callable[[], object]) -> None:
        times: list[float] = []
        while len(times) < REPEATS or sum(times) < SECONDS:
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        results.append({"operation": f"NumPy: {operation}", "ns": min(times) / count * 1e9})

    def moved() -> None:
        positions[...] = (positions + v) % 1

    def moved_and_sorted() -> None:
        moved()
        layer, row = (positions[:, axis] * side for axis in (0, 1))
        rows = layer.astype(np.uint32) * np.uint32(side) + row.astype(np.uint32)
        order = np.argsort(rows, kind="stable")
        for column in (mass, v, positions):
            column[...] = column[order]

    x, y, z = positions.T
    timed("update of an attribute", lambda: np.copyto(mass, np.float32(0.5) * mass + 0.5))
    timed("update by coordinates", lambda: np.copyto(mass, x + y * z))
    timed("move", moved)
    timed("move and sort by row", moved_and_sorted)
    return results


def measure(device: pt.Device, side: int) -> Iterator[list[dict[str, Any]]]:
    """Time sets, then NumPy."""
    yield of_sets(device, side)
    yield of_numpy(side)


if __name__ == "__main__":
    cube.run(__doc__, measure, side=128)
