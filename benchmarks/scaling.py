# SPDX-License-Identifier: BSD-3-Clause
"""Time of a Strang step against the number of particles.

``python -m benchmarks.scaling --json FILE``
    from 10^4 to 10^9 particles, as far as memory goes: a minute on two cores
``python -m benchmarks.scaling --quick``
    to 10^6 particles: a quarter of a minute
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import particles as pt
from particles.cli.bench import Case, device_of, prepare
from particles.cli.machine import facts, free_memory
from tqdm.auto import tqdm

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments

EDGES = (22, 32, 46, 68, 100, 147, 215, 316, 464, 681, 1000)
QUICK_LARGEST = 10**6
SECONDS, REPEATS = 0.3, 3  # of each of the repeated runs, at least one step
MEMORY_SHARE = 0.8  # of the free memory may be filled
LINEAR_FROM = 10**6  # particles: fewer fit in caches
VELOCITIES = {"vortex": 3, "vortex formula": 0}  # numbers kept for each particle


def against_particles(device: pt.Device, largest: int) -> Iterator[dict[str, Any]]:
    """Yield the time of a step for every size that fits in memory, by both kinds of velocity."""
    sizes = [(velocity, edge) for velocity in VELOCITIES for edge in EDGES if edge**3 <= largest]
    for velocity, edge in tqdm(sizes, disable=not sys.stderr.isatty(), unit="size"):
        if fits(edge**3, VELOCITIES[velocity], device):
            case = Case((edge,) * 3, cfl=2.0, velocity=velocity)
            seconds = seconds_a_step(case, device)
            yield {"particles": edge**3, "velocity": velocity, "seconds": seconds}


def fits(particles: int, velocities: int, device: pt.Device) -> bool:
    """Whether a field and a velocity of so many numbers a particle leave memory for others."""
    size = 4 * particles
    free = min(device.memory, free_memory() or device.memory) if device.is_cpu else device.memory
    largest = max(1, velocities) * size
    return (1 + velocities) * size <= MEMORY_SHARE * free and largest <= device.largest_allocation


def seconds_a_step(case: Case, device: pt.Device) -> float:
    """Shortest time of a step, in runs of as many steps as take a while."""
    transport = prepare(case, device)
    steps, times = 1, []
    run(transport, 1)
    while len(times) < REPEATS:
        seconds = run(transport, steps)
        if seconds >= SECONDS:
            times.append(seconds / steps)
        else:
            steps = min(10 * steps, math.ceil(1.2 * steps * SECONDS / seconds))
    return min(times)


def run(transport: pt.Splitting, steps: int) -> float:
    """Time some steps."""
    begin = perf_counter()
    transport.run(transport.time + steps, 1.0, progress=False)
    return perf_counter() - begin


def slope(rows: list[dict[str, Any]]) -> float | None:
    """Exponent of the number of particles in the time, once it is large: 1 is linear."""
    large = [row for row in rows if row["particles"] >= LINEAR_FROM]
    if len(large) < 2:
        return None
    particles, seconds = ([math.log(row[key]) for row in large] for key in ("particles", "seconds"))
    return float(np.polyfit(particles, seconds, 1)[0])


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    arguments = parser.parse_args()
    device, quick = device_of(arguments), arguments.quick
    rows = list(against_particles(device, QUICK_LARGEST if quick else max(EDGES) ** 3))
    slopes = {name: slope([row for row in rows if row["velocity"] == name]) for name in VELOCITIES}
    for row in rows:
        print(
            f"{row['particles']:10d} particles, {row['velocity']:14}: "
            f"{row['seconds'] * 1e3:10.3f} ms a step, "
            f"{row['seconds'] / row['particles'] * 1e9:6.2f} ns a particle"
        )
    scaling = {"rows": rows, "slopes": slopes}
    write({**facts(device), "scaling": scaling}, arguments.json)


if __name__ == "__main__":
    main()
