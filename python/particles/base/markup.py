# SPDX-License-Identifier: BSD-3-Clause
"""Tables of HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class Markup(str):
    """HTML that is put into a table as it is."""

    __slots__ = ()


def facts(title: str, named: Mapping[str, object]) -> str:
    """Return a table of names and what they stand for."""
    return table(title, [[Markup(f"<b>{name}</b>"), value] for name, value in named.items()])


def table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """Return a table of rows below a title."""
    from html import escape  # slow to import, and for notebooks alone

    lines = [f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption>']
    if header:
        lines.append(f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in header)}</tr>")
    for row in rows:
        lines.append(f"<tr>{''.join(map(_cell, row))}</tr>")
    return "\n".join([*lines, "</table>"])


def _cell(value: object) -> str:
    from html import escape

    text = value if isinstance(value, Markup) else escape(str(value))
    return f'<td style="text-align:left">{text}</td>'


def bytes_text(count: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} GiB"
