# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import GRID, Call, Together
from tests.trust.bad_kinds import (
    DEVICE,
    FLAG,
    INF,
    NAME,
    NAN,
    REAL,
    STRANGERS,
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
)
from tests.trust.bad_world import ENDS

PLACES = [[0.1, 0.2], [0.6, 0.7]]
_SHAPE = "must have the shape (N, 2), one row for each particle, not "
POSITIONS = VALUES.also(
    Wrong("a number", 0.5, ValueError, _SHAPE + "()"),
    Wrong("one particle", [0.5, 0.5], ValueError, _SHAPE + "(2,)"),
    Wrong("of three axes", np.zeros((2, 3)), ValueError, _SHAPE + "(2, 3)"),
    Wrong("NaN", [[0.5, NAN], [0, 0]], ValueError, "must be finite, not (0.5, nan) of particle 0"),
    Wrong("infinite", [[0, 0], [INF, 0]], ValueError, "must be finite, not (inf, 0.0) of particle"),
    Wrong(
        "too far away",
        [[1e300, 0], [0, 0]],
        ValueError,
        "must be at most 2^31 boxes away along x, not (1e+300",
    ),
)
_COLUMN = "=mass must be one number, or a row of 2 to 4, for each of 2 particles, not of the shape "
_KINDS = "=mass must be of float16, float32, float64, bool, uint8, int32, uint32, int64 or uint64"
COLUMN = Kind(
    "values of an attribute",
    (
        Wrong("a number", 0.5, ValueError, _COLUMN + "()"),
        Wrong("too few", [1.0], ValueError, _COLUMN + "(1,)"),
        Wrong("of five components", np.ones((2, 5)), ValueError, _COLUMN + "(2, 5)"),
        Wrong("of one component", np.ones((2, 1)), ValueError, _COLUMN + "(2, 1)"),
        Wrong("of three axes", np.ones((2, 2, 2)), ValueError, _COLUMN + "(2, 2, 2)"),
        Wrong("complex", np.ones(2, complex), TypeError, _KINDS + ", not dtype('complex128')"),
        Wrong("of int16", np.ones(2, "int16"), TypeError, _KINDS + ", not dtype('int16')"),
        Wrong("texts", np.array(["1", "2"]), TypeError, _KINDS),
        Wrong("objects", np.array([1.0, None]), TypeError, _KINDS),
        Wrong("a ragged list", [[1.0], [1.0, 2.0]], TypeError, "=mass must be real numbers in"),
        Wrong("an object that raises", STRANGERS["an object that raises"], TypeError, "=mass must"),
        Wrong("an array of another length", Of(lambda w: w.masses), ValueError, _COLUMN + "(4,)"),
    ),
)
NEW_NAME = kind("a name", TypeError, "must be the name of an attribute, not {}", "a text").also(
    *(
        Wrong(f"{name!r}", name, ValueError, "must be a valid Python name that does not")
        for name in ("", "1st", "two words", "lambda", "_mass")
    ),
    *(
        Wrong(
            f"{name!r}",
            name,
            ValueError,
            f"must not be {name!r}, which a set uses itself",
        )
        for name in ("sort", "x", "position", "positions", "dtype", "version", "self")
    ),
)


def named(argument, error, *besides):
    """A name of an attribute that there is."""
    has = ", ".join(("mass", "tag", "dark", *besides))
    words = f"must name an attribute that the set has ({has}), not "
    return kind("a name", TypeError, "must be the name of an attribute, not {}", "a text").also(
        Wrong("of none", "mas", error, f"{words}'mas'"),
        Wrong("empty", "", error, f"{words}''"),
        *(() if besides else (Wrong("of positions", "position", error, words),)),
    )


