# SPDX-License-Identifier: BSD-3-Clause
"""What `Splitting`, `Unsplit` and `Tracers` have in common: right calls, and what is wrong in them."""

from tests.trust.bad_calls import Call, Together, beside
from tests.trust.bad_kinds import (
    NAN,
    OPTIONAL_FLAG,
    POSITIVE,
    REAL,
    Kind,
    Of,
    Wrong,
    integer,
    kind,
)

TIME = Kind("a time", tuple(one._replace(words="=time " + one.words) for one in REAL.wrong))
UNTIL = REAL.also(Wrong("in the past", -1.0, ValueError, "must not be before the present time 0.0"))
_LCFL = "must be above 0 and at most 0.9, not {}"
LCFL = REAL.but("None").also(
    Wrong("zero", 0.0, ValueError, _LCFL),
    Wrong("negative", -0.5, ValueError, _LCFL),
    Wrong("one", 1.0, ValueError, _LCFL),
    Wrong("a little too large", 0.9000001, ValueError, _LCFL),
)

CALLBACK = kind("a function", TypeError, "must be callable, not {}", "None", "a class")
CHECK = kind("when to look", ValueError, 'must be "step", "end" or None, not {}', "None")
AT = kind(
    "times",
    TypeError,
    "must be a sequence of times, not {}",
    "None",
    "a list",
    "an array",
    "a dict",
).also(
    Wrong("in the past", [-1.0], ValueError, "must be from the present time"),
    Wrong("after the end", [1e9], ValueError, "must be from the present time"),
    Wrong("NaN", [NAN], ValueError, "must be finite, not nan"),
    Wrong("of texts", ["1"], TypeError, "must be a number, not '1'"),
)


RUNS = (
    Together("every alone", {"every": 1}, TypeError, "every and at say when to call"),
    Together("a callback alone", {"callback": print}, TypeError, "a callback needs one of"),
    Together(
        "every and at",
        {"callback": print, "every": 1, "at": [1.0]},
        TypeError,
        "a callback needs one of every and at, not every=1 and at=[1.0]",
    ),
    *beside("every", integer(1).but("None"), callback=print),
    *beside("at", AT, callback=print),
    Together("neither", {"dt": None}, TypeError, "run needs dt, lcfl or both, not dt=None"),
    *(
        Together(
            what,
            {"until": until, "dt": dt},
            ValueError,
            "dt must be large enough to change the time",
        )
        for what, until, dt in (
            ("too many", 1.0, 1e-17),
            ("endless", 1.0, 5e-324),
            ("endless", 1e300, 0.05),
        )
    ),
    *beside("lcfl", LCFL, dt=None),
)


STRAINING = Wrong("straining too much", 1e3, ValueError, "=dt must be at most")
TOO_LONG = Together("too long", {"until": 1e6, "dt": 1e3}, ValueError, "dt must be at most")


def stepping(name, transport, *, strains=True):
    """Return the calls of a class, an object of which is made by `transport`.

    Its steps may strain what they carry too much.
    """
    step = POSITIVE.also(STRAINING) if strains else POSITIVE
    return [
        Call(
            f"{name}.time",
            lambda w: lambda value: setattr(transport(w), "time", value),
            {"value": Of(lambda w: transport(w).time)},
            {"value": TIME},
        ),
        Call(f"{name}.lcfl", lambda w: transport(w).lcfl, {"dt": 0.1}, {"dt": POSITIVE}),
        Call(f"{name}.step", lambda w: transport(w).step, {"dt": 0.05}, {"dt": step}),
        Call(
            f"{name}.run",
            lambda w: transport(w).run,
            {"until": Of(lambda w: transport(w).time + 0.1), "dt": 0.05},
            {
                "until": UNTIL,
                "dt": POSITIVE.but("None"),
                "progress": OPTIONAL_FLAG,
                "callback": CALLBACK,
                "check": CHECK,
            },
            (*RUNS, TOO_LONG) if strains else RUNS,
        ),
    ]
