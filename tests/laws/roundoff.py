# SPDX-License-Identifier: BSD-3-Clause
"""What rounding leaves of each operator, beside NumPy's in double: ``python -m tests.laws.roundoff``.

In float16 fields are that; velocities and moves are float32, as always.
"""

from itertools import product

import numpy as np
import particles as pt

from tests.reference import (
    reference,
    reference_interpolation,
    reference_limiter,
    reference_motion,
    reference_resample,
    reference_stepping,
    reference_unsplit,
    reference_values,
)
from tests.support.kernel_tables import PIECES
from tests.support.usable import usable_devices
from tests.trust import hashes

AXIS = 0
SHAPE = (64, 48)
STEPS = 40
RESAMPLED = (128, 16)  # finer along the first axis, coarser along the other
PRECISIONS = ("float16", "float32", "float64")
DRIFT_A_SWEEP = 5e-9  # of the mass, in float32
DRIFT_IF_UNIFORM = 1.2e-7  # where all particles of a line have the same weights
REMESHING = {
    "positive": {"limiter": "positive"},
    "monotone": {"limiter": "monotone"},
    "values": {"conservative": False},
}


def double(field):
    return field.get().astype(np.float64)


def pushed(device, dtype, scheme, interpolation):
    one = hashes.transport(
        device, SHAPE, dtype, scheme=scheme, interpolation=interpolation
    ).advection
    found = one.apply(hashes.DT, AXIS)
    sample = reference_motion.on_grid(double(one.velocity)[AXIS], AXIS, interpolation)
    spacing = one.velocity.grid.spacing[AXIS]
    expected = reference_motion.displacement(sample, scheme, 0.0, hashes.DT, spacing)
    return double(found.displacement), expected


def remeshed(device, dtype, kernel, **options):
    """By moves that strain the particles by a quarter."""
    grid = pt.Grid(SHAPE)
    u = hashes.filled(grid, dtype, device)
    moves = pt.Field(grid, dtype=np.result_type(dtype, np.float32), device=device)
    moves[...] = np.broadcast_to(5 * hashes.hill(grid.coordinates()[0]), SHAPE)
    before, cells, is_back = double(u), double(moves), not options.get("conservative", True)
    if is_back:
        expected = reference_values.remesh(before, cells, AXIS, kernel)
    else:
        remesh = reference_limiter.remesh if options else reference.remesh
        expected = remesh(before, cells, AXIS, kernel, **options)
    pt.RemeshOp(u, kernel, **options).apply(pt.Positions(moves, AXIS, back=is_back))
    return double(u), expected


def run(device, dtype, kernel):
    one = hashes.transport(device, SHAPE, dtype, kernel=kernel)
    u, velocity = hashes.field_of(one), list(double(one.advection.velocity))
    expected = double(u)
    for _ in range(STEPS):
        one.step(hashes.DT)
        expected = reference.run(expected, velocity, hashes.DT, 1, u.grid, kernel)
    return double(u), expected


def unsplit(device, dtype):
    one = hashes.transport(device, SHAPE, dtype, stepper=pt.Unsplit)
    u, velocity = hashes.field_of(one), list(double(one.advection.velocity))
    expected = reference_unsplit.step(double(u), velocity, hashes.DT, u.grid, "M'6")
    one.step(hashes.DT)
    return double(u), expected


def resampled(device, dtype):
    u, new = hashes.filled(pt.Grid(SHAPE), dtype, device), pt.Grid(RESAMPLED)
    expected = reference_resample.resampled(double(u), u.grid, new, "M'6")
    return double(pt.resample(u, new, "M'6")), expected


def given(device, dtype, kernel):
    """Two particles a point on average, in float32 at least."""
    swarm = crowd(device, dtype)
    u = pt.Field(swarm.grid, dtype=dtype, device=device)
    pt.ParticlesToGrid(swarm, "mass", u, kernel).apply()
    values = swarm["mass"].get().astype(np.float64)
    return double(u), reference_interpolation.to_grid(
        swarm.grid, swarm.positions.get(), values, kernel
    )


def sampled(device, dtype, kernel):
    swarm = crowd(device, dtype)
    u = hashes.filled(swarm.grid, dtype, device)
    pt.GridToParticles(u, swarm, "mass", kernel).apply()
    expected = reference_interpolation.to_particles(
        swarm.grid, swarm.positions.get(), double(u), kernel
    )
    return swarm["mass"].get().astype(np.float64), expected


def crowd(device, dtype):
    grid, real = pt.Grid(SHAPE), np.result_type(dtype, np.float32)
    values = np.random.default_rng(4).normal(size=2 * grid.size).astype(real)
    return pt.ParticleSet.random(grid, len(values), seed=3, dtype=real, device=device, mass=values)


def react(device, dtype):
    """By Runge and Kutta's rule, to what is far from rest."""
    u = hashes.filled(pt.Grid(SHAPE), dtype, device)
    expected = reference_stepping.rk4(double(u), lambda u, _: u * (1 - u), 0.0, hashes.DT)
    pt.SourceOp(u, "u*(1 - u)").apply(hashes.DT)
    return double(u), expected


