# SPDX-License-Identifier: BSD-3-Clause
"""Arrays: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import Call, Together
from tests.trust.bad_fields import BOUND, NOTHING, ORDER_OF_NORM, ddof
from tests.trust.bad_kinds import (
    DEVICE,
    FLAG,
    HUGE,
    NAME,
    RENAMED,
    STRANGERS,
    VALUES,
    Kind,
    Of,
    Wrong,
    a,
    dtype,
    index,
    integer,
    kind,
)
from tests.trust.bad_world import queue_array

_DTYPES = "float16, float32, float64, bool, uint8, int32, uint32, int64 or uint64"
SHAPE = (
    integer(0)
    .but("a list", "an array")
    .also(
        Wrong("no axis", (), ValueError, "must have one or two axes, not 0"),
        Wrong("three axes", (2, 2, 2), ValueError, "must have one or two axes, not 3"),
        Wrong("one component", (4, 1), ValueError, "=components in shape must be at least 2"),
        Wrong("five components", (4, 5), ValueError, "=components in shape must be at most 4"),
        Wrong("a fraction", (1.5,), TypeError, "must be an integer, not 1.5"),
        Wrong("too many rows", 2**41, ValueError, "must be at most 1099511627776"),
        Wrong("beyond 64 bits", HUGE, ValueError, "must be at most 1099511627776"),
    )
)
KEY = kind("an index", IndexError, "=indices must be integers", "None", "a truth value", "a list")
KEY = KEY.but("an array").also(
    Wrong("one too large", 4, IndexError, "=index 4 is out of bounds for axis 0 with size 4"),
    Wrong("too many", (0, 0), IndexError, "=too many indices: there are 1 axes, but 2 were given"),
    Wrong("an array too large", [4], IndexError, "=index must fit an array of the shape (4,)"),
)
AXIS = (
    index(2)
    .but("None")
    .also(Wrong("that of components", 1, TypeError, "must be None or 0, not 1: use np."))
)


def reduction(name):
    options = {"ddof": ddof(8)} if name in ("std", "var") else {}
    if name not in ("min", "max"):
        options["dtype"] = NOTHING
    return Call(
        f"Array.{name}",
        lambda w: getattr(w.pairs, name),
        {},
        {"axis": AXIS, "out": NOTHING, "keepdims": FLAG, **options},
    )


_INTEGERS = "must be integers from -2147483648 to 2147483647 to become int32, not "
INTEGERS = Kind(
    "integers",
    (
        *(
            Wrong(what, value, TypeError, "must be ")
            for what, value in STRANGERS.items()
            if what not in ("a truth value", "a list", "an array")
        ),
        Wrong("fractions", [0.5], TypeError, _INTEGERS + "float64"),
        Wrong("too large", 2**31, ValueError, _INTEGERS + "2147483648"),
        Wrong("too small", [0, -(2**40)], ValueError, _INTEGERS + "-1099511627776"),
        Wrong("beyond 64 bits", HUGE, ValueError, _INTEGERS),
    ),
)
OUT = kind("an array to fill", TypeError, "must be a NumPy array, not", "None", "an array").also(
    Wrong("of another shape", np.zeros(5, np.float32), ValueError, "must have the shape (4,)"),
    Wrong("of float64", np.zeros(4), TypeError, "must be of float32, not float64"),
)
ORDER = Kind(
    "numbers of rows",
    (
        *(
            Wrong(what, value, TypeError, "must be ")
            for what, value in STRANGERS.items()
            if what not in ("a truth value", "a list", "an array")
        ),
        Wrong("of fractions", [0.5], TypeError, "must be integers from"),
        Wrong("one alone", 1, ValueError, "must have one axis, not the shape ()"),
        Wrong("of two axes", [[0, 1]], ValueError, "must have one axis, not the shape (1, 2)"),
        Wrong("one too large", [0, 4], IndexError, "must be indices from 0 to 3, not 4"),
        Wrong("negative", [-1, 0], IndexError, "must be indices from 0 to 3, not -1"),
        Wrong(
            "an array of too large ones",
            Of(lambda w: w.large_keys),
            IndexError,
            "must be indices from 0 to 3, not 900",
        ),
        Wrong("of real numbers", Of(lambda w: w.masses), TypeError, "must be of one component of"),
        Wrong("of pairs", Of(lambda w: w.pairs), TypeError, "must be of one component of int32"),
    ),
)
ARRAY = Kind(
    "an array of PyOpenCL",
    tuple(
        Wrong(what, value, TypeError, f"must be a pyopencl.array.Array, not {type(value).__name__}")
        for what, value in STRANGERS.items()
    ),
).also(
    Wrong(
        "of int16",
        Of(lambda w: queue_array(w, 4, dtype=np.int16)),
        TypeError,
        f"must be of {_DTYPES}, not int16",
    ),
    *(
        Wrong(
            f"of the shape {shape}",
            Of(lambda w, shape=shape: queue_array(w, shape)),
            ValueError,
            "must have one axis, or a second one of 2 to 4 components",
        )
        for shape in ((4, 1), (4, 5), (4, 2, 2))
    ),
)
_ARRAYS = "=arrays must have the same "
ASSIGNED = (
    Wrong("of another shape", np.ones(5), ValueError, "=values of the shape (5,) cannot"),
    Wrong("another length", Of(lambda w: pt.Array(3)), ValueError, _ARRAYS + "shape"),
    Wrong("of integers", Of(lambda w: w.keys), ValueError, _ARRAYS + "dtype"),
)

ARRAY_CALLS = [
    Call(
        "Array",
        lambda w: pt.Array,
        {"shape": 4},
        {
            "shape": SHAPE,
            "dtype": dtype(_DTYPES).but("an integer's", "a class"),
            "device": DEVICE,
            "name": NAME,
        },
    ),
    Call(
        "Array.name",
        lambda w: lambda value: setattr(w.masses, "name", value),
        {"value": "m"},
        {"value": RENAMED},
    ),
    Call("Array.__getitem__", lambda w: lambda key: w.masses[key], {"key": 0}, {"key": KEY}),
    Call(
        "Array.__setitem__",
        lambda w: w.masses.__setitem__,
        {"key": ..., "value": 1.0},
        {
            "key": KEY,
            "value": Kind(
                "values",
                tuple(one._replace(words="=values " + one.words) for one in VALUES.wrong),
            ).also(*ASSIGNED),
        },
        (
            Together(
                "an array in a part",
                {"key": slice(0, 2), "value": Of(lambda w: w.masses)},
                TypeError,
                "an Array can be assigned to a whole array or component, not to a part",
            ),
        ),
    ),
    Call("Array.component", lambda w: w.pairs.component, {"index": 0}, {"index": index(2)}),
    Call(
        "Array.fill",
        lambda w: w.keys.fill,
        {"value": 3},
        {
            "value": INTEGERS.also(
                Wrong("several", [1, 2], ValueError, "must be one number, not an array of (2,)")
            )
        },
    ),
    Call(
        "Array.from_pyopencl",
        lambda w: pt.Array.from_pyopencl,
        {"array": Of(lambda w: queue_array(w, 4))},
        {"array": ARRAY, "name": NAME},
    ),
    Call("Array.get", lambda w: w.masses.get, {}, {"out": OUT}),
    Call(
        "Array.set",
        lambda w: w.keys.set,
        {"values": [1, 2, 3, 4]},
        {
            "values": Kind(
                "integers",
                tuple(one for one in INTEGERS.wrong if one.what not in ("a dict", "a class")),
            ).also(Wrong("of another shape", [1, 2], ValueError, "must have the shape (4,)"))
        },
    ),
    Call("Array.take", lambda w: w.masses.take, {"order": [0, 1]}, {"order": ORDER}),
    Call(
        "Array.sorted_by",
        lambda w: w.masses.sorted_by,
        {"keys": Of(lambda w: w.keys)},
        {
            "keys": a("an Array").also(
                Wrong("a list of keys", [3, 1, 2, 0], TypeError, "must be an Array, not"),
                Wrong("too few", Of(lambda w: pt.Array(3, "int32")), ValueError, "must be one for"),
                Wrong("of real numbers", Of(lambda w: w.masses), TypeError, "must be of one comp"),
                Wrong("of pairs", Of(lambda w: w.pairs), TypeError, "must be of one component of"),
            )
        },
    ),
    *map(reduction, ("sum", "mean", "var", "std", "min", "max")),
    *(
        call
        for whose, find in (
            ("", lambda w: w.masses),
            (" of positions", lambda w: w.swarm.positions),
        )
        for call in (
            Call(
                f"Array.norm{whose}",
                lambda w, find=find: find(w).norm,
                {},
                {"ord": ORDER_OF_NORM},
            ),
            Call(
                f"Array.count{whose}",
                lambda w, find=find: find(w).count,
                {"lower": 0.5, "upper": 2.0},
                {"lower": BOUND, "upper": BOUND},
                (
                    Together(
                        "neither",
                        {"lower": None, "upper": None},
                        TypeError,
                        "count needs lower,",
                    ),
                ),
            ),
        )
    ),
]
