# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of expressions hold every value, and are as narrow as what is known allows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from particles.formulas.bounds import _RULES, UNKNOWN, bounds
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import (
    ARITHMETIC,
    FUNCTIONS,
    apply,
    expression,
    select,
    variable,
)

X, Y, T = (variable(name) for name in "xyt")
TAKEN = {name: ufunc.nin for name, ufunc in {**FUNCTIONS, **ARITHMETIC}.items() if name in _RULES}
ends = st.tuples(st.floats(-20, 20), st.floats(0, 30)).map(lambda ends: (ends[0], sum(ends)))


@st.composite
def expressions(draw, depth=3):
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([X, Y, T, *map(expression, (-2.5, 0.5, 3.0))]))
    parts = [draw(expressions(depth - 1)) for _ in range(3)]
    name = draw(st.sampled_from(["select", "negative", *TAKEN]))
    if name == "select":
        return select(parts[0] < parts[1], parts[1], parts[2])
    try:
        return apply(name, *parts[: TAKEN.get(name, 1)])
    except ValueError:  # of numbers alone, and not finite
        return parts[0]


@given(expressions(), st.tuples(ends, ends, ends))
def test_every_value_is_held(formula, ranges):
    held = bounds(formula, dict(zip("xyt", ranges, strict=True)))
    if held == UNKNOWN:
        return
    places = [np.linspace(*span, 12) for span in ranges]
    x, y, t = np.meshgrid(*places, indexing="ij")
    (values,) = evaluate([formula], {"x": x, "y": y, "t": t})
    rounding = 1e-9 * (1 + held.size)
    assert held.low - rounding <= values.min() <= values.max() <= held.high + rounding


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (np.cos(X), (math.cos(2), 1.0)),
        (np.cos(X + math.pi), (-1.0, -math.cos(2))),
        (np.sin(X), (math.sin(-1), 1.0)),
        (np.sin(Y), (-1.0, 1.0)),
        (X * X, (0.0, 4.0)),
        (2 * Y - X, (-2.0, 21.0)),
        (np.exp(-Y) / (1 + X * X), (math.exp(-10) / 5, 1.0)),
        (np.abs(X) - 1, (-1.0, 1.0)),
        (np.minimum(Y, 0.5), (0.0, 0.5)),
        (np.maximum(Y, 0.5), (0.5, 10.0)),
        (np.maximum(X, 3.0), (3.0, 3.0)),
        (np.where(Y > 5, 3.0, X), (-1.0, 3.0)),
    ],
)
def test_bounds_are_narrow(formula, expected):
    found = bounds(formula, {"x": (-1.0, 2.0), "y": (0.0, 10.0)})
    assert found == pytest.approx(expected, rel=1e-5)  # sums are as wide as float32 rounds


def test_large_numbers_leave_what_float32_makes_of_them():
    leaves = bounds((X + 1e6) - 1e6, {"x": (-1.0, 2.0)})
    x = np.linspace(-1, 2, 1000, dtype=np.float32)
    rounded = (x + np.float32(1e6)) - np.float32(1e6)
    assert leaves.low <= rounded.min() <= rounded.max() <= leaves.high


@pytest.mark.parametrize(
    "formula",
    [
        *(1 / X, 1 / Y, 1 / -Y, np.sin(1 / X)),
        *(np.log(X), np.sqrt(X), np.exp(1000 + Y), X**X, np.tan(X)),
    ],
)
def test_what_may_not_be_finite_is_unknown(formula):
    assert bounds(formula, {"x": (-1.0, 2.0), "y": (0.0, 10.0)}) == UNKNOWN


@pytest.mark.parametrize("zero", [0.0, math.pi, 300 * math.pi])
def test_a_zero_of_a_sine_may_be_rounded_to_either_side(zero):
    assert bounds(np.log(np.sin(X)), {"x": (zero, zero)}) == UNKNOWN


def test_bounds_that_are_infinite_on_both_sides_are_unknown():
    assert bounds(np.arctanh(X), {"x": (-1.0, 1.0)}) == UNKNOWN
