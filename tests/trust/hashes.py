# SPDX-License-Identifier: BSD-3-Clause
"""Digests of a few transports: ``python -m tests.trust.hashes`` prints those of every device.

What they start from is made by additions and multiplications alone, which IEEE 754 defines to the
last bit, so digests of two machines can be compared.
"""

import hashlib

import numpy as np
import particles as pt

from tests.support.usable import usable_devices

SHAPE = (45, 38)
DT = 0.125


def hill(x):
    """One in the middle of the period, zero at its ends, where its slope is zero as well."""
    return 16 * (x * (1 - x)) ** 2


def slope(x):
    return 32 * x * (1 - x) * (1 - 2 * x)


def wind(x, y):
    """Without divergence."""
    return hill(x) * slope(y) / 8, -slope(x) * hill(y) / 8


def trigonometric(x, y):
    return np.sin(6 * y) / 2 + np.cos(6 * x) / 9, np.cos(6 * x) * np.sin(3 * y) / 3


def exponential(x, y):
    return np.exp(-y) / 2 + np.exp(-2 * x) / 9, np.tanh(x - y) / 9


def filled(grid, dtype, device):
    u = pt.Field(grid, dtype=dtype, device=device)
    place = sum((c - c.mean()) ** 2 for c in grid.coordinates())
    u[...] = hill(grid.coordinates()[0]) / 3 + (place < 0.07)
    return u


def transport(
    device,
    shape=SHAPE,
    dtype="float32",
    formula=None,
    boundary="periodic",
    stepper=pt.Splitting,
    scheme="rk2",
    interpolation="linear",
    viscosity=None,
    **remeshing,
):
    grid = pt.Grid(shape, boundary=boundary)
    u = filled(grid, dtype, device)
    if formula:
        advection = pt.AdvectionOp(pt.Velocity(grid, formula), scheme)
    else:
        velocity = pt.Field(grid, 2, "float64" if dtype == "float64" else "float32", device)
        for axis, component in enumerate(wind(*grid.coordinates())):
            velocity[axis] = np.broadcast_to(component, shape)
        advection = pt.AdvectionOp(velocity, scheme, interpolation=interpolation)
    diffusion = {} if viscosity is None else {"diffusion": pt.Diffusion(u, viscosity)}
    return stepper(advection, pt.RemeshOp(u, **remeshing), **diffusion)


PROBLEMS = {
    "default": {},
    "float64": {"dtype": "float64"},
    "float16": {"dtype": "float16"},
    "L6_4, rk4, cubic": {"kernel": "L6_4", "scheme": "rk4", "interpolation": "cubic"},
    "positive": {"limiter": "positive"},
    "monotone": {"limiter": "monotone"},
    "values": {"conservative": False},
    "inflow, outflow, walls": {"boundary": [("inflow", "outflow"), "wall"], "inflow": 0.5},
    "diffusion, inflow, walls": {
        "boundary": [("inflow", "outflow"), "wall"],
        "inflow": 0.5,
        "viscosity": 0.25,
    },
    "unsplit": {"stepper": pt.Unsplit},
    "formula of sines": {"formula": trigonometric},
    "formula of exponentials": {"formula": exponential},
}


EXCHANGES = ("particles to grid", "grid to particles", "tracers")


def field_of(stepper):
    return stepper.remesh.fields[0]


def digest(field):
    """SHA-256 of the values, in their own dtype and in C order."""
    values = field.get()
    assert np.isfinite(values).all()
    return hashlib.sha256(values.tobytes()).hexdigest()


def spread(shape, device):
    """Particles anywhere, one for each cell, and what they carry."""
    numbers = np.arange(float(np.prod(shape)))
    s, *places = (
        factor * numbers % 1
        for factor in (0.6180339887, 0.7548776662, 0.5698402910, 0.8191725134)[: len(shape) + 1]
    )
    grid = pt.Grid(shape)
    return pt.ParticleSet(
        grid, np.stack(places, -1), s=s.astype("float32"), device=device, dtype="float32"
    )


def exchanged(device, shape=SHAPE):
    """Digests of what particles give to a grid, and of what they receive from it."""
    swarm = spread(shape, device)
    field = pt.Field(swarm.grid, device=device)
    pt.ParticlesToGrid(swarm, "s", field).apply()
    pt.GridToParticles(field, swarm, "value").apply()
    flow = pt.Field(swarm.grid, 2, device=device)
    flow[...] = lambda x, y: (np.sin(2 * np.pi * y), np.cos(2 * np.pi * x))
    values = digest(swarm["value"])
    pt.Tracers(swarm, flow, kernel="M'4").run(0.1, 0.02, progress=False)
    return dict(zip(EXCHANGES, (digest(field), values, digest(swarm.positions)), strict=True))


def digests(device, problems=PROBLEMS):
    """Of each problem at the end of a run, by its name, where the device has such numbers."""
    found = {}
    for name in problems:
        choices = PROBLEMS[name]
        if np.dtype(choices.get("dtype", "float32")) in device.dtypes:
            one = transport(device, **choices)
            one.run(1.0, DT, progress=False)
            found[name] = digest(field_of(one))
    return found


def main():
    columns = {device: digests(device) for device in usable_devices()}
    names = [f"{device.name}, {device.driver}" for device in columns]
    print("| problem |", " | ".join(names), "|")
    print("| --- |", " | ".join("---" for _ in names), "|")
    fused = ["yes" if device.info.vector_fma else "no" for device in columns]
    print("| fused multiply-add |", " | ".join(fused), "|")
    for device, found in columns.items():
        found |= exchanged(device)
    for name in (*PROBLEMS, *EXCHANGES):
        cells = [found.get(name, "")[:16] for found in columns.values()]
        print(f"| {name} |", " | ".join(f"`{cell}`" for cell in cells), "|")


if __name__ == "__main__":
    main()
