# SPDX-License-Identifier: BSD-3-Clause
"""Rotate Zalesak's slotted disk once, each step by three shears, with a picture."""

from __future__ import annotations

import argparse

from particles import problems
from particles.cli import problem
from particles.problems import pictures, runner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles zalesak``."""
    step = f"{runner.ROTATION_DT} of a revolution"
    problem.add_arguments(parser, "zalesak", str(runner.ROTATION_POINTS), step)


def run(arguments: argparse.Namespace) -> int:
    """Turn the disk and draw it."""
    return problem.run(arguments, problems.zalesak, pictures.write_rotation)
