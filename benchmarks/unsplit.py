# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy and cost of splitting, beside those of moving and remeshing along all axes at once.

``python -m benchmarks.unsplit --json FILE``
    a swirl on 256² points and the level-set test on 64³: three minutes on two cores
``python -m benchmarks.unsplit --quick``
    on 128² and 32³ points: half a minute
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import particles as pt
from particles import levelset
from particles.cli.bench import device_of
from particles.cli.machine import facts
from tqdm.auto import tqdm

from benchmarks.accuracy.runs import LEFT_OUT, PRESETS, Choice, left_out
from benchmarks.flows import LEVEL_SET, SWIRL, Array, Flow, ball
from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.tables import Row, unsplit

SPLITTINGS = ("Lie", "Strang", "fourth", "unsplit")
RULES = {name: PRESETS[name] for name in ("default", "accurate")}
TIMED_STEPS, REPEATS = 4, 10


def sheet(x: Sequence[Array], time: float) -> Array:
    """Return 1 where the flow of the level-set test has carried the ball, else 0."""
    grid = pt.Grid(np.broadcast_shapes(*(c.shape for c in x)))
    return levelset.exact(grid, [time])[0].astype(np.float64) if time else ball(x, time)


CASES = (
    (SWIRL, 256, 128, (2.0, 5.0, 10.0, 25.0)),
    (replace(LEVEL_SET, solution=sheet), 64, 32, (1.0, 2.0, 5.0)),
)
"""A flow, its points along an axis, those of a quick look, and CFL numbers."""


def begun(choice: Choice, flow: Flow, points: int, dt: float, device: pt.Device) -> pt.Splitting:
    """Return a transport whose kernels are built: it has made its first step."""
    u = pt.Field(pt.Grid((points,) * flow.ndim), dtype=choice.dtype, device=device)
    transport = choice.transport(flow, u)
    transport.run(until=dt, dt=dt, progress=False)
    return transport


def nanoseconds(transport: pt.Splitting, dt: float) -> float:
    """Time of the kernels in a step for each particle."""
    field = transport.remesh.fields[0]
    with pt.profile(field.device) as profile:
        transport.run(until=transport.time + TIMED_STEPS * dt, dt=dt, progress=False)
    return profile.seconds / (TIMED_STEPS * field.grid.size) * 1e9


def measure(device: pt.Device, quick: bool) -> Iterator[Row]:
    """Yield what each way makes of each flow and what it costs."""
    for flow, usual, fewer, cfls in CASES:
        points = fewer if quick else usual
        for rule, choice in RULES.items():
            for cfl in cfls:
                steps = max(1, round(flow.duration * flow.speed * points / cfl))
                yield from compare(flow, rule, choice, points, steps, device)


def compare(
    flow: Flow, rule: str, choice: Choice, points: int, steps: int, device: pt.Device
) -> Iterator[Row]:
    """Yield a row for each way. They are timed in turns, and the least counts."""
    dt = flow.duration / steps
    rows: dict[str, Row] = {}
    transports: dict[str, pt.Splitting] = {}
    for splitting in SPLITTINGS:
        way = replace(choice, splitting=splitting)
        with left_out(f"{flow.name}, {rule}, {splitting}, {steps} steps"):
            transport = begun(way, flow, points, dt, device)
            row = {"flow": flow.name, "rule": rule, "splitting": splitting}
            row |= {"lcfl": transport.lcfl(dt), **way.carry(flow, points, steps, device)}
            rows[splitting], transports[splitting] = row, transport
    ns = dict.fromkeys(rows, math.inf)
    for _ in range(REPEATS):
        for splitting, transport in transports.items():
            ns[splitting] = min(ns[splitting], nanoseconds(transport, dt))
    for splitting, row in rows.items():
        is_compared = splitting != "Lie" and "Strang" in ns
        times = ns[splitting] / ns["Strang"] if is_compared else None
        yield row | {"ns": ns[splitting], "times_strang": times}


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_common_arguments(parser)
    arguments = parser.parse_args()
    os.environ.setdefault("PARTICLES_TUNE", "off")
    device = device_of(arguments)
    LEFT_OUT.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LCFLWarning)
        rows = list(tqdm(measure(device, arguments.quick), disable=not sys.stderr.isatty()))
    found = {**facts(device), "rows": rows, "left_out": LEFT_OUT}
    print(unsplit({"unsplit": found}))
    print("\n".join(f"left out: {line}" for line in LEFT_OUT))
    write(found, arguments.json)


if __name__ == "__main__":
    main()
