# SPDX-License-Identifier: BSD-3-Clause
"""Kernels and problems: right calls, and what is wrong in them."""

from fractions import Fraction

import particles as pt

from tests.trust.bad_calls import GRID, Call, Together, beside
from tests.trust.bad_fields import SHAPE
from tests.trust.bad_kinds import (
    DEVICE,
    FLAG,
    INF,
    KERNEL,
    NAN,
    OPTIONAL_FLAG,
    POSITIVE,
    VALUES,
    Kind,
    Wrong,
    a,
    choice,
    dtype,
    kind,
    one_of_integers,
)
from tests.trust.bad_steppers import PRESETS

_RATIONAL = "{name} on [0, 1] must have"
PIECES = kind("pieces", TypeError, "must be", "a list", "an array", "a dict").also(
    Wrong("a number", [1], TypeError, "{name} on [0, 1] must be a sequence of coefficients, not 1"),
    Wrong("of floats", [[1.0, -1.0]], TypeError, _RATIONAL + " coefficients that are integers"),
    Wrong("of no numbers", [["a"]], ValueError, _RATIONAL + " rational coefficients"),
    Wrong("divided by zero", [["1/0"]], ValueError, _RATIONAL + " rational coefficients"),
    Wrong("none", [], ValueError, "must sum to one over the nodes, or mass would be lost"),
    Wrong("an empty piece", [[]], TypeError, "{name} on [0, 1] must be a sequence of coefficients"),
    Wrong("of a wrong sum", [[1, "-1/2"]], ValueError, "must sum to one over the nodes"),
    Wrong("half a hat", {0: [1, -1]}, ValueError, "must be given on [i, i + 1] for each i"),
    Wrong("not even", {-1: [1, 1], 0: [1, -2]}, ValueError, "must be even, W(-x) = W(x)"),
    Wrong("named by texts", {"0": [1, -1]}, TypeError, "must have as keys the integers"),
    Wrong(
        "too wide", [[1, -1], *[[0, 1]] * 20], ValueError, "must end at x = 11 at most, not at 21"
    ),
    Wrong(
        "of too high a degree", [[1, -1, *[0] * 50, 1]], ValueError, "must be of degree 43 at most"
    ),
)
KERNELS = [
    Call(
        "kernels.custom",
        lambda w: pt.kernels.custom,
        {"name": "hat", "pieces": [[1, Fraction(-1)]]},
        {
            "name": kind("a text", TypeError, "must be a text, not {}", "a text").also(
                Wrong("empty", "", ValueError, "must not be empty"),
                Wrong("taken", "M'6", ValueError, "must not be that of another kernel, such as {}"),
                Wrong(
                    "of the family",
                    "L4_2",
                    ValueError,
                    "must not be that of another kernel, such as {}",
                ),
                Wrong(
                    "no Unicode", "\ud800", ValueError, "must be text that UTF-8 can encode, not {}"
                ),
            ),
            "pieces": PIECES,
        },
    ),
    *(
        Call(
            f"kernels.{name}",
            lambda w, name=name: getattr(pt.kernels, name),
            {"kernel": "M'4"},
            {"kernel": KERNEL},
        )
        for name in ("get", "describe", "opencl_source")
    ),
    Call(
        "kernels.RemeshingKernel.__call__",
        lambda w: w.kernel,
        {"x": 0.5},
        {
            "x": Kind("finite values", VALUES.wrong).also(
                Wrong("NaN", NAN, ValueError, "must be finite, not nan"),
                Wrong("infinite", [INF], ValueError, "must be finite, not [inf]"),
            )
        },
    ),
    Call(
        "kernels.RemeshingKernel.weights",
        lambda w: w.kernel.weights,
        {"y": 0.5},
        {
            "y": Kind("offsets", VALUES.wrong).also(
                Wrong("negative", [-0.5], ValueError, "must be offsets from 0 to 1, not [-0.5]"),
                Wrong("too large", 1.5, ValueError, "must be offsets from 0 to 1, not 1.5"),
                Wrong("NaN", NAN, ValueError, "must be offsets from 0 to 1, not nan"),
            )
        },
    ),
]

