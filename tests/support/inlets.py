# SPDX-License-Identifier: BSD-3-Clause
"""Flows that come in strained, unsteady and uneven, and what they carry, exactly.

Of an `Inlet` the velocity is ``b(d) c(t) s``: d is the distance from the end where the flow comes in, s varies
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


class Fan:
    """A flow that comes in with speed 1 and diverges and converges along the face.

    Along each other axis the velocity is ``c(t) sin 2 pi (y + k / 8)``: what has come in is spread
    by what c has summed up to since. `kind`: a formula, a field on a grid of half as many points
    as those of `u`, or fields at several times. On grids the flow is steady, but for the latter.
    """

    TIMES = (0.0, 0.07, 0.15, 0.26, 0.4)

    def __init__(self, device, points, ndim=2, axis=0, end="low", kind="formula"):
        ends = ("inflow", "outflow") if end == "low" else ("outflow", "inflow")
        boundary = [ends if k == axis else "periodic" for k in range(ndim)]
        self.grid = pt.Grid((points,) * ndim, boundary=boundary)
        self.axis, self.end, self.kind = axis, end, kind
        places = np.broadcast_arrays(*self.grid.coordinates())
        self.distance = places[axis] if end == "low" else 1 - places[axis]
        self.across = [x + k / 8 for k, x in enumerate(places) if k != axis]
        self.u = pt.Field(self.grid, 1, "float64", device)
        self.velocity = self.velocity_of(kind, device)

    def growth(self, t):
        """C(t)."""
        return 0.2 + (0.0 if self.kind == "field" else 0.5 * t)

    def velocity_of(self, kind, device):
        def flow(*places, t=0.0):
            along = 1.0 if self.end == "low" else -1.0
            return tuple(
                along + 0 * x
                if k == self.axis
                else self.growth(t) * np.sin(2 * np.pi * (x + k / 8))
                for k, x in enumerate(places)
            )

        def on_grid(t):
            coarse = pt.Grid([n // 2 for n in self.grid.shape], boundary=self.grid.boundary)
            field = pt.Field(coarse, coarse.ndim, "float64", device)
            field[...] = np.stack(np.broadcast_arrays(*flow(*coarse.coordinates(), t=t)))
            return field

        if kind == "field":
            return on_grid(0.0)
        if kind == "series":
            return pt.VelocitySeries([on_grid(t) for t in self.TIMES], self.TIMES)
        flows = {
            2: lambda x, y, t: flow(x, y, t=t),
            3: lambda x, y, z, t: flow(x, y, z, t=t),
        }
        return pt.Velocity(self.grid, flows[self.grid.ndim])

    def exact(self, time):
        lag = self.distance
        summed = 2 * np.pi * lag * self.growth(time - lag / 2)
        density = brought(time - lag)
        for y in self.across:
            narrow, wide = np.cos(np.pi * y) ** 2, np.sin(np.pi * y) ** 2
            density = density * np.exp(-summed) / (narrow + wide * np.exp(-2 * summed))
        return density

    def run(self, until, cfl, order=2, kernel="M'6", joined=False):
        """The greatest error where the flow has come in, and the mass that nobody counted."""
        self.u[...] = self.exact(0.0)
        before = self.u.sum()
        more = {} if self.kind == "formula" else {"grid": self.grid, "interpolation": "cubic"}
        advection = pt.AdvectionOp(self.velocity, "rk4", **more)
        transport = pt.Splitting(advection, pt.RemeshOp(self.u, kernel, inflow=brought), order)
        steps = round(until * self.grid.shape[0] / cfl)
        if joined:
            transport.run(until, until / steps)
        for _ in range(0 if joined else steps):
            transport.step(until / steps)
        error = np.abs(self.u.get() - self.exact(until))[self.distance < 0.35]
        return error.max(), abs(self.u.sum() + transport.outflow.sum() - before) / before
