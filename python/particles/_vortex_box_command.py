# SPDX-License-Identifier: BSD-3-Clause
"""Stretch a disk or a ball in a vortex that reverses, with pictures at T/2 and T."""

from __future__ import annotations

import argparse

from particles import _problem_command, _problem_pictures, problems


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles vortex-box``."""
    parser.add_argument("--dim", type=int, default=2, choices=(2, 3), help="disk or ball")
    points = " or ".join(f"{count} in {dim}-D" for dim, count in problems.POINTS.items())
    step = f"{problems.CFL:g} cells, and {problems.LEAST_STEPS} steps at least"
    _problem_command.add_arguments(parser, "vortex-box", points, step)


def run(arguments: argparse.Namespace) -> int:
    """Carry the body and draw it."""
    return _problem_command.run(
        arguments, problems.vortex_box, _problem_pictures.write_vortex, dim=arguments.dim
    )
