# SPDX-License-Identifier: BSD-3-Clause
"""Undo an interrupted change of a series, and check its whole file."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from particles.base.disk import check_regular
from particles.cli.common import Command, tell
from particles.cli.info import size_text
from particles.io.atomic import DamageError, Writer, held
from particles.io.series import Series


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles repair``."""
    add = parser.add_argument
    add("path", type=Path, help="the HDF5 file")
    words = "no other process has the file open; needed where a file system has no locks"
    add("--alone", action="store_true", help=words)
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what there was to do, and what there is."""
    try:
        facts = repair(arguments.path, arguments.alone)
    except (DamageError, ImportError) as error:
        tell(arguments.command, error)
        return 1
    print(json.dumps(facts, indent=2) if arguments.json else as_text(facts))
    return 1 if facts["damaged"] else 0


def repair(path: Path, is_alone: bool) -> dict[str, Any]:
    """Bring a series to its last whole state, describe that in XDMF, and tell of it."""
    if not path.exists():
        raise ValueError(f"path must name a file, but there is no such file: {str(path)!r}")
    check_regular(path, path.stat())  # beside another one not even a journal is made
    with held() as signals, Writer(path, signals.deliver, is_alone) as file:
        damaged = list(file.damaged())
        if damaged or file.is_new:
            times = None if damaged else 0
            file.discard()
        else:
            times = Series(path)._describe(file)
    return {
        "path": str(path),
        "taken_back": file.was_changing,
        "bytes": path.stat().st_size,
        "times": times,
        "damaged": damaged,
    }


def as_text(facts: dict[str, Any]) -> str:
    """Return the facts for people."""
    lines = [f"an append was cut short, and is taken back: {facts['path']}"]
    size = size_text(facts["bytes"])
    if facts["damaged"]:
        lines += [f"bytes {first} to {last} are damaged" for first, last in facts["damaged"]]
    else:
        lines.append(f"{facts['times']} times in {size}, all with their sums")
    return "\n".join(lines if facts["taken_back"] else lines[1:])


COMMAND = Command(
    "Undo an interrupted change of a series, and check its whole file.", add_arguments, run
)
