# SPDX-License-Identifier: BSD-3-Clause
"""Work for every kernel of the library, in the form that suits a GPU.

Run with the name of one, this module runs it on the default device, empties the list of counts
before it, and prints how many bytes each kernel must move, as the library says.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import particles as pt
from particles import _core

Work = Callable[[], Any]
ACROSS, ALONG = (64, 4, 64), (4, 64, 64)
LINES = 32  # of a part of a cube
LEAST, LEAST_OF_HALVES = 12, 8
"""Bytes that a sweep must move for each particle: velocity, field and result."""
CFL = (3, 10, 30)
WHOLE = 1.10
TWICE = 2.6
"""Where sums are no results: both kinds of them are written and read."""
GOALS = dict.fromkeys(("strain", "refine", "resample", "transpose"), 1.25)
GOALS |= dict.fromkeys(("particles_to_tile", "tile_to_particles"), 1.5)
"""How many times what it must move a kernel may move."""
SEGMENT = 64  # nodes, where lines are few
OTHER_POINTS = (16, 8, 32), (24, 12, 48)  # cells of particles, and points
KERNEL = 4  # nodes beyond a move that a particle reaches


class Case(NamedTuple):
    """Makes everything ready, and returns what is counted."""

    prepare: Callable[[], Work]
    bytes: float | None = None
    """What all kernels together must move, where several are launched."""
    goal: float | None = None
    """How many times that they may move together."""
    cube: int | None = None
    """How many points an axis of the problem has that it is a part of."""


def noise(shape: tuple[int, ...], components: int = 1, dtype: str = "float32") -> pt.Field:
    """A field of noise."""
    field = pt.Field(pt.Grid(shape), components, dtype)
    field[...] = np.random.default_rng(1).uniform(-1, 1, field.shape)
    return field


def flow(shape: tuple[int, ...], axis: int, cfl: float) -> pt.Field:
    """A velocity that moves particles by so many cells in a unit of time: sheared, and strained."""
    grid = pt.Grid(shape)
    x = np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij")
    across = sum(x[k] for k in range(3) if k != axis)
    stretch = np.clip(0.06 * shape[axis] * np.sin(2 * np.pi * x[axis] + 1), -cfl / 4, cfl / 4)
    moves = cfl * (1 + 0.4 * np.sin(2 * np.pi * across)) / 1.4 + stretch
    velocity = pt.Field(grid, 3)
    velocity[...] = 0
    velocity[axis] = moves / shape[axis]
    return velocity


def swept(shape: tuple[int, ...], axis: int, cfl: float, **remeshing: Any) -> Work:
    """A sweep; its velocity is what it was in the sweep before."""
    kernel, scheme = remeshing.pop("kernel", "M'6"), remeshing.pop("scheme", "rk2")
    u = noise(shape, remeshing.pop("components", 1), remeshing.pop("dtype", "float32"))
    remesh = pt.RemeshOp(u, kernel, **remeshing)
    transport = pt.Splitting(pt.AdvectionOp(flow(shape, axis, cfl), scheme), remesh, order=1)
    transport.sweep(axis, 1.0)
    return lambda: transport.sweep(axis, 1.0)


def refined() -> Work:
    """A sweep along the last axis with a new velocity, four times coarser along two axes."""
    velocity, u = noise((4, 16, 16), 3), noise(ALONG)
    transport = pt.Splitting(pt.AdvectionOp(velocity, grid=u.grid), pt.RemeshOp(u), order=1)

    def work() -> None:
        velocity.fill(1e-3)
        transport.sweep(2, 1.0)

    return work


def with_ends(*ends: str) -> Work:
    """A step whose first sweep, the largest, is from one end to the other."""
    grid = pt.Grid((16, 16, 64), boundary=[ends, "periodic", "periodic"])
    velocity, u = pt.Field(grid, 3), pt.Field(grid)
    velocity[...], u[...] = 0, 1
    velocity.component(0)[...] = lambda x, y, z: 0.2 * x * (1 - x) if "wall" in ends else 0.05
    inflow = 1.0 if "inflow" in ends else None
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=inflow), order=1)
    return lambda: transport.step(1.0)


def by_formula(shape: tuple[int, ...], boundary: str = "periodic") -> Work:
    """A sweep across the memory; where lines are few, or have ends, particles are moved first."""
    u = pt.Field(pt.Grid(shape, boundary=boundary))
    speed = 3 / shape[0]
    flow = pt.Velocity(u.grid, lambda x, y, z: (speed * np.sin(2 * np.pi * x), 0, 0))
    transport = pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u), order=1)
    transport.sweep(0, 0.9)
    return lambda: transport.sweep(0, 1.0)  # how far it moves them is known of the first


def displaced() -> Work:
    advection = pt.AdvectionOp(flow(ACROSS, 0, 3))
    return lambda: advection.apply(1.0, 0)


def strained() -> Work:
    advection = pt.AdvectionOp(flow(ACROSS, 0, 3))
    return advection.strain


def unsplit() -> Work:
    u = noise((8, 8, 64))
    stepper = pt.Unsplit(pt.AdvectionOp(flow((8, 8, 64), 0, 3)), pt.RemeshOp(u))
    return lambda: stepper.step(0.1)


def diffused(spread: float) -> Work:
    u = noise(ALONG)
    diffusion = pt.Diffusion(u, spread * min(u.grid.spacing) ** 2)
    return lambda: diffusion.apply(1.0)


def diffused_with_inflow() -> Work:
    ends = [("inflow", "outflow"), "periodic", "periodic"]
    u = pt.Field(pt.Grid(ALONG, boundary=ends))
    u[...] = 1
    diffusion = pt.Diffusion(u, 5 * min(u.grid.spacing) ** 2, inflow=1.0)
    return lambda: diffusion.apply(1.0)


def sourced() -> Work:
    source = pt.SourceOp(noise(ALONG), lambda u, x: -x * u)
    return lambda: source.apply(0.1)


def resampled() -> Work:
    u = noise((4, 32, 32))
    return lambda: pt.resample(u, pt.Grid(ALONG))


def copied() -> Work:
    source, target = noise(ALONG), noise(ALONG)
    return lambda: target.__setitem__(..., source)


def assigned() -> Work:
    u = noise(ALONG)
    return lambda: u.assign(lambda a, x: 2 * a + x, u)


def filled() -> Work:
    u = noise(ALONG)
    return lambda: u.__setitem__((..., slice(1, None)), 0.5)


def reduced() -> Work:
    u = noise(ALONG)
    return lambda: (u.sum(), u.norm(), u.count(0.1, 0.5), u.mean(axis=0), u.max(axis=2))


def keys(count: int = 2**14) -> pt.Array:
    array = pt.Array(count, "uint32")
    array[...] = np.random.default_rng(1).integers(0, 2**12, count).astype("uint32")
    return array


def sorted_() -> Work:
    array, rows = keys(), pt.Array(2**14)
    rows[...] = 1
    return lambda: rows.sorted_by(array)


def ordered() -> Work:
    array, rows = keys(), pt.Array(2**14)
    rows[...] = 1
    order = array.argsort()
    return lambda: (rows.take(order), array.exclusive_scan(), array.max())


def sweep(
    shape: tuple[int, ...],
    axis: int,
    cfl: float,
    goal: float | None = WHOLE,
    cube: int | None = None,
    **remeshing: Any,
) -> Case:
    work = partial(swept, shape, axis, cfl, **remeshing)
    least = LEAST_OF_HALVES if remeshing.get("dtype") == "float16" else LEAST
    least += 8 * (remeshing.get("components", 1) - 1)
    return Case(work, least * math.prod(shape), goal, cube)


def between(kernel: str, gives: bool, components: int = 1) -> Work:
    """Particles anywhere, sorted by cell, and the points of a grid."""
    shape = (32, 32, 64)
    count = math.prod(shape)
    carried = np.ones((count, components) if components > 1 else count, "float32")
    swarm = pt.ParticleSet.random(pt.Grid(shape), count, seed=1, s=carried)
    field = noise(shape, components)
    swarm.sort("cell")
    give = pt.ParticlesToGrid(swarm, "s", field, kernel)
    sample = pt.GridToParticles(field, swarm, "s", kernel)
    work = give.apply if gives else sample.apply
    work()  # which finds where rows begin
    return work


def allowed(cfl: float) -> float:
    """How much may be moved: in segments, particles of neighbouring ones are read as well."""
    return 1.05 + 16 * (cfl + KERNEL) / SEGMENT / LEAST


def with_other_points(gives: bool, cells: tuple[int, ...], points: tuple[int, ...]) -> Work:
    """Particles anywhere, sorted by cell, and a grid of more points than there are cells."""
    count = 2**13
    swarm = pt.ParticleSet.random(pt.Grid(cells), count, seed=1, s=np.ones(count, "float32"))
    swarm.sort("cell")
    field = noise(points)
    give = pt.ParticlesToGrid(swarm, "s", field)
    sample = pt.GridToParticles(field, swarm, "s")
    give.apply()
    return give.apply if gives else sample.apply


def moved() -> Work:
    """Particles anywhere, which move and are sorted by cells."""
    rng = np.random.default_rng(1)
    swarm = pt.ParticleSet(pt.Grid((64, 64)), rng.random((2**13, 2)), v=rng.random((2**13, 2)))

    def work() -> None:
        swarm.update(lambda p, dt: {"position": p.position + dt * p.v}, dt=0.1)
        swarm.sort("cell")

    return work


def renumbered() -> Work:
    """Particles whose cells are numbered in some planes of a grid, as other ranks' are."""
    grid = pt.Grid((64, 64))
    swarm = pt.ParticleSet(grid, np.random.default_rng(1).random((2**13, 2)))
    part = _core.Cells(grid.core, grid.origin, grid.extent, 32, 64)
    cells = swarm._columns.used(swarm._columns.cells)
    core = swarm.device.core
    target = _core.Array(core, cells.count, 1, part.cell_dtype, "cells of a part")
    return lambda: _core.ParticleSet(core, part).find_cells(cells, target)


