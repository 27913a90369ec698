# SPDX-License-Identifier: BSD-3-Clause
"""Problems carried on a device, shared by the tests of the figures that must be reached."""

from functools import cache

import numpy as np
import particles as pt

from tests.support.problems import LEVEL_SET, SWIRL, volume

FLOAT32_MASS, FLOAT64_MASS = 3e-7, 1e-13


class Flow:
    """A problem on a grid of n points per axis, its velocity sampled on the grid."""

    def __init__(self, problem, n, device, dtype, kernel="M'6", splitting=2, **remeshing):
        self.problem = problem
        self.grid = pt.Grid((n,) * problem.ndim)
        x = self.grid.coordinates()
        self.samples = np.stack([np.broadcast_to(a, self.grid.shape) for a in problem.velocity(*x)])
        self.start = problem.initial(*x)
        self.velocity = pt.Field(self.grid, problem.ndim, dtype, device)
        self.set_velocity(1)
        self.u = pt.Field(self.grid, dtype=dtype, device=device)
        self.u[...] = self.start
        remesh = pt.RemeshOp(self.u, kernel, **remeshing)
        self.transport = pt.Splitting(pt.AdvectionOp(self.velocity), remesh, splitting)

    def set_velocity(self, sign):
        self.velocity[...] = sign * self.samples.reshape(self.velocity.shape)

    def run(self, time, steps):
        for _ in range(steps):
            self.transport.step(time / steps)
        return self.values()

    def run_back(self, time, steps):
        self.set_velocity(-1)
        return self.run(time, steps)

    def values(self):
        return np.asarray(self.u).astype(np.float64)

    def mass_drift(self):
        return abs(self.values().sum() / self.start.sum() - 1)


@cache
def exact_swirl(n):
    return SWIRL.exact(pt.Grid((n, n)).coordinates(), 1.0)


@cache
def exact_level_set(n):
    """In float32, 15 times as fast; of 128**3 points a dozen fall on the other side of the surface."""
    x = pt.Grid((n, n, n)).coordinates()
    return LEVEL_SET.exact([c.astype(np.float32) for c in x], 1.0, steps=25).astype(np.float32)


def level_set_error(u, start):
    """Over the initial sum, which is not that of the points inside at the end."""
    return np.abs(u - exact_level_set(len(u))).sum(dtype=np.float64) / start.sum()


def change_of_volume(u, flow):
    return volume(u) / volume(flow.start) - 1


def check_mass(flow, dtype):
    assert flow.mass_drift() <= {"float32": FLOAT32_MASS, "float64": FLOAT64_MASS}[dtype.name]
