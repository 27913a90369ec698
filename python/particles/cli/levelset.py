# SPDX-License-Identifier: BSD-3-Clause
"""Run the level-set test: a flow stretches a ball and brings it back, with pictures."""

from __future__ import annotations

import argparse

from particles import levelset
from particles.cli.common import add_test_arguments, one_or_all, run_and_draw
from particles.levelset import pictures, runner
from particles.stepping.schedule import SPLITTINGS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles levelset``."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", default=[128], metavar="N", help="points, one or 3 numbers")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add(
        "--dt",
        type=float,
        help="duration of a step (default: 12.8 times the spacing, at most 0.15)",
    )
    add("--until", type=float, default=1.0, metavar="T", help="time at which the flow reverses")
    add(
        "--order",
        type=int,
        default=2,
        choices=SPLITTINGS,
        help="1 Lie, 2 Strang, 4 Suzuki splitting",
    )
    add(
        "--velocity",
        default="grid",
        choices=runner.VELOCITIES,
        help="velocity as values on the grid or as a formula",
    )
    add("--no-back", dest="back", action="store_false", help="do not reverse the flow")
    add_test_arguments(parser, "levelset")


def run(arguments: argparse.Namespace) -> int:
    """Run the test and write its pictures."""
    names = ("kernel", "dt", "until", "order", "dtype", "device", "velocity", "back")
    options = {name: getattr(arguments, name) for name in names}
    shape = one_or_all(arguments.shape)
    return run_and_draw(arguments, lambda: levelset.run(shape, **options), pictures.write)[1]
