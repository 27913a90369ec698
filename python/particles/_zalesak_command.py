# SPDX-License-Identifier: BSD-3-Clause
"""Rotate Zalesak's slotted disk once, each step by three shears, with a picture."""

from __future__ import annotations

import argparse

from particles import _problem_command, _problem_pictures, problems


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles zalesak``."""
    step = f"{problems.ROTATION_DT} revolutions"
    _problem_command.add_arguments(parser, "zalesak", str(problems.ROTATION_POINTS), step)


def run(arguments: argparse.Namespace) -> int:
    """Turn the disk and draw it."""
    return _problem_command.run(arguments, problems.zalesak, _problem_pictures.write_rotation)
