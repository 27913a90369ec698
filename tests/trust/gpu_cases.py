# SPDX-License-Identifier: BSD-3-Clause
"""Runs every kernel of the library in its forms for GPUs, on few points: `gpu_check` looks at them.

``python -m tests.trust.gpu_cases [case ...]`` runs cases on the default device, and ends with the
names of the kernels that ran, as JSON. Before each case its name is written to the errors.
"""

import functools
import itertools
import json
import os
import sys
import warnings
from functools import partial

import numpy as np
import particles as pt
from particles import _core

from tests.support import lot, ranks
from tests.support.alike_parts import part_of
from tests.support.drawn import BROUGHT, SPLINE, Case, duration
from tests.support.gpu_forms import as_gpu
from tests.support.pairwise import covering
from tests.support.sweeps import advection_core, remesh_core
from tests.trust import hashes

ENOUGH, LITTLE = 32 * 1024, 1024
"""Bytes of local memory: with little of it, lines are swept in segments of a few nodes."""

FORMS = {
    "whole lines": (ENOUGH, pt.Form()),
    "in segments": (LITTLE, pt.Form(group=16)),
    "segments, strided": (LITTLE, pt.Form("local", group=8, transposed=False)),
    "copied": (ENOUGH, pt.Form(copied=True, tiles=3)),
    "local, in segments": (LITTLE, pt.Form("local", group=16)),
    "local": (ENOUGH, pt.Form("local", copied=True, tiles=3)),
    "strided": (ENOUGH, pt.Form("local", transposed=False, group=32)),
    "registers, transposed": (ENOUGH, pt.Form("registers", transposed=True)),
    "team": (ENOUGH, pt.Form("team", group=5)),
    "images": (ENOUGH, pt.Form(images=True)),
    "images, in segments": (LITTLE, pt.Form("local", images=True, group=16)),
    "private": (ENOUGH, pt.Form("private")),
    "global": (ENOUGH, pt.Form("global", transposed=True)),
}
"""Local memory of the device, and the form of the sweeps."""
SPLIT = {
    "form": tuple(FORMS),
    "kernel": ("M'6", "L6_4", "M'4", SPLINE),
    "scheme": ("rk2", "euler", "heun", "rk3", "rk4"),
    "interpolation": ("linear", "cubic"),
    "dtype": ("float32", "float64", "float16"),
    "order": (1, 2, 4),
    "limiter": (None, "positive", "monotone"),
    "conservative": (True, False),
    "times": (1, 3),
    "boundary": ("periodic", "wall", ("inflow", "outflow"), ("outflow", "wall")),
    "has_source": (False, True),
    "components": (1, 2, 3),
    "ratio": (1, 2, 3),
    "shape": ((54,), (18, 11), (6, 36), (6, 3, 6)),
    "wind": (0.0, 15.0),
}
UNSPLIT = {
    **{name: SPLIT[name] for name in ("kernel", "scheme", "interpolation", "dtype", "times")},
    **{name: SPLIT[name] for name in ("components", "ratio", "wind")},
    "shape": ((36,), (6, 12), (6, 3, 6)),
}
FORMULA = {
    "form": tuple(FORMS)[:4],
    "formula": (hashes.trigonometric, lambda x, y, t: (np.sin(t + 6 * y) / 3, np.exp(-x) / 4)),
    "boundary": SPLIT["boundary"],
    "scheme": SPLIT["scheme"],
    "dtype": SPLIT["dtype"],
    "conservative": SPLIT["conservative"],
}
PART_FORMS = {
    "registers": pt.Form("registers"),
    "registers, in pieces": pt.Form("registers", nodes=4),
    "local": pt.Form("local"),
}
PART = {
    **{name: choices for name, choices in SPLIT.items() if name != "has_source"},
    "form": tuple(PART_FORMS),
    "order": (1,),
    "shape": ((6, 12, 5),),
    "axis": (0, 1),
    "rank": (0, 1, 2),
}
OF_RANKS = {
    "as many points": ((9, 70), (9, 70), ["periodic", "wall"], "M'4"),
    "ends": ((8, 5, 6), (8, 5, 6), [("outflow", "wall"), "wall", "periodic"], "M'6"),
    "other points": ((8, 6), (13, 7), ["wall", "periodic"], "M'4"),
}
"""Cells, points, boundaries, and kernels of interpolation."""
BEFORE = "== "
REALS = ("float16", "float32", "float64")
opened = []
INTEGERS = ("int32", "uint32", "int64", "uint64")


