# SPDX-License-Identifier: BSD-3-Clause
"""Stretch a disk or a ball in a vortex that reverses, with pictures at T/2 and T."""

from __future__ import annotations

import argparse

from particles import problems
from particles.cli import problem
from particles.problems import pictures, runner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles vortex-box``."""
    parser.add_argument("--dim", type=int, default=2, choices=(2, 3), help="disk or ball")
    points = " or ".join(f"{count} in {dim}-D" for dim, count in runner.POINTS.items())
    step = f"a CFL of {runner.CFL:g}, with at least {runner.LEAST_STEPS} steps"
    problem.add_arguments(parser, "vortex-box", points, step)


def run(arguments: argparse.Namespace) -> int:
    """Carry the body and draw it."""
    return problem.run(arguments, problems.vortex_box, pictures.write_vortex, dim=arguments.dim)
