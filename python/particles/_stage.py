# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a step."""

from __future__ import annotations

from typing import NamedTuple

from particles import _core


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
    return tuple(Stage(s.axis, s.begin, s.length) for s in stages)
