# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of problems that end as they began have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from particles.cli.common import add_test_arguments, one_or_all, run_and_draw, tell
from particles.problems.result import Result
from particles.stepping.presets import PRESETS


def add_arguments(parser: argparse.ArgumentParser, name: str, points: str, step: str) -> None:
    """Declare the options; `points` and `step` tell the default ones."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", metavar="N", help=f"points (default: {points})")
    add("--preset", default="default", choices=tuple(PRESETS), help="kernel, scheme and limiter")
    add("--kernel", help="remeshing kernel, such as M'4, M'6 or L6_4 (default: the preset's)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--dt", type=float, help=f"duration of a step (default: {step})")
    length.add_argument("--cfl", type=float, help="cells moved in a step (default: that of --dt)")
    add_test_arguments(parser, name)


def run(
    arguments: argparse.Namespace,
    problem: Callable[..., Result],
    draw: Callable[[Result, Path], list[Path]],
    **options: object,
) -> int:
    """Run a problem and write its picture; return 1 where a result is above its limit."""
    names = ("preset", "kernel", "dt", "cfl", "dtype", "device")
    options |= {name: getattr(arguments, name) for name in names}
    if arguments.shape is not None:
        options["shape"] = one_or_all(arguments.shape)
    result, status = run_and_draw(arguments, lambda: problem(**options), draw)
    for name in result.missed:
        found, limit = result.figures[name], result.limits[name]
        tell(arguments.command, f"{name} must be at most {limit:.3g}, not {found:.3g}")
    return 1 if result.missed else status
