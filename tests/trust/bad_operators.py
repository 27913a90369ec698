# SPDX-License-Identifier: BSD-3-Clause
"""Operators: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import GRID, Call, Together, U, beside
from tests.trust.bad_formulas import RATE
from tests.trust.bad_kinds import (
    DEVICE,
    FIELDS,
    FLAG,
    FORM,
    INF,
    KERNEL,
    LIMITER,
    NAN,
    POSITIVE,
    REAL,
    Kind,
    Of,
    Wrong,
    a,
    choice,
    dtype,
    index,
    kind,
)
from tests.trust.bad_world import ENDS

VELOCITY = kind(
    "a velocity", TypeError, "must be a Field, a Velocity or a VelocitySeries, not {}"
).also(
    Wrong(
        "a function",
        Of(lambda w: lambda x, y: (x, y)),
        TypeError,
        "must be a Field, a Velocity or a VelocitySeries, not <function",
    ),
    Wrong(
        "of one component", U, ValueError, "must have one component per axis of its grid, 2, not 1"
    ),
    Wrong(
        "of three components",
        Of(lambda w: pt.Field(w.grid, 3)),
        ValueError,
        "must have one component per axis",
    ),
    Wrong(
        "of float16",
        Of(lambda w: pt.Field(w.grid, 2, "float16")),
        TypeError,
        "must be of float32 or float64",
    ),
)
SCHEME = choice("euler", "rk2", "heun", "rk3", "rk4")
INTERPOLATION = choice("linear", "cubic").but("None")
INFLOW = Kind(
    "what flows in",
    (
        Wrong(
            "None",
            None,
            ValueError,
            "must be given for the inflow ends of the grid, (0, 'low'), not None",
        ),
        Wrong("a text", "1", TypeError, "must be a number, not '1'"),
        Wrong("a truth value", True, TypeError, "must be a number, not True"),
        Wrong("complex", 1j, TypeError, "must be a number, not 1j"),
        Wrong("NaN", NAN, ValueError, "must be finite, not nan"),
        Wrong("infinite", INF, ValueError, "must be finite, not inf"),
        Wrong(
            "one too many",
            [1.0, 2.0],
            ValueError,
            "must have a value for each of 1 components, not 2",
        ),
        Wrong("none", [], ValueError, "must have a value for each of 1 components, not 0"),
        Wrong(
            "an array too long",
            np.array([1.0, 2.0]),
            ValueError,
            "must have a value for each of 1 components, not 2",
        ),
        Wrong("NaN in an array", np.array([NAN]), ValueError, "must be finite, not nan"),
        Wrong(
            "at a wall",
            {(1, "low"): 1.0},
            ValueError,
            "must have the keys (0, 'low'), as the grid has",
        ),
        Wrong("nowhere", {}, ValueError, "must have the keys (0, 'low'), as the grid has"),
        Wrong(
            "returns a text",
            lambda t: "1",
            TypeError,
            "{name} at (0, 'low'): a formula is made of real numbers, not '1'",
        ),
        Wrong("raises", lambda t: nowhere, NameError, "{name} at (0, 'low'): name 'nowhere' is"),  # noqa: F821
        Wrong(
            "decides",
            lambda t: 1 if t > 0 else 0,
            TypeError,
            "{name} at (0, 'low'): a formula is evaluated at all points at once",
        ),
        Wrong(
            "a parameter",
            lambda t, U: U * t,
            ValueError,
            "{name} at (0, 'low') must take only t of itself, not (t, U): call the "
            "time t or time, and write numbers into the formula",
        ),
    ),
)
_TOO_MANY = "must be one number or one for each of 1 components, not 2"
VISCOSITY = REAL.but("a list", "an array", "an array of one number").also(
    Wrong("negative", -0.5, ValueError, "must be at least 0, not -0.5"),
    Wrong("one too many", [0.1, 0.2], ValueError, _TOO_MANY),
    Wrong("one too many in an array", np.array([0.1, 0.2]), ValueError, _TOO_MANY),
    Wrong("none", [], ValueError, "must be one number or one for each of 1 components, not 0"),
    Wrong("a text among them", ["1"], TypeError, "must be a number, not '1'"),
    Wrong("one for each point", np.ones((4, 3)), ValueError, "must be the same everywhere"),
)
POSITIONS = a("Positions").also(
    Wrong(
        "on another grid",
        Of(lambda w: pt.Positions(w.elsewhere, 0)),
        ValueError,
        "must be on one grid",
    ),
    Wrong(
        "of another dtype",
        Of(lambda w: pt.Positions(w.double, 0)),
        TypeError,
        "must have one dtype",
    ),
    Wrong(
        "on another device",
        Of(lambda w: pt.Positions(w.foreign, 0)),
        ValueError,
        "must be on one device",
    ),
    Wrong(
        "back",
        Of(lambda w: pt.Positions(w.moved, 0, back=True)),
        ValueError,
        "must have back=False where particles carry masses, not back=True",
    ),
    Wrong(
        "in the field",
        Of(lambda w: pt.Positions(w.u, 0)),
        ValueError,
        "must have memory of their own",
    ),
    *(
        Wrong(
            what,
            Of(lambda w, far=far: _moved(w, far)),
            ValueError,
            "must be finite and within 2**30 cells",
        )
        for what, far in (
            ("of NaN", NAN),
            ("of infinity", INF),
            ("too far", 2.0**30),
            ("too far back", -(2.0**31)),
        )
    ),
)
GIVEN = FIELDS.but(
    "none", "one twice", "overlapping", "on two grids", "of two dtypes", "on two devices"
).also(
    Wrong("on another grid", Of(lambda w: w.elsewhere), ValueError, "must be on one grid, not"),
    Wrong("of another dtype", Of(lambda w: w.double), TypeError, "must have one dtype, not"),
    Wrong("on another device", Of(lambda w: w.foreign), ValueError, "must be on one device, not"),
    Wrong("that changes", U, ValueError, "must not share memory with"),
)


def _moved(world, far):
    field = pt.Field(world.grid)
    field[2, 3] = far
    return pt.Positions(field, 1)


OPERATORS = [
    Call(
        "AdvectionOp",
        lambda w: pt.AdvectionOp,
        {"velocity": Of(lambda w: w.velocity)},
        {
            "velocity": VELOCITY,
            "scheme": SCHEME,
            "interpolation": INTERPOLATION,
            "grid": a("a Grid")
            .but("None")
            .also(
                Wrong("of one axis", pt.Grid(8), ValueError, "must be of the velocity's box"),
                Wrong("coarser", pt.Grid((2, 3)), ValueError, "must be of the velocity's box"),
                Wrong(
                    "of no multiple", pt.Grid((6, 6)), ValueError, "must be of the velocity's box"
                ),
                Wrong(
                    "of another box",
                    Of(lambda w: w.other),
                    ValueError,
                    "must be of the velocity's box",
                ),
                Wrong("of other ends", ENDS, ValueError, "must be of the velocity's box"),
            ),
            "form": FORM,
        },
        (
            Together(
                "a dtype of a field",
                {"dtype": "float32"},
                ValueError,
                "dtype and device must not be given with",
            ),
            Together(
                "a device of a field",
                {"device": 0},
                ValueError,
                "dtype and device must not be given with",
            ),
            Together(
                "a formula on a grid",
                {"velocity": Of(lambda w: w.wind), "interpolation": "cubic"},
                ValueError,
                "interpolation must not be given with a formula",
            ),
            Together(
                "a formula with a grid",
                {"velocity": Of(lambda w: w.wind), "grid": GRID},
                ValueError,
                "grid must not be given with a formula",
            ),
        ),
    ),
    Call(
        "AdvectionOp (a formula)",
        lambda w: pt.AdvectionOp,
        {"velocity": Of(lambda w: w.wind)},
        {"dtype": dtype("float32 or float64").but("None"), "device": DEVICE},
    ),
    Call(
        "AdvectionOp.apply",
        lambda w: w.advection.apply,
        {"dt": 0.1, "axis": 0},
        {"dt": REAL, "axis": index(2), "time": REAL, "back": FLAG},
        (
            Together(
                "too far",
                {"dt": 1e12},
                ValueError,
                "dt must move particles by less than 2**30 cells",
            ),
        ),
    ),
    Call("AdvectionOp.strain", lambda w: w.advection.strain, {}, {"time": REAL}),
    Call(
        "RemeshOp",
        lambda w: pt.RemeshOp,
        {"fields": U},
        {
            "fields": FIELDS,
            "kernel": KERNEL,
            "limiter": LIMITER,
            "conservative": FLAG,
            "form": FORM,
        },
        (
            Together(
                "inflow nowhere",
                {"inflow": 1.0},
                ValueError,
                "inflow must be None for a grid without inflow",
            ),
            Together(
                "ends in the result",
                {"fields": Of(lambda w: w.bounded), "inflow": 1.0, "form": "global"},
                ValueError,
                "form",
            ),
            Together(
                "limited in the result",
                {"limiter": "positive", "form": "global"},
                ValueError,
                "form",
            ),
        ),
    ),
    Call(
        "RemeshOp (with ends)",
        lambda w: pt.RemeshOp,
        {"fields": Of(lambda w: w.bounded), "inflow": 0.5},
        {"inflow": INFLOW},
    ),
    Call(
        "RemeshOp.apply",
        lambda w: w.remesh.apply,
        {"positions": Of(lambda w: w.positions)},
        {"positions": POSITIONS},
    ),
    Call(
        "SourceOp",
        lambda w: pt.SourceOp,
        {"fields": Of(lambda w: w.line), "rate": lambda u, x: u},
        {"fields": FIELDS, "rate": RATE},
    ),
    Call(
        "SourceOp (with a field)",
        lambda w: pt.SourceOp,
        {"fields": U, "rate": lambda u, g, x, y: g, "given": Of(lambda w: w.g)},
        {"given": GIVEN},
    ),
    Call(
        "SourceOp (with parameters)",
        lambda w: pt.SourceOp,
        {"fields": U, "rate": "parameters*u", "parameters": 2.0},
        {"parameters": REAL},
    ),
    Call(
        "SourceOp.parameters",
        lambda w: lambda k: pt.SourceOp(w.u, "k*u", k=1.0).parameters.update(k=k),
        {"k": 3.0},
        {},
        beside("k", REAL),
    ),
    Call(
        "SourceOp.apply",
        lambda w: w.source.apply,
        {"dt": 0.05},
        {"dt": POSITIVE, "time": REAL},
    ),
    Call(
        "Diffusion",
        lambda w: pt.Diffusion,
        {"fields": U, "viscosity": 0.1},
        {"fields": FIELDS, "viscosity": VISCOSITY},
        (
            Together(
                "inflow nowhere",
                {"inflow": 1.0},
                ValueError,
                "inflow must be None for a grid without inflow",
            ),
        ),
    ),
    Call(
        "Diffusion (with ends)",
        lambda w: pt.Diffusion,
        {"fields": Of(lambda w: w.bounded), "viscosity": 0.1, "inflow": 0.5},
        {"inflow": INFLOW.but("None")},
    ),
    Call(
        "Diffusion.viscosity",
        lambda w: lambda value: setattr(w.diffusion, "viscosity", value),
        {"value": 0.1},
        {
            "value": Kind(
                "a viscosity",
                tuple(one._replace(words="=viscosity " + one.words) for one in VISCOSITY.wrong),
            )
        },
    ),
    Call(
        "Diffusion.apply",
        lambda w: w.diffusion.apply,
        {"dt": 0.05},
        {"dt": POSITIVE, "time": REAL},
    ),
    Call(
        "Diffusion.apply (with ends)",
        lambda w: lambda inflow, dt: pt.Diffusion(w.bounded, 0.1, inflow=inflow).apply(dt),
        {"inflow": 0.5, "dt": 0.05},
        {},
        (
            Together(
                "no inflow",
                {"inflow": None},
                ValueError,
                "inflow must be given to a Diffusion that is applied alone",
            ),
        ),
    ),
]
