# SPDX-License-Identifier: BSD-3-Clause
"""Particles to divided grids and back, in drawn cases: prints what must not depend on the ranks.

``python -m tests.interpolation.rank_cases <device> <seed> <cases>``; comm is given where a launcher
has started it.
"""

import hashlib
import os
import random
import sys

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of
from tests.support.rings import have_rings

COMM = "world" if "PMI_SIZE" in os.environ else None
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"
REALS = ("float16", "float32", "float64")


def drawn(lot):
    ndim = lot.choice((1, 2, 2, 3, 3))
    shape = [lot.choice((4, 7, 13, 37))]
    shape += [lot.choice((1, 3, 8, 17, 300 if ndim == 2 else 9)) for _ in range(ndim - 1)]
    other, second = ([lot.choice((4, 8, 11, 26, 50)) for _ in shape] for _ in range(2))
    return {
        "shape": shape,
        "points": shape if lot.random() < 0.5 else other,
        "second": lot.choice((shape, other, second)),
        "boundary": [
            lot.choice(("periodic", "periodic", "wall", ("wall", "outflow"))) for _ in shape
        ],
        "kernel": lot.choice(("M'4", "M'6", "L1", "nearest", "M'8")),
        "order": lot.choice((None, None, "canonical")),
        "dtypes": [lot.choice(REALS), lot.choice(REALS), lot.choice(REALS[1:])],
        "components": lot.choice((1, 2, 3)),
        "sorted": lot.choice((None, "row", "cell")),
        "number": lot.choice((0, 1, 300, 2000)),
        "has_rings": lot.random() < 0.5,
    }


def digest(values):
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values)).hexdigest()


def results(case, device):
    options = {"boundary": case["boundary"], "extent": 3.7}
    grid, points, second = (
        pt.Grid(case[name], **options, comm=COMM, cuts=cuts_of(case["number"], case[name]))
        for name in ("shape", "points", "second")
    )
    count, components = case["number"], case["components"]
    real, stored, offset = case["dtypes"]
    rng = np.random.default_rng(count)
    strength = rng.random((count, components) if components > 1 else count).astype(real)
    swarm = pt.ParticleSet.random(
        grid, count, seed=3, dtype=offset, device=device, s=strength, k=rng.integers(0, 99, count)
    )
    if case["sorted"]:
        swarm.sort(by=case["sorted"])
    swarm.update(lambda p: {"position": p.position + 0.1 * p.x})
    fields = [pt.Field(points, components, stored, device), pt.Field(second, 1, stored, device)]
    fields[0].fill(0.5)
    give = pt.ParticlesToGrid(swarm, ["s", "k"], fields, case["kernel"], order=case["order"])
    have_rings(give, case["has_rings"])
    for add in False, True:
        give.apply(add=add)
        yield [digest(field.gather()) for field in fields]
    yield digest(swarm.gather("position"))
    sample = pt.GridToParticles(fields, swarm, ["v", "w"], case["kernel"])
    have_rings(sample, case["has_rings"])
    sample.apply()
    sample.apply(add=True)
    yield [digest(swarm.gather(name)) for name in "vw"]
    whole = pt.Field(pt.Grid(case["points"], **options, comm="self"), 1, stored, device)
    whole[...] = np.arange(whole.size).reshape(whole.shape) % 1000
    of_whole = pt.GridToParticles(whole, swarm, "v1", case["kernel"])
    have_rings(of_whole, case["has_rings"])
    of_whole.apply()
    yield digest(swarm.gather("v1"))


def main(device, seed, cases):
    lot = random.Random(int(seed))
    for _ in range(int(cases)):
        case = drawn(lot)
        for value in results(case, int(device)):
            if IS_FIRST:
                print(case, value)


if __name__ == "__main__":
    main(*sys.argv[1:])
