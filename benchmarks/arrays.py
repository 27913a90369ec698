# SPDX-License-Identifier: BSD-3-Clause
"""Scans, sorting and permutations beside the device's measured bandwidth and NumPy's stable argsort.

``python -m benchmarks.arrays --side 256 --json arrays.jsonl``

Particles have a key, the row of cells in which they are, of as many rows as a cube with so many cells
along a side has, one particle for each cell on average, and 16 bytes each that are sorted by it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import particles as pt

from benchmarks.fields import shortest
from benchmarks.json_lines import write

TRIAD = 12
"""Bytes of one element of the triad in single precision, with which times are compared."""

Keys = npt.NDArray[np.int64]


def drawn_keys(side: int) -> Iterator[tuple[str, Keys]]:
    """Yield keys that are shuffled, and of particles that were sorted and moved by a cell at most."""
    rng, count = np.random.default_rng(0), side**3
    rows = np.sort(rng.integers(0, side**2, count))
    yield "shuffled", rng.permutation(rows)
    layer, row = rows // side, rows % side
    moved = [(place + rng.integers(-1, 2, count)) % side for place in (layer, row)]
    yield "nearly sorted", moved[0] * side + moved[1]


def measure(device: pt.Device, side: int) -> list[dict[str, Any]]:
    """Time each operation.

    Returns
    -------
    list of dict
        operation, ns of a particle, and that in triads.
    """
    count, results = side**3, []
    triads = [device.core.measure_triad()]

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
        triads.append(device.core.measure_triad())
        begin = time.perf_counter()
        np.argsort(keys.astype(np.uint32), kind="stable")
        numpys = (time.perf_counter() - begin) / count * 1e9
        results.append({"operation": f"NumPy's stable argsort of uint32, {kind}", "ns": numpys})
    for result in results:
        result["triads"] = result["ns"] * 1e-9 * max(triads) / TRIAD
    return results


def report(device: pt.Device, side: int) -> dict[str, Any]:
    """Measure, and print a line for each operation."""
    results = measure(device, side)
    print(f"{device.name}, {device.platform} {device.driver}; {side}³ particles")
    for result in results:
        print(
            f"{result['operation']:55} {result['ns']:8.2f} ns a particle"
            f"  {result['triads']:7.1f} triads"
        )
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "side": side,
        "results": results,
    }


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=256, help="cells along a side of the cube")
    parser.add_argument("--json", type=Path, help="a file for the results")
    arguments = parser.parse_args()
    write(report(pt.default_device(), arguments.side), arguments.json)


if __name__ == "__main__":
    main()
