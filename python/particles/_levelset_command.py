# SPDX-License-Identifier: BSD-3-Clause
"""Run the level-set test: a ball drawn out by a vortical flow and carried back, with pictures."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

from particles import _levelset_pictures, levelset
from particles.splitting import SPLITTINGS, LCFLWarning


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles levelset``."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", default=[128], metavar="N", help="points, one or 3 numbers")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add("--dt", type=float, help="duration of a step (default: 12.8 cells)")
    add("--until", type=float, default=1.0, metavar="T", help="when the flow is reversed")
    add(
        "--order",
        type=int,
        default=2,
        choices=SPLITTINGS,
        help="1 Lie, 2 Strang, 4 Suzuki splitting",
    )
    add("--dtype", default="float32", choices=("float16", "float32", "float64"))
    add("--device", type=_index_or_name, help="index or part of a name, see: particles info")
    add("--velocity", default="grid", choices=levelset.VELOCITIES, help="how it is evaluated")
    add("--no-back", dest="back", action="store_false", help="leave out the way back")
    add("--json", action="store_true", help="print JSON")
    add("--out", type=Path, default=Path("levelset"), metavar="DIR", help="folder of the pictures")


def _index_or_name(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def run(arguments: argparse.Namespace) -> int:
    """Run the test and write its pictures.

    Returns 0, also where only what draws pictures is not installed; 1 when the pictures cannot be
    written; 2 for arguments that cannot be run.
    """
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        result = _run_test(arguments)
    except (OSError, TypeError, ValueError) as error:
        _tell(error)
        return 2
    pictures: list[str] = []
    status = 0
    try:
        pictures = [str(path) for path in _levelset_pictures.write(result, arguments.out)]
    except (ImportError, OSError) as error:
        _tell(f"no pictures: {error}")
        status = 0 if isinstance(error, ImportError) else 1
    if arguments.json:
        print(json.dumps({**result.to_dict(), "pictures": pictures}, indent=2))
    else:
        print(result, *(f"picture {path}" for path in pictures), sep="\n")
    return status


def _tell(message: object) -> None:
    print(f"particles levelset: {message}", file=sys.stderr)


def _run_test(arguments: argparse.Namespace) -> levelset.Result:
    names = ("kernel", "dt", "until", "order", "dtype", "device", "velocity", "back")
    shape = arguments.shape[0] if len(arguments.shape) == 1 else arguments.shape
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LCFLWarning)
        result = levelset.run(shape, **{name: getattr(arguments, name) for name in names})
    for warning in caught:
        _tell(warning.message)
    return result
