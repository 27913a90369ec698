# SPDX-License-Identifier: BSD-3-Clause
"""A semi-Lagrangian step with cubic splines by SciPy, on one core as it comes."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import map_coordinates

from benchmarks.peers.comparison import Array, Peer, Problem


def peers(problem: Problem) -> list[Peer]:
    """One step in three dimensions at once; where the points come from is given."""
    points = np.meshgrid(*map(np.arange, problem.u.shape), indexing="ij", sparse=True)
    middle = [x - a / 2 for x, a in zip(points, problem.motion, strict=True)]
    moves = [map_coordinates(a, middle, order=1, mode="grid-wrap") for a in problem.motion]
    origin = np.stack([x - a for x, a in zip(points, moves, strict=True)])

    def work() -> Array:
        return map_coordinates(problem.u, origin, order=3, mode="grid-wrap")

    tolerance = problem.step_tolerance(2e-4)
    return [Peer("SciPy, semi-Lagrangian, cubic", None, work, tolerance)]