def interpolated(boundary: str) -> Work:
    """Between particles anywhere, two a cell, and a grid; in an order that no number of items changes."""
    rng = np.random.default_rng(1)
    grid = pt.Grid((4, 8, 16), boundary=boundary)
    v, w = rng.random((2, 2**10))
    swarm = pt.ParticleSet(grid, rng.random((2**10, 3)), v=v, w=w)
    swarm.sort("cell")
    field, other = pt.Field(grid), pt.Field(grid)
    there = pt.ParticlesToGrid(swarm, "v", field)
    in_order = pt.ParticlesToGrid(swarm, ["v", "w"], [field, other], order="canonical")
    back = pt.GridToParticles(field, swarm, "v")
    return lambda: (there.apply(), in_order.apply(), back.apply())


def of_truth_values() -> Work:
    """What is not a number is made one before it is interpolated."""
    swarm = pt.ParticleSet(
        pt.Grid((32, 32)),
        np.random.default_rng(1).random((2**11, 2)),
        is_dark=np.arange(2**11) % 2 == 0,
    )
    field = pt.Field(swarm.grid)
    operator = pt.ParticlesToGrid(swarm, "is_dark", field)
    return operator.apply


def traced() -> Work:
    """Particles anywhere that a flow takes along, and how much it strains them."""
    rng = np.random.default_rng(1)
    grid = pt.Grid(ALONG)
    swarm = pt.ParticleSet(grid, rng.random((2**14, 3)))
    swarm.sort("cell")
    tracers = pt.Tracers(swarm, flow(ALONG, 2, 3))
    return lambda: (tracers.step(0.1), tracers.lcfl(0.1))


