# SPDX-License-Identifier: BSD-3-Clause
"""Options that the commands which measure share."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from particles.base.disk import write_text
from particles.cli import bench


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that measures."""
    bench.add_common_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there, too")


def write(found: dict[str, Any], file: Path | None) -> None:
    """Write what was found as JSON, if anywhere."""
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps(found, indent=1) + "\n")
