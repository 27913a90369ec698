# SPDX-License-Identifier: BSD-3-Clause
"""What the commands that run a test and draw it have in common."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

from particles.stepping.splitting import LCFLWarning


class Printable(Protocol):
    """A result that is a table for people and a dict for scripts, and says what its parts took."""

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of wall time."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""


Result = TypeVar("Result", bound=Printable)


def add_test_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare the options of every command that runs a test and draws it."""
    add = parser.add_argument
    add_dtype_argument(parser)
    add_device_argument(parser)
    add("--json", action="store_true", help="print JSON")
    words = "folder for the pictures; created if needed, older pictures are replaced"
    add("--out", type=Path, default=Path(name), metavar="DIR", help=words)


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


def one_or_all(shape: list[int]) -> int | list[int]:
    """Return the option of a shape as the functions take it."""
    return shape[0] if len(shape) == 1 else shape


def run_and_draw(
    arguments: argparse.Namespace,
    test: Callable[[], Result],
    draw: Callable[[Result, Path], list[Path]],
) -> tuple[Result, int]:
    """Run a test, write its pictures, print both; return the result and the exit code.

    The latter is 0, also where only what draws pictures is not installed, and 1 when the pictures
    cannot be written.
    """
    is_new = not arguments.out.exists()
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"out must be a folder: {in_words(error)}") from None
    pictures: list[str] = []
    status = 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LCFLWarning)
            result = test()
        for warning in caught:
            tell(arguments.command, warning.message)
        try:
            begin = perf_counter()
            pictures = [str(path) for path in draw(result, arguments.out)]
            result.parts["pictures"] = perf_counter() - begin
        except (ImportError, OSError, ValueError) as error:
            words = in_words(error) if isinstance(error, OSError) else error
            tell(arguments.command, f"no pictures: {words}")
            status = 0 if isinstance(error, ImportError) else 1
    finally:
        if is_new and not pictures:
            with contextlib.suppress(OSError):  # somebody else may have put something there
                arguments.out.rmdir()
    if arguments.json:
        print(json.dumps({**result.to_dict(), "pictures": pictures}, indent=2))
    else:
        print(result, *(f"picture {path}" for path in pictures), sep="\n")
    return result, status


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