def itself() -> Work:
    """What tries a device, and measures its memory's speed."""
    core = pt.default_device().core
    return lambda: (core.run_self_test(), core.measure_triad(), core.measure_axpy())


CASES = {
    **{
        f"axis {axis}, CFL {cfl}": sweep(shape, axis, cfl)
        for axis, shape in enumerate((ACROSS, ALONG, ALONG))
        for cfl in CFL
    },
    **{
        f"{n} nodes, CFL {cfl}": sweep((n, 1, LINES), 0, cfl, allowed(cfl), n)
        for n, cfl in ((128, 3), (256, 3), (512, 3), *((1024, cfl) for cfl in CFL))
    },
    **{
        f"{n} nodes along axis 2": sweep((1, LINES, n), 2, 3, cube=n) for n in (128, 256, 512, 1024)
    },
    "256 nodes along axis 2, 3 components": sweep((1, LINES, 256), 2, 3, components=3),
    "512 nodes along axis 2, at once": sweep((1, LINES, 512), 2, 3, form=pt.Form(nodes=512)),
    "axis 0, CFL 30, 128 nodes": sweep((128, 16, 64), 0, 30),
    "axis 1, CFL 30, 128 nodes": sweep((16, 128, 64), 1, 30),
    "rk4": sweep(ACROSS, 0, 3, scheme="rk4"),
    "3 components": sweep(ACROSS, 0, 3, components=3),
    "by a formula": Case(partial(by_formula, ACROSS)),
    "by a formula, few lines": Case(partial(by_formula, (1024, 1, LINES))),
    "by a formula, open ends": Case(partial(by_formula, (32, 4, 64), "outflow")),
    "L6_4": sweep(ACROSS, 0, 3, kernel="L6_4"),
    "positive": sweep(ACROSS, 0, 3, TWICE, limiter="positive"),
    "positive, axis 2": sweep(ALONG, 2, 3, limiter="positive"),
    "float16": sweep(ACROSS, 0, 3, None, dtype="float16"),
    "float16, axis 2": sweep(ALONG, 2, 3, None, dtype="float16"),
    "in local memory, axis 2": sweep(ALONG, 2, 3, None, form="local"),
    "in local memory, cut": sweep((1024, 1, LINES), 0, 3, None, form="local"),
    "values, in local memory": sweep(ACROSS, 0, 3, None, conservative=False, form="local"),
    "values": sweep(ACROSS, 0, 3, conservative=False),
    "inflow, outflow": Case(partial(with_ends, "inflow", "outflow")),
    "walls": Case(partial(with_ends, "wall", "wall")),
    "coarse velocity, axis 2": Case(refined),
    "displacements": Case(displaced),
    "strain": Case(strained),
    "unsplit": Case(unsplit),
    "diffusion": Case(partial(diffused, 0.4)),
    "diffusion, wide": Case(partial(diffused, 100.0)),
    "diffusion, inflow": Case(diffused_with_inflow),
    "source": Case(sourced),
    "resample": Case(resampled),
    "copy": Case(copied),
    "formula": Case(assigned),
    "fill": Case(filled),
    "reductions": Case(reduced),
    "sort": Case(sorted_),
    "rows, scan": Case(ordered),
    "particles": Case(moved),
    "particles of a part": Case(renumbered),
    "interpolation": Case(partial(interpolated, "periodic")),
    "interpolation, walls": Case(partial(interpolated, "wall")),
    "truth values": Case(of_truth_values),
    "other points, particles to grid": Case(partial(with_other_points, True, *OTHER_POINTS)),
    "other points, grid to particles": Case(partial(with_other_points, False, *OTHER_POINTS)),
    "many points in a cell": Case(partial(with_other_points, True, (4, 2, 8), OTHER_POINTS[1])),
    "tracers": Case(traced),
    "the device itself": Case(itself),
    **{
        f"{way}, {kernel}": Case(partial(between, kernel, way == "particles to grid"))
        for way in ("particles to grid", "grid to particles")
        for kernel in ("M'4", "M'6")
    },
    "particles to grid, M'4, 3 components": Case(partial(between, "M'4", True, 3)),
}

