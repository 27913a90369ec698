# SPDX-License-Identifier: BSD-3-Clause
"""How exact particles are beside SciPy's cubic semi-Lagrangian steps.

``python -m benchmarks.accuracy.scipy``

A smooth hill in a vortex for a unit of time, in the same steps: SciPy follows grid points back by
the midpoint rule and interpolates there in double precision, particles are those of the presets, in
single precision.
"""

from __future__ import annotations

import argparse

import numpy as np
import particles as pt
from scipy.ndimage import map_coordinates

from benchmarks.flows import SWIRL, Array, relative_l1


def scipy_steps(start: Array, x: Array, y: Array, steps: int) -> Array:
    """Carry values by SciPy for a unit of time."""
    points, dt, u = len(start), 1 / steps, start
    a, b = SWIRL.velocity(x, y)
    a, b = SWIRL.velocity(x - dt / 2 * a, y - dt / 2 * b)
    feet = [points * (x - dt * a), points * (y - dt * b)]
    for _ in range(steps):
        u = map_coordinates(u, feet, order=3, mode="grid-wrap")
    return u


def particle_steps(preset: str, start: Array, grid: pt.Grid, steps: int) -> Array:
    """Carry masses by a preset for a unit of time."""
    u = pt.Field(grid)
    u[...] = start
    transport = pt.Splitting.from_preset(preset, SWIRL.formula(grid), u)
    transport.run(until=1.0, dt=1 / steps)
    return u.get().astype(np.float64)


def main() -> None:
    """Print a table of errors and changes of the sum."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print("| points | CFL | SciPy | default | accurate |\n| ---: | ---: | --- | --- | --- |")
    for points in (128, 256, 512):
        grid = pt.Grid((points, points))
        x, y = np.meshgrid(*(c.ravel() for c in grid.coordinates()), indexing="ij")
        start, exact = SWIRL.solution([x, y], 0.0), SWIRL.solution([x, y], 1.0)
        for cfl in (2, 5):
            steps = round(points / cfl)
            ends = [scipy_steps(start, x, y, steps)]
            ends += [particle_steps(way, start, grid, steps) for way in ("default", "accurate")]
            found = (f"{relative_l1(u, exact):.1e}, {u.sum() / start.sum() - 1:+.0e}" for u in ends)
            print(f"| {points} | {cfl} | {' | '.join(found)} |")


if __name__ == "__main__":
    main()