DURATION = POSITIVE.but("None")
POINTS = SHAPE.but("ragged", "nested", "four axes").also(
    Wrong("four axes", (2, 2, 2, 2), ValueError, "must have one to three axes, not 4"),
)


def points(body, ndim):
    several = {2: "two", 3: "three"}[ndim]
    return POINTS.also(
        Wrong("too few", 1, ValueError, f"must have points inside the {body}, but"),
        Wrong(
            "of another dimension",
            (8,) * (5 - ndim),
            ValueError,
            f"must be one number or {several}, not",
        ),
    )


COMMON = {
    "kernel": KERNEL.but("None"),
    "dt": DURATION,
    "dtype": dtype(),
    "device": DEVICE,
    "progress": OPTIONAL_FLAG,
}
PROBLEMS = [
    Call(
        "levelset.run",
        lambda w: pt.levelset.run,
        {"shape": 8, "velocity": "formula", "until": 0.05, "dt": 0.05, "progress": False},
        {
            **COMMON,
            "kernel": KERNEL,
            "shape": points("ball", 3),
            "until": POSITIVE,
            "order": one_of_integers("must be 1 (Lie), 2 (Strang) or 4 (Suzuki), not {}"),
            "velocity": choice("grid", "formula"),
            "back": FLAG,
            "snapshots": kind(
                "times",
                TypeError,
                "must be a sequence of numbers, not {}",
                "None",
                "a list",
                "an array",
            ).also(
                Wrong(
                    "beyond the end", [0.06], ValueError, "must be between 0 and 0.05, not at 0.06"
                ),
                Wrong(
                    "before the start",
                    [-0.5],
                    ValueError,
                    "must be between 0 and 0.05, not at -0.5",
                ),
                Wrong("NaN", [NAN], ValueError, "must be finite, not nan"),
            ),
        },
        is_slow=True,
    ),
    Call(
        "levelset.exact",
        lambda w: pt.levelset.exact,
        {"grid": pt.Grid((8, 8, 8)), "times": [0.01]},
        {
            "grid": a("a Grid").also(
                Wrong("of two axes", GRID, ValueError, "must have three axes, not 2")
            ),
            "times": kind(
                "times", TypeError, "must be a sequence of numbers, not {}", "a list", "an array"
            ).also(
                Wrong(
                    "descending", [0.2, 0.1], ValueError, "must ascend from 0, not be (0.2, 0.1)"
                ),
                Wrong("before the start", [-0.5], ValueError, "must ascend from 0, not be (-0.5,)"),
                Wrong("NaN", [NAN], ValueError, "must be finite, not nan"),
            ),
            "device": DEVICE,
        },
    ),
    *(
        Call(
            f"problems.{name}",
            lambda w, name=name: getattr(pt.problems, name),
            {"shape": 16, "dt": 0.1, "progress": False},
            {**COMMON, "shape": points("disk", 2).but(*without), "preset": PRESETS, **more},
            (
                Together(
                    "both",
                    {"cfl": 1.0},
                    TypeError,
                    "one of dt and cfl must be given, not dt=0.1 and cfl=1.0",
                ),
                *beside("cfl", DURATION, dt=None),
                Together(
                    "endless",
                    {"dt": 5e-324},
                    ValueError,
                    "dt must be large enough to change the time",
                ),
                *others,
            ),
            is_slow=True,
        )
        for name, without, more, others in (
            (
                "zalesak",
                (),
                {},
                (Together("too long", {"dt": 0.5}, ValueError, "a step must be at most 0.125 of"),),
            ),
            (
                "vortex_box",
                ("None",),
                {
                    "dim": one_of_integers("must be 2 or 3, not {}")
                    .but("3")
                    .also(Wrong("4", 4, ValueError, "must be 2 or 3, not 4"))
                },
                (),
            ),
        )
    ),
]
