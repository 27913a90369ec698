# SPDX-License-Identifier: BSD-3-Clause
"""Options that the commands which measure share."""

from __future__ import annotations

import argparse
from pathlib import Path

from particles.cli import bench


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that measures."""
    bench.add_common_arguments(parser)
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write everything there, too, a record a line"
    )
