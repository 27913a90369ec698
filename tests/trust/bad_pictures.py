# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import Call, Together, U
from tests.trust.bad_kinds import (
    KERNEL,
    NAN,
    OPTIONAL_FLAG,
    PATH,
    POSITIVE,
    REAL,
    VALUES,
    Kind,
    Of,
    Wrong,
    a,
    index,
    integer,
    kind,
)

CUBE = Of(lambda w: w.cube)
AXES = kind("axes", TypeError, "must be Axes of Matplotlib, not {}", "None")
PLANE = Kind("a field or an array", VALUES.wrong).also(
    Wrong("one number", 1.0, ValueError, "must have 1 to 3 dimensions, not 0"),
    Wrong(
        "of four axes",
        np.ones((2, 2, 2, 2)),
        ValueError,
        "must have 1 to 3 dimensions, not 4: take a part of it",
    ),
    Wrong(
        "of two components", Of(lambda w: w.velocity), ValueError, "must have one component, not 2"
    ),
)
NUMBERS = kind(
    "numbers", TypeError, "must be a sequence of numbers, not", "a list", "an array"
).also(
    Wrong("of zero", [0.0, 1.0], ValueError, "must be positive numbers, not [0.0, 1.0]"),
    Wrong("of NaN", [NAN, 1.0], ValueError, "must be finite, not nan"),
)
MAPPING = kind("numbers by name", TypeError, "must be a mapping by name, not {}", "a dict")

SHOWN = Kind(
    "a kernel",
    tuple(one._replace(words=f"={one.template('kernel').lstrip('=')}") for one in KERNEL.wrong),
)

PICTURES = [
    Call("plot.slice", lambda w: pt.plot.slice, {"field": U}, {"field": PLANE, "ax": AXES}),
    Call(
        "plot.slice (of three dimensions)",
        lambda w: pt.plot.slice,
        {"field": CUBE},
        {"axis": index(3), "index": index(4).but("None")},
    ),
    Call(
        "plot.particles",
        lambda w: pt.plot.particles,
        {"swarm": Of(lambda w: w.swarm), "color": "mass"},
        {
            "swarm": a("a ParticleSet"),
            "color": kind(
                "an attribute",
                TypeError,
                "must be the name of an attribute or None, not {}",
                "a text",
            )
            .but("None")
            .also(
                Wrong(
                    "of none",
                    "mas",
                    ValueError,
                    "must name an attribute that the set has (mass, tag, dark), not 'mas'",
                )
            ),
            "ax": AXES,
        },
    ),
    Call(
        "plot.isosurface",
        lambda w: pt.plot.isosurface,
        {"field": CUBE},
        {
            "field": Kind("a field or an array", VALUES.wrong).also(
                Wrong("of two axes", U, ValueError, "must have 3 dimensions, not 2: pt.plot.slice"),
                Wrong(
                    "at several times",
                    Of(lambda w: w.u.to_xarray().expand_dims("time")),
                    ValueError,
                    "must have the dimensions x, y alone, not ('time', 'x', 'y'): see its method",
                ),
            ),
            "level": REAL,
            "ax": AXES,
        },
    ),
    Call(
        "plot.volume",
        lambda w: pt.plot.volume,
        {"field": CUBE},
        {
            "field": Kind("a field or an array", VALUES.wrong).also(
                Wrong("of two axes", U, ValueError, "must have 3 dimensions, not 2: pt.plot.slice"),
                Wrong(
                    "at several times",
                    Of(lambda w: w.u.to_xarray().expand_dims("time")),
                    ValueError,
                    "must have the dimensions x, y alone, not ('time', 'x', 'y'): see its method",
                ),
            ),
            "ax": AXES,
            "density": POSITIVE,
            "elev": REAL,
            "azim": REAL,
        },
    ),
    Call(
        "plot.kernel",
        lambda w: lambda shown, ax=None: pt.plot.kernel(shown, ax=ax),
        {"shown": "M'4"},
        {
            "shown": SHOWN,
            "ax": AXES,
        },
    ),
    Call(
        "plot.convergence",
        lambda w: pt.plot.convergence,
        {"points": [8, 16], "errors": [0.1, 0.01]},
        {
            "points": NUMBERS.also(Wrong("one", [8], ValueError, "must be two or more, not 1")),
            "errors": Kind(
                "numbers",
                (
                    Wrong(
                        "None", None, TypeError, "=errors of 'error' must be a sequence of numbers"
                    ),
                    Wrong(
                        "a text", "1", TypeError, "=errors of 'error' must be a sequence of numbers"
                    ),
                    Wrong("too few", [0.1], ValueError, "=errors of 'error' must be 2, not 1"),
                    Wrong(
                        "of zero", {"a": [0.0, 1.0]}, ValueError, "=errors of 'a' must be positive"
                    ),
                    Wrong("of NaN", {"a": [NAN, 1.0]}, ValueError, "=errors of 'a' must be finite"),
                    Wrong("none", {}, ValueError, "must have a series, not none"),
                ),
            ),
            "ax": AXES,
        },
    ),
    Call(
        "plot.profile",
        lambda w: pt.plot.profile,
        {"times": {"a": 1.0}},
        {
            "times": MAPPING.also(
                Wrong(
                    "none", {}, ValueError, "must have a positive sum and none below zero, not 0"
                ),
                Wrong(
                    "negative",
                    {"a": -1.0, "b": 2.0},
                    ValueError,
                    "must have a positive sum and none",
                ),
                Wrong("NaN", {"a": NAN}, ValueError, "must be finite, not nan"),
                Wrong("of texts", {"a": "1"}, TypeError, "must be a number, not '1'"),
            ),
            "ax": AXES,
        },
    ),
    Call(
        "plot.roofline",
        lambda w: pt.plot.roofline,
        {"work": {"a": (1.0, 1e9)}, "bandwidth": 1e9, "peak": 1e9},
        {
            "work": MAPPING.also(
                Wrong(
                    "one number",
                    {"a": 1.0},
                    TypeError,
                    "=work of 'a' must be a sequence of numbers",
                ),
                Wrong(
                    "three numbers",
                    {"a": (1, 2, 3)},
                    ValueError,
                    "must be pairs of numbers by name",
                ),
                Wrong(
                    "of zero", {"a": (0, 1)}, ValueError, "=work of 'a' must be positive numbers"
                ),
            ),
            "bandwidth": POSITIVE,
            "peak": POSITIVE,
            "ax": AXES,
        },
    ),
    Call(
        "plot.movie",
        lambda w: pt.plot.movie,
        {
            "path": Of(lambda w: w.folder / "movie.gif"),
            "transport": Of(lambda w: w.transport),
            "until": Of(lambda w: w.transport.time + 0.1),
            "dt": 0.05,
        },
        {
            "path": PATH.also(
                Wrong("of another kind", "a.png", ValueError, "must end in .gif or .mp4")
            ),
            "transport": a("a Splitting, Unsplit or Tracers"),
            "until": REAL.also(
                Wrong("in the past", -1.0, ValueError, "must be after the present time")
            ),
            "dt": POSITIVE.but("None"),
            "frames": integer(2),
            "fps": POSITIVE,
            "draw": kind(
                "a function", TypeError, "must be a function of axes, not {}", "None", "a class"
            ),
            "ax": AXES,
            "progress": OPTIONAL_FLAG,
        },
        (
            Together(
                "too large",
                {"dt": None, "lcfl": 2.0},
                ValueError,
                "lcfl must be above 0 and at most",
            ),
        ),
        is_slow=True,
    ),
]
