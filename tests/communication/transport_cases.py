# SPDX-License-Identifier: BSD-3-Clause
"""Transports on a grid that is divided, in drawn cases: prints what must not depend on the ranks.

``python -m tests.communication.transport_cases <device> <seed> <cases> [<ranks> <alike>]``; comm is given
where a launcher has started it. Cases are for at most so many ranks, 4 if not given, and so many are alike:
they have the same kernels, which take nearly all the time.
"""

import hashlib
import os
import random
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of, own_block

COMM = "world" if "PMI_SIZE" in os.environ else None
ENDS = (
    *("periodic", "wall", ("wall", "outflow"), ("outflow", "outflow")),
    *(("inflow", "outflow"), ("wall", "inflow"), ("inflow", "inflow")),
)
TAU = 2 * np.pi
most_ranks = 4


class Case(NamedTuple):
    shape: tuple[int, ...]
    boundary: list[Any]
    dtype: str
    components: int
    cfl: float
    kernel: str
    scheme: str
    interpolation: str
    order: int
    limiter: str | None
    conservative: bool
    form: str | None
    velocity: str
    is_joined: bool
    has_source: bool
    diffuses: bool
    is_apart: bool  # a push and its remeshing
    seed: int


def drawn(lot):
    shape = (
        lot.choice((most_ranks, 13, 37, 60, 64)),
        *(lot.choice((3, 8, 12, 17)) for _ in range(lot.choice((0, 1, 1, 2, 2)))),
    )
    return Case(
        shape,
        [lot.choice(("periodic", *ENDS)) for _ in shape],
        lot.choice(("float32", "float64", "float16")),
        lot.choice((1, 1, 2, 3)),
        lot.choice((0.7, 3, 9, 21, 55)),
        lot.choice(("M'6", "M'4", "L6_4", "L2_2")),
        lot.choice(("euler", "rk2", "heun", "rk3", "rk4")),
        lot.choice(("linear", "cubic")),
        lot.choice((1, 2, 4)),
        lot.choice((None, None, "positive", "monotone")),
        lot.random() < 0.6,
        lot.choice((None, "lanes", "private", "local", "registers")),
        lot.choice(("field", "changed", "spot", "formula", "timed", "series", "coarse")),
        lot.random() < 0.5,
        lot.random() < 0.3,
        lot.random() < 0.4,
        lot.random() < 0.4,
        lot.randrange(10**6),
    )


def drawn_alike(case, lot):
    """Return a case with the same kernels."""
    other = drawn(lot)
    across = (lot.choice((3, 8, 12, 17)) for _ in case.shape[1:])
    return case._replace(
        shape=(other.shape[0], *across),
        cfl=other.cfl,
        order=other.order,
        is_joined=other.is_joined,
        is_apart=other.is_apart,
        seed=other.seed,
    )


def flow_of(case):
    """Return a velocity across no wall, as a function of the coordinates."""
    phases = np.random.default_rng(case.seed).uniform(0, 6, len(case.shape))
    own = [entry != "wall" for entry in case.boundary]

    def flow(*place):
        found = []
        for axis, along in enumerate(place):
            wave = np.sin(TAU * along + phases[axis]) if own[axis] else np.sin(np.pi * along)
            if "wall" in case.boundary[axis] and own[axis]:
                wave = wave * (1 - along if case.boundary[axis][1] == "wall" else along)
            drift = 0.3 if case.boundary[axis] == "periodic" else 0
            found.append(wave * np.cos(TAU * place[(axis + 1) % len(place)] + 1) + drift)
        return found

    return flow


def arithmetic(case):
    return "float64" if case.dtype == "float64" else "float32"


def coarse_shape(case):
    """Return of how many points a velocity is, a part of the field's; no fewer than ranks."""
    lot = random.Random(case.seed)
    least = (most_ranks, *(1 for _ in case.shape[1:]))
    return tuple(
        n // lot.choice([r for r in range(1, 9) if n % r == 0 and n // r >= some])
        for n, some in zip(case.shape, least, strict=True)
    )


