# SPDX-License-Identifier: BSD-3-Clause
"""The ``particles`` command: one subcommand for each module of a table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn, Protocol, cast

from particles import (
    __version__,
    _bench,
    _cache_command,
    _info,
    _levelset_command,
    _repair_command,
    _tune_command,
    _vortex_box_command,
    _zalesak_command,
)
from particles._command import tell
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
    "cache": cast("Command", _cache_command),
    "info": cast("Command", _info),
    "levelset": cast("Command", _levelset_command),
    "repair": cast("Command", _repair_command),
    "tune": cast("Command", _tune_command),
    "vortex-box": cast("Command", _vortex_box_command),
    "zalesak": cast("Command", _zalesak_command),
}


class _Parser(argparse.ArgumentParser):
    """A parser that ends with one line where arguments are wrong."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit code.

    It is 0 where all went well, 1 where a figure was not reached or a device or a file failed, and
    2 for arguments that cannot be run; 130, as for any program, where it was interrupted.

    Examples
    --------
    >>> from particles._cli import main
    >>> code = main(["info", "--json"])  # doctest: +ELLIPSIS
    {...
    """
    parser = _Parser(prog="particles", description="Remeshed particle methods on CPUs and GPUs.")
    parser.add_argument("--version", action="version", version=f"particles {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").partition("\n")[0]
        command.add_arguments(subparsers.add_parser(name, help=summary, description=summary))
    parsed = parser.parse_args(arguments)
    try:
        return COMMANDS[parsed.command].run(parsed)
    except (OverflowError, TypeError, ValueError) as error:
        tell(parsed.command, error)
        return 2
    except (DeviceError, MemoryError, OSError) as error:
        tell(parsed.command, error)
        return 1
    except KeyboardInterrupt:
        tell(parsed.command, "interrupted")
        return 130
