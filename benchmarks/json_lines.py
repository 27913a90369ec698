# SPDX-License-Identifier: BSD-3-Clause
"""What was found, in files of JSON with one record a line.

The first line has the facts. Each other line is an entry of a list, under the name of that list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from particles.base.disk import write_text


def write(found: dict[str, Any], file: Path | None) -> None:
    """Write what was found, if anywhere."""
    if file is None:
        return
    lists = {name: part for name, part in found.items() if is_of_records(part)}
    facts = {name: part for name, part in found.items() if name not in lists}
    entries = [{name: record} for name, records in lists.items() for record in records]
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, "".join(f"{json.dumps(line)}\n" for line in [facts, *entries]))


def read(file: Path) -> dict[str, Any]:
    """Return what was written."""
    facts, *entries = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    found: dict[str, Any] = facts
    for entry in entries:
        ((name, record),) = entry.items()
        found.setdefault(name, []).append(record)
    return found


def is_of_records(part: object) -> bool:
    """Whether something is a list that has a line for each of its entries."""
    return isinstance(part, list) and bool(part) and isinstance(part[0], dict)
