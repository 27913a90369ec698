# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on one rank with a set of all: all raise it alike, and the set stays as it was.

``python -m tests.sets.rank_failures <rank>``
"""

import sys

import numpy as np
import particles as pt
import pytest

chosen = int(sys.argv[1])
grid = pt.Grid((12, 8), boundary=["outflow", "periodic"], comm="world")
is_chosen = grid.ranks.rank == chosen


def raised(kind, words, call):
    """All raise it."""
    with pytest.raises(kind, match=words):
        call()


def made(number=30):
    given = {"mass": np.ones(number, "float32"), "tag": np.arange(number)}
    given["same"] = np.zeros(number, "int32")
    return pt.ParticleSet.random(grid, number, seed=5, **given)


def broken():
    raise ArithmeticError("on one rank")


def bad(value, otherwise):
    """Return a value on one rank, another one elsewhere."""
    return value if is_chosen else otherwise


def seen(swarm):
    """Return what is known of one's own particles."""
    columns = [swarm.positions.get(), *(one.get() for one in swarm.attributes.values())]
    return [*columns, swarm.turns, swarm.left, swarm.total]


places = np.full((3, 2), 0.5)
raised(
    ValueError,
    "positions must be within the box",
    lambda: pt.ParticleSet(grid, places * bad(3.0, 1.0)),
)
raised(ValueError, "mass must be one", lambda: pt.ParticleSet(grid, places, mass=[1] * bad(2, 3)))
raised(
    RuntimeError,
    "all ranks must do the same",
    lambda: pt.ParticleSet(grid, places, mass=np.ones(3, bad("float32", "float64"))),
)
raised(
    RuntimeError,
    "all ranks must do the same",
    lambda: pt.ParticleSet.random(grid, 5, seed=bad(1, 2)),
)
raised(TypeError, "seed must be", lambda: pt.ParticleSet.random(grid, 5, seed=bad("1", 2)))
raised(ValueError, "tag must be", lambda: pt.ParticleSet.lattice(grid, tag=[1] * bad(3, 96)))
large = pt.ParticleSet.random(grid, 30, seed=5, q=np.zeros(30))
large["q"][0] = bad(np.inf, -np.inf)
assert np.isnan(large["q"].sum())
large["q"][0] = 1e308
assert large["q"].sum() == np.inf
swarm, other = made(), pt.ParticleSet(grid, places)
before = seen(swarm)
refusing = pt.ParticleSet.random(grid, 30, seed=5, leaving="refuse", mass=np.ones(30, "float32"))
kept = seen(refusing)
alone = pt.ParticleSet(
    grid.whole, places, mass=np.ones(3, "float32"), tag=np.arange(3), same=np.zeros(3, "int32")
)
size = len(swarm)
field = pt.Field(grid)
for kind, words, call in (
    (ArithmeticError, "on one rank", lambda: swarm.update(lambda p: broken() if is_chosen else {})),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: swarm.update(lambda p, dt: {}, dt=bad(1.0, 2.0)),
    ),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: swarm.update(lambda p: {"mass": p.mass} | bad({}, {"position": p.position})),
    ),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: pt.ParticlesToGrid(swarm, "mass", field, bad("L1", "M'6")).apply(),
    ),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: pt.GridToParticles(
            pt.Field(grid, 1, bad("float32", "float16")), swarm, "v"
        ).apply(),
    ),
    (
        ValueError,
        "finite positions",
        lambda: swarm.update(lambda p: {"position": p.position + bad(1e30, 0.01)}),
    ),
    (
        ValueError,
        "would leave it",
        lambda: refusing.update(lambda p: {"position": p.position + np.array([bad(2.0, 0), 0.0])}),
    ),
    (ValueError, "where must be one", lambda: swarm.remove(np.zeros(bad(size + 1, size), bool))),
    (RuntimeError, "all ranks must do the same", lambda: swarm.sort(by=bad("cell", "row"))),
    (ValueError, "mass must be", lambda: swarm.__setitem__("mass", np.ones(bad(size + 1, size)))),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: swarm.__setitem__("q", np.ones(size, bad("float32", "float64"))),
    ),
    (RuntimeError, "all ranks must do the same", lambda: swarm.__delitem__(bad("q", "mass"))),
    (ValueError, "the same attributes", lambda: swarm.add(other)),
    (ValueError, "must have the same ranks", lambda: swarm.add(alone)),
    (
        ValueError,
        "positions must be within",
        lambda: swarm.set("position", np.full((size, 2), bad(9.0, 0.5)), by="tag"),
    ),
    (ValueError, "differs for each", lambda: swarm.gather("position", by="same")),
    (RuntimeError, "all ranks must do the same", lambda: swarm.gather(bad("tag", "mass"))),
    (
        RuntimeError,
        "all ranks must do the same",
        lambda: (swarm["mass"].sum if is_chosen else swarm["mass"].max)(),
    ),
):
    raised(kind, words, call)
    for one, was in (swarm, before), (refusing, kept):
        for found, known in zip(seen(one), was, strict=True):
            assert np.array_equal(found, known), words
print("done", flush=True)
