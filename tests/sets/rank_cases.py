# SPDX-License-Identifier: BSD-3-Clause
"""Sets on a grid that is divided, in drawn cases: prints what must not depend on the ranks.

``python -m tests.sets.rank_cases <device> <seed> <cases>``; comm is given where a launcher has
started it.
"""

import hashlib
import os
import random
import sys

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of

COMM = "world" if "PMI_SIZE" in os.environ else None
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"
RANKS = int(os.environ.get("PMI_SIZE", "1"))


def drawn(lot):
    ndim = lot.choice((1, 2, 2, 3))
    shape = (lot.choice((4, 5, 7, 13, 37, 1100 if ndim < 3 else 9)),)
    shape += tuple(lot.choice((1, 3, 8, 300 if ndim == 2 else 17)) for _ in range(ndim - 1))
    return {
        "shape": shape,
        "boundary": [lot.choice(("periodic", "wall", ("wall", "outflow"))) for _ in shape],
        "origin": lot.uniform(-2, 2),
        "extent": lot.uniform(0.1, 5),
        "dtype": lot.choice(("float32", "float64")),
        "real": lot.choice(("float16", "float32", "float64")),
        "integer": lot.choice(("int32", "uint64", "int64")),
        "number": lot.choice((0, 1, 50, 700)),
        "made": lot.choice(("random", "positions", "lattice")),
        "by": lot.choice(("row", "cell")),
        "seed": lot.randrange(10**6),
    }


def attributes_of(case, number):
    rng = np.random.default_rng(case["seed"])
    return {
        "mass": (1 + rng.random(number)).astype(case["real"]),
        "tag": rng.permutation(number).astype(case["integer"]),
        "dark": rng.random(number) < 0.5,
        "v": (rng.random((number, 3)) - 0.5).astype("float32"),
    }


def made(case, grid, device):
    """Return a set: drawn, of positions that ranks give for any places, or on a lattice."""
    options = {"dtype": case["dtype"], "device": device}
    if case["made"] == "lattice":
        per_cell = 2 if grid.whole.size < 300 else 1
        number = grid.whole.size * per_cell**grid.ndim
        given = attributes_of(case, number)
        return pt.ParticleSet.lattice(grid, per_cell=per_cell, **options, **given)
    number = case["number"]
    given = attributes_of(case, number)
    if case["made"] == "random":
        return pt.ParticleSet.random(grid, number, seed=case["seed"], **options, **given)
    positions = np.random.default_rng(1).random((number, grid.ndim)) * grid.extent + grid.origin
    own = slice(0, number)
    if grid.ranks is not None:  # those of rank 1 are none
        ends = [0, *(number * k // (grid.ranks.size - 1) for k in range(1, grid.ranks.size))]
        ends.insert(1, ends[1])
        own = slice(ends[grid.ranks.rank], ends[grid.ranks.rank + 1])
    return pt.ParticleSet(
        grid, positions[own], **options, **{name: one[own] for name, one in given.items()}
    )


def state(swarm):
    """Return what all particles are, on rank 0."""
    columns = [swarm.gather(name) for name in ("position", "turns", *swarm.attributes)]
    assert swarm.total >= len(swarm)
    if swarm.grid.ranks is not None:
        cells = (swarm.positions.get()[:, 0] - swarm.grid.origin[0]) / swarm.grid.spacing[0]
        own = swarm.grid.begin[0] - 1e-6, swarm.grid.begin[0] + swarm.grid.shape[0] + 1e-6
        assert ((cells > own[0]) & (cells < own[1])).all()
    if not IS_FIRST:
        return None
    kinds = [one.dtype.name for one in columns]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(one) for one in columns)).hexdigest()
    return digest, kinds, swarm.total, swarm.left.tolist()


def moved(swarm, by):
    """Move all, most of them to other ranks in some cases."""
    axes, extent = swarm.grid.ndim, swarm.grid.extent

    def formula(p, dt):
        steps = [p.v[k] * float(extent[k]) * dt for k in range(axes)]
        return {
            "position": p.position + (steps if axes > 1 else steps[0]),
            "mass": p.mass * 1.25 + p.x,
        }

    swarm.update(formula, dt=by)


def results(case, device):
    options = {"origin": case["origin"], "extent": case["extent"], "boundary": case["boundary"]}
    grid = pt.Grid(case["shape"], **options, comm=COMM, cuts=cuts_of(case["by"], case["shape"]))
    swarm = made(case, grid, device)
    yield state(swarm)
    for by in 0.02, 0.9, -0.3:
        moved(swarm, by)
        yield state(swarm)
    swarm.sort(by=case["by"])
    yield state(swarm)
    moved(swarm, 0.05)
    swarm.remove(lambda p: p.v[1] > 0.2)
    yield state(swarm)
    finer = pt.Grid([n + 3 for n in case["shape"]], **options, comm=COMM)
    swarm.add(made({**case, "made": "random", "number": 40}, finer, device))
    yield state(swarm)
    centre = np.array(grid.origin) + 0.5 * np.array(grid.extent)
    swarm.positions[...] = centre + (swarm.positions.get() - centre) * -0.75
    yield state(swarm)
    if swarm.total:
        at = swarm.positions
        means = at.mean(axis=0), at.std(), at.norm(), at.min(axis=0), at.max(), at.count(upper=0.3)
        yield [np.round(one, 4).tolist() for one in means]
    swarm.positions[: len(swarm) // 2 * (swarm.grid.begin[0] > 0)] = centre
    swarm.sort()
    if not swarm.total:
        return
    totals = swarm["tag"].sum(), swarm["dark"].sum(), swarm["tag"].max(), swarm["v"].min()
    yield totals, round(float(swarm["mass"].sum()), 1)
    mass, v = swarm["mass"], swarm["v"]
    means = mass.mean(), mass.std(), mass.norm(), mass.norm(1), v.mean(axis=0), v.var(axis=0)
    yield [np.round(one, 4).tolist() for one in means], v.min(axis=0).tolist(), v.count(lower=0.1)
    swarm["new"] = swarm.positions.get()[:, 0]
    del swarm["dark"]
    swarm["tag"] = np.arange(len(swarm)) + 10**6 * (0 if COMM is None else grid.ranks.rank)
    swarm.set("position", np.tile(centre, (len(swarm), 1)), by="tag")
    home = swarm.gather("position", by="tag", root=RANKS - 1)
    assert (home is None) == (grid.ranks is not None and grid.ranks.rank != RANKS - 1)
    assert home is None or (np.abs(home - centre) < 1e-3 * np.array(grid.extent)).all()


def doubled(lot, device):
    """Double a set more often than its numbers could, each time without what it has twice."""
    tags = np.arange(20)
    grid = pt.Grid((5, 3), comm=COMM)
    swarm = pt.ParticleSet.random(grid, 20, seed=lot.randrange(10**6), device=device, tag=tags)
    was = state(swarm)
    for _ in range(70):
        swarm.add(swarm)
        first = np.unique(swarm["tag"].get(), return_index=True)[1]
        swarm.remove(~np.isin(np.arange(len(swarm)), first))
    assert state(swarm) == was
    return was


def main(device, seed, cases):
    lot = random.Random(int(seed))
    was = doubled(lot, int(device))
    if IS_FIRST:
        print("doubled", was)
    for _ in range(int(cases)):
        case = drawn(lot)
        for value in results(case, int(device)):
            if IS_FIRST:
                print(case, value)


if __name__ == "__main__":
    main(*sys.argv[1:])
