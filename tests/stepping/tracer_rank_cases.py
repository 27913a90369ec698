# SPDX-License-Identifier: BSD-3-Clause
"""Tracers on a divided grid, in drawn cases: prints what must not depend on the ranks.

``python -m tests.stepping.tracer_rank_cases <device> <seed> <cases>``; comm is given where a
launcher has started it.
"""

import hashlib
import os
import random
import sys

import numpy as np
import particles as pt
import pytest

from tests.communication.drawn_cuts import cuts_of, own_block

COMM = "world" if "PMI_SIZE" in os.environ else None
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"
EXTENT = 3.7


def drawn(lot):
    ndim = lot.choice((1, 2, 2, 3, 3))
    shape = [lot.choice((4, 7, 13, 37))] + [lot.choice((3, 8, 17)) for _ in range(ndim - 1)]
    other = [lot.choice((4, 8, 11, 26, 50)) for _ in shape]
    return {
        "shape": shape,
        "points": shape if lot.random() < 0.5 else other,
        "boundary": [
            lot.choice(("periodic", "periodic", "wall", ("wall", "outflow"))) for _ in shape
        ],
        "kernel": lot.choice(("M'4", "M'6", "L1", "nearest")),
        "kind": lot.choice(("field", "formula", "series", "whole")),
        "scheme": lot.choice(("euler", "rk2", "heun", "rk3", "rk4")),
        "dtypes": [lot.choice(("float32", "float64")) for _ in range(2)],
        "speed": lot.choice((0.1, 1, 5)),
        "how": lot.choice(("dt", "lcfl", "step")),
    }


def flow_on(grid, case, device, k):
    """Return a field that is the same wherever the grid is cut."""
    field = pt.Field(grid, grid.ndim, case["dtypes"][0], device)
    places = [2 * np.pi * x / EXTENT for x in grid.whole.coordinates(sparse=False)]
    own = own_block(grid)
    field.component(0)[...] = (case["speed"] * (0.5 + 0.3 * np.sin(places[0]) + 0.1 * k))[own]
    for axis in range(1, grid.ndim):
        values = case["speed"] * np.cos(places[axis - 1]) * (1 + k)
        field.component(axis)[...] = values[own]
    return field


def velocity_of(case, device):
    is_whole = case["kind"] == "whole"
    where = (
        {"comm": "self"}
        if is_whole
        else {"comm": COMM, "cuts": cuts_of(case["how"], case["points"])}
    )
    grid = pt.Grid(case["points"], boundary=case["boundary"], extent=EXTENT, **where)
    if case["kind"] == "formula":
        speed = case["speed"]
        return pt.Velocity(
            grid, [f"{speed} * (0.4 + 0.1 * sin(x * 3 + {a}))" for a in range(grid.ndim)]
        )
    if case["kind"] == "series":
        fields = [flow_on(grid, case, device, k) for k in range(4)]
        return pt.VelocitySeries(fields, [0, 0.3, 0.55, 2.0])
    return flow_on(grid, case, device, 0)


def state(tracers):
    swarm = tracers.swarm
    columns = [swarm.gather(name) for name in ("position", "tag")]
    if not IS_FIRST:
        return None
    digest = hashlib.sha256(b"".join(map(np.ascontiguousarray, columns))).hexdigest()
    return digest, swarm.left.tolist(), swarm.total, tracers.steps, round(tracers.time, 9)


def results(case, device):
    cuts = cuts_of(case["how"], case["shape"])
    grid = pt.Grid(case["shape"], boundary=case["boundary"], extent=EXTENT, comm=COMM, cuts=cuts)
    options = {"seed": 3, "dtype": case["dtypes"][1], "device": device, "tag": np.arange(400)}
    swarm = pt.ParticleSet.random(grid, 400, **options)
    velocity = velocity_of(case, device)
    tracers = pt.Tracers(swarm, velocity, case["scheme"], case["kernel"])
    if case["how"] == "dt":
        tracers.run(0.7, 0.02)
    elif case["how"] == "lcfl":
        tracers.run(0.5, 0.1, lcfl=0.2)
    for _ in range(2):
        tracers.step(0.05)
    yield state(tracers)
    yield tracers.lcfl(0.1)
    is_last = grid.ranks is None or grid.ranks.rank == grid.ranks.size - 1
    if isinstance(velocity, pt.Field):  # which changes on one rank
        if case["kind"] == "whole" or is_last:
            velocity[...] = velocity.get() * 0.5
        tracers.step(0.1)
        assert tracers.memory().total > 0
        if case["kind"] == "whole":
            yield state(tracers)
    yield from refused(case, grid, velocity, options)


def run_until_refused(tracers, end):
    """Return what is said where a particle would leave."""
    try:
        tracers.run(end, 0.05, check=None)
    except ValueError as error:
        return str(error)
    return ""


def refused(case, grid, velocity, options):
    """What must not be is told by all, with the state before that step."""
    swarm = pt.ParticleSet.random(grid, 400, **{**options, "leaving": "refuse"})
    tracers = pt.Tracers(swarm, velocity, case["scheme"], case["kernel"])
    said = run_until_refused(tracers, 1.9 if case["kind"] == "series" else 3)
    known = state(tracers)
    assert not said or "would leave it in the step from time" in said, said
    if case["kind"] != "field":  # which has changed on one rank
        yield said.rpartition("in the step")[2], known
    if isinstance(velocity, pt.Field) and case["speed"] == 5:
        velocity.fill(np.nan)
        with pytest.raises(pt.NotFiniteError, match="velocity must be finite where particles are"):
            tracers.run(tracers.time + 5, 0.05)


def main(device, seed, cases):
    lot = random.Random(int(seed))
    for _ in range(int(cases)):
        case = drawn(lot)
        for value in results(case, int(device)):
            if IS_FIRST:
                print(case, value)


if __name__ == "__main__":
    main(*sys.argv[1:])
