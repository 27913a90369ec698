# SPDX-License-Identifier: BSD-3-Clause
"""Between particles and grid: right calls, and what is wrong in them."""

import numpy as np
import particles as pt

from tests.trust.bad_calls import Call, Together, U
from tests.trust.bad_kinds import FLAG, KERNEL, Of, Wrong, a, choice, kind
from tests.trust.bad_sets import NEW_NAME, PLACES, named

SWARM = Of(lambda w: w.swarm)
SET = a("a ParticleSet")
_FIELDS = "must be a Field or a sequence of them, not "
_BOX = "must be of the set's box, from (0.0, 0.0) over (1.0, 1.0), periodic, not "
FIELD = (
    kind("what is sampled or given to", TypeError, _FIELDS + "{}", "a text", "a list")
    .but("bytes")
    .also(
        Wrong("none", [], TypeError, _FIELDS + "[]"),
        Wrong("a number among them", [1.0], TypeError, _FIELDS + "1.0 in it"),
        Wrong("two for one name", Of(lambda w: [w.u, w.w]), ValueError, "=name must be as many na"),
        Wrong("of another box", Of(lambda w: w.elsewhere), ValueError, _BOX),
        Wrong("of other ends", Of(lambda w: w.bounded), ValueError, _BOX),
        Wrong("of three axes", Of(lambda w: w.cube), ValueError, _BOX),
        Wrong("on another device", Of(lambda w: w.foreign), ValueError, "must be on the set's dev"),
        Wrong(
            "of two components",
            Of(lambda w: w.velocity),
            ValueError,
            "=name must be of attributes with as many components as their fields, but mass has 1 "
            "and field 'a' 2",
        ),
    )
)
_NAME = "must be the name of an attribute or a sequence of them, not "
NAMES = (
    Wrong("none", [], TypeError, _NAME + "[]"),
    Wrong(
        "two for one field", ["mass", "tag"], ValueError, "must be as many names as there are fi"
    ),
)


def names(one):
    """One name or several, of which one may be wrong."""
    wrong = [
        Wrong(w.what, w.value, TypeError, _NAME) if w.error is TypeError else w for w in one.wrong
    ]
    return one._replace(name=f"{one.name}, or several", wrong=tuple(wrong)).also(*NAMES)


INTERPOLATION = [
    Call(
        "GridToParticles",
        lambda w: pt.GridToParticles,
        {"field": U, "swarm": SWARM, "name": "mass"},
        {
            "field": FIELD.also(
                Wrong(
                    "of five components",
                    Of(lambda w: pt.Field(w.grid, 5)),
                    ValueError,
                    "must have at most 4 components, as attributes have, not 5",
                )
            ),
            "swarm": SET,
            "name": names(NEW_NAME).also(
                Wrong(
                    "of integers",
                    "tag",
                    TypeError,
                    "must be of attributes of real numbers, but tag is of int64",
                )
            ),
            "kernel": KERNEL,
        },
        (
            Together(
                "one attribute twice",
                {"field": Of(lambda w: [w.u, w.w]), "name": ["new", "new"]},
                ValueError,
                "name must be of different attributes, not ('new', 'new')",
            ),
        ),
    ),
    Call(
        "ParticlesToGrid",
        lambda w: pt.ParticlesToGrid,
        {"swarm": SWARM, "name": "mass", "field": U},
        {
            "swarm": SET,
            "name": names(named("name", ValueError)),
            "field": FIELD,
            "kernel": KERNEL,
            "order": choice("canonical", end='must be "canonical" or None, not {}').but("None"),
        },
        (
            Together(
                "overlapping fields",
                {"field": Of(lambda w: [w.u, w.u]), "name": ["mass", "tag"]},
                ValueError,
                "field must be fields in memory of their own, but two of them overlap",
            ),
        ),
    ),
    Call(
        "GridToParticles.apply",
        lambda w: pt.GridToParticles(w.u, own(w), "mass").apply,
        {},
        {"add": FLAG},
    ),
    Call(
        "ParticlesToGrid.apply",
        lambda w: pt.ParticlesToGrid(own(w), "mass", w.changed).apply,
        {},
        {"add": FLAG},
    ),
]


def own(world):
    """A set that nothing else has."""
    return pt.ParticleSet(world.grid, PLACES, mass=np.float32([1, 2]))
