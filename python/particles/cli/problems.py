# SPDX-License-Identifier: BSD-3-Clause
"""The commands that run a test problem and draw it."""

from __future__ import annotations

import argparse
import contextlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, TypeVar

from particles import levelset, problems
from particles.cli.common import (
    Command,
    add_device_argument,
    add_dtype_argument,
    in_words,
    tell,
)
from particles.levelset import pictures as levelset_pictures
from particles.levelset import runner as levelset_runner
from particles.problems import pictures, runner
from particles.runtime.devices import as_device
from particles.stepping.presets import PRESETS
from particles.stepping.schedule import SPLITTINGS
from particles.stepping.splitting import LCFLWarning


class Printable(Protocol):
    """A result that is a table for people and a dict for scripts, and says what its parts took."""

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of wall time."""

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""


Printed = TypeVar("Printed", bound=Printable)


def _add_levelset_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles levelset``."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", default=[128], metavar="N", help="points, one or 3 numbers")
    add("--kernel", default="M'6", help="remeshing kernel, such as M'4, M'6 or L6_4")
    add(
        "--dt",
        type=float,
        help="duration of a step (default: 12.8 times the spacing, at most 0.15)",
    )
    add("--until", type=float, default=1.0, metavar="T", help="time at which the flow reverses")
    add(
        "--order",
        type=int,
        default=2,
        choices=SPLITTINGS,
        help="1 Lie, 2 Strang, 4 Suzuki splitting",
    )
    add(
        "--velocity",
        default="grid",
        choices=levelset_runner.VELOCITIES,
        help="velocity as values on the grid or as a formula",
    )
    add("--no-back", dest="back", action="store_false", help="do not reverse the flow")
    _add_test_arguments(parser, "levelset")


def _run_levelset(arguments: argparse.Namespace) -> int:
    """Run the test and write its pictures."""
    names = ("kernel", "dt", "until", "order", "dtype", "device", "velocity", "back")
    options = {name: getattr(arguments, name) for name in names}
    shape = _one_or_all(arguments.shape)

    def memory_used(result: levelset.LevelSetResult) -> tuple[str, dict[str, float]]:
        """Say what the steps moved, beside what the memory moves in place."""
        times = result.profile.kernels.values()
        rate = sum(time.bytes for time in times) / sum(time.seconds for time in times)
        axpy = as_device(arguments.device).core.measure_axpy()
        words = (
            f"steps move {rate / 1e9:.1f} GB/s, {rate / axpy:.0%} of the {axpy / 1e9:.1f} GB/s of "
            "a += s b on arrays beyond all caches"
        )
        return words, {"axpy": axpy, "share_of_axpy": rate / axpy}

    return _run_and_draw(
        arguments, lambda: levelset.run(shape, **options), levelset_pictures.write, memory_used
    )[1]


def _add_zalesak_arguments(parser: argparse.ArgumentParser) -> None:
    step = f"{runner.ROTATION_DT} of a revolution"
    _add_arguments(parser, "zalesak", str(runner.ROTATION_POINTS), step)


def _run_zalesak(arguments: argparse.Namespace) -> int:
    return _run(arguments, problems.zalesak, pictures.write_rotation)


def _add_vortex_box_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dim", type=int, default=2, choices=(2, 3), help="disk or ball")
    points = " or ".join(f"{count} in {dim}-D" for dim, count in runner.POINTS.items())
    step = f"a CFL of {runner.CFL:g}, with at least {runner.LEAST_STEPS} steps"
    _add_arguments(parser, "vortex-box", points, step)


def _run_vortex_box(arguments: argparse.Namespace) -> int:
    return _run(arguments, problems.vortex_box, pictures.write_vortex, dim=arguments.dim)


def _add_arguments(parser: argparse.ArgumentParser, name: str, points: str, step: str) -> None:
    """Declare the options; `points` and `step` tell the default ones."""
    add = parser.add_argument
    add("--shape", type=int, nargs="+", metavar="N", help=f"points (default: {points})")
    add("--preset", default="default", choices=tuple(PRESETS), help="kernel, scheme and limiter")
    add("--kernel", help="remeshing kernel, such as M'4, M'6 or L6_4 (default: the preset's)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--dt", type=float, help=f"duration of a step (default: {step})")
    length.add_argument("--cfl", type=float, help="cells moved in a step (default: that of --dt)")
    _add_test_arguments(parser, name)


def _run(
    arguments: argparse.Namespace,
    problem: Callable[..., problems.ProblemResult],
    draw: Callable[[problems.ProblemResult, Path], list[Path]],
    **options: object,
) -> int:
    """Run a problem and write its picture; return 1 where a result is above its limit."""
    names = ("preset", "kernel", "dt", "cfl", "dtype", "device")
    options |= {name: getattr(arguments, name) for name in names}
    if arguments.shape is not None:
        options["shape"] = _one_or_all(arguments.shape)
    result, status = _run_and_draw(arguments, lambda: problem(**options), draw)
    for name in result.missed:
        found, limit = result.figures[name], result.limits[name]
        tell(arguments.command, f"{name} must be at most {limit:.3g}, not {found:.3g}")
    return 1 if result.missed else status


def _add_test_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare the options of every command that runs a test and draws it."""
    add = parser.add_argument
    add_dtype_argument(parser)
    add_device_argument(parser)
    add("--json", action="store_true", help="print JSON")
    words = "folder for the pictures; created if needed, older pictures are replaced"
    add("--out", type=Path, default=Path(name), metavar="DIR", help=words)


def _one_or_all(shape: list[int]) -> int | list[int]:
    """Return the option of a shape as the functions take it."""
    return shape[0] if len(shape) == 1 else shape


def _run_and_draw(
    arguments: argparse.Namespace,
    test: Callable[[], Printed],
    draw: Callable[[Printed, Path], list[Path]],
    compare: Callable[[Printed], tuple[str, dict[str, float]]] | None = None,
) -> tuple[Printed, int]:
    """Run a test, write its pictures, print both; return the result and the exit code.

    What it compares with, in words and numbers, is printed, too. The code is 0, also where only
    what draws pictures is not installed, and 1 when the pictures cannot be written.
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
    words, numbers = ("", {}) if compare is None else compare(result)
    if arguments.json:
        print(json.dumps({**result.to_dict(), **numbers, "pictures": pictures}, indent=2))
    else:
        print(result, *filter(None, [words]), *(f"picture {path}" for path in pictures), sep="\n")
    return result, status


LEVELSET = Command(
    "Run the level-set test: a flow stretches a ball and brings it back, with pictures.",
    _add_levelset_arguments,
    _run_levelset,
)
ZALESAK = Command(
    "Rotate Zalesak's slotted disk once, each step by three shears, with a picture.",
    _add_zalesak_arguments,
    _run_zalesak,
)
VORTEX_BOX = Command(
    "Stretch a disk or a ball in a vortex that reverses, with pictures at T/2 and T.",
    _add_vortex_box_arguments,
    _run_vortex_box,
)
