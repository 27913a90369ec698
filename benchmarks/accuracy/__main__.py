# SPDX-License-Identifier: BSD-3-Clause
"""Observed orders and errors of every choice, and the time that accuracy takes.

``python -m benchmarks.accuracy --json FILE``
    ten minutes on two cores
``python -m benchmarks.accuracy --quick``
    fewer dimensions and smaller grids: two minutes
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import particles as pt
from particles.cli.bench import device_of
from particles.cli.machine import facts
from tqdm.auto import tqdm

from benchmarks.accuracy import inflow, orders, rest, runs, tables
from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments

PARTS: dict[str, Callable[[pt.Device, bool], Iterator[dict[str, Any]]]] = {
    "space": orders.in_space,
    "rest": rest.orders,
    "inflow": inflow.orders,
    "diverging": inflow.orders_along_face,
    "time": orders.in_time,
    "splittings": orders.of_splittings,
    "resting": rest.errors,
    "kernels": runs.kernels,
    "reversing": runs.reversing_flows,
    "work": runs.work,
    "precisions": runs.precisions,
    "resolutions": runs.resolutions,
}


def measure(device: pt.Device, quick: bool) -> dict[str, Any]:
    """Return what every part finds, and what was refused."""
    runs.LEFT_OUT.clear()
    found: dict[str, Any] = {
        name: list(tqdm(part(device, quick), name, disable=not sys.stderr.isatty()))
        for name, part in PARTS.items()
    }
    return {**found, "left_out": list(dict.fromkeys(runs.LEFT_OUT))}


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    os.environ.setdefault("PARTICLES_TUNE", "off")
    device = device_of(arguments)
    found = {**facts(device), **measure(device, arguments.quick)}
    for name in tables.SECTIONS:
        print(f"\n{name}\n\n{tables.section(name, found)}")
    write(found, arguments.json)


if __name__ == "__main__":
    main()
