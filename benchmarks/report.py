# SPDX-License-Identifier: BSD-3-Clause
"""Tables and plots of docs/performance.md and docs/accuracy.md, made from what `benchmarks.record` has kept.

``python -m benchmarks.report`` (a few seconds)

Prose is kept; what is between ``<!-- begin name -->`` and ``<!-- end name -->`` is made anew.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from particles.base.disk import write_text

from benchmarks.accuracy import tables as accuracy_tables
from benchmarks.json_lines import read
from benchmarks.record import MODULES, RESULTS
from benchmarks.tables import Found, devices, mean, section

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "performance.md", DOCS / "accuracy.md")
BLOCK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def load(folder: Path) -> Found:
    """Return everything that was found on one device on one day."""
    files = {name: folder / f"{name}.jsonl" for name in MODULES}
    parts = {name: read(file) for name, file in files.items() if file.exists()}
    merged = {**parts.pop("scaling", {}), **parts.pop("sweep", {})}
    return {**merged, **parts}


def newest(folders: Path) -> list[Found]:
    """Return what was last found on each device: the newest first, of one day the fastest.

    Parts that were measured later on another device replace those of the first, or stand in for
    those that it lacks.
    """
    of_device: dict[str, Found] = {}
    for folder in sorted(folders.iterdir()):
        of_device.setdefault(folder.name[len("2026-01-01-") :], {}).update(load(folder))
    loaded = list(of_device.values())
    every = [found for found in loaded if "cases" in found]
    every.sort(key=lambda found: mean(r["ns"] for r in found["cases"]))
    every.sort(key=lambda found: found["date"][:10], reverse=True)
    first = every[0]
    dates = {name: max(first["date"], _date(part)) for name, part in first.items()}
    for found in loaded:
        for name, part in found.items():
            if _date(part) >= dates.get(name, ""):
                first[name], dates[name] = part, _date(part)
    return every


def _date(part: object) -> str:
    """Return when a part was measured, if it says so."""
    return part.get("date", "") if isinstance(part, dict) else ""


def page(text: str, every: Sequence[Found]) -> str:
    """Return the page with its tables made anew."""

    def block(match: re.Match[str]) -> str:
        name = match[2]
        if name == "devices":
            made = devices(every)
        elif name in accuracy_tables.SECTIONS:
            made = accuracy_tables.section(name, every[0].get("accuracy", {}))
        else:
            made = section(name, every[0])
        return f"{match[1]}\n{made}\n\n{match[3]}"

    return BLOCK.sub(block, text)


def main() -> None:
    """Write the pages and their plots."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    from benchmarks import interpolation, pictures
    from benchmarks.accuracy import pictures as accuracy_pictures
    from benchmarks.paper import intensity, ladder
    from benchmarks.paper import pictures as paper_pictures

    every = newest(RESULTS)
    for file in PAGES:
        write_text(file, page(file.read_text(encoding="utf-8"), every))
    pictures.write(every[0], DOCS / "images")
    if "paper" in every[0]:
        works = intensity.works(ladder.KERNEL)
        paper_pictures.write(every[0]["paper"], works, DOCS / "images")
    if "interpolation" in every[0]:
        interpolation.draw(every[0]["interpolation"], DOCS / "images/performance-interpolation.png")
    if "accuracy" in every[0]:
        accuracy_pictures.write(every[0]["accuracy"], DOCS / "images")


if __name__ == "__main__":
    main()
