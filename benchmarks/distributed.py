# SPDX-License-Identifier: BSD-3-Clause
"""Time of a Strang step, and of particles, on a grid that is divided among ranks.

``mpirun -n 2 python -m benchmarks.distributed --shape 512 256 256 --cfl 5 25``
    one problem on so many ranks; threads of each as ``POCL_MAX_PTHREAD_COUNT`` says
``python -m benchmarks.distributed --shape 512 256 256 --cfl 5 25``
    the same on one process without MPI, to compare with
``--weak``
    the first axis is so long for each rank
``--cuts 2 2 1``
    into how many parts each axis is cut; by default the first one alone
``--particles``
    not a transport but as many particles as points, anywhere in the box: what they give to the grid
    and read from it (M'6), and a step of tracers that move with the same flow

``python -m benchmarks.distributed --model --shape 4096 4096 4096 --cfl 5 25``
    nothing is measured: what the rows that are fetched and pushed twice let one expect of up to
    131,072 ranks, of slabs, which are cut along the first axis alone, and of blocks, which are cut
    along two axes

Rank 0 prints a line for each CFL number, and for each operation of particles: nanoseconds per
particle and step, the shortest of some runs, what all ranks send in a step, and a digest of the
field, which must not depend on the ranks.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from collections.abc import Callable
from dataclasses import astuple
from time import perf_counter
from typing import Any

import numpy as np
import particles as pt
from particles import levelset
from particles.runtime import environment

STEPS, REPEATS = 4, 5


def flow_and_ball_on(shape: tuple[int, ...], **where: Any) -> tuple[pt.Field, pt.Field]:
    """Return the velocity of the level-set test, on the grid, and its ball."""
    grid = pt.Grid(shape, **where)
    points = grid.coordinates()
    velocity, u = pt.Field(grid, 3), pt.Field(grid)
    for axis, component in enumerate(levelset.flow(*points)):
        velocity[axis] = component
    u[...] = levelset.ball(*points)
    return velocity, u


Work = Callable[[], object]


def works_of_transport(velocity: pt.Field, u: pt.Field, cfls: list[float]) -> dict[str, Work]:
    """Return what makes STEPS steps of each CFL number, by name."""
    transport = pt.Splitting.from_preset("default", velocity, u)

    def steps(dt: float) -> Work:
        return lambda: transport.run(transport.time + STEPS * dt, dt, progress=False)

    fastest, longest = 2, max(u.grid.whole.shape)
    return {f"CFL {cfl:g}": steps(cfl / fastest / longest) for cfl in cfls}


def works_of_particles(velocity: pt.Field, u: pt.Field) -> dict[str, Work]:
    """Return what does STEPS times what particles do, by name."""
    count = math.prod(u.grid.whole.shape)
    swarm = pt.ParticleSet.random(u.grid, count, seed=1, mass=np.ones(count, "float32"))
    swarm.sort("row")
    give, sample = pt.ParticlesToGrid(swarm, "mass", u), pt.GridToParticles(u, swarm, "read")
    tracers, dt = pt.Tracers(swarm, velocity), 0.25 / max(u.grid.whole.shape)  # half a cell

    def repeated(work: Work) -> Work:
        return lambda: [work() for _ in range(STEPS)]

    return {
        "particles to grid": repeated(give.apply),
        "grid to particles": repeated(sample.apply),
        "tracers": lambda: tracers.run(tracers.time + STEPS * dt, dt=dt, progress=False),
    }


def seconds_of(work: Work, field: pt.Field) -> float:
    """Time of one of STEPS; no rank is ahead of the others when it begins."""
    field.max()
    begin = perf_counter()
    work()
    field.max()
    return (perf_counter() - begin) / STEPS


# What the model supposes of a rank: nanoseconds of a particle and step, of which so much is for
# pushes; seconds of a message, and bytes a second.
STEP, PUSHES, LATENCY, BANDWIDTH = 1.0, 0.5, 5e-6, 10e9
SWEEPS = (2, 1, 1)  # of a step along each axis, half ones where there are two
STENCIL, BYTES, AGREEMENTS = 4, 4, 1 / 64  # rows beyond a move; of a value; a step


def expected(shape: tuple[int, ...], cuts: tuple[int, ...], cfl: float) -> float | None:
    """Return the share of a step that is no loss; None where blocks are shorter than their halos."""
    block = [n / parts for n, parts in zip(shape, cuts, strict=True)]
    of_step, ranks = 1e-9 * STEP * math.prod(block), math.prod(cuts)
    lost = AGREEMENTS * 3 * LATENCY * math.log2(max(ranks, 2)) if ranks > 1 else 0.0
    for n, parts, sweeps in zip(block, cuts, SWEEPS, strict=True):
        if parts == 1:
            continue
        rows = math.ceil(cfl / sweeps) + STENCIL
        if n < rows:
            return None
        lost += sweeps * 2 * (LATENCY + BYTES * rows * math.prod(block) / n / BANDWIDTH)
        lost += sweeps / sum(SWEEPS) * PUSHES * of_step * 2 * rows / n
    return of_step / (of_step + lost)


def print_model(shape: tuple[int, ...], cfls: list[float]) -> None:
    """Print a table: of slabs, and of blocks, which have about as many cuts along both axes."""
    print("| ranks |" + "".join(f" slabs, CFL {c:g} | blocks, CFL {c:g} |" for c in cfls))
    print("|---:|" + "---:|---:|" * len(cfls))
    for power in 1, 2, 3, 6, 9, 12, 15, 17:
        ranks, cells = 2**power, []
        blocks = (2 ** ((power + 1) // 2), 2 ** (power // 2), 1)
        for cfl in cfls:
            for cuts in (ranks, 1, 1), blocks:
                share = expected(shape, cuts, cfl)
                cells.append("-" if share is None else f"{share:.2f}")
        print(f"| {ranks} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=(256, 256, 256))
    parser.add_argument("--cfl", type=float, nargs="+", default=(5.0, 25.0))
    parser.add_argument("--weak", action="store_true")
    parser.add_argument("--cuts", type=int, nargs=3)
    parser.add_argument("--particles", action="store_true")
    parser.add_argument("--model", action="store_true")
    arguments = parser.parse_args()
    if arguments.model:
        print_model(tuple(arguments.shape), list(arguments.cfl))
        return
    launched = environment.launched()
    shape = tuple(arguments.shape)
    if arguments.weak:
        shape = (shape[0] * launched, *shape[1:])
    where = {"comm": "world", "cuts": arguments.cuts} if launched > 1 else {"comm": "self"}
    velocity, u = flow_and_ball_on(shape, **where)
    ranks, particles = u.grid.ranks, float(np.prod(shape))
    works = (
        works_of_particles(velocity, u)
        if arguments.particles
        else works_of_transport(velocity, u, list(arguments.cfl))
    )
    for name, work in works.items():
        work()
        before = (0, 0) if ranks is None else astuple(ranks.sent)
        seconds = min(seconds_of(work, u) for _ in range(REPEATS))
        sent = np.zeros(2)
        if ranks is not None:
            sent += np.array(astuple(ranks.sent)) - before
            sent = ranks.sums("what is sent", sent) / (REPEATS * STEPS)
        values = u.gather()
        if values is not None:
            digest = hashlib.sha256(np.ascontiguousarray(values)).hexdigest()[:12]
            print(
                f"{launched} ranks, {' x '.join(map(str, shape))}, cuts {u.grid.cuts}, {name}: "
                f"{1e9 * seconds / particles:.3f} ns a particle and step, "
                f"{sent[0]:.1f} messages and {sent[1] / 2**20:.2f} MiB a step, {digest}",
                flush=True,
            )


if __name__ == "__main__":
    main()
