# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of velocities and sources, and what is wrong in them."""

from fractions import Fraction

import numpy as np

from tests.trust.bad_kinds import NAN, Wrong, kind


def raises(x, y):
    return nowhere  # noqa: F821


def decides(x, y):
    return (x, y) if x > 0 else (y, x)


def assigns(x, y):
    x += y
    return x, y


FORMULA = kind(
    "a formula",
    TypeError,
    "must be a function of",
    "a text",
    "a list",
    "an array",
    "bytes",
    "a class",
)
FORMULA = FORMULA.also(
    Wrong("one component", lambda x, y: x, TypeError, "must return a tuple of 2 components, not"),
    Wrong("nothing returned", lambda x, y: None, TypeError, "must return a tuple of 2 components"),
    Wrong("too many results", lambda x, y: (x, y, x), ValueError, "must have 2 components"),
    Wrong("too many arguments", lambda x, y, z, t: (x, y), ValueError, "must take only x, y, t"),
    Wrong("another name of a coordinate", lambda r, z: (r, z), ValueError, "must take only"),
    Wrong(
        "a number that is not given",
        lambda x, y, U: (U, y),
        ValueError,
        "must take only x, y, t on a grid of 2 dimensions, not (x, y, U): call the time "
        "t or time, and give a number beside the formula, as U=1.0",
    ),
    Wrong(
        "no names",
        lambda *places: places,
        TypeError,
        "must be a function whose arguments have names, not",
    ),
    Wrong("raises", raises, NameError, "{name}: name 'nowhere' is not defined"),
    Wrong("decides", decides, TypeError, "{name}: a formula is evaluated at all points at once"),
    Wrong("assigns", assigns, TypeError, "{name}: a formula cannot assign in place"),
    Wrong(
        "np.interp",
        lambda x, y: (np.interp(x, [0, 1], [1, 2]), y),
        TypeError,
        "{name}: a formula cannot use np.interp; it can use: ",
    ),
    Wrong(
        "a difference of conditions",
        lambda x, y: ((x > 0) - (y > 0), y),
        TypeError,
        "{name}: a formula cannot use np.subtract of conditions",
    ),
    Wrong(
        "numbers joined by &",
        lambda x, y: (x & y, y),
        TypeError,
        "{name}: a formula cannot use np.bitwise_and of numbers",
    ),
    Wrong("a number of octal digits", ["x", "010"], ValueError, "{name}, component 1 of the"),
    Wrong("complex", lambda x, y: (x * 1j, y), TypeError, "{name}: a formula is made of real"),
    Wrong("NaN", lambda x, y: (x * NAN, y), ValueError, "{name}: a formula cannot contain"),
    Wrong("divides by zero", lambda x, y: (x, 1 / 0), ZeroDivisionError, "{name}: division by"),
    Wrong("returns a text", lambda x, y: (x, "y"), TypeError, "{name}, component 1 of the"),
    Wrong("returns NaN", lambda x, y: (NAN, y), ValueError, "{name}, component 0 of the"),
    Wrong("an array inside", lambda x, y: (x + np.arange(3), y), TypeError, "{name}: a formula is"),
    Wrong("one text", "x", ValueError, "must have 2 components"),
    Wrong("empty text", ["", "x"], ValueError, "{name}, component 0 of the"),
    Wrong("unknown name", ["x", "foo"], ValueError, "{name}, component 1 of the"),
    Wrong("unknown function", ["x", "system(x)"], ValueError, "{name}, component 1 of the"),
    Wrong("not closed", ["x", "sin(x"], ValueError, "{name}, component 1 of the"),
    Wrong("nothing in the list", ["x", None], TypeError, "{name}, component 1 of the"),
    Wrong("NaN in the list", (NAN, 1.0), ValueError, "{name}, component 0 of the"),
    Wrong("one number of two", (1.0,), ValueError, "must have 2 components"),
    Wrong(
        "values on the grid",
        np.zeros((2, 4, 6)),
        TypeError,
        "must be a function of the coordinates or a sequence of expressions and numbers, not an "
        "array of float64 of the shape (2, 4, 6): values on the points of a grid make a Field: "
        "pt.Field.from_arrays(grid, *{name})",
    ),
    Wrong(
        "arrays",
        (np.zeros((4, 6)), np.zeros((4, 6))),
        TypeError,
        "must be a function of the coordinates or a sequence of expressions and numbers, not 2 "
        "entries, the first an array of float64 of the shape (4, 6): values on the points of a grid",
    ),
    Wrong("an infinite constant", ["x", "1e999"], ValueError, "{name}, component 1 of the"),
    Wrong("a constant too small", ["x", "1e-400 * x"], ValueError, "{name}, component 1 of the"),
    Wrong(
        "a fraction too small",
        lambda x, y: (x * Fraction(1, 10**400), y),
        ValueError,
        "{name}: a formula cannot contain Fraction",
    ),
    Wrong("endless brackets", ["x", "(" * 10**5], ValueError, "{name}, component 1 of the"),
)
RATE = kind(
    "a rate",
    TypeError,
    "must be a function of",
    "a text",
    "a list",
    "an array",
    "bytes",
    "a class",
).also(
    Wrong("values on the grid", np.array([1.0, 2.0]), TypeError, "must be a function of"),
    Wrong("two results of one", lambda u, x: (u, x), ValueError, "must have 1 components"),
    Wrong(
        "too few arguments",
        lambda x, t: x,
        ValueError,
        "must take first u (by any name), then any of x, t",
    ),
    Wrong(
        "values behind",
        lambda x, u: u,
        ValueError,
        "must take first u (by any name), then any of x, t",
    ),
    Wrong("a number that is not given", lambda u, x, k: u, ValueError, "must take first u (by any"),
    Wrong("raises", lambda u, x: raises(u, x), NameError, "{name}: name 'nowhere' is not defined"),
    Wrong(
        "decides",
        lambda u, x: decides(u, x),
        TypeError,
        "{name}: a formula is evaluated at all points at once",
    ),
    Wrong("returns a text", lambda u, x: "u", TypeError, "{name}, component 0 of the source (u)"),
    Wrong("complex", lambda u, x: 1j, TypeError, "{name}, component 0 of the source (u)"),
    Wrong("unknown name", "u + y", ValueError, "{name}, component 0 of the source (u)"),
    Wrong("beyond float32", "u * 1e300", ValueError, "must contain numbers that float32 can hold"),
    Wrong("two texts of one", ["u", "x"], ValueError, "must have 1 components"),
    Wrong("a statement", "u; x", ValueError, "{name}, component 0 of the source (u)"),
)
