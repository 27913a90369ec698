# SPDX-License-Identifier: BSD-3-Clause
"""What flows in through the ends of axes: checked, and traced for the device."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_mapping, as_real, as_sequence, entries, shown
from particles.base.kinds import is_a
from particles.fields.grid import Grid
from particles.formulas.expressions import (
    Expression,
    check_numbers,
    expression,
    reads,
    real,
    substituted,
    variable,
)
from particles.formulas.opencl import opencl_function
from particles.formulas.tracing import Signature, places, result_of

Value: TypeAlias = float | Callable[[Any], Any]
Values: TypeAlias = Value | Sequence[Value] | npt.NDArray[Any]
Inflow: TypeAlias = Values | Mapping[tuple[int, str], Values]

_ENDS = ("low", "high")


class Inflows(NamedTuple):
    """What flows in, for each component.

    Attributes
    ----------
    formulas
        Functions of the time, for each axis and end where anything flows in.
    sources
        The same in OpenCL C, for each axis and end, empty where nothing flows in: functions
        ``inflow_formula`` of the time, which is their first argument.
    depends_on_time
        Whether any of them is not a number.
    """

    formulas: dict[tuple[int, str], list[Expression]]
    sources: list[list[list[str]]]
    depends_on_time: bool


def as_inflows(inflow: object, grid: Grid, components: int, dtype: np.dtype[Any]) -> Inflows:
    """Check what flows in against the boundary of the grid, and trace it for numbers of a dtype."""
    sides = [
        (axis, end)
        for axis, kinds in enumerate(grid.boundary)
        if kinds != "periodic"
        for end, kind in zip(_ENDS, kinds, strict=True)
        if kind == "inflow"
    ]
    values = _by_side(inflow, sides)
    formulas = {side: _of_components(side, values[side], components) for side in sides}
    check_numbers("inflow", itertools.chain(*formulas.values()), dtype)
    sources = [
        [[_opencl_source(formula) for formula in formulas.get((axis, end), ())] for end in _ENDS]
        for axis in range(grid.ndim)
    ]
    return Inflows(formulas, sources, reads(itertools.chain(*formulas.values()), "t"))


def _opencl_source(formula: Expression) -> str:
    """Return a function in which the time, other for every particle, stands as a coordinate."""
    return opencl_function(substituted(formula, {variable("t"): variable("x")}), "inflow_formula")


def _by_side(inflow: object, sides: list[tuple[int, str]]) -> Mapping[tuple[int, str], object]:
    names = ", ".join(map(str, sides))
    if inflow is None:
        if sides:
            raise ValueError(
                f"inflow must be given for the inflow ends of the grid, {names}, not None"
            )
        return {}
    if not sides:
        raise ValueError(f"inflow must be None for a grid without inflow ends, not {shown(inflow)}")
    if not is_a(inflow, Mapping):
        return dict.fromkeys(sides, inflow)
    by_side = as_mapping(inflow, "inflow must be a mapping")
    if set(by_side) != set(sides):
        given = ", ".join(map(shown, by_side))
        raise ValueError(f"inflow must have the keys {names}, as the grid has, not {given}")
    return by_side


def _of_components(side: tuple[int, str], value: object, components: int) -> list[Expression]:
    several = entries(value)
    expected = "inflow must be a value or a sequence of them"
    values = [value] * components if several is None else as_sequence(several, expected)
    if len(values) != components:
        raise ValueError(
            f"inflow must have a value for each of {components} components, not {len(values)}"
        )
    return [_formula(side, entry) for entry in values]


def _formula(side: tuple[int, str], value: object) -> Expression:
    if not callable(value):
        return expression(as_real("inflow", value))
    argument = f"inflow at {side}"
    known = places(0, variable("t"))
    signature = Signature("inflow", argument, "the time", (), known, ("",), "of itself")
    result = result_of(value, signature)
    try:
        return real(expression(result))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{argument}: {error}") from None