def paired(name, choices, most=3000):
    """Return rows of choices that hold every pair of them; which rows is drawn."""
    draw = lot.lots(name).choice
    drawn = [{key: draw(values) for key, values in choices.items()} for _ in range(most)]
    rows = list(filter(is_possible, drawn))
    return [rows[index] for index in covering(rows)]


def is_possible(row):
    """Whether the library has such a form."""
    form = row.get("form", "")
    if form == "global":
        return row["boundary"] == "periodic" and row["limiter"] is None and row["conservative"]
    if form == "team" and not row["conservative"]:
        return False
    return row["dtype"] == "float32" or "images" not in form


@functools.cache
def gpu(local_memory):
    """Return the default device, told to be a GPU with so much local memory, profiled to the end."""
    device = as_gpu(pt.default_device(), local_memory)
    device.core.start_profile(1)
    opened.append(device)
    return device


def launched():
    """Return the names of the kernels that ran."""
    return set().union(*(device.core.stop_profile(1) for device in opened))


def named(kind, rows, run):
    return {f"{kind} {number}": partial(run, **row) for number, row in enumerate(rows)}


def generator(name):
    return np.random.default_rng(lot.lots(name).getrandbits(64))


def drawn_case(device, shape, ratio, wind, times, boundary, cut=None, **choices):
    """Noise in a flow of noise, which is given on fewer points where they can be divided.

    `cut`: they are a part of a grid, along which axis, which one, and of how many.
    """
    ends = [boundary, "periodic", boundary] if len(shape) == 3 else [boundary] * len(shape)
    box = {"extent": [1.0 + k for k in range(len(shape))], "boundary": ends}
    few = [n if n % ratio else n // ratio for n in shape]
    grid, coarse = pt.Grid(shape, **box), pt.Grid(few, **box)
    if cut is not None:
        grid, coarse = part_of(grid, *cut), part_of(coarse, *cut)
    rng = generator(f"{shape} {choices}")
    levels = [wind + rng.uniform(-1, 1, (len(shape), *few)) for _ in range(times)]
    choices["kernel"] = pt.kernels.get(choices["kernel"])
    case = Case(device, grid, coarse, tuple(levels), duration(grid, coarse, levels), **choices)
    u = case.field(rng.uniform(-1, 1, (case.components, *shape)))
    return case, u


def step(case, u, form):
    case.transport(u, form).step(case.dt)
    u.get()


def split(form, **choices):
    local_memory, chosen = FORMS[form]
    step(*drawn_case(gpu(local_memory), **choices), chosen)


def unsplit(**choices):
    fixed = {"order": None, "limiter": None, "conservative": True, "has_source": False}
    step(*drawn_case(gpu(ENOUGH), boundary="periodic", **fixed, **choices), None)


def formula(form, formula, boundary, scheme, dtype, conservative):
    local_memory, chosen = FORMS[form]
    grid = pt.Grid((19, 22), boundary=boundary)
    u = hashes.filled(grid, dtype, gpu(local_memory))
    inflow = BROUGHT if "inflow" in boundary else None
    advection = pt.AdvectionOp(pt.Velocity(grid, formula), scheme, form=chosen)
    remesh = pt.RemeshOp(u, form=chosen, inflow=inflow, conservative=conservative)
    pt.Splitting(advection, remesh).run(0.1, 0.05, progress=False)


def part(form, axis, rank, **choices):
    """A sweep along the axis that is cut; all three parts have the same values."""
    case, u = drawn_case(gpu(ENOUGH), cut=(axis, rank, 3), has_source=False, **choices)
    case.transport(u, PART_FORMS[form]).sweep(axis, case.dt)
    u.get()


def short_segment():
    """The last segment of a line is shorter than the others, and particles move by half a cell."""
    form = FORMS["segments, strided"][1]
    grid = pt.Grid((54, 20))
    velocity, u = (pt.Field(grid, n, device=gpu(LITTLE)) for n in (2, 1))
    velocity[...], u[...] = np.full(velocity.shape, 0.01), np.ones(u.shape)
    pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form), 1).sweep(0, 1.0)


