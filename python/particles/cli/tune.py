# SPDX-License-Identifier: BSD-3-Clause
"""Measure which form of a sweep is fastest, and use it in later runs."""

from __future__ import annotations

import argparse
import json
import math

from particles import kernels
from particles.base.checks import MOST_COMPONENTS, as_dtype, as_integer
from particles.cli.bench import device_of
from particles.cli.common import Command, add_device_argument, add_dtype_argument
from particles.cli.machine import Facts
from particles.fields.grid import Grid
from particles.operators.form import Form
from particles.runtime.cache import cache_folder
from particles.tuning import tuner
from particles.tuning.candidates import Task
from particles.tuning.race import Timing, race, winner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles tune``."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", default=[256, 256, 256], metavar="N", help="points")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add_dtype_argument(parser)
    add("--components", type=int, default=1, metavar="N", help="components carried together")
    add_device_argument(parser)
    add("--full", action="store_true", help="measure every form, which may take minutes")
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure, remember and print."""
    found = measure(_task(arguments), arguments.full)
    print(json.dumps(found, indent=2) if arguments.json else as_text(found))
    return 0


def _task(arguments: argparse.Namespace) -> Task:
    device, dtype = device_of(arguments), as_dtype("dtype", arguments.dtype)
    if dtype not in device.dtypes:
        raise ValueError(f"dtype must be float32 on {device.name}, which has no {dtype}")
    components = as_integer("components", arguments.components, 1, MOST_COMPONENTS)
    together = min(components, tuner.TOGETHER)
    kernel = kernels.get(arguments.kernel)
    return Task(device, Grid(arguments.shape, comm="self"), dtype, together, kernel, velocity=None)


def measure(task: Task, thorough: bool) -> Facts:
    """Measure along all axes and remember the fastest forms; return what was found."""
    axes = range(task.grid.ndim)
    found = []
    for axis, timings in race(task, axes, thorough, math.inf).items():
        chosen = winner(timings)
        tuner.remember(task, axis, chosen, thorough)
        found.append({"axis": axis, "forms": [_row(timing, chosen) for timing in timings]})
    return {"device": task.device.name, "axes": found, "cache_folder": cache_folder()}


def _row(timing: Timing, chosen: Form) -> Facts:
    return {**timing._asdict(), "form": repr(timing.form), "chosen": timing.form == chosen}


def as_text(found: Facts) -> str:
    """Return a table for people."""
    lines = [found["device"], f"axis  {'form':60}ns a particle  of the default's"]
    for along in found["axes"]:
        for row in along["forms"]:
            name = row["form"].removeprefix("Form").strip("()") or "the default"
            mark = "  chosen" if row["chosen"] else ""
            times = f"{row['nanoseconds']:13.3f}{row['share']:17.2f}"
            lines.append(f"{along['axis']:4}  {name:60}{times}{mark}")
    kept = found["cache_folder"]
    lines.append(f"remembered in {kept}" if kept else "not remembered: there is no cache folder")
    return "\n".join(lines)


COMMAND = Command(
    "Measure which form of a sweep is fastest, and use it in later runs.", add_arguments, run
)
