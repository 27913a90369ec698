# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels ask of a GPU, counted on a simulated one: no GPU is needed, and no time is measured.

``python -m benchmarks.gpu_model``
    every kernel, which takes long: some cases more than five minutes each
``python -m benchmarks.gpu_model --case "axis 0, CFL 3"``
    those that one case launches

It needs Oclgrind with its headers (``apt-get install oclgrind liboclgrind-dev``) and a C++
compiler; and for registers Clang and libclc (``apt-get install clang libclc-14``). First it counts
kernels whose counts are known by hand, and refuses to go on where one differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import particles as pt

from benchmarks import tables
from benchmarks.gpu_model import known, oclgrind
from benchmarks.gpu_model.cases import CASES, COUNTED_IN, GOALS, LINES
from benchmarks.gpu_model.occupancy import LIMIT, filled, occupancies
from benchmarks.gpu_model.registers import registers
from benchmarks.json_lines import write

HERE = Path(__file__).parent
MEMORY = 2**25
"""Bytes that the device has: for all cases, and little for what fills most of it."""
COMPILE = ["c++", "-std=c++17", "-O2", "-fno-rtti", "-shared", "-fPIC"]
Row = dict[str, Any]


def plugin(folder: str) -> Path:
    """Compile the plugin that counts; return its path."""
    stub = Path(folder, "llvm/ADT/StringRef.h")  # all that Oclgrind's headers want of LLVM
    stub.parent.mkdir(parents=True)
    stub.write_text("namespace llvm { class StringRef; }\n", encoding="utf-8")
    library = Path(folder, "count_memory.so")
    root = oclgrind.driver().parents[2]
    headers = root / "include/oclgrind"
    if not headers.is_dir():
        sys.exit(
            "Oclgrind's headers are missing; on Debian and Ubuntu: apt-get install liboclgrind-dev"
        )
    source = HERE / "count_memory.cpp"
    (linked,) = {path.name for path in root.glob("lib/*/liboclgrind-[0-9]*.so")}
    subprocess.run(
        [*COMPILE, "-isystem", headers, "-isystem", folder, source, f"-l:{linked}", "-o", library],
        check=True,
    )
    return library


def counted(library: Path, module: str, *arguments: str) -> tuple[Any, list[Row]]:
    """Run a module under the plugin; return what it printed last, and a count for each launch."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"OCLGRIND_PLUGINS": str(library), "COUNT_MEMORY": folder}
        settings |= {"OCLGRIND_LOCAL_MEM_SIZE": str(LIMIT), "OCLGRIND_MAX_WGSIZE": "1024"}
        settings |= {"OCLGRIND_GLOBAL_MEM_SIZE": str(MEMORY)}
        output = subprocess.run(
            [sys.executable, "-m", f"benchmarks.gpu_model.{module}", *arguments],
            cwd=Path(__file__).parents[2],
            env=oclgrind.environment(folder, **settings),
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout
        lines = Path(folder, "counts.jsonl").read_text(encoding="utf-8").splitlines()
        counts = [json.loads(line) for line in lines]
        for count in counts:
            count["text"], count["options"] = (
                Path(folder, f"{count['program']}.{kind}").read_text(encoding="utf-8")
                for kind in ("cl", "options")
            )
    return json.loads(output.splitlines()[-1]), counts


def rows_of(name: str, library: Path) -> list[Row]:
    """Return a row for each kernel that a case launches, and one for all of them."""
    needed, counts = counted(library, "cases", name)
    case = CASES[name]
    launched = {count["kernel"] for count in counts}
    if missing := {kernel for kernel, own in COUNTED_IN.items() if own == name} - launched:
        sys.exit(f"{name} launches no {', '.join(sorted(missing))}")
    rows = [
        row_of(name, kernel, [c for c in counts if c["kernel"] == kernel], needed[kernel])
        for kernel in dict.fromkeys(count["kernel"] for count in counts)
    ]
    if case.bytes is not None:
        rows.append(row_of(name, "all", counts, case.bytes))
    for row in rows:
        row["goal"] = case.goal if row["kernel"] == "all" else GOALS.get(row["kernel"])
        if case.cube and row["kernel"] in ("walk", "team"):
            items = row["items"] * case.cube**2 / LINES
            row["filled"] = [filled(items, share) for share in row["occupancy"]]
    return rows


def row_of(case: str, kernel: str, counts: list[Row], needed: float) -> Row:
    """Return what launches ask for together, and what the largest of them takes."""

    def total(*keys: str) -> int:
        return sum(count[key] for count in counts for key in keys)

    moved, largest = total("loads_cached", "stores_cached"), max(counts, key=lambda c: c["items"])
    row = {
        "case": case,
        "kernel": kernel,
        "launches": len(counts),
        "needed": needed,
        "moved": moved,
        "uncached": total("loads_moved", "stores_moved"),
        "times": moved / needed if needed else None,
        "passes": total("local_passes") / total("local_requests")
        if total("local_requests")
        else None,
        "busy": total("lanes_ran") / total("lanes_held"),
    }
    if kernel == "all":
        return row
    found = registers(largest["text"], largest["options"], kernel)
    row |= {key: largest[key] for key in ("items", "group", "local_bytes")}
    row |= {"registers": found and found.number, "scratch": found and found.scratch}
    row["occupancy"] = occupancies(largest["group"], largest["local_bytes"], found and found.number)
    return row


def check_model(library: Path) -> None:
    """Count kernels whose counts are known, and end where one differs."""
    _, counts = counted(library, "known")
    if wrong := known.wrong(counts):
        sys.exit("The model is wrong:\n" + "\n".join(wrong))


def all_rows(names: Iterable[str], library: Path) -> Iterator[Row]:
    """Yield the rows of cases, counted side by side."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(lambda name: rows_of(name, library), names):
            yield from rows


def main() -> None:
    """Read the command line, count, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", choices=list(CASES), metavar="NAME", help="count one case alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything there, too")
    arguments = parser.parse_args()
    names = [arguments.case] if arguments.case else list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        library = plugin(folder)
        check_model(library)
        rows = list(all_rows(names, library))
    found = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "particles": pt.__version__,
        "rows": rows,
    }
    print(tables.gpu_model({"gpu_model": found}))
    write(found, arguments.json)


if __name__ == "__main__":
    main()