def velocity_of(case, grid, device, is_split=True):
    flow, ndim = flow_of(case), grid.ndim
    steady = {
        1: lambda x: (*flow(x),),
        2: lambda x, y: tuple(flow(x, y)),
        3: lambda x, y, z: tuple(flow(x, y, z)),
    }
    timed = {
        1: lambda x, t: tuple(np.cos(3 * t) * v for v in flow(x)),
        2: lambda x, y, t: tuple(np.cos(3 * t) * v for v in flow(x, y)),
        3: lambda x, y, z, t: tuple(np.cos(3 * t) * v for v in flow(x, y, z)),
    }
    if case.velocity in ("timed", "formula"):
        return pt.Velocity(grid, (timed if case.velocity == "timed" else steady)[ndim])
    shape = coarse_shape(case) if case.velocity == "coarse" else case.shape
    whole = pt.Grid(shape, boundary=case.boundary, comm="self").coordinates(sparse=False)
    values = np.stack([np.broadcast_to(v, shape) for v in flow(*whole)])
    if case.velocity == "spot":  # all is slow but for a few rows, which most ranks never see
        values[:, np.arange(case.shape[0]) > 2] *= 0.01
    grid = grid_of(case, shape, is_split)
    velocity = pt.Field(grid, ndim, arithmetic(case), device)
    velocity[...] = own_values(values, grid)
    if case.velocity != "series":
        return velocity
    later = velocity.copy()
    later *= -0.5
    return pt.VelocitySeries([velocity, later, velocity], [-1, 0.3 * case.cfl / max(case.shape), 9])


def grid_of(case, shape, is_split=True):
    """Return a grid of the case's box, cut along one axis, or two where sweeps take turns."""
    shapes = [case.shape, *([coarse_shape(case)] if case.velocity == "coarse" else [])]
    cuts = cuts_of(case.seed, *shapes) if is_split else None
    return pt.Grid(shape, boundary=case.boundary, comm=COMM, cuts=cuts)


def own_values(values, grid):
    """Return one's own block of the components of a field."""
    own = values[own_block(grid)]
    return own if len(own) > 1 else own[0]


def carried(case, device):
    """Return what comes of it: digests on rank 0, all bits of reductions, and what has left."""
    grid = grid_of(case, case.shape)
    field = pt.Field(grid, case.components, case.dtype, device)
    values = np.random.default_rng(case.seed).random((case.components, *case.shape))
    field[...] = own_values(values, grid)
    velocity = velocity_of(case, grid, device)
    dt = case.cfl / max(case.shape)
    if case.conservative:
        dt = min(dt, 0.8 / TAU)
    places = pt.Field(grid, 1, "float64", device)
    has_source = case.has_source and case.components == 1
    diffusion = None
    if case.diffuses and case.order < 4:
        spread = 10.0 ** np.random.default_rng(case.seed).uniform(-2, 3)
        diffusion = pt.Diffusion(field, spread / dt / max(case.shape) ** 2)
    inflow = None
    if any("inflow" in ends for ends in grid.boundary):
        inflow = (lambda t: 0.4 + 0.2 * np.sin(9 * t)) if case.seed % 2 else 0.7
    transport = pt.Splitting(
        pt.AdvectionOp(
            velocity,
            case.scheme,
            grid=grid if case.velocity == "coarse" else None,
            interpolation=None if case.velocity in ("timed", "formula") else case.interpolation,
        ),
        pt.RemeshOp(
            field,
            case.kernel,
            limiter=case.limiter,
            conservative=case.conservative,
            form=case.form,
            inflow=inflow,
        ),
        order=case.order,
        source=pt.SourceOp(field, lambda u, x: 0.1 * x - u) if has_source else None,
        diffusion=diffusion,
    )
    if case.is_joined:
        transport._pace.steps = 1 + grid.begin[0]  # as if ranks were fast and slow
        transport.run(until=3 * dt, dt=dt)
        if case.velocity in ("timed", "series") and not case.has_source:
            transport.run(4 * dt, dt, lcfl=0.2)
    else:
        transport.step(dt)
    shared = []  # with NumPy, which may change it untold
    if case.velocity in ("changed", "coarse"):  # by the rank that has the last row alone
        if grid.begin[0] + grid.shape[0] == case.shape[0]:
            row = (-1,) if grid.ndim == 1 else (0, -1)
            velocity[row] = velocity[row] * 1.5
            if case.seed % 2 and len(grid.devices) < 2 and velocity.device.is_cpu:
                shared.append(np.from_dlpack(velocity))
        transport.step(dt)
        transport.sweep(0, -dt / 2)
    if case.is_apart and not callable(inflow):
        push = transport.advection
        if case.velocity in ("timed", "formula"):
            push = pt.AdvectionOp(velocity, case.scheme, dtype=arithmetic(case), device=device)
        for axis in range(grid.ndim):
            moved = push.apply(dt / 4, axis, back=not case.conservative)
            transport.remesh.apply(moved)
            places[...] = places.get() + np.asarray(moved) + moved.cells()
    report = transport.report()
    if "nan" in str(report) or " x ".join(map(str, case.shape)) not in report.method["grid"]:
        raise AssertionError(report)
    left = np.abs(transport.outflow).sum() if case.conservative else 0.0
    numbers = [places.sum(), field.sum(), field.norm(), field.min(), field.max()]
    gathered = field.gather()
    if gathered is None:
        return None
    digest = hashlib.sha256(np.ascontiguousarray(gathered)).hexdigest()
    return f"{digest[:16]} {np.array(numbers).tobytes().hex()} left {left / values.size:.4f}"