def last_part():
    """Something comes in through the end of the first part, which the last one knows nothing of."""
    choices = {"kernel": "M'4", "scheme": "rk4", "interpolation": "linear", "dtype": "float32"}
    choices |= {"order": 1, "limiter": None, "conservative": True, "times": 1, "components": 1}
    box = {"boundary": ("inflow", "outflow"), "ratio": 1, "shape": (6, 12, 5), "wind": 15.0}
    part("registers", axis=0, rank=2, **choices, **box)


def cut_lines(kind):
    """Lines in segments of a few nodes, from which particles move far."""
    device = gpu(ENOUGH)
    for ends in ("periodic", ("outflow", "wall")):
        grid = pt.Grid((27, 3, 20), boundary=[ends] * 3)
        velocity, u = (pt.Field(grid, n, device=device) for n in (3, 2))
        velocity[...] = generator(kind).uniform(-1, 1, velocity.shape)
        u[...] = 1
        advection = advection_core(velocity, form=kind, capacity=9)
        sweeps = _core.Splitting(advection, remesh_core([u], "M'6", kind, 9), 1)
        for axis in range(3):
            sweeps.sweep(axis, 0.0, 5 * grid.spacing[axis])
        u.get()


def displacements():
    """Pushed by one kernel, remeshed by another; the velocity is refined along the last axis."""
    device = gpu(ENOUGH)
    for name, (dtype, interpolation) in itertools.product(
        tuple(FORMS)[:5], zip(REALS[1:], ("linear", "cubic"), strict=True)
    ):
        form = FORMS[name][1]
        fine = pt.Grid((4, 6, 18))
        velocity = pt.Field(pt.Grid((4, 3, 9)), 3, dtype, device)
        velocity[...] = generator(name).uniform(-1, 1, velocity.shape)
        u = pt.Field(fine, dtype=dtype, device=device)
        u[...] = generator(name).uniform(-1, 1, u.shape)
        advection = pt.AdvectionOp(
            velocity, "rk2", interpolation=interpolation, grid=fine, form=form
        )
        remesh = pt.RemeshOp(u, form=form)
        for axis in range(3):
            remesh.apply(advection.apply(0.05, axis))


def diffusion(dtype):
    device = gpu(ENOUGH)
    for shape, ends in [
        ((1, 2), "wall"),
        ((14, 4), ("inflow", "outflow")),
        ((2, 3, 24), "periodic"),
    ]:
        grid = pt.Grid(shape, boundary=ends)
        u = pt.Field(grid, 2, dtype, device)
        u[...] = generator("diffusion").uniform(-1, 1, u.shape)
        inflow = [lambda t: 0.5 + 0.25 * t, 0.5] if ends[0] == "inflow" else None
        for spread in (0.4, 100.0):
            pt.Diffusion(u, spread * min(grid.spacing) ** 2, inflow=inflow).apply(1.0)


def sources(dtype):
    device = gpu(ENOUGH)
    grid = pt.Grid((5, 4, 33))
    u, given = (pt.Field(grid, n, dtype, device) for n in (2, 1))
    u[...], given[...] = 1, 0.5
    pt.SourceOp(u, lambda a, b, g, x, z, t: (g * b - t * a, np.sin(x) - z * b), given).apply(0.1)
    pt.SourceOp(u.component(1), ["-g * u"], u.component(0)).apply(0.1)


def fields(dtype):
    """Boxes, copies, transpositions, formulas, reductions of all and along axes."""
    device = gpu(ENOUGH)
    for shape, components in [((1030,), 1), ((3, 36), 2), ((2, 33, 5), 1)]:
        grid = pt.Grid(shape)
        u = pt.Field(grid, components, dtype, device)
        values = generator("fields").uniform(-1, 1, u.shape).astype(dtype)
        u[...] = values
        for other in REALS:
            copied = pt.Field(grid, components, other, device)
            copied[...] = u
            copied[...] = np.asfortranarray(values)
        u[::-2] = values[::-2]
        u[..., 1::2] = 0.25
        u *= 2
        u.component(0).assign(lambda a, x: np.cos(a) + x, u.component(components - 1))
        for axis in (None, *range(len(shape)), tuple(range(len(shape)))[-2:]):
            for reduced in (u.sum, u.min, u.max, u.mean, u.var):
                reduced(axis=axis)
        u.norm(1), u.norm(2), u.norm(np.inf), u.count(0.1, 0.7), u.get()


