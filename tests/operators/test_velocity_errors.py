# SPDX-License-Identifier: BSD-3-Clause
"""Formulas that cannot be velocities, and the words with which they are refused."""

import math

import numpy as np
import particles as pt
import pytest

from tests.support.transports import transport_of


def grid(ndim):
    return pt.Grid((8, 9, 10)[:ndim])


def decides(x, y):
    return (x, y) if x > 0 else (y, x)


def chains(x, y):
    return np.where(0 < x < 1, x, y), y


def masked(x, y):
    x[x > 0] = 0
    return x, y


def assigns(x, y):
    x += y
    return x, y


REFUSED_FUNCTIONS = [
    (decides, TypeError, r"cannot use 'if'.*np\.where"),
    (chains, TypeError, "chained comparison"),
    (assigns, TypeError, r"cannot assign in place: write a = a \+ b"),
    (lambda x, y: (math.sin(x), y), TypeError, r"needs NumPy's functions \(np\.sin\)"),
    (lambda x, y: (np.spacing(x), y), TypeError, r"cannot use np\.spacing; it can use: absolute, "),
    (lambda x, y: (np.clip(x, 0, 1, out=x), y), TypeError, r"cannot use np\.clip with out="),
    (lambda x, y: (np.interp(x, [0, 1], [0, 1]), y), TypeError, r"cannot use np\.interp"),
    (lambda x, y: (np.add.reduce(x), y), TypeError, r"cannot use np\.add\.reduce"),
    (lambda x, y: (np.sin(x, dtype=np.float32), y), TypeError, r"np\.sin\.__call__, dtype="),
    (lambda x, y: (x @ y, y), TypeError, r"cannot use np\.matmul"),
    (lambda x, y: (x[0], y), TypeError, r"cannot be indexed \(by 0\): use np\.where"),
    (masked, TypeError, r"cannot be indexed \(by a formula\): use np\.where"),
    (lambda x, y: (min(x, 0), y), TypeError, r"cannot use .*min, max .*np\.minimum and np\.max"),
    (lambda x, y: (max(0, x), y), TypeError, r"cannot use .*min, max or .*np\.maximum"),
    (lambda x, y: (x and y, y), TypeError, "cannot use .*'and'.*combine conditions by &"),
    (lambda x, y: (x in (0, 1), y), TypeError, "cannot use .*'or', 'in'"),
    (lambda x, y: (0 in x, y), TypeError, "cannot use .*'in'"),
    (lambda x, y: (int(x), y), TypeError, r"needs NumPy's functions .*, nor int or float"),
    (lambda x, y: (math.floor(x), y), TypeError, "formula needs NumPy's functions"),
    (lambda x, y: (math.trunc(x), y), TypeError, "NumPy's functions .*those of math"),
    (lambda x, y: (range(x)[0], y), TypeError, "needs NumPy's functions"),
    (lambda x, y: (len(x), y), TypeError, "a formula has no length"),
    (lambda x, y: (x - x.mean(), y), AttributeError, r"use \.mean: it is computed at each point"),
    (lambda x, y: (np.max(x), y), TypeError, r"use np\.max: it is computed at each point"),
    (lambda x, y: (x.T, y), AttributeError, r"cannot use \.T; it can use: absolute, "),
    (lambda x, y: (x.sine, y), AttributeError, "formula: a formula has no attribute 'sine'"),
    (lambda x, y: ((x > 0).astype(int), y), TypeError, r"can use \.astype\(float\) alone"),
    (lambda x, y: (np.round(x, 2), y), TypeError, r"write np\.rint\(x \* 100\) / 100"),
    (lambda x, y: (divmod(x, y)[0], y), TypeError, r"np\.divmod: write // and %; it can use: "),
    (lambda x, y: (np.select([x > 0], [y]), y), TypeError, r"np\.select: write np\.where; "),
    (lambda x, y: np.stack([x, y]), TypeError, r"np\.stack: return a tuple of components; "),
    (lambda x, y: (list(x), y), TypeError, "cannot be iterated over"),
    (lambda x, y: (x + np.arange(3), y), TypeError, r"real numbers, not an array of shape \(3,\)"),
    (lambda x, y: (x * 1j, y), TypeError, "real numbers, not 1j"),
    (lambda x, y: (x * float("nan"), y), ValueError, "cannot contain the number nan"),
    (lambda x, y: (x * float("inf"), y), ValueError, "cannot contain the number inf"),
    (lambda x, y: (x, "y"), TypeError, r"component 1 of the velocity \(y\): .*not 'y'"),
    (lambda x, y: (x, None), TypeError, r"component 1 of the velocity \(y\): .*not None"),
    (lambda x, y: (np.nan, y), ValueError, r"component 0 of the velocity \(x\): .*number nan"),
    (lambda x, y: (0 / (x - x) + (x - x) ** -1 + 1 / np.add(0, x), y, x), ValueError, "not 3"),
    (lambda x, y: x, TypeError, "must return a tuple of 2 components, not "),
    (lambda x, y, z, t: (x, y), ValueError, r"only x, y, t .*, not \(x, y, z, t\): "),
    (
        lambda x, y, U: (U, 0),
        ValueError,
        r"call the time t or time, and give a number beside the formula, as U=1\.0$",
    ),
    (
        lambda *places: places,
        TypeError,
        r"must be a function whose arguments have names, not <function",
    ),
    (np.hypot, TypeError, r"must be a function whose arguments have names, not <ufunc 'hypot'>"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED_FUNCTIONS)
def test_refused_functions(function, error, words):
    with pytest.raises(error, match=words):
        pt.Velocity(grid(2), function)


def test_a_constant_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match=r"/ of 1\.0, 0\.0 is inf"):
        pt.Velocity(grid(1), "x + 1/0")
    with pytest.raises(ValueError, match=r"log of -1\.0 is nan"):
        pt.Velocity(grid(1), "x * log(-1)")


