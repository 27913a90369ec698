# SPDX-License-Identifier: BSD-3-Clause
"""What rounding leaves of each operator, beside NumPy's in double: ``python tests/roundoff.py``."""

import hashes
import numpy as np
import particles as pt
import reference
import reference_limiter
import reference_motion
from usable import usable_devices

AXIS = 0
SHAPE = (64, 48)
STEPS = 40
KERNELS = ("M'4", "M'6", "M'8", "L6_4", "L8_4")
PRECISIONS = ("float32", "float64")
SCHEMES = {"rk2": "linear", "rk4": "cubic"}
REMESHING = {
    "limiter": {"limiter": "positive"},
    "values": {"limiter": None, "conservative": False},
}


def double(field):
    return field.get().astype(np.float64)


def pushed(device, dtype, scheme):
    one = hashes.transport(
        device, SHAPE, dtype, scheme=scheme, interpolation=SCHEMES[scheme]
    ).advection
    found = one.apply(hashes.DT, AXIS)
    sample = reference_motion.on_grid(double(one.velocity)[AXIS], AXIS, SCHEMES[scheme])
    spacing = one.velocity.grid.spacing[AXIS]
    expected = reference_motion.displacement(sample, scheme, 0.0, hashes.DT, spacing)
    return double(found.displacement), expected


def remeshed(device, dtype, kernel, **options):
    """By moves that strain the particles by a quarter."""
    grid = pt.Grid(SHAPE)
    u = hashes.filled(grid, dtype, device)
    moves = pt.Field(grid, dtype=dtype, device=device)
    moves[...] = np.broadcast_to(5 * hashes.hill(grid.coordinates()[0]), SHAPE)
    remesh = reference_limiter.remesh if options else reference.remesh
    expected = remesh(double(u), double(moves), AXIS, kernel, **options)
    pt.RemeshOp(u, kernel, **options).apply(pt.Positions(moves, AXIS))
    return double(u), expected


def run(device, dtype, kernel):
    one = hashes.transport(device, SHAPE, dtype, kernel=kernel)
    u, velocity = hashes.field_of(one), list(double(one.advection.velocity))
    expected = double(u)
    for _ in range(STEPS):
        one.step(hashes.DT)
        expected = reference.run(expected, velocity, hashes.DT, 1, u.grid, kernel)
    return double(u), expected


def cases():
    """Yield operator, kernel and what to call with a device and a dtype."""
    for scheme, interpolation in SCHEMES.items():
        yield f"push, {scheme}, {interpolation}", "", (pushed, (scheme,), {})
    for kernel in KERNELS:
        yield "remesh", kernel, (remeshed, (kernel,), {})
    for name, options in REMESHING.items():
        yield f"remesh, {name}", "M'6", (remeshed, ("M'6",), options)
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


if __name__ == "__main__":
    main()