COUNTED_IN = {
    "crossflow": "inflow, outflow",
    **dict.fromkeys(("strain", "summary"), "coarse velocity, axis 2"),
    **dict.fromkeys(("walk", "walk_results"), "positive"),
    "team": "axis 2, CFL 3",
    "transpose": "in local memory, axis 2",
    **dict.fromkeys(("keep_edges", "sweep"), "in local memory, cut"),
    "gather": "values, in local memory",
    "gather_nodes": "values",
    **dict.fromkeys(("fill", "refine"), "coarse velocity, axis 2"),
    "advect": "displacements",
    "farthest": "by a formula, open ends",
    **dict.fromkeys(("unsplit_strain", "unsplit_push"), "unsplit"),
    **dict.fromkeys(("diffusion_mean", "diffusion_map"), "diffusion, wide"),
    "diffusion_moments": "diffusion, inflow",
    "source": "source",
    **dict.fromkeys(("weigh", "resample"), "resample"),
    "copy": "copy",
    "assign": "formula",
    **dict.fromkeys(("reduce", "reduce_along"), "reductions"),
    **dict.fromkeys(("sort_differences", "sort_digits", "sort_count", "sort_move"), "sort"),
    **dict.fromkeys(("permute", "scan_sums", "scan_before", "scan", "integers"), "rows, scan"),
    **dict.fromkeys(("compute", "move", "keys_of"), "particles"),
    "cells_of_part": "particles of a part",
    **dict.fromkeys(("starts_of", "bits_of", "apart_from_next"), "interpolation"),
    **dict.fromkeys(("particles_to_tile", "tile_to_particles"), "interpolation"),
    "particles_to_grid": "many points in a cell",
    "grid_to_particles": "other points, grid to particles",
    **dict.fromkeys(("trace", "trace_strain"), "tracers"),
    **dict.fromkeys(("saxpy", "triad", "axpy"), "the device itself"),
}
"""A case that launches it, for each kernel that GPUs run."""
ON_CPUS_ALONE = {
    *("diffusion_lines", "diffusion_segments"),
    *("particles_to_ring", "ring_to_particles"),
    *("gather_chain", "sweep_chain"),
    *("count_rows", "add_chunks", "find_firsts", "place_in_rows", "distribute"),
}


def main() -> None:
    """Run the case that the command line names."""
    warnings.simplefilter("ignore", pt.LCFLWarning)
    work = CASES[sys.argv[1]].prepare()
    pt.default_device().finish()
    counts = Path(os.environ["COUNT_MEMORY"], "counts.jsonl")
    counts.write_text("")
    with pt.profile() as profile:
        work()
    print(json.dumps({name: time.bytes for name, time in profile.kernels.items()}))


if __name__ == "__main__":
    main()
