# SPDX-License-Identifier: BSD-3-Clause
"""Speed against the number of compute units, on CPUs with PoCL.

``python -m benchmarks.units --json FILE``
    one unit, two, four, ... and all, in turns: a minute and a half on four cores
``python -m benchmarks.units --quick``
    each but once, and in less time

Every number of units needs a process of its own, which runs ``particles bench``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

import particles as pt
from particles.cli.bench import device_of
from particles.cli.machine import facts

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.tables import bandwidths

ROUNDS = 3
"""In turns, the best of each: a machine that changes its speed meanwhile does so for all."""


def counts_of(units: int) -> list[int]:
    """Return the numbers of units that are tried: powers of two, and all."""
    return sorted({*(2**k for k in range(units.bit_length())), units})


def measured(device: pt.Device, count: int, quick: bool) -> dict[str, Any]:
    """Return what ``particles bench`` finds with so many units."""
    command = [sys.executable, "-m", "particles", "bench", "--cfl", "2", "--json"]
    command += ["--device", str(device.index)]
    limits = {"POCL_MAX_PTHREAD_COUNT": str(count), "POCL_CPU_MAX_CU_COUNT": str(count)}
    output = subprocess.run(
        command + ["--quick"] * quick,
        env={**os.environ, **limits},
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    found: dict[str, Any] = json.loads(output)
    units = found["device"]["compute_units"]
    if units != count:
        raise RuntimeError(f"the driver must work on {count} compute units, not on {units}")
    return {"units": count, **bandwidths(found), "cases": found["cases"]}


def best(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fastest of several measurements of the same, each case for itself."""
    cases = zip(*(one["cases"] for one in rounds), strict=True)
    return {
        "units": rounds[0]["units"],
        **{name: max(one[name] for one in rounds) for name in bandwidths(rounds[0])},
        "cases": [min(case, key=lambda one: one["ns"]) for case in cases],
    }


def against_units(device: pt.Device, quick: bool = False) -> list[dict[str, Any]]:
    """Return the best times with one compute unit, two, four, ... and all."""
    if not device.info.is_pocl:
        return []
    counts = counts_of(device.compute_units)
    turns = [
        [measured(device, count, quick) for count in counts] for _ in range(1 if quick else ROUNDS)
    ]
    return [best(list(rounds)) for rounds in zip(*turns, strict=True)]


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    device = device_of(arguments)
    rows = against_units(device, arguments.quick)
    for row in rows:
        times = ", ".join(f"{case['ns']:.3f}" for case in row["cases"])
        rates = ", ".join(f"{name} {r / 1e9:.1f} GB/s" for name, r in bandwidths(row).items())
        print(f"{row['units']} units: {rates}; {times} ns")
    write({**facts(device), "rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
