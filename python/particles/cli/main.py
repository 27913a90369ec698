# SPDX-License-Identifier: BSD-3-Clause
"""The ``particles`` command: its subcommands."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from particles import __version__
from particles.base.errors import DeviceError
from particles.cli import bench, cache, info, problems, repair, tune
from particles.cli.common import Command, tell
from particles.runtime import environment

COMMANDS: dict[str, Command] = {
    "bench": bench.COMMAND,
    "cache": cache.COMMAND,
    "info": info.COMMAND,
    "levelset": problems.LEVELSET,
    "repair": repair.COMMAND,
    "tune": tune.COMMAND,
    "vortex-box": problems.VORTEX_BOX,
    "zalesak": problems.ZALESAK,
}


CLOSED = 128 + 13  # as any program that ends by SIGPIPE


class _Formatter(argparse.HelpFormatter):
    """Says of every option what it is by default, unless its help does."""

    def _get_help_string(self, action: argparse.Action) -> str:
        text, default = action.help or "", action.default
        if "(default" in text or default is None or not action.option_strings or action.nargs == 0:
            return text
        shown = " ".join(map(str, default)) if isinstance(default, list) else default
        return f"{text} (default: {shown})"


class _Parser(argparse.ArgumentParser):
    """A parser that ends with one line where arguments are wrong."""

    def error(self, message: str) -> NoReturn:
        self.refuse(self.prog, message)

    def refuse(self, command: str, message: str) -> NoReturn:
        """End, and say where the options of a command are told."""
        self.exit(2, f"{command}: {message}; see {command} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return the exit code.

    It is 0 where all went well, 1 where a result was above its limit or a device or a file
    failed, and 2 for arguments or settings of the environment that cannot be run. As for any
    program it is 130 where it was interrupted, and 141 where nobody reads the output any more.

    Examples
    --------
    >>> from particles.cli.main import main
    >>> code = main(["info", "--json"])  # doctest: +ELLIPSIS
    {...
    """
    try:
        try:
            return _run(arguments)
        finally:  # also where argparse has printed its help
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
    except BrokenPipeError:
        _give_up_output()
        return CLOSED
    except OSError as error:  # a full disk
        _give_up_output()
        with suppress(OSError):
            tell("", error)
        return 1


def _give_up_output() -> None:
    """Let nothing be left in streams that fail, as Python would try again at its end."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), stream.fileno())


def parser() -> _Parser:
    """Return what knows all commands and their options."""
    result = _Parser(prog="particles", description="Remeshed particle methods on CPUs and GPUs.")
    result.add_argument("--version", action="version", version=f"particles {__version__}")
    subparsers = result.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        command.add_arguments(
            subparsers.add_parser(
                name, help=command.help, description=command.help, formatter_class=_Formatter
            )
        )
    return result


def _run(arguments: Sequence[str] | None) -> int:
    all_commands = parser()
    parsed, unknown = all_commands.parse_known_args(arguments)
    if unknown:
        all_commands.refuse(
            f"particles {parsed.command}", f"unrecognized arguments: {' '.join(unknown)}"
        )
    try:
        environment.effort(), environment.may_repair()  # are settings right?
        return COMMANDS[parsed.command].run(parsed)
    except BrokenPipeError:
        raise
    except (OverflowError, TypeError, ValueError) as error:
        tell(parsed.command, error)
        return 2
    except (DeviceError, MemoryError, OSError) as error:
        tell(parsed.command, error)
        return 1
    except KeyboardInterrupt:
        tell(parsed.command, "interrupted")
        return 130
