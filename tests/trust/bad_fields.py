# SPDX-License-Identifier: BSD-3-Clause
"""Grids and fields: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import GRID, Call, Together
from tests.trust.bad_formulas import FORMULA
from tests.trust.bad_kinds import (
    BOUND,
    COMM,
    CUTS,
    DEVICE,
    DEVICES,
    FLAG,
    HUGE,
    INF,
    NAME,
    NAN,
    REAL,
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
from tests.trust.bad_world import array_in_a_buffer, placed_array, queue_array

SHAPE = (
    integer(1)
    .but("a list", "an array")
    .also(
        Wrong("a number with a fraction in it", [4, 1.5], TypeError, "must be an integer, not 1.5"),
        Wrong("zero points", (4, 0), ValueError, "must be at least 1, not 0"),
        Wrong("no axis", (), ValueError, "must have one to three axes, not 0"),
        Wrong("four axes", (2, 2, 2, 2), ValueError, "must have one to three axes, not 4"),
        Wrong("nested", [[4, 6]], TypeError, "must be an integer, not [4, 6]"),
        Wrong("ragged", [[4], [4, 6]], TypeError, "must be an integer, not [4]"),
        Wrong("too many points", (2**20, 2**20, 2), ValueError, "must have at most 1099511627776"),
        Wrong("beyond 64 bits", HUGE, ValueError, "must have at most 1099511627776 points"),
    )
)
_ONE_EACH = "must have one number for each of 2 axes, not "
PER_AXIS = REAL.but("None", "a list", "an array", "an array of one number").also(
    Wrong("one number of two", [1.0], ValueError, _ONE_EACH + "(1.0,)"),
    Wrong("no number", [], ValueError, _ONE_EACH + "()"),
    Wrong("a number too many", (1, 2, 3), ValueError, _ONE_EACH),
    Wrong("NaN along an axis", (1, NAN), ValueError, "must be finite, not nan"),
    Wrong("nested", [[1, 2], [3, 4]], TypeError, "must be a number, not [1, 2]"),
)
LENGTHS = PER_AXIS.also(
    Wrong("zero", 0, ValueError, "must be positive along every axis, not (0.0, 0.0)"),
    Wrong("negative along an axis", (1, -1), ValueError, "must be positive along every axis"),
)
_ENDS = "must be periodic, wall, outflow, inflow or a pair (low, high) of them along each axis"
BOUNDARY = kind("a boundary", ValueError, _ENDS, "a list").also(
    Wrong("one entry of two", ["wall"], ValueError, "must have one entry for each of 2 axes"),
    Wrong("unknown", "open", ValueError, _ENDS),
    Wrong("three ends", [("wall", "wall", "wall"), "wall"], ValueError, _ENDS),
    Wrong("half periodic", [("wall", "periodic"), "wall"], ValueError, "must be periodic at both"),
    Wrong("numbers", [1, 2], ValueError, _ENDS),
)
OUT = kind("an array to fill", TypeError, "must be a NumPy array, not", "None", "an array").also(
    Wrong(
        "of another shape", np.zeros((6, 4), np.float32), ValueError, "must have the shape (4, 6)"
    ),
    Wrong("of float64", np.zeros((4, 6)), TypeError, "must be of float32, not float64"),
    Wrong("byte-swapped", np.zeros((4, 6), ">f4"), TypeError, "must be of float32, not >f4"),
    Wrong(
        "read-only",
        np.broadcast_to(np.float32(0), (4, 6)),
        ValueError,
        "must be writeable, not read-only",
    ),
    Wrong(
        "overlapping itself",
        np.lib.stride_tricks.as_strided(np.zeros(9, np.float32), (4, 6), (4, 4)),
        ValueError,
        "must not overlap itself",
    ),
)
_SPREAD = "{name} of the shape (5,) cannot be broadcast to (4, 6)"
KEY = kind("an index", IndexError, "=indices must be integers", "None", "a truth value", "a list")
KEY = KEY.but("an array").also(
    Wrong("one too large", 4, IndexError, "=index 4 is out of bounds for axis 0 with size 4"),
    Wrong(
        "one too small", (0, -7), IndexError, "=index -7 is out of bounds for axis 1 with size 6"
    ),
    Wrong("beyond 64 bits", HUGE, IndexError, "=index 1"),
    Wrong("a fraction", 0.5, IndexError, "=indices must be integers"),
    Wrong("too many", (0, 0, 0), IndexError, "=too many indices: there are 2 axes, but 3"),
    Wrong("two ellipses", (..., ...), IndexError, "=an index can have only one ellipsis"),
    Wrong("a slice of texts", slice("a"), TypeError, "=index along axis 0 is not a valid slice"),
    Wrong("a step of zero", slice(0, 1, 0), ValueError, "=index along axis 0 is not a valid slice"),
    Wrong(
        "an array of fractions", [0.5], IndexError, "=index must fit a field of the shape (4, 6)"
    ),
    Wrong("an array too large", [4], IndexError, "=index must fit a field of the shape (4, 6)"),
    Wrong(
        "a mask of another shape", np.ones(5, bool), IndexError, "=index must fit a field of the"
    ),
    Wrong(
        "a ragged list", [[0], [0, 1]], ValueError, "=index must fit a field of the shape (4, 6)"
    ),
)
ARRAY = Kind(
    "an array of PyOpenCL",
    tuple(
        Wrong(what, value, TypeError, f"must be a pyopencl.array.Array, not {type(value).__name__}")
        for what, value in STRANGERS.items()
    ),
).also(
    *(
        Wrong(what, Of(lambda w, shape=shape: queue_array(w, shape)), ValueError, words)
        for what, shape, words in (
            ("of another shape", (6, 4), "must have the grid's shape (4, 6)"),
            ("of two axes more", (1, 2, 4, 6), "must have the grid's shape"),
        )
    ),
    Wrong(
        "of integers",
        Of(lambda w: queue_array(w, (4, 6), dtype=np.int32)),
        TypeError,
        "must be of float16, float32 or float64, not int32",
    ),
    Wrong(
        "overlapping itself",
        Of(lambda w: queue_array(w, (4, 6))._new_with_changes(None, 0, (4, 6), strides=(4, 4))),
        ValueError,
        "must not overlap itself, as it does with (4, 4)",
    ),
    *(
        Wrong(
            what,
            Of(lambda w, how=how: placed_array(w, (4, 6), *how)),
            ValueError,
            words,
        )
        for what, how, words in (
            (
                "beyond its buffer",
                (4, (24, 4)),
                "must lie within its buffer of 96 bytes, not reach",
            ),
            ("beyond 64 bits", (0, (2**66, 2**63)), "must lie within its buffer of 96 bytes, not"),
            (
                "from before its buffer",
                (-4, (24, 4)),
                "must have strides and an offset that are pos",
            ),
            (
                "between items",
                (2, (24, 4)),
                "must have strides and an offset that are positive mult",
            ),
            (
                "backwards",
                (92, (-24, -4)),
                "must have strides and an offset that are positive mult",
            ),
        )
    ),
    *(
        Wrong(
            f"in a buffer of {flag}",
            Of(lambda w, flag=flag: array_in_a_buffer(w, (4, 6), flag)),
            ValueError,
            "must lie in a buffer that kernels and the host may read and write, not in one made "
            f"with mem_flags.{flag}",
        )
        for flag in ("READ_ONLY", "WRITE_ONLY", "HOST_READ_ONLY", "HOST_NO_ACCESS")
    ),
)
VALUES_SET = Kind(
    "values", tuple(one._replace(words="=values " + one.words) for one in VALUES.wrong)
)
NOTHING = Kind(
    "nothing, for np.sum and the like",
    (
        Wrong("a number", 0, TypeError, "cannot be chosen: use "),
        Wrong("an array", np.zeros(4), TypeError, "cannot be chosen: use "),
    ),
)
ORDER_OF_NORM = kind("1, 2 or inf", TypeError, "must be 1, 2 or inf, not {}").also(
    *(
        Wrong(repr(n), n, ValueError, "must be 1, 2 or inf, not {}")
        for n in (0, 3, -1, NAN, -INF, HUGE)
    )
)
UNKNOWN = Kind(
    "a keyword that NumPy does not know",
    (Wrong("any", 0, TypeError, "=() got an unexpected keyword argument 'others'"),),
)
AXIS = (
    index(2)
    .but("None")
    .also(
        Wrong("twice the same", (0, -2), ValueError, "must name each axis once, not (0, -2)"),
    )
)
ASSIGNED = Kind(
    "a formula",
    tuple(wrong for wrong in FORMULA.wrong if wrong.what in ("raises", "decides", "np.interp")),
).also(
    Wrong("two results of one", lambda x, y: (x, y), ValueError, "must have 1 components"),
    Wrong("of the time", lambda x, y, t: x, ValueError, "must take only x, y on a grid"),
    Wrong("beyond float32", lambda x, y: 1e300 * x, ValueError, "must contain numbers that"),
)
_FIELDS = "=fields must "
OPERAND = Kind("a number, a field or an array", VALUES.wrong).also(
    Wrong("a function", lambda x, y: x, TypeError, "must be real numbers"),
    Wrong("of another shape", np.ones(5), ValueError, _SPREAD),
    Wrong("an axis too many", np.ones((1, 4, 6)), ValueError, "of the shape (1, 4, 6) cannot be"),
    Wrong("on another grid", Of(lambda w: w.elsewhere), ValueError, _FIELDS + "have the same grid"),
    Wrong(
        "on another device", Of(lambda w: w.foreign), ValueError, _FIELDS + "have the same device"
    ),
    Wrong(
        "of two components", Of(lambda w: w.velocity), ValueError, _FIELDS + "have the same number"
    ),
)


def ddof(count):
    return REAL.also(
        Wrong(
            "all",
            count,
            ValueError,
            f"must be less than the number of values, {count}, not {count}",
        )
    )


def reduction(name, *arguments):
    taken = {"ddof": ddof(24)} if name in ("std", "var") else {}
    return Call(
        f"Field.{name}",
        lambda w: getattr(w.u, name),
        {},
        {
            "axis": AXIS,
            "keepdims": FLAG,
            "others": UNKNOWN,
            **taken,
            **dict.fromkeys(arguments, NOTHING),
        },
    )


def in_place(name):
    return Call(
        f"Field.__{name}__",
        lambda w: getattr(w.changed, f"__{name}__"),
        {"other": 1.0},
        {"other": OPERAND},
    )


FIELD_CALLS = [
    Call(
        "Grid",
        lambda w: pt.Grid,
        {"shape": (4, 6)},
        {
            "shape": SHAPE,
            "origin": PER_AXIS,
            "extent": LENGTHS,
            "spacing": LENGTHS,
            "boundary": BOUNDARY,
            "comm": COMM,
            "devices": DEVICES,
            "cuts": CUTS,
        },
        (
            *(
                Together(
                    what,
                    {"devices": [0], "cuts": cuts},
                    kind,
                    "cuts must be (1, 1) for 1 device, or",
                )
                for what, cuts, kind in (
                    ("cuts that are a number", 2, TypeError),
                    ("cuts of another axis", (1, 2), ValueError),
                    ("cuts for more devices", (2, 1), ValueError),
                    ("cuts with other rows", [(3,), 1], ValueError),
                )
            ),
            Together(
                "both", {"extent": 1, "spacing": 1}, ValueError, "give extent or spacing, not"
            ),
            Together(
                "an end beyond numbers",
                {"origin": 1e308, "extent": 1e308},
                ValueError,
                "origin plus extent must be within the range of float64, not",
            ),
            Together(
                "beyond numbers", {"extent": 1e-323}, ValueError, "extent (1e-323, 1e-323) of"
            ),
            Together(
                "beyond numbers", {"spacing": 1e308}, ValueError, "extent (inf, inf) of (4, 6)"
            ),
        ),
    ),
    Call("Grid.coordinates", lambda w: w.grid.coordinates, {}, {"sparse": FLAG}),
    Call(
        "Field",
        lambda w: pt.Field,
        {"grid": GRID},
        {
            "grid": a("a Grid"),
            "components": integer(1, 1024),
            "dtype": dtype(),
            "device": DEVICE,
            "name": NAME,
        },
    ),
    Call(
        "Field.name",
        lambda w: lambda value: setattr(w.u, "name", value),
        {"value": "u"},
        {"value": RENAMED},
    ),
    Call("Field.__getitem__", lambda w: lambda key: w.u[key], {"key": 0}, {"key": KEY}),
    Call(
        "Field.__setitem__",
        lambda w: w.u.__setitem__,
        {"key": ..., "value": 1.0},
        {
            "key": KEY,
            "value": VALUES_SET.also(
                *(one._replace(words="=" + one.template("values")) for one in ASSIGNED.wrong),
                Wrong(
                    "of another shape", np.ones(5), ValueError, "=values of the shape (5,) cannot"
                ),
                Wrong(
                    "on another grid",
                    Of(lambda w: w.elsewhere),
                    ValueError,
                    "=fields must have the same grid",
                ),
                Wrong(
                    "on another device",
                    Of(lambda w: w.foreign),
                    ValueError,
                    "=fields must have the same device",
                ),
                Wrong(
                    "of two components",
                    Of(lambda w: w.velocity),
                    ValueError,
                    "=fields must have the same number",
                ),
            ),
        },
        (
            Together(
                "a field in a part",
                {"key": 0, "value": Of(lambda w: w.w)},
                TypeError,
                "a Field can be assigned to a whole field or component, not to a part",
            ),
            Together(
                "more values than places",
                {"key": [0, 1], "value": np.ones(5)},
                ValueError,
                "index must fit a field of the shape (4, 6)",
            ),
        ),
    ),
    Call("Field.component", lambda w: w.velocity.component, {"index": 0}, {"index": index(2)}),
    Call(
        "Field.count",
        lambda w: w.u.count,
        {"lower": 0.0},
        {"lower": BOUND, "upper": BOUND},
        (Together("neither", {"lower": None}, TypeError, "count needs lower, upper or both"),),
    ),
    Call(
        "Field.fill",
        lambda w: w.g.fill,
        {"value": 0.5},
        {
            "value": Kind("a number", VALUES.wrong).also(
                Wrong("several", [1.0, 2.0], ValueError, "must be one number, not an array of (2,)")
            )
        },
    ),
    Call(
        "Field.from_pyopencl",
        lambda w: pt.Field.from_pyopencl,
        {"array": Of(lambda w: queue_array(w, (4, 6))), "grid": GRID},
        {"array": ARRAY, "grid": a("a Grid"), "name": NAME},
    ),
    Call("Field.gather", lambda w: w.u.gather, {}, {"root": index(1)}),
    Call("Field.get", lambda w: w.u.get, {}, {"out": OUT}),
    Call(
        "Field.assign",
        lambda w: lambda formula, fields=(): w.changed.assign(formula, *fields),
        {"formula": lambda x, y: x},
        {
            "formula": ASSIGNED.also(
                *kind("a function", TypeError, "must be a function of values, not {}").wrong
            ),
            "fields": Kind(
                "fields",
                (
                    Wrong("a number", (2,), TypeError, "must be Fields, not 2"),
                    Wrong("too many", (None,) * 13, ValueError, "must be at most 12, not 13"),
                    Wrong(
                        "on another grid",
                        Of(lambda w: (w.elsewhere,)),
                        ValueError,
                        "must have the same grid",
                    ),
                ),
            ),
        },
    ),
    *map(in_place, ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow")),
    reduction("sum", "dtype", "out"),
    reduction("mean", "dtype", "out"),
    reduction("std", "dtype", "out"),
    reduction("var", "dtype", "out"),
    reduction("min", "out"),
    reduction("max", "out"),
    Call(
        "Field.norm",
        lambda w: w.u.norm,
        {},
        {
            "ord": ORDER_OF_NORM,
        },
    ),
    Call(
        "Field.from_arrays",
        lambda w: (
            lambda grid, values, **options: pt.Field.from_arrays(grid, values, 1.0, **options)
        ),
        {"grid": GRID, "values": Of(lambda w: w.u.get())},
        {
            "grid": a("a Grid"),
            "values": VALUES.also(
                Wrong("of another shape", np.ones(5), ValueError, _SPREAD),
                Wrong(
                    "of two components",
                    np.ones((2, 4, 6)),
                    ValueError,
                    "of the shape (2, 4, 6) cannot",
                ),
            ),
            "dtype": dtype(),
            "device": DEVICE,
            "name": NAME,
        },
    ),
    Call(
        "Field.from_xarray",
        lambda w: pt.Field.from_xarray,
        {"array": Of(lambda w: w.u.to_xarray())},
        {
            "array": Kind(
                "an array of xarray",
                tuple(
                    one._replace(
                        words=f"must be a DataArray of xarray, not {type(one.value).__name__}"
                    )
                    for one in a("a DataArray").wrong
                ),
            ).also(
                Wrong(
                    "a dataset",
                    Of(lambda w: w.u.to_xarray().to_dataset(name="u")),
                    TypeError,
                    "must be a DataArray of xarray, not Dataset: choose one of them",
                ),
                *(
                    Wrong(what, Of(lambda w, change=change: change(w.u.to_xarray())), error, words)
                    for what, change, error, words in (
                        (
                            "of other dimensions",
                            lambda array: array.rename(x="t"),
                            ValueError,
                            "must have the dimensions x, or x and y, or x, y and z, and perhaps",
                        ),
                        (
                            "without coordinates",
                            lambda array: array.drop_vars("y"),
                            ValueError,
                            "must have finite coordinates along y",
                        ),
                        (
                            "with NaN among them",
                            lambda array: array.assign_coords(x=[0, 1, NAN, 2]),
                            ValueError,
                            "must have finite coordinates along x, not array([ 0.,  1., nan,  2.])",
                        ),
                        (
                            "with texts as coordinates",
                            lambda array: array.assign_coords(x=[*"abcd"]),
                            TypeError,
                            "must have numbers as coordinates along x",
                        ),
                        (
                            "stretched",
                            lambda array: array.assign_coords(x=[0, 1, 3, 4]),
                            ValueError,
                            "must have equally spaced coordinates along x, not with steps from 1.0",
                        ),
                        (
                            "of one point",
                            lambda array: array.isel(x=[1]).assign_coords(x=[2.0]),
                            ValueError,
                            "must have two points or more along x to tell the spacing",
                        ),
                        (
                            "a part",
                            lambda array: array[1:],
                            ValueError,
                            "=boundary must be given, because the coordinates of array along x",
                        ),
                        (
                            "of complex numbers",
                            lambda array: array + 1j,
                            TypeError,
                            "=values must be real numbers",
                        ),
                    )
                ),
            ),
            "boundary": BOUNDARY.but("None"),
            "dtype": dtype().but("None"),
            "comm": COMM,
            "devices": DEVICES,
            "cuts": CUTS,
            "device": DEVICE,
        },
        (
            Together(
                "device and devices",
                {"device": 0, "devices": [0]},
                ValueError,
                "device must be None on a grid that has its own",
            ),
        ),
    ),
    Call("Field.to_pyopencl", lambda w: w.u.to_pyopencl, {}, {"packed": FLAG}),
    Call("Field.to_xarray", lambda w: w.u.to_xarray, {}, {"time": REAL.but("None")}),
    Call(
        "Field.set",
        lambda w: w.g.set,
        {"values": np.full((4, 6), 0.5)},
        {
            "values": Kind("values", VALUES.wrong).also(
                Wrong("one number", 1.0, ValueError, "must have the shape (4, 6), not ()"),
                Wrong(
                    "of another shape", np.ones((6, 4)), ValueError, "must have the shape (4, 6)"
                ),
                Wrong(
                    "empty", np.ones((0, 6)), ValueError, "must have the shape (4, 6), not (0, 6)"
                ),
            )
        },
    ),
]
