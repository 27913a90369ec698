# SPDX-License-Identifier: BSD-3-Clause
"""The ``particles`` command: one subcommand for each module of a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from particles import __version__, _bench, _info, _levelset_command, _tune_command
from particles.errors import DeviceError


class Command(Protocol):
    """What a module offers to be a subcommand; the first line of its docstring is its help."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the subcommand's options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work and return the exit code."""


COMMANDS: dict[str, Command] = {
    "bench": cast("Command", _bench),
    "info": cast("Command", _info),
    "levelset": cast("Command", _levelset_command),
    "tune": cast("Command", _tune_command),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit code.

    Examples
    --------
    >>> from particles._cli import main
    >>> code = main(["info", "--json"])  # doctest: +ELLIPSIS
    {...
    """
    parser = argparse.ArgumentParser(
        prog="particles", description="Remeshed particle methods on CPUs and GPUs."
    )
    parser.add_argument("--version", action="version", version=f"particles {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").partition("\n")[0]
        command.add_arguments(subparsers.add_parser(name, help=summary, description=summary))
    parsed = parser.parse_args(arguments)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except (DeviceError, ValueError) as error:
        print(f"particles {parsed.command}: {error}", file=sys.stderr)
        return 1