def resampling(dtype):
    device = gpu(ENOUGH)
    boxes = [
        ((20, 24), (60, 12), "periodic"),
        ((24, 21), (8, 42), "wall"),
        ((7,), (35,), "outflow"),
    ]
    for kernel, (shape, wanted, ends) in itertools.product(("M'6", "L4_4"), boxes):
        u = pt.Field(pt.Grid(shape, boundary=ends), 2, dtype, device)
        u[...] = 0.5
        pt.resample(u, pt.Grid(wanted, boundary=ends), kernel)


def arrays(dtype):
    """Scans, orders, rows in an order, and what is known of all numbers."""
    device = gpu(ENOUGH)
    for n in (1, 130, 700):
        keys = pt.Array(n, dtype, device)
        keys[...] = generator("keys").integers(0, 90, n).astype(dtype)
        keys.exclusive_scan()
        keys.argsort()
        keys.sum(), keys.min(), keys.max()
        for real, components in zip(("uint8", *REALS), (1, 2, 3, 4), strict=True):
            rows = pt.Array(n if components == 1 else (n, components), real, device)
            rows[...] = 1
            rows.take(keys.argsort())
            rows.sorted_by(keys)
            rows.component(0).sum()


def sets(dtype):
    """Particles that move, leave, are added, sorted and removed, and what is computed of them."""
    device = gpu(ENOUGH)
    ends = ["wall", "periodic", ("outflow", "wall")]
    for shape, n in [((7,), 1), ((5, 6), 130), ((3, 2, 4), 700)]:
        grid = pt.Grid(shape, boundary=ends[: len(shape)])
        positions = generator("sets").random((n, len(shape)))
        known = {
            name: generator(name).integers(0, 2, n).astype(name)
            for name in ("bool", "uint8", *REALS, *INTEGERS)
        }
        names = {name: f"of_{name}" for name in known}
        swarm = pt.ParticleSet(
            grid,
            positions,
            dtype=dtype,
            device=device,
            v=np.ones((n, 3), dtype),
            **{names[name]: values for name, values in known.items()},
        )
        swarm.update(
            lambda p, dt, names=names: {
                "position": p.position + dt * p.of_float32 * (1 + p.of_uint8),
                **{name: getattr(p, name) + p.x for name in names.values()},
            },
            dt=0.4,
        )
        swarm.add(swarm)
        swarm.sort("row")
        swarm.sort("cell")
        swarm.remove(lambda p: p.of_bool & (p.x > 0.25))
        swarm.update(lambda p: {"v": np.sqrt(p.v) + p.of_float16})
        swarm.positions.get(), swarm["v"].get()
        cells = swarm._columns.used(swarm._columns.cells)
        part = _core.Cells(grid.core, grid.origin, [1.0] * grid.ndim, shape[0] - 1, 2)
        target = _core.Array(device.core, cells.count, 1, part.cell_dtype, "cells of a part")
        _core.ParticleSet(device.core, part).find_cells(cells, target)


def interpolation(dtype):
    """Between particles and points: as many cells as points, others, and few, in several tiles."""
    device = gpu(ENOUGH)
    ends = ["wall", "periodic", ("outflow", "wall")]
    kernels = itertools.cycle(("M'6", "L1", "nearest"))
    alike = [(7,), (10, 66), (3, 2, 4)]
    others = [((5, 6), (4, 9)), ((2, 6), (9, 5))]
    for shape, other in [*zip(alike, alike, strict=True), *others]:
        boundary = ends[: len(shape)]
        n = 130
        swarm = pt.ParticleSet(
            pt.Grid(shape, boundary=boundary),
            generator("interpolation").random((n, len(shape))),
            device=device,
            v=np.ones((n, 2), dtype),
            dark=np.arange(n) % 2 == 0,
            light=np.arange(n) % 2 == 1,
        )
        grid = pt.Grid(other, boundary=boundary)
        v = pt.Field(grid, 2, dtype, device)
        dark, light = (pt.Field(grid, 1, dtype, device) for _ in range(2))
        kernel = next(kernels)
        pt.ParticlesToGrid(swarm, ["v", "dark", "light"], [v, dark, light], kernel).apply()
        pt.ParticlesToGrid(swarm, "v", v, kernel, order="canonical").apply(add=True)
        pt.GridToParticles([v, dark, light], swarm, ["v", "new", "newer"], kernel).apply(add=True)
        swarm["v"].get(), swarm["new"].get()


