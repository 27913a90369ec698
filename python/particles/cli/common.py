# SPDX-License-Identifier: BSD-3-Clause
"""What several commands have in common: options, and how they tell what happened."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """A subcommand: a line of help, what declares its options, what does the work.

    The latter returns the exit code.
    """

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def add_dtype_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option of what fields are made of."""
    dtypes = ("float16", "float32", "float64")
    parser.add_argument("--dtype", default="float32", choices=dtypes, help="dtype of the fields")


def add_device_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option of every command that computes."""
    words = "index or part of a name (default: see particles info)"
    parser.add_argument("--device", type=_index_or_name, help=words)


def _index_or_name(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def tell(command: str, message: object) -> None:
    """Say a line beside the output."""
    text = in_words(message) if isinstance(message, OSError) else message
    print(f"{f'particles {command}'.rstrip()}: {text}", file=sys.stderr)


def in_words(error: OSError) -> str:
    """Return what an error of the operating system says, without its number.

    Examples
    --------
    >>> in_words(FileNotFoundError(2, "No such file or directory", "run.h5"))
    "No such file or directory: 'run.h5'"
    """
    if error.strerror is None:
        return str(error)
    place = "" if error.filename is None else f": {str(error.filename)!r}"
    return f"{error.strerror}{place}"
