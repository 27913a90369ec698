# SPDX-License-Identifier: BSD-3-Clause
"""Field operations beside the device's measured bandwidth: upload, download, reductions, copies.

``python -m benchmarks.fields --shape 256 --dtype float32 --json fields.jsonl``
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import particles as pt
from particles.cli.bench import Bandwidths

from benchmarks.json_lines import write

Operation: TypeAlias = tuple[str, int, Callable[[], object]]
"""A name, the bytes that have to be read and written, and the work."""

SECONDS, REPEATS = 0.5, 10
"""How long and how often each work is repeated at least."""


def shortest(work: Callable[[], object], device: pt.Device) -> float:
    """Shortest wall time of `work`, after two calls that do not count."""
    times: list[float] = []
    while len(times) < REPEATS + 2 or sum(times) < SECONDS:
        begin = time.perf_counter()
        result = work()
        device.finish()
        times.append(time.perf_counter() - begin)
        del result
    return min(times[2:])


def transposed_like(field: pt.Field) -> pt.Field:
    """A field of the same grid whose last two axes lie the other way round in memory."""
    import pyopencl.array

    *slices, rows, columns = field.shape
    pitch = (rows // 16 | 1) * 16 + 16  # rows of a power of two would meet in a few cache sets
    array = pyopencl.array.zeros(field.device.queue, (*slices, columns, pitch), field.dtype)
    axes = (*range(field.ndim - 2), field.ndim - 1, field.ndim - 2)
    return pt.Field.from_pyopencl(array[..., :rows].transpose(axes), field.grid)


def reductions(field: pt.Field) -> Iterator[Operation]:
    """Every element is read once."""
    yield "sum", field.nbytes, field.sum
    yield "norm", field.nbytes, field.norm
    yield "max", field.nbytes, field.max
    yield "count", field.nbytes, lambda: field.count(lower=0)


def copies(field: pt.Field) -> Iterator[Operation]:
    """What stays on the device; new fields include fresh memory from the operating system."""
    grid, device = field.grid, field.device
    target = pt.Field(grid, 1, field.dtype, device)
    yield "fill", field.nbytes, lambda: target.fill(1)
    yield "copy to a field", 2 * field.nbytes, partial(target.__setitem__, ..., field)
    yield "new field", field.nbytes, lambda: pt.Field(grid, 1, field.dtype, device)
    yield "copy to a new field", 2 * field.nbytes, field.copy
    if grid.ndim > 1:
        turned = transposed_like(field)
        yield "transposing copy", 2 * field.nbytes, partial(turned.__setitem__, ..., field)
        yield "transposing copy back", 2 * field.nbytes, partial(target.__setitem__, ..., turned)
    others = [dtype for dtype in device.dtypes if dtype != field.dtype]
    for other in [pt.Field(grid, 1, dtype, device) for dtype in others]:
        bytes_moved = field.nbytes + other.nbytes
        yield f"copy to {other.dtype}", bytes_moved, partial(other.__setitem__, ..., field)
        yield f"copy from {other.dtype}", bytes_moved, partial(target.__setitem__, ..., other)


def transfers(field: pt.Field) -> Iterator[Operation]:
    """Between an array of the host and the device."""
    array = field.get()
    doubles = array.astype(np.float64)
    yield "upload", 2 * field.nbytes, partial(field.__setitem__, ..., array)
    yield "upload of float64", field.nbytes + doubles.nbytes, lambda: field.set(doubles)
    yield "download", 2 * field.nbytes, lambda: field.get(out=array)
    yield "download to a new array", 2 * field.nbytes, field.get
    half = np.s_[: len(field) // 2]
    yield "upload of half a field", field.nbytes, partial(field.__setitem__, half, array[half])
    yield "download of every other", field.nbytes + field.nbytes // 2, lambda: field[..., ::2]


def measure(device: pt.Device, shape: tuple[int, ...], dtype: str) -> list[dict[str, Any]]:
    """Time every operation on a scalar field.

    Returns
    -------
    list of dict
        operation, seconds (the shortest of many), bytes, and the share of the bandwidth.
    """
    bandwidths = [Bandwidths.of(device)]
    field = pt.Field(pt.Grid(shape), 1, dtype, device)
    field[...] = np.random.default_rng(0).normal(size=shape)
    results = []
    for operations in (transfers(field), reductions(field), copies(field)):
        for operation, size, work in operations:
            results.append(
                {"operation": operation, "seconds": shortest(work, device), "bytes": size}
            )
        bandwidths.append(Bandwidths.of(device))
    for result in results:
        result["share"] = result["bytes"] / result["seconds"] / Bandwidths.best(bandwidths).greatest
    return results


def report(device: pt.Device, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """Measure, and print a line for each operation."""
    results = measure(device, shape, dtype)
    best = results[0]
    bandwidth = best["bytes"] / best["seconds"] / best["share"]
    print(f"{device.name}, {device.platform} {device.driver}: {bandwidth / 1e9:.1f} GB/s")
    print(f"{shape} {dtype}")
    for result in results:
        milliseconds, gigabytes = result["seconds"] * 1e3, result["bytes"] / 1e9
        print(
            f"{result['operation']:26} {milliseconds:9.3f} ms  {gigabytes:7.4f} GB"
            f"  {gigabytes / result['seconds']:7.1f} GB/s  {result['share']:5.0%}"
        )
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "bandwidth": bandwidth,
        "shape": shape,
        "dtype": dtype,
        "results": results,
    }


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs="+", default=[256], help="one number: a cube")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--json", type=Path, help="a file for the results")
    arguments = parser.parse_args()
    shape = arguments.shape if len(arguments.shape) > 1 else arguments.shape * 3
    results = report(pt.default_device(), tuple(shape), arguments.dtype)
    write(results, arguments.json)


if __name__ == "__main__":
    main()
