# SPDX-License-Identifier: BSD-3-Clause
"""What is done to a set of particles, one thing after another, beside NumPy's arrays of the same."""

from functools import cache

import numpy as np
import particles as pt

from tests.trust.fuzz.choices import Choices

SHAPE = (3, 4)
NUMBERS = (
    0.0, 0.25, 1.0, -0.5, 0.999999999, 7.5, -1e-20, 1e9, -1e30, np.nan, np.inf, -np.inf, 5e-324,
)  # fmt: skip
NAMES = ("a", "a", "a", "b", "b", "b", "tag", "sort", "x", "", "_a", "lambda", None, 1)
DTYPES = ("float32", "float64", "int64", "bool", "uint8", "float16", "float32", "int16", "S1", "O")
MOST = 40  # particles
REFUSALS = (TypeError, ValueError, KeyError)


@cache
def grids():
    """A box without ends and one with them."""
    return pt.Grid(SHAPE), pt.Grid(SHAPE, boundary=["wall", "outflow"])


def run(data):
    choose = Choices(data)
    grid = choose.pick(grids())
    swarm = pt.ParticleSet(grid, [[0.1, 0.2], [0.6, 0.7]], tag=np.arange(2))
    known = {"tag": np.arange(2)}
    number = 2  # of the next particle that is new
    while choose.are_left:
        before, version = digest(swarm), swarm.version
        try:
            known, number = choose.pick(CHANGES)(choose, swarm, dict(known), number)
        except REFUSALS as error:
            assert 0 < len(str(error)) < 2000  # noqa: PT017
            assert (digest(swarm), swarm.version) == (before, version)
            continue
        check(swarm, known)


def check(swarm, known):
    """All is where its number is; a field receives all of it."""
    assert {*swarm.attributes} == {*known}
    assert len(swarm) == len(known["tag"])
    order = np.argsort(known["tag"])
    tags = swarm["tag"].get()
    assert np.array_equal(np.sort(tags), known["tag"][order])
    for name, values in known.items():
        found = swarm[name].get()[np.argsort(tags)]
        assert found.tobytes() == values[order].tobytes()
    positions = swarm.positions.get()
    assert ((positions >= 0) & (positions <= 1)).all()
    assert (swarm.turns == 0).all() or "periodic" in swarm.grid.boundary


def digest(swarm):
    values = [(name, one.dtype, one.get().tobytes()) for name, one in swarm.attributes.items()]
    return values, swarm.positions.get().tobytes(), swarm.turns.tobytes(), swarm.left.tolist()


def values(choose, count):
    """An array that may be no attribute."""
    count += choose.pick((0, 0, 0, 1))
    shape = choose.pick(((count,), (count, 2), (count, 1), (count, 5), ()))
    dtype = np.dtype(choose.pick(DTYPES))
    made = np.zeros(shape, dtype)
    if dtype.kind in "fiub":
        with np.errstate(all="ignore"):
            made.flat[:] = choose.below(200)
            made.flat[:1] = np.nan_to_num(choose.pick(NUMBERS), posinf=1, neginf=0) % 100
    return made


def assign(choose, swarm, known, number):
    name, made = choose.pick(NAMES), values(choose, len(swarm))
    if name == "tag":
        raise ValueError("it says which particle is which")
    swarm[name] = made
    return known | {name: of_known(made, swarm, known)}, number


def of_known(values, swarm, known):
    """Values in the set's order, as NumPy has the particles."""
    in_order = values[np.argsort(swarm["tag"].get())]
    return in_order[np.argsort(np.argsort(known["tag"]))]


def delete(choose, swarm, known, number):
    name = choose.pick(("a", "b", "x", None))
    del swarm[name]
    del known[name]
    return known, number


def place(choose, swarm, known, number):
    at, axis = choose.below(MOST), choose.below(2)
    if at >= len(swarm):
        at = slice(at, None)
    swarm.positions[at, axis] = choose.pick(NUMBERS)
    return known, number


def put_by_tag(choose, swarm, known, number):
    places = np.full((len(swarm), 2), 0.5)
    places[:1] = choose.pick(NUMBERS), choose.pick(NUMBERS)
    swarm.set("position", places, by=choose.pick(("tag", "a")))
    return known, number


def add(choose, swarm, known, number):
    count = min(choose.below(8), MOST - len(swarm))
    places = np.full((count, 2), 0.5)
    places[:1] = choose.pick(NUMBERS), choose.pick(NUMBERS)
    grid = grids()[0] if "periodic" in swarm.grid.boundary else grids()[1]
    more = {name: np.zeros((count, *one.shape[1:]), one.dtype) for name, one in known.items()}
    more["tag"] = number + np.arange(count)
    if choose.below(4) == 3:
        more["other"] = np.zeros(count)
    swarm.add(pt.ParticleSet(grid, places, **more))
    return {name: np.concatenate([one, more[name]]) for name, one in known.items()}, number + count


def remove(choose, swarm, known, number):
    least = choose.below(MOST)
    if choose.below(2):
        swarm.remove(lambda p: p.tag >= least)
    else:
        swarm.remove(swarm["tag"].get() >= least)
    stay = known["tag"] < least
    return {name: one[stay] for name, one in known.items()}, number


def sort(choose, swarm, known, number):
    before = swarm["tag"].get()
    order = swarm.sort(choose.pick(("row", "cell", "x", None)), permutation=True)
    assert np.array_equal(before[order.get()], swarm["tag"].get())
    return known, number


def move(choose, swarm, known, number):
    """By numbers; those that leave are counted."""
    by = choose.pick(NUMBERS), choose.pick(NUMBERS)
    count, left = len(swarm), swarm.left.sum()
    swarm.update(
        lambda p, u, v: {"position": p.position + np.array([u, v], object)}, u=by[0], v=by[1]
    )
    assert count - len(swarm) == swarm.left.sum() - left
    stay = np.isin(known["tag"], swarm["tag"].get())
    return {name: one[stay] for name, one in known.items()}, number


def exchange(choose, swarm, known, number):
    """Give to a field what there is, and sample it."""
    name = choose.pick(("a", "b", "tag"))
    its = swarm[name]
    field = pt.Field(swarm.grid, its.components, "float64")
    kernel = choose.pick(("L1", "M'6"))
    pt.ParticlesToGrid(swarm, name, field, kernel, order=choose.pick((None, "canonical"))).apply()
    given = its.get().astype(float)
    assert np.isclose(field.get().sum(), given.sum(), rtol=1e-9, atol=1e-9 * np.abs(given).sum())
    sampled = f"sampled{its.components}"
    pt.GridToParticles(field, swarm, sampled, kernel).apply()
    known[sampled] = of_known(swarm[sampled].get(), swarm, known)
    assert np.isfinite(known[sampled]).all()
    return known, number


CHANGES = (assign, delete, place, put_by_tag, add, remove, sort, move, exchange)
