# SPDX-License-Identifier: BSD-3-Clause
"""Sets of a divided grid in files, in drawn cases: prints what must not depend on the ranks.

``python -m tests.io.set_rank_cases <device> <seed> <folder> <from>`` writes into a folder, and
reads what is in another one.
"""

import hashlib
import os
import random
import sys
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles.sets import columns

COMM = "world" if "PMI_SIZE" in os.environ else None
LOADED = {"comm": COMM}  # how what is read is divided
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"


def digest(*arrays):
    return hashlib.sha256(b"".join(map(np.ascontiguousarray, arrays))).hexdigest()


def state(swarm):
    """Return what all particles are, on rank 0."""
    found = [swarm.gather(name) for name in ("position", *swarm.attributes)]
    turns = int(np.abs(swarm.turns).sum())
    ranks = swarm.grid.ranks
    turns = turns if ranks is None else int(ranks.total("turns", np.array([turns]))[0])
    return (digest(*found), swarm.total, swarm.left.tolist(), turns) if IS_FIRST else None


def made(lot, device):
    ndim = lot.choice((1, 2, 3))
    shape = (lot.choice((4, 7, 13)), *(lot.choice((1, 8)) for _ in range(ndim - 1)))
    boundary = [lot.choice(("periodic", "wall", ("wall", "outflow"))) for _ in shape]
    grid = pt.Grid(shape, boundary=boundary, extent=2.5, comm=COMM)
    count = lot.choice((0, 1, 100, 300))
    rng = np.random.default_rng(count)
    given = {
        "mass": rng.random(count).astype(lot.choice(("float16", "float64"))),
        "dark": rng.random(count) < 0.5,
        "v": rng.random((count, 2)).astype("float32"),
    }
    swarm = pt.ParticleSet.random(grid, count, seed=1, device=device, name="swarm", **given)
    swarm.update(lambda p: {"position": p.position + 0.4 * p.v[0]})
    if lot.random() < 0.5:
        swarm.sort()
    swarm.remove(lambda p: p.v[1] > 0.8)
    return swarm


def tracers_of(swarm):
    flow = pt.Field(swarm.grid, swarm.grid.ndim, device=swarm.device)
    flow.fill(0.3)
    return pt.Tracers(swarm, flow)


def results(lot, device, folder, other):
    swarm = made(lot, device)
    density = pt.Field(swarm.grid, device=device, name="density")
    pt.ParticlesToGrid(swarm, "mass", density, "L1").apply()
    both = {"swarm": swarm, "density": density}
    pt.io.save(folder / "both.npz", both, time=0.5)
    pt.io.save(folder / "swarm.npz", swarm)
    pt.io.write_vtp(folder / "swarm.vtp", swarm)
    series = pt.io.Series(folder / "both.h5", mode="w")
    series.append(0.0, both)
    tracers = tracers_of(swarm)
    tracers.step(0.7)
    series.append(0.7, both)
    pt.io.checkpoint(folder / "tracers", tracers)
    yield state(swarm)
    for name in "both.npz", "swarm.npz", "swarm.vtp", "both.xdmf", "tracers":
        yield name, hashlib.sha256((folder / name).read_bytes()).hexdigest()
    for name in "both.npz", "swarm.npz":
        contents = pt.io.load(other / name, device, **LOADED)
        found = contents.fields["swarm"]
        assert found.grid == swarm.grid
        yield name, state(found), contents.time
    for index in 0, 1:
        yield state(pt.io.Series(other / "both.h5").load(index, device, **LOADED).fields["swarm"])
    empty = pt.ParticleSet(
        swarm.grid,
        np.zeros((0, swarm.grid.ndim)),
        device=device,
        **{name: one.get()[:0] for name, one in swarm.attributes.items()},
    )
    again = tracers_of(empty)
    again.velocity.fill(0)
    pt.io.restore(other / "tracers", again)
    yield state(empty), again.time
    tracers.step(0.2)
    again.step(0.2)
    assert state(empty)[:3] == state(swarm)[:3] if IS_FIRST else (state(empty), state(swarm))
    with pytest.raises(FileNotFoundError):
        pt.io.save(folder / "missing" / "swarm.npz", swarm)
    with pytest.raises(FileNotFoundError):
        pt.io.load(folder / "missing.npz", comm=COMM)


def main(device, seed, folder, other):
    columns._ROWS_AT_ONCE = 64  # so that there are several pieces
    for value in results(random.Random(int(seed)), int(device), Path(folder), Path(other)):
        if IS_FIRST:
            print(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
