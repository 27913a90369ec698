# SPDX-License-Identifier: BSD-3-Clause
"""Measure two versions of the library in turns, and print the ratios of their times.

``python -m benchmarks.turns old/.venv/bin/python .venv/bin/python sweep --quick``
    one measurement of this checkout, by the interpreters of two environments that have a version each

The machine's speed changes from minute to minute, so each version has its turn several times, in
a process of its own, and the least of its times counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.json_lines import is_of_records, read
from benchmarks.tables import table

UNITS = ("ns", "us", "ms", "long", "apart")
"""Names of times in records."""
Times = dict[tuple[str, str], float]


def times_of(found: dict[str, Any]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield each time, after what was measured and its unit."""
    for record in (record for part in found.values() if is_of_records(part) for record in part):
        what = ", ".join(_said(value) for value in record.values() if _is_choice(value))
        for unit in filter(record.get, UNITS):
            several = record[unit] if isinstance(record[unit], list) else [record[unit]]
            for axis, time in enumerate(several):
                yield (what, unit if len(several) == 1 else f"{unit}, axis {axis}"), time


def _is_choice(value: object) -> bool:
    numbers = value if isinstance(value, list) else [value]
    return bool(numbers) and all(isinstance(number, (str, int)) for number in numbers)


def _said(value: object) -> str:
    return " x ".join(map(str, value)) if isinstance(value, list) else str(value)


def measured(python: str, module: str, arguments: Sequence[str]) -> Times:
    """Return the times that the version of an interpreter takes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found.jsonl"
        subprocess.run(
            [python, "-m", f"benchmarks.{module}", *arguments, "--json", str(file)],
            env={**os.environ, "PARTICLES_TUNE": "off"},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return dict(times_of(read(file)))


def least(turns: Sequence[Times]) -> Times:
    """Return the least of each time that was measured in all turns."""
    return {
        key: min(times[key] for times in turns)
        for key in turns[0]
        if all(key in times for times in turns)
    }


def ratios(first: Times, second: Times) -> str:
    """Return a table of times, and of the second ones in parts of the first."""
    rows = [
        [*key, time, second[key], f"{second[key] / time:.2f}"]
        for key, time in first.items()
        if key in second
    ]
    return table(["measured", "unit", "first", "second", "second / first"], rows)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="of each version")
    parser.add_argument("pythons", nargs=2, metavar="PYTHON", help="an interpreter")
    parser.add_argument("module", help="what measures: sweep, schemes, ...")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what it is told")
    found = parser.parse_args()
    turns: list[list[Times]] = [
        [measured(python, found.module, found.arguments) for python in found.pythons]
        for _ in range(found.turns)
    ]
    print(ratios(*(least(version) for version in zip(*turns, strict=True))))


if __name__ == "__main__":
    main()
