# SPDX-License-Identifier: BSD-3-Clause
"""What is in the files of each version, but for what a device computes."""

import numpy as np
import particles as pt
from particles import kernels

GRIDS = {
    "line": pt.Grid(5, origin=0.5, spacing=0.25, boundary="wall"),
    "plane": pt.Grid((4, 3), boundary=["periodic", ("inflow", "outflow")]),
    "box": pt.Grid((2, 3, 4), origin=(1, 2, 3), extent=(1, 2, 0.5)),
}
TIMES = (0.25, 1.5)


def fields_on(grid, time=0.0):
    """A scalar, a vector and halves, all of whose values differ."""
    fields = {
        "u": pt.Field(grid, dtype="float64"),
        "velocity": pt.Field(grid, 3),
        "stored": pt.Field(grid, 2, "float16"),
    }
    for first, field in enumerate(fields.values()):
        field[...] = (np.arange(field.size).reshape(field.shape) + first + time) / 8
    return fields


def in_a_field():
    """A velocity of a field and a kernel of the user's."""
    grid = pt.Grid(8, boundary="outflow")
    u, wind = pt.Field(grid), pt.Field(grid)
    u[...], wind[...] = np.arange(8.0) + 1, 0.5
    hat = kernels.custom("hat", [[1, -1]])
    return pt.Splitting(pt.AdvectionOp(wind, "rk4"), pt.RemeshOp(u, hat), 1)


def of_formulas():
    """A velocity, a source, an inflow with formulas of all kinds, diffusion, parameters."""
    grid = pt.Grid((6, 5), boundary=[("inflow", "outflow"), "wall"])
    fields = [pt.Field(grid, 2, "float64"), pt.Field(grid, dtype="float64")]
    heat = pt.Field(grid, dtype="float64")
    for field in (*fields, heat):
        field[...] = 1 + np.arange(field.size).reshape(field.shape) / 64

    def swirl(x, y, t, U, delay):
        late = (t > delay) & ~(x < 0.125) | (y >= 0.75)
        speed = U * np.sin(2 * np.pi * y) ** 2 * np.cos(t) + 2
        return speed * np.where(late, 1, np.hypot(x, y)), np.minimum(x, y) * y * (1 - y) / 8

    def rate(u0, u1, v, g, x, t, k):
        return -k * u0 * g, np.sign(u0 - 1) * np.maximum(u1, t), (x // 0.3) * v % 0.75 - v**3

    inflow = [1.5, lambda t: 2 + np.floor(4 * t) / np.exp2(t), 0.25]
    diffusion = pt.Diffusion(fields[1], 0.01, inflow=lambda t: 0.5 - np.tanh(t))
    return pt.Splitting(
        pt.AdvectionOp(pt.Velocity(grid, swirl, U=0.5, delay=0.01), "rk3"),
        pt.RemeshOp(fields, "L4_2", inflow=inflow),
        source=pt.SourceOp(fields, rate, heat, k=0.125),
        diffusion=diffusion,
    )


def in_a_series():
    """A velocity at three times on a coarser grid, values that are carried and limited."""
    coarse, grid = pt.Grid((3, 3)), pt.Grid((6, 6))
    velocities = [pt.Field(coarse, 2) for _ in range(3)]
    for k, velocity in enumerate(velocities):
        velocity[...] = (k + np.arange(18).reshape(2, 3, 3)) / 32
    u = pt.Field(grid, dtype="float16")
    u[...] = np.arange(36).reshape(6, 6) / 4
    series = pt.VelocitySeries(velocities, [0, 0.125, 0.5])
    advection = pt.AdvectionOp(series, interpolation="cubic", grid=grid)
    return pt.Splitting(advection, pt.RemeshOp(u, limiter="positive", conservative=False))


def unsplit():
    """All axes at once, in a formula that is written as text."""
    grid = pt.Grid((6, 6))
    u = pt.Field(grid)
    u[...] = np.arange(36).reshape(6, 6)
    shear = pt.Velocity(grid, ["y < 0.5 ? sin(2*M_PI*y) : 1", 0.25])
    return pt.Unsplit(pt.AdvectionOp(shear), pt.RemeshOp(u, "M'4"))


def swarm_on(grid, n=5):
    """A set with attributes of several kinds, some of whose particles have left or gone round."""
    axes = np.arange(grid.ndim)
    places = np.array(grid.origin) + (np.arange(n)[:, None] + axes) / (n + 3) * grid.extent
    swarm = pt.ParticleSet(
        grid,
        places,
        mass=np.arange(n) / 8,
        dark=np.arange(n) % 2 == 0,
        tag=np.arange(n) + 2**40,
        half=np.arange(2.0 * n).reshape(n, 2).astype("float16"),
    )
    swarm.update(lambda p: {"position": p.position + 0.75})
    return swarm


def tracers():
    """Particles that a formula with a parameter takes along."""
    grid = GRIDS["plane"]
    wind = pt.Velocity(grid, lambda x, y, t, U: (U * np.cos(t), x * y), U=1.0)
    return pt.Tracers(swarm_on(grid), wind, "rk3", time=0.5)


def state_of_tracers(tracers):
    """Return by name all that a checkpoint of them restores."""
    swarm = tracers.swarm
    return {
        "time": tracers.time,
        "last_dt": tracers.last_dt,
        "U": tracers.velocity.parameters["U"],
        **state_of_set(swarm),
    }


def state_of_set(swarm):
    """Return by name all that is known of particles."""
    known = {name: one.get() for name, one in swarm.attributes.items()}
    return known | {
        "positions": swarm.positions.get(),
        "turns": swarm.turns,
        "left": swarm.left,
    }


TRANSPORTS = {
    "field": in_a_field,
    "formulas": of_formulas,
    "series": in_a_series,
    "unsplit": unsplit,
}


def state_of(transport):
    """Return by name all that a checkpoint restores."""
    state = {"time": transport.time, "last_dt": transport.last_dt}
    for k, field in enumerate(transport.remesh.fields):
        state[f"field {k}"] = field.get()
    for k, field in enumerate(transport.advection.fields):
        state[f"velocity {k}"] = field.get()
    if isinstance(transport, pt.Splitting):
        if transport.remesh.conservative:
            state["outflow"] = transport.outflow
        for diffusion in transport.diffusion:
            state["viscosity"] = diffusion.viscosity
        if transport.source is not None:
            state["given"] = transport.source.given[0].get()
    for formulas in formulas_of(transport):
        for name, value in formulas.parameters.items():
            state[f"parameter {name}"] = value
    return state


def formulas_of(transport):
    """Return what has parameters."""
    one, other = transport.advection.velocity, getattr(transport, "source", None)
    return [formula for formula in (one, other) if hasattr(formula, "parameters")]


def spoil(transport):
    """Change all that a checkpoint restores."""
    source = getattr(transport, "source", None)
    given = () if source is None else source.given
    for field in (*transport.remesh.fields, *transport.advection.fields, *given):
        field.fill(0.25)
    for formulas in formulas_of(transport):
        for name in formulas.parameters:
            formulas.parameters[name] = 0.75
