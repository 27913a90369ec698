# SPDX-License-Identifier: BSD-3-Clause
"""Time steps: right calls, and what is wrong in them."""

import particles as pt

from tests.trust.bad_calls import GRID, Call, Together, U
from tests.trust.bad_kinds import (
    DEVICE,
    FIELDS,
    FLAG,
    INF,
    KERNEL,
    LIMITER,
    NAN,
    REAL,
    VALUES,
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
from tests.trust.bad_operators import INFLOW, INTERPOLATION, SCHEME, VELOCITY
from tests.trust.bad_runs import stepping
from tests.trust.bad_world import ENDS

ORDER = one_of_integers("must be 1 (Lie), 2 (Strang) or 4 (Suzuki), not {}")
OVERLAP = "=the velocity must have memory of its own, not that of a carried field"
ADVECTION = a("an AdvectionOp").also(
    Wrong(
        "on another grid",
        Of(lambda w: pt.AdvectionOp(pt.Field(w.other, 2))),
        ValueError,
        "=the velocity must be on the grid of the fields",
    ),
    Wrong(
        "of another dtype",
        Of(lambda w: pt.AdvectionOp(w.double_velocity)),
        TypeError,
        "=the velocity must be of float32, not float64",
    ),
    Wrong(
        "on another device",
        Of(lambda w: pt.AdvectionOp(w.foreign_velocity)),
        ValueError,
        "=the velocity must be on the device of the fields",
    ),
)
REMESH = a("a RemeshOp").also(
    Wrong("of the velocity", Of(lambda w: pt.RemeshOp(w.velocity)), ValueError, OVERLAP),
    Wrong(
        "of a part of it", Of(lambda w: pt.RemeshOp(w.velocity.component(1))), ValueError, OVERLAP
    ),
)
SOURCE = kind("a source", TypeError, "must be a SourceOp or None, not {}", "None").also(
    Wrong(
        "of another field",
        Of(lambda w: pt.SourceOp(w.g, lambda u, x, y: u)),
        ValueError,
        "must change only carried fields, not",
    )
)
DIFFUSION = kind(
    "diffusion",
    TypeError,
    "must be a Diffusion, a sequence of them or None, not {}",
    "None",
    "a list",
).also(
    Wrong(
        "a number among them", [1.0], TypeError, "must be a Diffusion, a sequence of them or None"
    ),
    Wrong(
        "of another field",
        Of(lambda w: pt.Diffusion(w.g, 0.1)),
        ValueError,
        "must change only carried fields, not",
    ),
)
_OUTFLOW = tuple(one._replace(words="=outflow " + one.words) for one in VALUES.wrong)
PRESETS = choice("default", "accurate", "positive")
OPERATORS_AT_HAND = {"advection": Of(lambda w: w.advection), "remesh": Of(lambda w: w.remesh)}
UNFORMED = {
    "advection": Of(lambda w: w.unsplit.advection),
    "remesh": Of(lambda w: w.unsplit.remesh),
}

STEPPERS = [
    *stepping("Splitting", lambda w: w.transport),
    Call(
        "Splitting.run (with a source)",
        lambda w: w.transport.run,
        {"until": Of(lambda w: w.transport.time + 0.1), "dt": 0.05},
        {},
        (
            Together(
                "no longest step",
                {"dt": None, "lcfl": 0.5},
                ValueError,
                "dt must be given with lcfl where there is a source, not None: it is the longest",
            ),
        ),
    ),
    Call(
        "Splitting.sweep",
        lambda w: w.transport.sweep,
        {"axis": 0, "dt": 0.05},
        {
            "axis": index(2).but("None"),
            "dt": REAL.also(Wrong("zero", 0.0, ValueError, "must not be zero")),
        },
        (
            Together("too long", {"dt": 1e3}, ValueError, "dt must be at most"),
            Together("too long, backwards", {"dt": -1e3}, ValueError, "dt must be at most"),
        ),
    ),
    Call(
        "Splitting.outflow",
        lambda w: lambda value: setattr(w.transport, "outflow", value),
        {"value": 0.0},
        {
            "value": Kind("finite values", _OUTFLOW).also(
                Wrong("NaN", NAN, ValueError, "=outflow must be finite, not nan"),
                Wrong(
                    "infinite", [INF, 0.0], ValueError, "=outflow must be finite, not [inf, 0.0]"
                ),
                Wrong(
                    "of another shape",
                    [1.0] * 3,
                    ValueError,
                    "=outflow must be of the shape (1, 2, 2)",
                ),
            )
        },
    ),
    Call(
        "Splitting",
        lambda w: pt.Splitting,
        OPERATORS_AT_HAND,
        {
            "advection": ADVECTION,
            "remesh": REMESH,
            "order": ORDER,
            "source": SOURCE,
            "diffusion": DIFFUSION,
            "time": REAL,
        },
        (
            Together(
                "steps back that diffusion cannot take",
                {"diffusion": Of(lambda w: w.diffusion), "order": 4},
                ValueError,
                "order must be 1 or 2 with diffusion, not 4",
            ),
        ),
    ),
    Call(
        "Splitting (nothing moves)",
        lambda w: pt.Splitting,
        {"source": Of(lambda w: w.source)},
        {"remesh": a("a RemeshOp").but("None"), "diffusion": DIFFUSION.but("of another field")},
        (
            Together(
                "what flows in is not said",
                {"source": None, "diffusion": Of(lambda w: pt.Diffusion(w.bounded, 0.1))},
                ValueError,
                "remesh must be given with its inflow, because the grid has inflow ends",
            ),
        ),
    ),
    Call(
        "Splitting.run (nothing moves)",
        lambda w: pt.Splitting(source=w.source).run,
        {"until": 0.1, "dt": 0.05},
        {},
        (
            Together(
                "no strain",
                {"dt": None, "lcfl": 0.5},
                ValueError,
                "lcfl must be None without a velocity",
            ),
        ),
    ),
    Call(
        "Splitting.sweep (nothing moves)",
        lambda w: pt.Splitting(diffusion=w.diffusion).sweep,
        {"axis": "diffusion", "dt": 0.05},
        {"dt": REAL.also(Wrong("zero", 0.0, ValueError, "must not be zero"))},
        (
            Together(
                "back", {"dt": -0.1}, ValueError, "dt must be positive, because diffusion cannot"
            ),
            Together(
                "an axis", {"axis": 0}, ValueError, "axis must be None or 'diffusion' without"
            ),
            Together("no source", {"axis": None}, ValueError, "axis must not be None (the source)"),
        ),
    ),
    Call(
        "Splitting.from_preset",
        lambda w: pt.Splitting.from_preset,
        {"preset": "default", "velocity": Of(lambda w: w.velocity), "fields": U},
        {
            "preset": PRESETS,
            "velocity": VELOCITY,
            "fields": FIELDS,
            "kernel": KERNEL.but("None"),
            "scheme": SCHEME.but("None"),
            "interpolation": INTERPOLATION,
            "limiter": LIMITER,
            "order": ORDER,
            "conservative": FLAG,
            "source": SOURCE,
            "diffusion": DIFFUSION,
            "time": REAL,
        },
        (
            Together(
                "an interpolation of a formula",
                {"velocity": Of(lambda w: w.wind), "interpolation": "cubic"},
                ValueError,
                "interpolation must not be given with a formula",
            ),
            Together(
                "inflow nowhere",
                {"inflow": 1.0},
                ValueError,
                "inflow must be None for a grid without inflow",
            ),
            Together(
                "another grid",
                {"velocity": Of(lambda w: pt.Field(w.other, 2))},
                ValueError,
                "grid must be of the velocity's box",
            ),
        ),
    ),
    Call(
        "Splitting.from_preset (with ends)",
        lambda w: pt.Splitting.from_preset,
        {
            "preset": "default",
            "velocity": Of(lambda w: pt.Field(ENDS, 2)),
            "fields": Of(lambda w: w.bounded),
            "inflow": 0.5,
        },
        {"inflow": INFLOW},
    ),
    Call(
        "Unsplit",
        lambda w: pt.Unsplit,
        UNFORMED,
        {"advection": ADVECTION, "remesh": REMESH, "time": REAL},
        (
            Together(
                "a form of a push",
                {"advection": Of(lambda w: w.advection)},
                ValueError,
                "advection must have no form",
            ),
            Together(
                "a form of a remeshing",
                {"remesh": Of(lambda w: w.remesh)},
                ValueError,
                "remesh must have no form",
            ),
            Together(
                "a limiter",
                {"remesh": Of(lambda w: pt.RemeshOp(w.u, limiter="positive"))},
                ValueError,
                "remesh must have no limiter for Unsplit, not 'positive'",
            ),
            Together(
                "values",
                {"remesh": Of(lambda w: pt.RemeshOp(w.u, conservative=False))},
                ValueError,
                "remesh must be conservative for Unsplit",
            ),
        ),
    ),
    *stepping("Unsplit", lambda w: w.unsplit),
    Call(
        "Tracers",
        lambda w: pt.Tracers,
        {"swarm": Of(lambda w: w.swarm), "velocity": Of(lambda w: w.velocity)},
        {
            "swarm": a("a ParticleSet"),
            "velocity": VELOCITY.also(
                Wrong(
                    "on another device",
                    Of(lambda w: w.foreign_velocity),
                    ValueError,
                    "must be on the set's device",
                ),
                Wrong(
                    "of another box",
                    Of(lambda w: pt.Field(pt.Grid((4, 6), extent=2), 2)),
                    ValueError,
                    "must be of the set's box, from (0.0, 0.0) over (1.0, 1.0), periodic, not",
                ),
                Wrong(
                    "between other ends",
                    Of(lambda w: pt.Field(pt.Grid((4, 6), boundary="wall"), 2)),
                    ValueError,
                    "must be of the set's box",
                ),
            ),
            "scheme": SCHEME,
            "kernel": KERNEL,
            "time": REAL,
        },
    ),
    *stepping("Tracers", lambda w: w.tracers, strains=False),
    Call(
        "memory",
        lambda w: pt.memory,
        {"grid": GRID},
        {
            "grid": a("a Grid"),
            "components": integer(1, 1024),
            "dtype": dtype(),
            "velocity": kind(
                "a velocity or its grid", TypeError, "must be a Velocity or a Grid", "None"
            ),
            "kernel": KERNEL,
            "limiter": LIMITER,
            "conservative": FLAG,
            "order": ORDER.but("None"),
            "device": DEVICE,
        },
        is_slow=True,
    ),
]
