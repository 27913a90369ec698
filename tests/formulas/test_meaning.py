# SPDX-License-Identifier: BSD-3-Clause
"""Formulas that mean the same, however they are written, and what a file keeps of them."""

import json

import numpy as np
import particles as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import EVALUATE, FUNCTIONS, expression, variable
from particles.formulas.meaning import meaning
from particles.formulas.parser import parse
from particles.formulas.records import record, recorded

VARIABLES = {name: variable(name) for name in "abcxyt"}
A, B, C = (VARIABLES[name] for name in "abc")

SAME = [
    ("cos(t) * sin(x)", "sin(x) * cos(t)"),
    ("a + b + c", "c + (b + a)"),
    ("a - (b - c)", "c + (a - b)"),
    ("2 * (x * y)", "y * (2 * x)"),
    ("x / 2 / y", "0.5 * x / y"),
    ("a / (b * c)", "a / b / c"),
    ("-(a - b)", "b - a"),
    ("-a * -b", "a * b"),
    ("x + x + 3 * x", "5 * x"),
    ("0.1 * x * 3", "3 * (x * 0.1)"),
    ("a < b && b < c ? 1 : 0", "c > b && a < b ? 1 : 0"),
    ("a <= b ? x : y", "b >= a ? x : y"),
    ("!(a < b) ? x : y", "a < b ? y : x"),
    ("fmax(a, b + c)", "fmax(c + b, a)"),
    ("(a < 1 || b < 1) || c < 1 ? 1 : 0", "b < 1 || (c < 1 || a < 1) ? 1 : 0"),
    ("a + (0 - a)", "a - a"),
    ("0 - a", "-a"),
    ("(0 - a) * b", "-(a * b)"),
]
OTHER = [
    ("cos(t) * sin(x)", "cos(x) * sin(t)"),
    ("a - b", "b - a"),
    ("a / b", "b / a"),
    ("atan2(a, b)", "atan2(b, a)"),
    ("a * b + c", "a * (b + c)"),
    ("x * x", "x"),
    ("x + x", "x * x"),
    ("x", "-x"),
    ("2 * x", "2.0000000000000004 * x"),
    ("a < b ? x : y", "a < b ? y : x"),
    ("a < b ? x : y", "a <= b ? x : y"),
    ("a < b && b < c ? 1 : 0", "a < b || b < c ? 1 : 0"),
    ("a", "b"),
    ("1", "2"),
    ("0", "-1"),
    ("x / x", "1"),
    ("sin(x)", "cos(x)"),
]


def of(text):
    return parse(text, VARIABLES)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_order_and_groups_do_not_matter(one, other):
    assert meaning(of(one)) == meaning(of(other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_formulas_mean_something_else(one, other):
    assert meaning(of(one)) != meaning(of(other))


def grown(draw, leaf, depth):
    """Draw an expression and the same, written otherwise."""
    kind = (
        draw(st.sampled_from(["leaf", "+", "-", "*", "/", "negative", "sin", "fmax", "where"]))
        if depth
        else "leaf"
    )
    if kind == "leaf":
        return (draw(leaf),) * 2
    one, other = (grown(draw, leaf, depth - 1) for _ in range(2))
    turn = draw(st.booleans())
    if kind in "+*":
        make = np.add if kind == "+" else np.multiply
        return make(one[0], other[0]), make(other[1], one[1]) if turn else make(one[1], other[1])
    if kind == "-":
        return one[0] - other[0], -other[1] + one[1] if turn else one[1] - other[1]
    if kind == "where":
        mask = other[1] > one[1] if turn else one[1] < other[1]
        return np.where(one[0] < other[0], one[0], 1.5), np.where(mask, one[1], 1.5)
    if kind in ("negative", "sin"):
        make = np.negative if kind == "negative" else np.sin
        return make(one[0]), make(one[1])
    if kind == "fmax":
        return np.fmax(*(p[0] for p in (one, other))), np.fmax(*(p[1] for p in (other, one)))
    return one[0] / (other[0] * other[0] + 1), one[1] / (1 + other[1] * other[1])


@st.composite
def pairs(draw):
    leaves = [A, B, C, *map(expression, (0.5, 2.0, 3.0))]
    return grown(draw, st.sampled_from(leaves), 4)


@given(pairs())
def test_drawn_formulas_mean_what_they_compute(pair):
    values = {name: np.linspace(0.2, 2, 7) * k for k, name in enumerate("abc", 1)}
    one, other = evaluate(pair, values)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert meaning(pair[0]) == meaning(pair[1])
    kept = recorded(json.loads(json.dumps(record({"one": pair[0], "other": pair[1]}))))
    assert (kept["one"], kept["other"]) == pair


def test_every_operation_is_kept():
    numbers = {name: f(*[A, B][: f.nin]) for name, f in EVALUATE.items() if name in FUNCTIONS}
    operations = {
        "remainder": A % B,
        "floor_divide": A // B,
        "minimum": np.minimum(A, B),
        "maximum": np.maximum(A, B),
        "logic": np.where((A < B) ^ (A > 1) & ~(B == 2) | (C != 1), A, True),
        "parameter": pt.Velocity(pt.Grid(4), lambda x, U: U * x, U=2.0).components[0],
    }
    kept = {**numbers, **operations}
    assert recorded(json.loads(json.dumps(record(kept)))) == kept


def test_what_would_be_without_end_if_it_were_written_out():
    x = VARIABLES["x"]
    for k in range(60):
        x = (x + x) * x if k % 2 else (x - k) * (x + x / k if k else x)
    for _ in range(3000):
        x = x + VARIABLES["y"]
    assert meaning(x) == meaning(recorded(record({"x": x}))["x"])


@pytest.mark.parametrize(
    "nodes",
    [
        [["sin", 0]],
        [["variable", "x"], ["sin", 1]],
        [["variable", "x"], ["sin", -1]],
        [["variable", "x"], ["atan2", 0]],
        [["variable", "x"], ["nothing", 0]],
        [["variable"]],
        [[]],
        [["constant", "x"]],
        [["constant", float("inf")]],
        3,
    ],
)
def test_what_is_no_record_raises(nodes):
    with pytest.raises((IndexError, KeyError, TypeError, ValueError)):
        recorded({"nodes": nodes, "roots": {"x": len(nodes) - 1}})