REFUSED_STRINGS = [
    (
        "sin(foo)",
        r"component 1 of the velocity \(y\): unknown name 'foo' \(known: x, y, t, time, M_PI",
    ),
    ("z + 1", "unknown name 'z'"),
    ("system(x)", r"unknown function 'system' \(known: acos, "),
    ("x ** 2", r"unexpected '\*' in 'x \*\* 2'"),
    ("x # y", "unexpected '# y'"),
    ("x; y", "unexpected '; y'"),
    ("sin(x", r"expected '\)' but found the end"),
    ("(x, y)", r"expected '\)' but found ','"),
    ("x y", "unexpected 'y'"),
    ("2x", "unexpected '2x'"),
    ("1.2.3", "unexpected '1.2.3'"),
    ("", "unexpected end"),
    ("x +", "unexpected end"),
    ("atan2(x)", "atan2 takes 2 arguments, not 1, in"),
    ("x ? 1 : 2", r"'\?' needs a comparison and found a number"),
    ("x < y ? 1", "expected ':' but found the end"),
    ("!x", "'!' needs a comparison and found a number"),
    ("0 < x < 1", "'<' needs a number and found a comparison"),
    ("x && y", "'&&' needs a comparison and found a number"),
    ("x | y", r"'\|' needs a comparison and found a number"),
    ("x--y", "unexpected '--y'"),
    ("x++y", r"unexpected '\+\+y'"),
    ("x + 010", "unexpected '010'"),
    ("x < y == y < x", "'==' needs a number and found a comparison"),
    ("(x < y) + 1", r"'\+' needs a number and found a comparison"),
    ("x\u00b2", "unexpected '\u00b2'"),
]


@pytest.mark.parametrize(("formula", "words"), REFUSED_STRINGS)
def test_refused_strings(formula, words):
    with pytest.raises(ValueError, match=words):
        pt.Velocity(grid(2), ["x", formula])


def test_other_refused_formulas():
    with pytest.raises(ValueError, match="must have 3 components on a grid of 3 dimensions, not 2"):
        pt.Velocity(grid(3), ["x", "y"])
    with pytest.raises(ValueError, match=r"must have 2 components.* not 1"):
        pt.Velocity(grid(2), "x")
    with pytest.raises(TypeError, match=r"component 1 .*made of real numbers, not 3j"):
        pt.Velocity(grid(2), ["x", 3j])
    with pytest.raises(TypeError, match="must be a function of the coordinates or a sequence"):
        pt.Velocity(grid(2), 5)
    with pytest.raises(TypeError, match=r"^grid must be a Grid, not \(8, 9\): use pt.Grid"):
        pt.Velocity((8, 9), ["x", "y"])
    with pytest.raises(TypeError, match=r"^name must be a string or None, not 3$"):
        pt.Velocity(grid(2), ["x", "y"], name=3)
    with pytest.raises(IndexError, match=r"^axis must be from -2 to 1, not 2$"):
        pt.Velocity(grid(2), ["x", "y"]).source(2)
    with pytest.raises(TypeError, match=r"^axis must be an integer, not 'x'$"):
        pt.Velocity(grid(2), ["x", "y"]).source("x")


@pytest.mark.parametrize(("end", "index"), [("low", 0), ("high", 15)])
def test_a_velocity_through_a_wall_is_named_beside_it(device, end, index):
    """Its mirror image beyond the wall strains, though it is the same at all points."""
    ends = ("wall", "outflow") if end == "low" else ("outflow", "wall")
    grid = pt.Grid((16, 4), boundary=[ends, "periodic"])
    velocity = pt.Velocity(grid, ["1", "0"])
    transport = transport_of(pt.Field(grid, device=device), velocity, order=1)
    words = rf"quotient 32 at index \({index}, 0\), place .*, beside a wall, where it must vanish$"
    with pytest.raises(ValueError, match=words):
        transport.step(0.1)
