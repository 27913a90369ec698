# SPDX-License-Identifier: BSD-3-Clause
"""The command line and the report of benchmarks of as many particles as a cube has cells."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

import particles as pt

from benchmarks.json_lines import write

TRIAD = 12
"""Bytes of one element of the triad in single precision, with which times are compared."""

Measure: TypeAlias = Callable[[pt.Device, int], Iterable[list[dict[str, Any]]]]
"""Yields groups of results, of operation and ns of a particle, for a device and a side."""


def report(device: pt.Device, side: int, measure: Measure) -> dict[str, Any]:
    """Measure, and print a line for each operation; the triad before and after each group."""
    triads, results = [device.core.measure_triad()], []
    for group in measure(device, side):
        results += group
        triads.append(device.core.measure_triad())
    print(f"{device.name}, {device.platform} {device.driver}; {side}³ particles")
    for result in results:
        result["triads"] = result["ns"] * 1e-9 * max(triads) / TRIAD
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


def run(description: str | None, measure: Measure, side: int) -> None:
    """Read the command line and measure; `side` is the default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--side", type=int, default=side, help="cells along a side of the cube")
    parser.add_argument("--json", type=Path, help="a file for the results")
    arguments = parser.parse_args()
    write(report(pt.default_device(), arguments.side, measure), arguments.json)
