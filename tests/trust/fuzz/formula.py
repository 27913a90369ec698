# SPDX-License-Identifier: BSD-3-Clause
"""Formulas: as texts, and as functions built of operators that NumPy computes as well."""

import operator
import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import particles as pt
from particles.formulas.expressions import EVALUATE, FUNCTIONS

from tests.trust.fuzz.choices import Choices

GRID = pt.Grid((2, 3))
X, Y, T = np.array([0.125, -1.5, 3.0, 0.7]), np.array([2.0, 0.3, -0.25, 0.7]), np.float64(0.375)
ROUNDED = (np.power, np.float_power)
"""Functions that NumPy rounds in another way."""
UNARY = (
    operator.neg, np.abs, np.positive, np.square, np.reciprocal, np.logical_not, np.isnan,
    np.isfinite, np.ones_like, np.zeros_like,
    *(f for f in FUNCTIONS.values() if f.nin == 1),
)  # fmt: skip
BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.le,
    operator.gt, operator.ge, operator.eq, operator.ne, np.logical_and, np.logical_or,
    np.logical_xor, operator.and_, operator.or_, operator.xor, np.minimum,
    np.maximum, np.remainder, np.floor_divide, np.heaviside, *ROUNDED,
    *(f for f in FUNCTIONS.values() if f.nin == 2 and f is not np.power),
)  # fmt: skip
CONSTANTS = (
    1, 2, -3, 0.5, 1e300, -1e-300, True, np.float64(0.1), np.int64(7), np.bool_(0), Fraction(1, 3),
    10**400, float("nan"), float("inf"), 1j, "a", None, np.zeros(2), np.array(2.0), 1e17, 65536.0,
)  # fmt: skip
REFUSALS = (TypeError, ValueError, ArithmeticError, AttributeError)


def run(data):
    choose = Choices(data)
    if choose.below(2):
        check_text(choose.rest().decode("utf-8", "replace"))
    else:
        check_program(choose.rest())


def check_text(text):
    try:
        velocity = pt.Velocity(GRID, [text, "0"])
    except REFUSALS as error:
        assert "component 0" in str(error)  # noqa: PT017
        return
    check(velocity)


def check_program(data):
    try:
        velocity = pt.Velocity(GRID, lambda x, y, t: (program(data, x, y, t), x))
    except REFUSALS as error:
        assert "formula" in str(error)  # noqa: PT017
        return
    found = check(velocity)
    with np.errstate(all="ignore"):
        try:
            expected = program(data, X, Y, T, is_exact=True)
        except REFUSALS:  # NumPy refuses what a formula takes
            return
    np.testing.assert_array_equal(found, np.broadcast_to(np.asarray(expected, float), X.shape))


def program(data, x, y, t, is_exact=False):
    """What instructions for a stack of values leave on top of it."""
    choose, stack = Choices(data), [t, y, x]
    while choose.are_left:
        kind = choose.below(8)
        if kind < 2:
            stack.append(choose.pick((x, y, t)))
        elif kind == 2:
            stack.append(choose.pick(CONSTANTS))
            if is_exact and np.asarray(stack[-1]).dtype == object:
                raise TypeError("NumPy computes otherwise with objects")
        elif kind == 3:
            stack.append(stack[-1 - choose.below(len(stack))])
        elif kind == 4:
            stack.append(applied(choose.pick(UNARY), stack, 1))
        elif kind < 7 or len(stack) < 4:
            function = choose.pick(BINARY)
            if is_exact and function in ROUNDED:
                raise ValueError("NumPy does not compute this in the same way")
            stack.append(applied(function, stack, 2))
        else:
            stack.append(applied(choose.pick((np.where, np.clip)), stack, 3))
        del stack[:-16]
    return as_real(stack[-1])


def applied(function, stack, count):
    values = [stack.pop() if len(stack) > 3 else stack[-1] for _ in range(count)]
    return as_real(function(*values))


def as_real(value):
    """What NumPy counts in integers, or in few digits, as the real numbers of a formula."""
    is_number = isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "iuf"
    return value.astype(float) if is_number else value


def check(velocity):
    """Return the values of the first component, which its OpenCL C gives as well."""
    found = velocity(X, Y, t=T)[0]
    assert len(repr(velocity)) < 400
    source = velocity.source(0)
    assert source.count("(") == source.count(")")
    assert len(source) < 2**20
    if "?" not in source:
        np.testing.assert_array_equal(computed(source), found)
    return found


def computed(source):
    """The value of a function in OpenCL C, most of which means the same in Python."""
    names = {**EVALUATE, "REAL": np.float64, "V": np.asarray, "SELECT": np.where}
    names |= {
        **dict.fromkeys(("sine", "near_sine"), np.sin),
        **dict.fromkeys(("cosine", "near_cosine"), np.cos),
        **dict.fromkeys(("tangent", "near_tangent"), np.tan),
        "modulo": np.fmod,
        "power": np.power,
        "x": X,
        "y": Y,
        "t": T,
    }
    names |= {"at": SimpleNamespace(), "terms": {}}
    parts = source.partition("Instant at;\n")[2].partition("INLINE V velocity_formula(")[0]
    with np.errstate(all="ignore"):
        for line in parts.splitlines():
            found = re.fullmatch(
                r"  (?:const \w+ (\w+) =|at\.(\w+) =|terms\[(\d+)\] =|return) (.*);", line
            )
            if found is None:  # the end of a function, or its head
                continue
            name, member, term, text = found.groups()
            value = eval(text.replace("->", "."), {}, names)
            if member:
                setattr(names["at"], member, value)
            elif term:
                names["terms"][int(term)] = value
            else:
                names[name] = value
    return np.broadcast_to(np.asarray(names[None], float), X.shape)