_BY = "must name an attribute of one component of int32, uint32, int64 or uint64, not "
BY = named("by", ValueError).also(
    Wrong("of real numbers", "mass", TypeError, _BY + "mass, which is float32 of the shape (2,)"),
    Wrong("of truth values", "dark", TypeError, _BY + "dark, which is bool of the shape (2,)"),
)
_WHERE = "must be one truth value for each of 2 particles, or a condition as lambda p: p.x > 0, not"
WHERE = Kind(
    "what is removed",
    (
        Wrong("numbers", [1.0, 0.0], TypeError, f"{_WHERE} float64 of the shape (2,)"),
        Wrong("their places", [0, 1], TypeError, f"{_WHERE} int64 of the shape (2,)"),
        Wrong("one alone", True, ValueError, f"{_WHERE} bool of the shape ()"),
        Wrong("too few", [True], ValueError, f"{_WHERE} bool of the shape (1,)"),
        Wrong("None", None, TypeError, f"{_WHERE} object of the shape ()"),
        Wrong("a text", "dark", TypeError, _WHERE),
        Wrong("a number of each", lambda p: p.x, TypeError, "must return a condition, as p.x > 0"),
        Wrong(
            "no particle",
            lambda: True,
            TypeError,
            "must take a particle first, as lambda p: ..., not ()",
        ),
        Wrong(
            "any numbers",
            lambda **kw: True,
            TypeError,
            "must take a particle first, as lambda p: ..., not (**kw)",
        ),
        Wrong("two", lambda p, q: p.dark, TypeError, "takes q, so give a number q= with it"),
        Wrong(
            "no such attribute", lambda p: p.mas > 0, AttributeError, "{name}: a particle has no"
        ),
        Wrong("decides", lambda p: p.x > 0 and p.dark, TypeError, "{name}: a formula is evaluated"),
    ),
)
FORMULA = Kind(
    "a formula",
    (
        *(
            Wrong(what, value, TypeError, "must be a function of a particle, not {}")
            for what, value in STRANGERS.items()
        ),
        Wrong(
            "of nothing", lambda: None, TypeError, "must take a particle first, as lambda p: ..."
        ),
        Wrong(
            "of names alone", lambda *, p: {}, TypeError, "must take a particle first, as lambda"
        ),
        Wrong("of a ufunc", np.sin, TypeError, "must be a function of a particle, not"),
        Wrong(
            "a value",
            lambda p, dt: p.mass,
            TypeError,
            'must return a dict, as {"mass": 2 * p.mass}, not',
        ),
        Wrong(
            "the particle",
            lambda p, dt: p,
            TypeError,
            'must return a dict, as {"mass": 2 * p.mass}, not a particle',
        ),
        Wrong(
            "of what is not given",
            lambda p, dt, g: {},
            TypeError,
            "takes g, so give a number g= with it",
        ),
        Wrong("without dt", lambda p: {}, TypeError, "must take dt, because a number dt= is given"),
        Wrong(
            "of a new attribute",
            lambda p, dt: {"mas": p.mass},
            ValueError,
            "must name an attribute that the set has (mass, tag, dark, position), not 'mas': make it "
            'first, by swarm["mas"] = ...',
        ),
        Wrong(
            "of a coordinate",
            lambda p, dt: {"x": p.x},
            ValueError,
            "must name an attribute that the set has (mass, tag, dark, position), not 'x'",
        ),
        Wrong(
            "under a number", lambda p, dt: {1: p.mass}, TypeError, "must be the name of an attr"
        ),
        Wrong("too many", lambda p, dt: {"mass": (p.mass, 1)}, ValueError, "must return 1 comp"),
        Wrong(
            "of one axis",
            lambda p, dt: {"position": p.x},
            ValueError,
            "must return 2 components for position, not 1",
        ),
        Wrong(
            "a text", lambda p, dt: {"mass": "m"}, TypeError, "{name}, mass: a formula is made of"
        ),
        Wrong(
            "NaN", lambda p, dt: {"mass": NAN}, ValueError, "{name}, mass: a formula cannot conta"
        ),
        Wrong("decides", lambda p, dt: {"mass": max(p.mass, 1)}, TypeError, "{name}: a formula is"),
        Wrong(
            "assigns",
            lambda p, dt: setattr(p, "mass", 1),
            AttributeError,
            '{name}: mass cannot be assigned to: return {"mass": ...}',
        ),
        Wrong(
            "of other components",
            lambda p, dt: {"position": p.position + np.arange(3)},
            ValueError,
            "{name}: there are 2 components, not 3",
        ),
        Wrong(
            "away",
            lambda p, dt: {"position": p.position + 1e30},
            ValueError,
            "must give finite positions, within 10^9 cells, but particle 0 at (",
        ),
    ),
)
OTHER = a("a ParticleSet").also(
    Wrong(
        "without an attribute",
        Of(lambda w: pt.ParticleSet(w.grid, PLACES)),
        ValueError,
        "must have the same attributes, but has no mass",
    ),
    Wrong(
        "with one more attribute",
        Of(lambda w: with_more(w.grid)),
        ValueError,
        "must have the same attributes, but also has more",
    ),
    Wrong(
        "of another dtype",
        Of(lambda w: pt.ParticleSet(w.grid, PLACES, mass=[1, 2], tag=[1, 2], dark=[True, False])),
        ValueError,
        "must have the same attributes, but mass is int64 and not float32",
    ),
    Wrong(
        "in another box",
        Of(lambda w: swarm_in(pt.Grid((4, 6), extent=2))),
        ValueError,
        "must have the same box, not ((0.0, 0.0), (2.0, 2.0)",
    ),
    Wrong(
        "on another device",
        Of(lambda w: swarm_in(w.grid, w.foreign.device)),
        ValueError,
        "must have the same device, not",
    ),
)


def swarm_in(grid, device=None):
    """A small set with attributes."""
    return pt.ParticleSet(
        grid,
        PLACES,
        device=device,
        mass=np.float32([1, 2]),
        tag=np.array([7, 5]),
        dark=np.array([True, False]),
    )


