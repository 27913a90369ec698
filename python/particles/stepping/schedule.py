# SPDX-License-Identifier: BSD-3-Clause
"""The order of a splitting and the parts of its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from particles import _core
from particles.base.checks import as_integer, shown
from particles.base.markup import Markup, table

SPLITTINGS = {1: "Lie", 2: "Strang", 4: "Suzuki"}


def as_order(order: object) -> int:
    """Return the order of a splitting that there is."""
    number = as_integer("order", order)
    if number not in SPLITTINGS:
        raise ValueError(f"order must be 1 (Lie), 2 (Strang) or 4 (Suzuki), not {shown(number)}")
    return number


_AXES = "xyz"
_BAR = "position:absolute;height:0.8em;background:{color};left:{left:.4g}%;width:{width:.4g}%"
_FORWARD, _BACKWARD = "#2a6f97", "#e08e45"


class Stage(NamedTuple):
    """One part of a step, over the interval ``[begin, begin + length]`` of the step.

    Attributes
    ----------
    axis : int or str or None
        Axis of the sweep. None is the source, ``"diffusion"`` is diffusion.
    begin, length : float
        As parts of the step. A negative length goes back in time.

    Examples
    --------
    >>> import particles as pt
    >>> pt.Stage(axis=0, begin=0.5, length=0.5).begin
    0.5
    """

    axis: int | str | None
    begin: float
    length: float


def stages_of(stages: list[_core.Stage]) -> tuple[Stage, ...]:
    """Return the parts of a step that the core tells."""
    return tuple(Stage(s.axis, s.begin, s.length) for s in stages)


def step_table(stages: Sequence[Stage]) -> str:
    """Return a table with a bar for each part of a step where it lies in it."""
    rows: list[list[object]] = []
    for number, (axis, begin, length) in enumerate(stages, 1):
        color = _FORWARD if length > 0 else _BACKWARD
        left, width = 100 * min(begin, begin + length), 100 * abs(length)
        bar = f'<div style="{_BAR.format(color=color, left=left, width=width)}"></div>'
        frame = f'<div style="position:relative;width:14em;height:0.8em">{bar}</div>'
        what = _AXES[axis] if isinstance(axis, int) else axis or "source"
        rows.append([number, what, f"{begin:.3g}", f"{begin + length:.3g}", Markup(frame)])
    return table("Step", rows, ["", "along", "from", "to", "part of the step"])