def of_ranks(name):
    """Interpolation on parts of a grid: two processes have a device each.

    Oclgrind cannot be called from two threads, by which a process has several devices.
    """
    if "PMI_SIZE" not in os.environ:
        status, _, errors = ranks.run(2, "tests.trust.gpu_cases", f"ranks {name}")
        sys.stderr.write(errors)
        assert status == 0, f"ranks end with {status}"
        return
    shape, points, boundary, kernel = OF_RANKS[name]
    home, grid = (pt.Grid(n, boundary=boundary, comm="world") for n in (shape, points))
    values = np.ones((300, 2), "float32")
    swarm = pt.ParticleSet.random(home, len(values), seed=3, device=gpu(ENOUGH), v=values)
    swarm.sort("cell")
    v = pt.Field(grid, 2, device=swarm.device)
    pt.ParticlesToGrid(swarm, "v", v, kernel).apply()
    pt.GridToParticles(v, swarm, "v", kernel).apply()
    v.get(), swarm["v"].get()


def tracers(dtype):
    """Take particles along by each kind of velocity, some of them out of the box."""
    device = gpu(ENOUGH)
    schemes = itertools.cycle(("rk4", "rk3", "heun", "euler"))
    for shape, cells, ends in [
        ((7,), (7,), ["wall"]),
        ((5, 6), (4, 9), ["periodic", ("wall", "outflow")]),
        ((3, 2, 4), (3, 2, 4), ["periodic", "outflow", "wall"]),
    ]:
        grid, n = pt.Grid(shape, boundary=ends), 300
        places = generator("tracers").random((n, len(shape)))
        swarm = pt.ParticleSet(
            pt.Grid(cells, boundary=ends), places, dtype=dtype, device=device, tag=np.arange(n)
        )
        fields = [pt.Field(grid, len(shape), dtype, device) for _ in range(2)]
        for field in fields:
            field[...] = generator("flow").normal(size=field.shape)
        for velocity in (
            fields[0],
            pt.VelocitySeries(fields, [0.0, 2.0]),
            pt.Velocity(grid, ["sin(6*x) + t"] * len(shape)),
        ):
            tracing = pt.Tracers(swarm, velocity, next(schemes), "M'4")
            tracing.step(0.1)
            tracing.run(0.4, 0.1)
            tracing.lcfl(0.1)
        swarm.positions.get(), swarm["tag"].get()


def device_itself():
    """What no operator launches."""
    core = gpu(ENOUGH).core
    core.run_self_test()
    core.measure_triad()
    core.measure_axpy()


def transport(problem):
    """A whole run, with its report."""
    one = hashes.transport(gpu(ENOUGH), (13, 10), **hashes.PROBLEMS[problem])
    one.run(0.25, 0.125, progress=False)
    str(one.report())


CASES = {
    **named("split", paired("split", SPLIT), split),
    **named("part", paired("part", PART), part),
    **named("unsplit", paired("unsplit", UNSPLIT), unsplit),
    **named("formula", paired("formula", FORMULA), formula),
    **{f"run, {problem}": partial(transport, problem) for problem in hashes.PROBLEMS},
    "a shorter last segment": short_segment,
    "the last part": last_part,
    **{f"cut lines, {kind}": partial(cut_lines, kind) for kind in ("registers", "team")},
    "displacements": displacements,
    **{f"diffusion {dtype}": partial(diffusion, dtype) for dtype in REALS},
    **{f"sources {dtype}": partial(sources, dtype) for dtype in REALS},
    **{f"fields {dtype}": partial(fields, dtype) for dtype in REALS},
    **{f"resampling {dtype}": partial(resampling, dtype) for dtype in REALS},
    **{f"arrays {dtype}": partial(arrays, dtype) for dtype in INTEGERS},
    **{f"sets {dtype}": partial(sets, dtype) for dtype in REALS[1:]},
    **{f"interpolation {dtype}": partial(interpolation, dtype) for dtype in REALS},
    **{f"ranks {name}": partial(of_ranks, name) for name in OF_RANKS},
    **{f"tracers {dtype}": partial(tracers, dtype) for dtype in ("float32", "float64")},
    "the device itself": device_itself,
}


def main():
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or CASES:
        print(f"{BEFORE}{name}", file=sys.stderr, flush=True)
        CASES[name]()
    print(json.dumps(sorted(launched())))


if __name__ == "__main__":
    main()