def with_more(grid):
    """The same with one attribute more."""
    swarm = swarm_in(grid)
    swarm["more"] = np.ones(2)
    return swarm


MADE = {
    "grid": a("a Grid"),
    "dtype": dtype("float32 or float64").but("None"),
    "leaving": choice("remove", "refuse"),
    "device": DEVICE,
    "name": NAME,
}

SETS = [
    Call(
        "ParticleSet",
        lambda w: (
            lambda grid, positions, attributes=(1.0, 2.0), **options: pt.ParticleSet(
                grid, positions, mass=attributes, **options
            )
        ),
        {"grid": GRID, "positions": PLACES},
        {**MADE, "positions": POSITIONS, "attributes": COLUMN},
        (
            Together(
                "beyond a wall",
                {"grid": ENDS, "positions": [[0.5, 0.5], [0.5, 1.001]]},
                ValueError,
                "positions must be within the box, x from 0.0 to 1.0, y from 0.0 to 1.0, not "
                "(0.5, 1.001) of particle 1",
            ),
            Together(
                "beyond an open end",
                {"grid": ENDS, "positions": [[-1e-9, 0.5], [0.5, 0.5]]},
                ValueError,
                "positions must be within the box",
            ),
        ),
    ),
    Call(
        "ParticleSet.random",
        lambda w: (
            lambda grid, n, seed, attributes=(1.0, 2.0), **options: pt.ParticleSet.random(
                grid, n, seed=seed, mass=attributes, **options
            )
        ),
        {"grid": GRID, "n": 2, "seed": 1},
        {**MADE, "n": integer(0), "seed": integer(0), "attributes": COLUMN},
    ),
    Call(
        "ParticleSet.lattice",
        lambda w: (
            lambda grid, attributes=(1.0, 2.0), **options: pt.ParticleSet.lattice(
                grid, mass=attributes, **options
            )
        ),
        {"grid": Of(lambda w: pt.Grid((1, 2)))},
        {
            **MADE,
            "per_cell": Kind(
                "numbers of particles",
                (
                    Wrong("zero", 0, ValueError, "must be at least 1, not 0"),
                    Wrong("a fraction", 1.5, TypeError, "must be an integer, not 1.5"),
                    Wrong("None", None, TypeError, "must be an integer, not None"),
                    Wrong("one in a list", [1], ValueError, "must have one number for each of 2"),
                    Wrong("too many", 2**30, ValueError, "must make at most 1099511627776 partic"),
                ),
            ),
            "attributes": COLUMN,
        },
    ),
    Call(
        "ParticleSet.name",
        lambda w: lambda value: setattr(w.swarm, "name", value),
        {"value": "m"},
        {"value": Kind(NAME.name, tuple(w._replace(words=f"=name {w.words}") for w in NAME.wrong))},
    ),
    Call(
        "ParticleSet.__getitem__",
        lambda w: w.swarm.__getitem__,
        {"name": "mass"},
        {"name": named("name", KeyError)},
    ),
    Call(
        "ParticleSet.__setitem__",
        lambda w: swarm_in(w.grid).__setitem__,
        {"name": "mass", "values": [1.0, 2.0]},
        {"name": NEW_NAME, "values": COLUMN},
    ),
    Call(
        "ParticleSet.add",
        lambda w: swarm_in(w.grid).add,
        {"other": Of(lambda w: w.swarm)},
        {"other": OTHER},
    ),
    Call(
        "ParticleSet.remove",
        lambda w: swarm_in(w.grid).remove,
        {"where": [True, False]},
        {"where": WHERE},
    ),
    Call(
        "ParticleSet.sort",
        lambda w: w.swarm.sort,
        {"by": "cell"},
        {"by": choice("row", "cell"), "permutation": FLAG},
    ),
    Call(
        "ParticleSet.get",
        lambda w: w.swarm.get,
        {"name": "mass", "by": "tag"},
        {"name": named("name", ValueError, "position", "turns"), "by": BY},
    ),
    Call(
        "ParticleSet.gather",
        lambda w: w.swarm.gather,
        {"name": "mass"},
        {
            "name": named("name", ValueError, "position", "turns"),
            "by": BY.but("None"),
            "root": index(1),
        },
    ),
    Call(
        "ParticleSet.set",
        lambda w: w.swarm.set,
        {"name": "mass", "values": [1.0, 2.0], "by": "tag"},
        {
            "name": named("name", ValueError, "position"),
            "values": VALUES.also(
                Wrong("too few", [1.0], ValueError, "must have the shape (2,), not (1,)"),
            ),
            "by": BY,
        },
    ),
    Call(
        "ParticleSet.update",
        lambda w: lambda formula, numbers=1.0: w.swarm.update(formula, dt=numbers),
        {"formula": lambda p, dt: {"mass": p.mass + dt}},
        {
            "formula": FORMULA,
            "numbers": Kind(
                "a number", tuple(w._replace(words=f"=dt {w.words}") for w in REAL.wrong)
            ),
        },
    ),
]
