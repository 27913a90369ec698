# SPDX-License-Identifier: BSD-3-Clause
"""Scans, sorting and permutations beside the device's measured bandwidth and NumPy's stable argsort.

``python -m benchmarks.arrays --side 256 --json arrays.jsonl``

Particles have a key, the row of cells in which they are, of as many rows as a cube with so many cells
along a side has, one particle for each cell on average, and 16 bytes each that are sorted by it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import particles as pt

from benchmarks import cube
from benchmarks.fields import shortest

Keys = npt.NDArray[np.int64]


def drawn_keys(side: int) -> Iterator[tuple[str, Keys]]:
    """Yield keys that are shuffled, and of particles that were sorted and moved by a cell at most."""
    rng, count = np.random.default_rng(0), side**3
    rows = np.sort(rng.integers(0, side**2, count))
    yield "shuffled", rng.permutation(rows)
    layer, row = rows // side, rows % side
    moved = [(place + rng.integers(-1, 2, count)) % side for place in (layer, row)]
    yield "nearly sorted", moved[0] * side + moved[1]


def measure(device: pt.Device, side: int) -> Iterator[list[dict[str, Any]]]:
    """Time each operation, keys of one kind after the other."""
    count = side**3
    results: list[dict[str, Any]] = []

    def timed(operation: str, work: Callable[[], object]) -> None:
        results.append({"operation": operation, "ns": shortest(work, device) / count * 1e9})

    numbers = pt.Array(count, "int32", device)
    timed("exclusive scan of int32", numbers.exclusive_scan)
    records = pt.Array((count, 4), "float32", device)
    records.fill(1)
    for kind, keys in drawn_keys(side):
        for dtype in ("uint32", "int64"):
            key = pt.Array(count, dtype, device)
            key[...] = keys
            order = key.argsort()
            timed(f"argsort of {dtype}, {kind}", key.argsort)
            timed(
                f"argsort of {dtype} and take of 16 bytes, {kind}",
                lambda key=key: records.take(key.argsort()),
            )
            timed(f"16 bytes sorted by {dtype}, {kind}", lambda key=key: records.sorted_by(key))
        timed(f"take of 16 bytes, {kind}", lambda order=order: records.take(order))
        begin = time.perf_counter()
        np.argsort(keys.astype(np.uint32), kind="stable")
        numpys = (time.perf_counter() - begin) / count * 1e9
        results.append({"operation": f"NumPy's stable argsort of uint32, {kind}", "ns": numpys})
        yield results
        results = []


if __name__ == "__main__":
    cube.run(__doc__, measure, side=256)
