# SPDX-License-Identifier: BSD-3-Clause
"""Time of a sweep per particle, of all kinds, beside the device's measured bandwidth.

``python -m benchmarks.sweep --json FILE``
    every case and the operations on fields: 3 minutes on two cores
``python -m benchmarks.sweep --quick``
    on fewer points: half a minute
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from particles.cli.bench import POINTS, QUICK_POINTS, Case, device_of, measurements, table
from particles.cli.machine import facts

from benchmarks import fields
from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments

Shape = tuple[int, ...]


def cases(shape: Shape, plane: Shape, line: Shape) -> Iterator[Case]:
    """Yield every kind of case on a box, a plane and a line of about these numbers of points."""
    for cfl in (2.0, 25.0):
        yield from along_all_axes(shape, cfl=cfl)
        yield Case(shape, cfl=cfl)
    yield Case(shape, cfl=0.1 * shape[0], velocity="vortex")
    yield Case(shape, cfl=0.1 * shape[0], velocity="vortex formula")
    for options in (
        {"kernel": "M'4"},
        {"kernel": "L6_4"},
        {"dtype": "float64"},
        {"components": 3},
        {"velocity": "formula"},
        {"velocity": "rough"},
        {"velocity": "wild"},
    ):
        yield from along_all_axes(shape, **options)
    for less in (6, 5, 1, -1):
        yield from along_all_axes(tuple(n - less for n in shape))
    yield from along_all_axes(plane)
    yield from along_all_axes(tuple(2 * n for n in plane))
    for cfl in (2.0, 25.0):
        yield Case(line, 0, cfl)


def along_all_axes(shape: Shape, **options: object) -> list[Case]:
    """Return a sweep along every axis."""
    return [Case(shape, axis, **options) for axis in range(len(shape))]


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    quick, device = arguments.quick, device_of(arguments)
    shape = QUICK_POINTS if quick else POINTS
    chosen = cases(shape, (1024, 1024) if quick else (2048, 2048), (10**6 if quick else 10**7,))
    found = {**facts(device), **measurements(list(chosen), device, quick)}
    print(table(found))
    found["fields"] = fields.measure(device, shape, "float32")
    write(found, arguments.json)


if __name__ == "__main__":
    main()