def cases():
    """Yield operator, kernel and what to call with a device and a dtype."""
    for scheme, interpolation in product(reference_motion.TABLES, reference_motion.POINTS):
        yield f"push, {scheme}, {interpolation}", "", (pushed, (scheme, interpolation), {})
    for kernel in PIECES:
        yield "remesh", kernel, (remeshed, (kernel,), {})
    for name, options in REMESHING.items():
        yield f"remesh, {name}", "M'6", (remeshed, ("M'6",), options)
    yield "unsplit step", "M'6", (unsplit, (), {})
    for kernel in ("M'4", "M'6", "L6_4"):
        yield "particles to grid", kernel, (given, (kernel,), {})
        yield "grid to particles", kernel, (sampled, (kernel,), {})
    yield "resample", "M'6", (resampled, (), {})
    yield "source", "", (react, (), {})
    for kernel in ("M'6", "L6_4"):
        yield f"{STEPS} steps", kernel, (run, (kernel,), {})


def errors(case, device, dtype):
    """Return the median and the greatest error, in units of the greatest value."""
    function, arguments, options = case
    found, expected = function(device, dtype, *arguments, **options)
    error = np.abs(found - expected) / np.abs(expected).max()
    return float(np.median(error)), float(error.max())


def drifts(device, dtype, steps):
    """Yield by how much of itself the sum of a field changes in so many steps, for each kernel."""
    for kernel in ("M'6", "L6_4"):
        one = hashes.transport(device, SHAPE, dtype, kernel=kernel)
        u = hashes.field_of(one)
        before = double(u).sum()
        one.run(steps * hashes.DT, hashes.DT, progress=False)
        yield kernel, float(double(u).sum() / before - 1)


def greatest_drift(device, dtype, points, kernel):
    """Return by which part of itself a sweep changes the sum at most, in a steady flow.

    In the level-set test's flow, by small and by large steps, of a ball and of a hill.
    """
    grid = pt.Grid((points,) * 3)
    x = grid.coordinates()
    velocity = pt.Field(grid, 3, device=device)
    for axis, component in enumerate(pt.levelset.flow(*x)):
        velocity[axis] = component
    shapes = pt.levelset.ball(*x), hashes.hill(x[0]) * hashes.hill(x[1]) * hashes.hill(x[2])
    found = []
    for start, strain in product(shapes, (0.05, 0.3)):
        u = pt.Field(grid, dtype=dtype, device=device)
        u[...] = start
        before = double(u).sum()
        one = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, kernel))
        dt = strain / one.lcfl(1.0)
        for _ in range(STEPS):
            one.step(dt)
        sweeps = STEPS * len(one.schedule)
        found.append(abs(double(u).sum() / before - 1) / sweeps)
    return max(found)


def uniform_drift(device, dtype, kernel):
    """Return the greatest change of a line's sum in a sweep that moves all of the line alike."""
    grid = pt.Grid((256, 512))
    random = np.random.default_rng(0)
    u, moves = (pt.Field(grid, dtype=dtype, device=device) for _ in range(2))
    u[...] = 0.1 + random.random(grid.shape)
    moves[...] = np.broadcast_to(random.uniform(-3, 3, (256, 1)), grid.shape)
    before = double(u).sum(axis=1)
    pt.RemeshOp(u, kernel).apply(pt.Positions(moves, 1))
    return np.abs(double(u).sum(axis=1) / before - 1).max()


def print_drifts(devices):
    """Print the greatest drift a sweep: a row for each device, dtype and size."""
    kernels = ("M'4", "M'6", "L6_4", "L8_4")
    print("\n| greatest drift a sweep |", " | ".join(kernels), "|")
    print("| --- |", " | ".join("---" for _ in kernels), "|")
    for device, dtype, points in product(devices, PRECISIONS[:2], (32, 48, 64, 96, 128)):
        cells = [f"{greatest_drift(device, dtype, points, kernel):.1e}" for kernel in kernels]
        place = f"{points}³, {dtype}, {device.platform} {device.driver}"
        print(f"| {place} |", " | ".join(cells), "|", flush=True)
    for device, dtype in product(devices, PRECISIONS[:2]):
        cells = [f"{uniform_drift(device, dtype, kernel):.1e}" for kernel in kernels]
        place = f"uniform, {dtype}, {device.platform} {device.driver}"
        print(f"| {place} |", " | ".join(cells), "|", flush=True)


def main():
    devices = usable_devices()
    names = [f"{dtype}, {one.platform} {one.driver}" for one in devices for dtype in PRECISIONS]
    print("| operator | kernel |", " | ".join(names), "|")
    print("| --- | --- |", " | ".join("---" for _ in names), "|")
    for operator, kernel, case in cases():
        found = [errors(case, device, dtype) for device in devices for dtype in PRECISIONS]
        cells = [f"{median:.0e} / {greatest:.0e}" for median, greatest in found]
        print(f"| {operator} | {kernel} |", " | ".join(cells), "|", flush=True)
    for steps in (STEPS, 10 * STEPS, 100 * STEPS):
        found = [dict(drifts(d, dtype, steps)) for d in devices for dtype in PRECISIONS]
        for kernel in found[0]:
            cells = [f"{one[kernel]:+.0e}" for one in found]
            print(f"| mass after {steps} steps | {kernel} |", " | ".join(cells), "|", flush=True)
    print_drifts(devices)


if __name__ == "__main__":
    main()
