# SPDX-License-Identifier: BSD-3-Clause
"""Flows that come in strained, unsteady and uneven, and what they carry, exactly.

The velocity is ``b(d) c(t) s``: d is the distance from the end where the flow comes in, s varies
across. What has come in at the time tau is at d when the integral of c since tau is s times the
time that b takes to d, and there are ``b(0) / b(d)`` times as much of a mass.
"""

import numpy as np
import particles as pt

GROWTH = 0.5


def slowness(d):
    return 1.2 + 0.4 * np.sin(2 * np.pi * d + 0.4)


def delay(d):
    return 1.2 * d + 0.4 * (np.cos(0.4) - np.cos(2 * np.pi * d + 0.4)) / (2 * np.pi)


def brought(t):
    return 1 + 0.5 * np.sin(5 * t)


class Inlet:
    """A box that is long along one axis, at one end of which the flow comes in.

    Steady flows lie on a grid, so many times coarser than the fields'; others are formulas.
    """

    def __init__(self, device, points, axis=0, ndim=1, end="low", ratio=None):
        ends = ("inflow", "outflow") if end == "low" else ("outflow", "inflow")
        shape = np.full(ndim, 4)
        shape[axis] = points
        boundary = [ends if k == axis else "periodic" for k in range(ndim)]
        self.grid = pt.Grid(tuple(shape), boundary=boundary)
        self.axis, self.end, self.device = axis, end, device
        self.is_steady = ratio is not None
        self.distance = self.from_end(*self.grid.coordinates())
        self.across = self.share(*self.grid.coordinates())
        if self.is_steady:
            coarse = pt.Grid(
                tuple(shape // np.where(np.arange(ndim) == axis, ratio, 1)), boundary=boundary
            )
            self.velocity = pt.Field(coarse, ndim, "float64", device)
            self.velocity[...] = np.stack(
                np.broadcast_arrays(*self.flow(*coarse.coordinates()))
            ).reshape(self.velocity.shape)
        else:
            flows = {
                1: lambda x, t: self.flow(x, t=t),
                2: lambda x, y, t: self.flow(x, y, t=t),
                3: lambda x, y, z, t: self.flow(x, y, z, t=t),
            }
            self.velocity = pt.Velocity(self.grid, flows[ndim])

    def from_end(self, *places):
        return places[self.axis] if self.end == "low" else 1 - places[self.axis]

    def share(self, *places):
        others = [np.sin(2 * np.pi * x + k) for k, x in enumerate(places) if k != self.axis]
        return 1 + 0.2 * sum(others, 0 * places[self.axis])

    def flow(self, *places, t=0.0):
        growth = 1 if self.is_steady else np.exp(GROWTH * t)
        along = self.share(*places) * growth / slowness(self.from_end(*places))
        along = along if self.end == "low" else -along
        return tuple(along if k == self.axis else 0 * x for k, x in enumerate(places))

    def exact(self, time, conservative=True):
        lag = delay(self.distance) / self.across
        if self.is_steady:
            then = time - lag
        else:
            then = np.log(np.exp(GROWTH * time) - GROWTH * lag) / GROWTH
        values = brought(then) * np.ones(self.grid.shape)
        return values * slowness(self.distance) / slowness(0) if conservative else values

    def run(self, until, cfl, kernel, conservative=True, **options):
        """The greatest error far from where the flow leaves, and the mass that nobody counted."""
        u = pt.Field(self.grid, 1, "float64", self.device)
        u[...] = self.exact(0.0, conservative)
        before = u.sum()
        more = {} if not self.is_steady else {"grid": self.grid, "interpolation": "cubic"}
        advection = pt.AdvectionOp(self.velocity, "rk4", **{**more, **options})
        remesh = pt.RemeshOp(u, kernel, inflow=brought, conservative=conservative)
        transport = pt.Splitting(advection, remesh, 1)
        steps = max(1, round(until * self.grid.shape[self.axis] / cfl))
        for _ in range(steps):
            transport.step(until / steps)
        error = np.abs(u.get() - self.exact(until, conservative))[self.distance_on_grid() < 0.6]
        lost = u.sum() + transport.outflow.sum() - before if conservative else 0.0
        return error.max(), abs(lost) / before

    def distance_on_grid(self):
        return np.broadcast_to(self.distance, self.grid.shape)
