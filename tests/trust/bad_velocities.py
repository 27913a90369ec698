# SPDX-License-Identifier: BSD-3-Clause
"""Forms, devices, positions and velocities: right calls, and what is wrong in them."""

import numpy as np
import particles as pt
import xarray

from tests.trust.bad_calls import GRID, Call, Together, U, beside
from tests.trust.bad_fields import BOUNDARY
from tests.trust.bad_formulas import FORMULA
from tests.trust.bad_kinds import (
    DEVICE,
    FIELD,
    FLAG,
    INF,
    KERNEL,
    NAME,
    NAN,
    REAL,
    RENAMED,
    Kind,
    Of,
    Wrong,
    a,
    choice,
    dtype,
    index,
    integer,
    kind,
    one_of_integers,
)
from tests.trust.bad_world import ENDS


def in_time(world):
    """Return an array of xarray with a velocity at two times."""
    times = zip((world.velocity, world.later), (0.0, 1.0), strict=True)
    return xarray.concat([field.to_xarray(time) for field, time in times], "time")


MAYBE = Kind(
    "True, False or None",
    tuple(
        one._replace(words="must be True, False or None, not {}") for one in FLAG.but("None").wrong
    ),
)


def profiled(device=None):
    with pt.profile(device):
        pass


VELOCITY_CALLS = [
    Call(
        "Form",
        lambda w: pt.Form,
        {},
        {
            "kind": choice(
                *("lanes", "private", "local", "global", "registers", "team"),
                end="must be one of {names} or None, not {}",
            ).but("None"),
            "lanes": one_of_integers("must be one of 1, 4, 8, 16, not {}").but("None"),
            **dict.fromkeys(("copied", "transposed", "images"), MAYBE),
            **{name: integer(1, 2**20).but("None") for name in ("group", "tiles", "nodes")},
        },
        (
            Together(
                "lanes of lines",
                {"kind": "local", "lanes": 4},
                ValueError,
                "lanes must be None unless",
            ),
            Together(
                "images of lanes",
                {"kind": "lanes", "images": True},
                ValueError,
                "images must be None or False",
            ),
        ),
    ),
    Call(
        "Device.from_pyopencl",
        lambda w: pt.Device.from_pyopencl,
        {"queue": Of(lambda w: w.u.device.queue)},
        {"queue": a("a pyopencl.CommandQueue")},
    ),
    Call("profile", lambda w: profiled, {}, {"device": DEVICE}),
    Call(
        "Positions",
        lambda w: pt.Positions,
        {"displacement": Of(lambda w: w.moved), "axis": 0},
        {
            "displacement": FIELD.also(
                Wrong(
                    "of two components",
                    Of(lambda w: w.velocity),
                    ValueError,
                    "must have one component, not 2",
                )
            ),
            "axis": index(2),
            "back": FLAG,
        },
    ),
    Call(
        "resample",
        lambda w: pt.resample,
        {"field": U, "grid": Of(lambda w: w.fine.grid)},
        {
            "field": FIELD,
            "grid": a("a Grid").also(
                Wrong(
                    "of one axis", pt.Grid(8), ValueError, "must have 2 axes, like the field, not 1"
                ),
                Wrong("with walls", ENDS, ValueError, "must have the boundary"),
                Wrong(
                    "of another box",
                    Of(lambda w: w.other),
                    ValueError,
                    "must be of the field's box",
                ),
                Wrong(
                    "of no multiple",
                    pt.Grid((6, 6)),
                    ValueError,
                    "must have a whole multiple or fraction",
                ),
            ),
            "kernel": KERNEL,
            "out": FIELD.but("None").also(
                Wrong("on another grid", U, ValueError, "must have the grid"),
                Wrong(
                    "of float64",
                    Of(lambda w: pt.Field(w.fine.grid, dtype="float64")),
                    ValueError,
                    "must have the dtype float32",
                ),
                Wrong(
                    "of two components",
                    Of(lambda w: pt.Field(w.fine.grid, 2)),
                    ValueError,
                    "must have the number of components 1, not 2",
                ),
            ),
        },
        (
            Together(
                "out in the memory of the field",
                {"grid": GRID, "out": U},
                ValueError,
                "out must have memory of its own, not that of the field",
            ),
            Together(
                "out on another device",
                {"grid": GRID, "out": Of(lambda w: w.foreign)},
                ValueError,
                "out must have the device",
            ),
        ),
    ),
    Call(
        "Velocity",
        lambda w: pt.Velocity,
        {"grid": GRID, "formula": lambda x, y: (y, x)},
        {"grid": a("a Grid"), "formula": FORMULA, "name": NAME},
    ),
    Call(
        "Velocity (with parameters)",
        lambda w: pt.Velocity,
        {"grid": GRID, "formula": lambda x, y, parameters: (y, parameters), "parameters": 2.0},
        {"parameters": REAL},
        (
            Together("none of its own", {"y": 1.0}, ValueError, "y must have another name"),
            Together("another one", {"V": 1.0}, ValueError, "formula must take V"),
        ),
    ),
    Call(
        "Velocity.parameters",
        lambda w: lambda U: pt.Velocity(w.grid, ["U", "y"], U=1.0).parameters.update(U=U),
        {"U": 3.0},
        {},
        beside("U", REAL),
    ),
    Call(
        "Velocity.name",
        lambda w: lambda value: setattr(w.wind, "name", value),
        {"value": "wind"},
        {"value": RENAMED},
    ),
    Call(
        "Velocity.__call__",
        lambda w: lambda coordinates, t=0.0: w.wind(*coordinates, t=t),
        {"coordinates": (0.5, 0.5)},
        {
            "coordinates": Kind(
                "coordinates",
                (
                    Wrong(
                        "one of two", (0.5,), ValueError, "must be 2, one for each dimension, not 1"
                    ),
                    Wrong("texts", ("a", "b"), TypeError, "must be real numbers to become float64"),
                    Wrong("None", (None, 0.5), TypeError, "must be real numbers to become float64"),
                    Wrong(
                        "complex", (1j, 0.5), TypeError, "must be real numbers to become float64"
                    ),
                    Wrong(
                        "ragged",
                        ([[1], [1, 2]], 0.5),
                        TypeError,
                        "must be real numbers in an array",
                    ),
                    Wrong(
                        "of two shapes",
                        (np.ones(2), np.ones(3)),
                        ValueError,
                        "must broadcast against",
                    ),
                ),
            ),
            "t": REAL,
        },
    ),
    Call("Velocity.on_grid", lambda w: w.wind.on_grid, {}, {"t": REAL}),
    Call("Velocity.source", lambda w: w.wind.source, {"axis": 0}, {"axis": index(2)}),
    Call(
        "VelocitySeries",
        lambda w: pt.VelocitySeries,
        {"fields": Of(lambda w: [w.velocity, w.later]), "times": [0.0, 1.0]},
        {
            "fields": kind("fields in turn", TypeError, "must be a sequence of Field, not").also(
                Wrong(
                    "a field",
                    Of(lambda w: w.velocity),
                    TypeError,
                    "must be a sequence of Field, not",
                ),
                Wrong("one", Of(lambda w: [w.velocity]), ValueError, "must be at least two, not 1"),
                Wrong(
                    "on two grids",
                    Of(lambda w: [w.velocity, pt.Field(w.other, 2)]),
                    ValueError,
                    "must have the same grid",
                ),
                Wrong(
                    "of two dtypes",
                    Of(lambda w: [w.velocity, w.double_velocity]),
                    ValueError,
                    "must have the same dtype",
                ),
                Wrong(
                    "of one and two components",
                    Of(lambda w: [w.velocity, w.u]),
                    ValueError,
                    "must have the same components",
                ),
                Wrong(
                    "on two devices",
                    Of(lambda w: [w.velocity, w.foreign_velocity]),
                    ValueError,
                    "must have the same device",
                ),
            ),
            "times": kind(
                "ascending times",
                TypeError,
                "must be a sequence of numbers, not {}",
                "a list",
                "an array",
            ).also(
                Wrong("too few", [0.0], ValueError, "must be one for each of 2 fields, not (0.0,)"),
                Wrong("too many", [0.0, 1.0, 2.0], ValueError, "must be one for each of 2 fields"),
                Wrong("descending", [1.0, 0.0], ValueError, "must ascend, not be (1.0, 0.0)"),
                Wrong("equal", [1.0, 1.0], ValueError, "must ascend, not be (1.0, 1.0)"),
                Wrong("NaN", [0.0, NAN], ValueError, "must be finite, not nan"),
                Wrong("infinite", [0.0, INF], ValueError, "must be finite, not inf"),
                Wrong("texts", ["0", "1"], TypeError, "must be a number, not '0'"),
                Wrong("one array", np.array(1.0), TypeError, "must be a sequence of numbers"),
                Wrong(
                    "dates",
                    np.array(["2020-01-01", "2020-01-02"], "datetime64[s]"),
                    TypeError,
                    "must be a number, not np.datetime64('2020-01-01T00:00:00'): count seconds",
                ),
                Wrong("in a table", np.eye(2), TypeError, "must be a number, not array([1., 0.])"),
            ),
        },
    ),
    Call(
        "VelocitySeries.from_xarray",
        lambda w: pt.VelocitySeries.from_xarray,
        {"array": Of(lambda w: in_time(w))},
        {
            "array": Kind(
                "an array of xarray at several times",
                tuple(
                    one._replace(
                        words=f"must be a DataArray of xarray, not {type(one.value).__name__}"
                    )
                    for one in a("a DataArray").wrong
                ),
            ).also(
                Wrong(
                    "a dataset",
                    Of(lambda w: in_time(w).to_dataset(name="u")),
                    TypeError,
                    "must be a DataArray of xarray, not Dataset: choose one of them by its name, or",
                ),
                *(
                    Wrong(what, Of(lambda w, change=change: change(in_time(w))), error, words)
                    for what, change, error, words in (
                        (
                            "of one time",
                            lambda array: array.isel(time=0),
                            ValueError,
                            "must have the dimension time, not ('component', 'x', 'y') alone",
                        ),
                        (
                            "with one time in it",
                            lambda array: array.isel(time=[0]),
                            ValueError,
                            "must have two times or more, not 1",
                        ),
                        (
                            "without times",
                            lambda array: array.drop_vars("time"),
                            ValueError,
                            "must have numbers as coordinates along time, not none",
                        ),
                        (
                            "at dates",
                            lambda array: array.assign_coords(
                                time=np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]")
                            ),
                            TypeError,
                            "must have numbers as coordinates along time, not array(['2020-01-01T",
                        ),
                        (
                            "descending",
                            lambda array: array.isel(time=[1, 0]),
                            ValueError,
                            "=times must ascend, not be (1.0, 0.0)",
                        ),
                        (
                            "of other dimensions",
                            lambda array: array.rename(x="lon"),
                            ValueError,
                            "must have the dimensions x, or x and y, or x, y and z, and perhaps",
                        ),
                    )
                ),
            ),
            "boundary": BOUNDARY.but("None"),
            "dtype": dtype().but("None"),
            "device": DEVICE,
        },
    ),
]
