# SPDX-License-Identifier: BSD-3-Clause
"""Between which numbers the values of an expression lie, by interval arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from particles.formulas.expressions import EVALUATE, Expression, nodes_of


class Bounds(NamedTuple):
    """All numbers from `low` to `high`."""

    low: float
    high: float

    @property
    def size(self) -> float:
        """The greatest absolute value."""
        return max(abs(self.low), abs(self.high))


_ROUNDED = 2.0**-22

UNKNOWN = Bounds(-math.inf, math.inf)
"""Of what may have any value, or none."""


def bounds(expression: Expression, variables: Mapping[str, tuple[float, float]]) -> Bounds:
    """Return an interval that holds all values of an expression where variables and parameters are in theirs.

    It is wider than need be where a variable occurs more than once, and `UNKNOWN` where some value
    may not be finite. But for the rounding of its ends it is never too narrow.
    """
    return bounds_of_all(expression, variables)[expression]


def bounds_of_all(
    expression: Expression, variables: Mapping[str, tuple[float, float]], *, or_none: bool = False
) -> dict[Expression, Bounds]:
    """Return the same of each number that the expression is made of; nothing is known of other variables.

    `or_none`: where some value may not be finite, intervals may hold those alone that are numbers.
    """
    known: dict[Expression, Bounds] = {}
    may_be_none: set[Expression] = set()
    for node in nodes_of([expression]):
        if node.operation in ("variable", "parameter"):
            known[node] = Bounds(*variables.get(str(node.value), UNKNOWN))
        elif node.operation == "constant":
            known[node] = Bounds(float(node.value or 0), float(node.value or 0))
        elif not node.is_mask:
            known[node] = _of_operation(node, known)
            if or_none:
                if not may_be_none.isdisjoint(node.operands):
                    may_be_none.add(node)
                    if node.operation in ("fmin", "fmax"):  # the other one, where one is none
                        known[node] = _hull_of_operands(node, known)
                elif known[node] == UNKNOWN and node.operation in _WITHIN:
                    may_be_none.add(node)
                    known[node] = _WITHIN[node.operation]
    return known


def _hull_of_operands(node: Expression, known: Mapping[Expression, Bounds]) -> Bounds:
    return _hull([end for operand in node.operands for end in known[operand]])


def _of_operation(node: Expression, known: Mapping[Expression, Bounds]) -> Bounds:
    given = [known[operand] for operand in node.operands if not operand.is_mask]
    is_square = node.operation == "*" and node.operands[0] is node.operands[1]
    rule = _square if is_square else _RULES.get(node.operation)
    if rule is None or UNKNOWN in given:
        return UNKNOWN
    with np.errstate(all="ignore"):
        low, high = map(float, rule(*given))
    return Bounds(low, high) if math.isfinite(low + high) else UNKNOWN


def _hull(values: list[float]) -> Bounds:
    """Return what holds some values; NaN is among them only where nothing is known."""
    return (
        UNKNOWN if any(math.isnan(value) for value in values) else Bounds(min(values), max(values))
    )


def _sum(a: Bounds, b: Bounds) -> Bounds:
    """Devices round in float32, which matters where large numbers leave a small one."""
    rounding = _ROUNDED * max(a.size, b.size)
    return Bounds(a.low + b.low - rounding, a.high + b.high + rounding)


def _product(a: Bounds, b: Bounds) -> Bounds:
    return _hull([x * y for x, y in product(a, b)])


def _square(a: Bounds, _: Bounds) -> Bounds:
    least = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    return Bounds(least * least, a.size * a.size)


def _quotient(a: Bounds, b: Bounds) -> Bounds:
    return UNKNOWN if b.low <= 0 <= b.high else _product(a, Bounds(1 / b.high, 1 / b.low))


def _cosine(a: Bounds) -> Bounds:
    """Crests and troughs count where the interval may hold them; devices round the angle and the result."""
    ends = [math.cos(a.low), math.cos(a.high)]
    slack = 1e-9 * (1 + a.size)
    half_turns = math.floor((a.high + slack) / math.pi), math.ceil((a.low - slack) / math.pi)
    if half_turns[0] > half_turns[1]:
        return Bounds(-1.0, 1.0)
    if half_turns[0] == half_turns[1]:
        ends.append(1.0 if half_turns[0] % 2 == 0 else -1.0)
    rounding = _ROUNDED * (1 + a.size)
    return Bounds(max(min(ends) - rounding, -1.0), min(max(ends) + rounding, 1.0))


def _sine(a: Bounds) -> Bounds:
    return _cosine(Bounds(a.low - math.pi / 2, a.high - math.pi / 2))


def _size(a: Bounds) -> Bounds:
    return Bounds(0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high)), a.size)


def _rising(operation: str) -> Callable[[Bounds], Bounds]:
    """Return the rule of a function that never falls; NaN at an end is beyond its domain."""
    function = EVALUATE[operation]
    return lambda a: _hull([function(a.low), function(a.high)])


def _remainder(_: Bounds, b: Bounds) -> Bounds:
    return UNKNOWN if b.low <= 0 <= b.high else Bounds(min(0.0, b.low), max(0.0, b.high))


def _floor_divide(a: Bounds, b: Bounds) -> Bounds:
    quotient = _quotient(a, b)
    rounding = 1 + _ROUNDED * quotient.size
    return Bounds(quotient.low - rounding, quotient.high + rounding)


_WITHIN = {
    **dict.fromkeys(("sin", "cos", "tanh", "sign"), Bounds(-1.0, 1.0)),
    "atan": Bounds(-math.pi / 2, math.pi / 2),
}
"""Of what is given anything."""

_RISING = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "asin", "atan"]
_RISING += ["sinh", "tanh", "asinh", "acosh", "atanh", "sign", "floor", "ceil", "trunc", "rint"]

_RULES: dict[str, Callable[..., Bounds]] = {
    **{operation: _rising(operation) for operation in _RISING},
    "+": lambda a, b: _sum(a, b),
    "-": lambda a, b: _sum(a, Bounds(-b.high, -b.low)),
    "*": _product,
    "/": _quotient,
    "negative": lambda a: Bounds(-a.high, -a.low),
    "sin": _sine,
    "cos": _cosine,
    "fabs": _size,
    "hypot": lambda a, b: Bounds(0.0, math.hypot(a.size, b.size)),
    "atan2": lambda a, b: Bounds(-math.pi, math.pi),
    "fmin": lambda a, b: Bounds(min(a.low, b.low), min(a.high, b.high)),
    "fmax": lambda a, b: Bounds(max(a.low, b.low), max(a.high, b.high)),
    "minimum": lambda a, b: Bounds(min(a.low, b.low), min(a.high, b.high)),
    "maximum": lambda a, b: Bounds(max(a.low, b.low), max(a.high, b.high)),
    "remainder": _remainder,
    "floor_divide": _floor_divide,
    "select": lambda a, b: Bounds(min(a.low, b.low), max(a.high, b.high)),
}