def carried_along_all_axes(case, device):
    """Return the same of a transport that is not split, as far as there is one; of three fields."""
    case = case._replace(boundary=["periodic" for _ in case.shape])
    grid = pt.Grid(case.shape, boundary=case.boundary, comm=COMM)
    rng, fields = np.random.default_rng(case.seed), []
    for components in (case.components, 1, case.components):
        fields.append(pt.Field(grid, components, case.dtype, device))
        fields[-1][...] = own_values(rng.random((components, *case.shape)), grid)
    field = fields[0]
    velocity = velocity_of(case, grid, device, is_split=False)
    is_formula = case.velocity in ("timed", "formula")
    transport = pt.Unsplit(
        pt.AdvectionOp(
            velocity,
            case.scheme,
            grid=grid if case.velocity == "coarse" else None,
            interpolation=None if is_formula else case.interpolation,
        ),
        pt.RemeshOp(fields, case.kernel),
    )
    dt = min(case.cfl / max(case.shape), 0.3 / TAU / grid.ndim)
    transport.step(dt)
    if case.velocity in ("changed", "coarse"):
        if grid.begin[0] + grid.shape[0] == case.shape[0]:
            row = (-1,) if grid.ndim == 1 else (0, -1)
            velocity[row] = velocity[row] * 1.5
        transport.step(dt)
    if case.is_joined:
        transport.run(3 * dt, dt, lcfl=0.4)
    numbers = [field.sum(), field.norm(), field.min(), field.max(), transport.time]
    gathered = [field.gather() for field in fields]
    if gathered[0] is None:
        return None
    digest = hashlib.sha256(b"".join(values.tobytes() for values in gathered)).hexdigest()
    return f"along all axes {digest[:16]} {np.array(numbers).tobytes().hex()}"


def main(device, seed, cases, ranks=4, alike=1):
    global most_ranks
    most_ranks = int(ranks)
    warnings.simplefilter("ignore")
    lot = random.Random(int(seed))
    for number in range(int(cases)):
        carry = carried_along_all_axes if number % 3 == 2 else carried
        first = drawn(lot)
        for case in (first, *(drawn_alike(first, lot) for _ in range(int(alike) - 1))):
            try:
                told = carry(case, int(device))
            except ValueError as error:  # too much strain: alike on all ranks
                told = f"refused: {str(error).split(',')[0]}"
            if os.environ.get("PMI_RANK", "0") == "0":
                print(tuple(case), told, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
