# SPDX-License-Identifier: BSD-3-Clause
"""Show or empty the folder in which particles keeps programs and measurements."""

from __future__ import annotations

import argparse
import json
from typing import Any

from particles.cli.common import Command
from particles.cli.info import size_text
from particles.runtime import cache

MEANINGS = {
    "programs": "built programs",
    "form": "the fastest form of a sweep",
    "fastest": "the fastest device",
    "driver": "whether a driver works",
    "archives": "what a driver links with",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles cache``."""
    add = parser.add_argument
    add("action", choices=("show", "clear"), help="what to do; drivers' caches are not removed")
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print what there is, or what has been removed."""
    is_clearing = arguments.action == "clear"
    facts = gather(is_clearing)
    print(json.dumps(facts, indent=2) if arguments.json else as_text(facts, is_clearing))
    return 0


def gather(is_clearing: bool) -> dict[str, Any]:
    """Return the numbers and bytes of files of each kind, and remove them if wanted."""
    kinds = {}
    for kind, files in cache.contents().items():
        sizes = [file.stat().st_size for file in files]
        if is_clearing:
            for file in files:
                file.unlink(missing_ok=True)
        kinds[kind] = {"files": len(files), "bytes": sum(sizes)}
    if is_clearing:
        cache.remove_empty_folders()
    return {
        "folder": cache.cache_folder(),
        "pocl": cache.where_pocl_keeps(),
        "problem": cache.why_not_used(),
        "removed": is_clearing,
        "kinds": kinds,
    }


def as_text(facts: dict[str, Any], is_clearing: bool) -> str:
    """Return the facts for people."""
    if not facts["folder"]:
        return str(facts["problem"] or "there is no cache folder")
    kinds = facts["kinds"]
    total = {name: sum(kind[name] for kind in kinds.values()) for name in ("files", "bytes")}
    lines = [f"{'removed from' if is_clearing else 'cache folder'} {facts['folder']}"]
    for name, kind in {**kinds, "total": total}.items():
        meaning = MEANINGS.get(name, "")
        lines.append(f"{name:9}{kind['files']:6} files{size_text(kind['bytes']):>12}  {meaning}")
    if facts["problem"]:
        lines.append(facts["problem"])
    lines.append(f"PoCL keeps what it builds in {facts['pocl']}: nothing is removed there")
    return "\n".join(line.rstrip() for line in lines)


COMMAND = Command(
    "Show or empty the folder in which particles keeps programs and measurements.",
    add_arguments,
    run,
)
