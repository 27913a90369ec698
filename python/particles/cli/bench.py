# SPDX-License-Identifier: BSD-3-Clause
"""Measure the speed of a device, and compare it with its memory bandwidth."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from particles import kernels
from particles.base.checks import MOST_COMPONENTS, as_duration, as_integer, as_shape
from particles.base.progress import step_bar
from particles.cli.bench_cases import TRIAD_BYTES, VELOCITIES, Case, measure
from particles.cli.common import add_device_argument, add_dtype_argument
from particles.cli.machine import facts
from particles.runtime.device import Device
from particles.runtime.devices import as_device

SECONDS, QUICK_SECONDS = 1.0, 0.2  # for each case
POINTS, QUICK_POINTS = (256, 256, 256), (128, 128, 128)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles bench``."""
    add_common_arguments(parser)
    add = parser.add_argument
    add(
        "--shape",
        type=int,
        nargs="+",
        metavar="N",
        help="points (default: 256 256 256, with --quick 128 128 128)",
    )
    add("--axis", type=int, nargs="+", help="axes of the sweeps (default: all, and whole runs)")
    add("--cfl", type=float, nargs="+", default=[2.0, 25.0], help="cells moved in a sweep")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add_dtype_argument(parser)
    add("--components", type=int, default=1, metavar="N", help="numbers that a particle carries")
    add("--velocity", default="smooth", choices=VELOCITIES, help="what moves the particles")
    add("--json", action="store_true", help="print JSON")


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that measures."""
    words = "use fewer points, in a fifth of the time"
    parser.add_argument("--quick", action="store_true", help=words)
    add_device_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print a table or JSON."""
    cases = _cases(arguments)
    device = device_of(arguments)
    found = {**facts(device), **measurements(cases, device, arguments.quick)}
    print(json.dumps(found, indent=2) if arguments.json else table(found))
    return 0


def device_of(arguments: argparse.Namespace) -> Device:
    """Return the device that the options name."""
    return as_device(arguments.device)


def _cases(arguments: argparse.Namespace) -> list[Case]:
    default = QUICK_POINTS if arguments.quick else POINTS
    shape = default if arguments.shape is None else as_shape("shape", arguments.shape)
    axes = [*range(len(shape)), None] if arguments.axis is None else arguments.axis
    for axis in axes:
        if axis is not None and not 0 <= axis < len(shape):
            raise ValueError(f"axis must be from 0 to {len(shape) - 1}, not {axis}")
    if "vortex" in arguments.velocity and len(shape) != 3:
        raise ValueError(
            f"velocity {arguments.velocity!r} needs three dimensions, not {len(shape)}"
        )
    as_integer("components", arguments.components, 1, MOST_COMPONENTS)
    kernels.get(arguments.kernel)
    for cfl in arguments.cfl:
        as_duration("cfl", cfl)
    options = {name: getattr(arguments, name) for name in ("kernel", "dtype", "components")}
    return [
        Case(shape, axis, cfl, velocity=arguments.velocity, **options)
        for cfl in arguments.cfl
        for axis in axes
    ]


def measurements(cases: Sequence[Case], device: Device, quick: bool = False) -> dict[str, Any]:
    """Measure cases under a progress bar; what is returned can be JSON."""
    timings, bandwidths = [], []
    with step_bar(None, len(cases), "case") as show:
        for timing, bandwidth in measure(cases, device, QUICK_SECONDS if quick else SECONDS):
            timings.append(timing)
            bandwidths.append(bandwidth)
            if show is not None:
                show(1)
    triad = max(bandwidths)
    return {"triad": triad, "cases": [timing.row(triad) for timing in timings]}


def table(found: dict[str, Any]) -> str:
    """Return what was found, for people."""
    device, triad = found["device"], found["triad"]
    fields = Case.__dataclass_fields__
    titles = [Case(**{name: row[name] for name in fields}).title for row in found["cases"]]
    width = max(map(len, titles))
    lines = [
        f"{device['name']}, {device['platform']} {device['driver']}",
        f"triad {triad / 1e9:.1f} GB/s, {TRIAD_BYTES / triad * 1e9:.3f} ns for {TRIAD_BYTES} bytes",
        "ns per particle, sweep and component, on the clock and of the processors:",
        f"{'':{width}}  clock  processors  triads  of bandwidth        ms",
    ]
    for title, row in zip(titles, found["cases"], strict=True):
        busy = "" if row["processor_ns"] is None else f"{row['processor_ns']:.3f}"
        lines.append(
            f"{title:{width}}  {row['ns']:5.3f}  {busy:>10}  {row['triads']:6.2f}"
            f"  {row['share']:12.0%}  {row['seconds'] * 1e3:8.3f}"
        )
    return "\n".join(lines)
