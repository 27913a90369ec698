# SPDX-License-Identifier: BSD-3-Clause
"""How long somebody waits for the first step, and for what.

``python -m benchmarks.first_minute [--json FILE]``

Each case runs in a process of its own, from the start of Python to the end of the first step: cold,
when nothing was ever kept, neither by us nor by PoCL, and warm, in the next processes. The script
is README's; in "256³" it has a larger grid, in "rare" choices that are seldom made together. Times
are those of the clock in seconds, each the least of several; "processors" is what this process and
its children spent together.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from particles.cli.machine import facts
from particles.runtime.devices import as_device

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments

README = Path(__file__).parents[1] / "README.md"
CHANGES: dict[str, dict[str, str]] = {
    "README": {},
    "256³": {"(128, 128, 128)": "(256, 256, 256)"},
    "rare": {
        '(128, 128, 128), boundary="periodic"': '(96, 80, 72), boundary=["wall", "outflow", "periodic"]',
        '"default", velocity, phi': (
            '"positive", velocity, phi, kernel="L8_4", scheme="rk4", interpolation="cubic"'
        ),
    },
}
STEP = "transport.step(0.01)"
# What a statement belongs to, by its beginning.
PARTS = {
    "import": "imports",
    "velocity": "first field",
    "transport = ": "operators",
    "transport.": "first step",
    "": "values in and out",
}
# Runs a script statement by statement; prints what each took, as JSON.
CHILD = """
import ast, json, sys, time
names, rows = {"print": lambda *values: None}, []
for statement in ast.parse(sys.argv[1]).body:
    begin = time.perf_counter()
    exec(compile(ast.Module([statement], []), "README.md", "exec"), names)
    rows.append((ast.unparse(statement), time.perf_counter() - begin))
print(json.dumps(rows))
"""


def script(case: str) -> str:
    """Return README's script up to the first step, changed as a case says."""
    (text,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    text = text[: text.index("transport.run")] + f"{STEP}\nprint(phi.sum())\n"
    for old, new in CHANGES[case].items():
        if old not in text:
            raise ValueError(f"README's script has no {old}")
        text = text.replace(old, new)
    return text


def run_in_child(text: str, folder: str, device: int) -> dict[str, Any]:
    """Run a script in a process that keeps everything in a folder."""
    before = os.times()
    begin = time.perf_counter()
    output = subprocess.run(
        [sys.executable, "-c", CHILD, text],
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "",  # pip would have compiled what it installs
            "PARTICLES_DEVICE": str(device),
            "PARTICLES_CACHE": str(Path(folder, "particles")),
            "POCL_CACHE_DIR": str(Path(folder, "pocl")),
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    wall = time.perf_counter() - begin
    after = os.times()
    spent = [
        getattr(after, name) - getattr(before, name)
        for name in ("children_user", "children_system")
    ]
    rows = json.loads(output.splitlines()[-1])
    return {"seconds": wall, "processors": sum(spent), "parts": parts_of(rows, wall)}


def parts_of(rows: list[tuple[str, float]], wall: float) -> dict[str, float]:
    """Add up what a user would call the parts of a script."""
    parts = {"start of Python": wall - sum(seconds for _, seconds in rows)}
    parts.update(dict.fromkeys(PARTS.values(), 0.0))
    *most, (_, last) = rows  # waits for the step
    for text, seconds in most:
        parts[next(part for begin, part in PARTS.items() if text.startswith(begin))] += seconds
    parts["first step"] += last
    return parts


def measure(case: str, repeats: int, device: int) -> dict[str, Any]:
    """Return the least times of a case, cold and warm."""
    text = script(case)
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "pocl").mkdir()
            cold.append(run_in_child(text, folder, device))
            warm += [run_in_child(text, folder, device) for _ in range(3)]
    return {
        name: min(runs, key=lambda run: run["seconds"])
        for name, runs in (("cold", cold), ("warm", warm))
    }


def print_table(found: dict[str, Any]) -> None:
    """Print what was found."""
    print(found["device"]["name"], found["device"]["driver"])
    for case, by_kind in found["cases"].items():
        for kind, least in by_kind.items():
            parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in least["parts"].items())
            print(
                f"{case:8}{kind:6}{least['seconds']:6.2f} s, processors {least['processors']:5.2f}: {parts}"
            )


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    parser.add_argument("--repeats", type=int, default=3, help="of each case, cold")
    parser.add_argument("--cases", nargs="+", default=list(CHANGES), choices=list(CHANGES))
    arguments = parser.parse_args()
    device = as_device(arguments.device)
    cases = {case: measure(case, arguments.repeats, device.index) for case in arguments.cases}
    found = {**facts(device), "cases": cases}
    print_table(found)
    write(found, arguments.json)


if __name__ == "__main__":
    main()
