# SPDX-License-Identifier: BSD-3-Clause
"""How grids, fields and what carries them look in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from particles._report import Report
    from particles._stepper import Stepper
    from particles.field import Field
    from particles.grid import Grid
    from particles.splitting import Splitting, Stage

AXES = "xyz"
_BAR = "position:absolute;height:0.8em;background:{color};left:{left:.4g}%;width:{width:.4g}%"
_FORWARD, _BACKWARD = "#2a6f97", "#e08e45"


def of_grid(grid: Grid) -> str:
    """Return a table with a row for each axis."""
    ends = zip(grid.origin, grid.extent, strict=True)
    rows = [
        [AXES[axis], grid.shape[axis], f"{start:g} to {start + length:g}", f"{step:g}", beyond]
        for axis, ((start, length), step, beyond) in enumerate(
            zip(ends, grid.spacing, map(boundary_text, grid.boundary), strict=True)
        )
    ]
    return _table("Grid", rows, ["axis", "points", "from, to", "spacing", "boundary"])


def of_field(field: Field) -> str:
    """Return a table of facts beside a small picture of the values, where one can be drawn."""
    from base64 import b64encode  # slow to import, as is html, and for notebooks alone

    from particles._thumbnail import thumbnail

    facts = {
        "components": field.components,
        "points": " x ".join(map(str, field.grid.shape)),
        "dtype": field.dtype.name,
        "memory": _bytes(field.nbytes),
        "device": field.device.name,
    }
    table = _facts(f"Field {field.name or ''}", facts)
    picture = thumbnail(field)
    if picture is None:
        return table
    image = f'<img alt="" src="data:image/png;base64,{b64encode(picture).decode()}">'
    return f'<div style="display:flex;align-items:center;gap:1em">{table}{image}</div>'


def of_splitting(splitting: Splitting, order: str) -> str:
    """Return a table of what is carried and how, and one of the parts of a step."""
    facts = of_transport(splitting, f"Splitting ({order})")
    stages = known_schedule(splitting)
    return facts + _schedule(stages) if stages else facts


def known_schedule(splitting: Splitting) -> tuple[Stage, ...]:
    """Return the parts of a step, or none where the velocity cannot be measured."""
    with suppress(ValueError, RuntimeError):
        return splitting.schedule
    return ()


def known_time(transport: Stepper) -> str:
    """Return the time in few digits, or that the fields belong to none."""
    with suppress(RuntimeError):
        return f"{transport.time:g}"
    return "none"


def of_transport(transport: Stepper, kind: str) -> str:
    """Return a table of what is carried and how."""
    advection, remesh = transport.advection, transport.remesh
    facts = {
        "time": f"{known_time(transport)} after {transport.steps} steps",
        "carried": ", ".join(map(repr, remesh.fields)),
    }
    if advection is not None:
        facts |= {
            "velocity": repr(advection.velocity),
            "scheme": advection.scheme,
            "kernel": remesh.kernel.name,
            "limiter": remesh.limiter or "none",
        }
    return _facts(kind, facts)


def of_report(report: Report) -> str:
    """Return a table of what was done, and one of what has become of the fields."""
    header, *rows = report.table()
    return _facts("Report", report.facts()) + _table("Carried", rows, header)


def _schedule(stages: Sequence[Stage]) -> str:
    """Return a table with a bar for each part of a step where it lies in it."""
    rows: list[list[object]] = []
    for number, (axis, begin, length) in enumerate(stages, 1):
        color = _FORWARD if length > 0 else _BACKWARD
        left, width = 100 * min(begin, begin + length), 100 * abs(length)
        bar = f'<div style="{_BAR.format(color=color, left=left, width=width)}"></div>'
        frame = f'<div style="position:relative;width:14em;height:0.8em">{bar}</div>'
        what = AXES[axis] if isinstance(axis, int) else axis or "source"
        rows.append([number, what, f"{begin:.3g}", f"{begin + length:.3g}", _Markup(frame)])
    return _table("Step", rows, ["", "along", "from", "to", "part of the step"])


class _Markup(str):
    """HTML that is put into a table as it is."""

    __slots__ = ()


def _facts(title: str, facts: Mapping[str, object]) -> str:
    return _table(title, [[_Markup(f"<b>{name}</b>"), value] for name, value in facts.items()])


def _table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    from html import escape

    lines = [f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption>']
    if header:
        lines.append(f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in header)}</tr>")
    for row in rows:
        lines.append(f"<tr>{''.join(map(_cell, row))}</tr>")
    return "\n".join([*lines, "</table>"])


def _cell(value: object) -> str:
    from html import escape

    text = value if isinstance(value, _Markup) else escape(str(value))
    return f'<td style="text-align:left">{text}</td>'


def boundary_text(entry: str | tuple[str, str]) -> str:
    return entry if isinstance(entry, str) else ", ".join(entry)


def _bytes(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"
