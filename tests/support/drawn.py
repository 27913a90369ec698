# SPDX-License-Identifier: BSD-3-Clause
"""Combinations of all that can be chosen, drawn by Hypothesis, with noise carried by noise.

They are swept in the form that is built fastest, a line per work-item: all forms give the same bits.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import particles as pt
from hypothesis import strategies as st

SPLINE = pt.kernels.custom("spline", [["2/3", 0, -1, "1/2"], ["4/3", -2, 1, "-1/6"]])
CHOICES = {
    "kernel": ("M'6", "M'4", "M'8", "L4_4", "L6_4", "L8_4", "L1", SPLINE),
    "scheme": ("rk2", "euler", "heun", "rk3", "rk4"),
    "interpolation": ("linear", "cubic"),
    "dtype": ("float32", "float64", "float16"),
    "order": (2, 1, 4, None),  # None: along all axes at once
    "limiter": (None, "positive", "monotone"),
    "conservative": (True, False),
    "levels": (1, 3),  # more than one: a series
    "has_ends": (False, True),
    "has_source": (False, True),
}
UNSPLIT = {"limiter": None, "conservative": True, "has_ends": False, "has_source": False}
ENDS = ("wall", "outflow", "inflow")
LONGEST = {1: 60, 2: 17, 3: 9}
STEPS = 2
BROUGHT = 0.75  # what flows in
TIMES = (0.0, 0.7, 1.5)  # of a series, in durations of a run


@dataclass(frozen=True)
class Case:
    """All that decides what becomes of values."""

    device: pt.Device
    grid: pt.Grid
    coarse: pt.Grid
    velocities: tuple[np.ndarray, ...]
    dt: float
    components: int
    kernel: Any
    scheme: str
    interpolation: str
    dtype: str
    order: int | None
    limiter: str | None
    conservative: bool
    has_source: bool

    @property
    def computed(self):
        """The dtype of sums; halves are stored only."""
        return "float64" if self.dtype == "float64" else "float32"

    def field(self, values, grid=None, dtype=None):
        values = np.asarray(values)
        field = pt.Field(grid or self.grid, len(values), dtype or self.dtype, self.device)
        field[...] = values.reshape(field.shape)
        return field

    def rates(self, axis):
        """Component `axis` of the velocities as the device has them."""
        return [a[axis].astype(self.computed).astype(np.float64) for a in self.velocities]

    @property
    def ratios(self):
        return [n // m for n, m in zip(self.grid.shape, self.coarse.shape, strict=True)]

    def velocity(self):
        fields = [self.field(values, self.coarse, self.computed) for values in self.velocities]
        if len(fields) == 1:
            return fields[0]
        return pt.VelocitySeries(fields, [STEPS * self.dt * time for time in TIMES])

    def transport(self, u, form="private", brought=BROUGHT):
        form = None if self.order is None else form
        advection = pt.AdvectionOp(
            self.velocity(),
            self.scheme,
            interpolation=self.interpolation,
            grid=self.grid,
            form=form,
        )
        remesh = pt.RemeshOp(
            u,
            self.kernel,
            limiter=self.limiter,
            conservative=self.conservative,
            inflow=brought if "inflow" in str(self.grid.boundary) else None,
            form=form,
        )
        if self.order is None:
            return pt.Unsplit(advection, remesh)
        names = ["u"] if u.components == 1 else [f"u{c}" for c in range(u.components)]
        source = pt.SourceOp(u, [f"-2*{name}" for name in names]) if self.has_source else None
        return pt.Splitting(advection, remesh, self.order, source=source)

    def run(self, values, form="private", brought=BROUGHT):
        """The values after some steps, and what has left by then, as `Splitting.outflow` says."""
        u = self.field(values)
        transport = self.transport(u, form, brought)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            for _ in range(STEPS):
                transport.step(self.dt)
        is_counted = self.order is not None and self.conservative
        return self.values_of(u), transport.outflow if is_counted else None

    def swept(self, values, axes):
        """The values after a sweep along each of these axes; after a step if it is not split."""
        u = self.field(values)
        transport = self.transport(u)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            if self.order is None:
                transport.step(self.dt)
            for axis in axes if self.order is not None else ():
                transport.sweep(axis, self.dt)
        return self.values_of(u)

    def values_of(self, u):
        return u.get().reshape(-1, *self.grid.shape).astype(np.float64)

    @property
    def has_ends(self):
        return not self.grid.is_periodic

    @property
    def sweeps(self):
        """In a run."""
        each = {None: 1, 1: 1, 2: 2, 4: 10}[self.order]
        return STEPS * self.grid.ndim * each * len(self.velocities)

    @property
    def rounding(self):
        """Of a run, relative to the values.

        In each sweep the sum on a node is of so many terms, each a weight times a value; it is
        wrong by as much as the weights' absolute values add up to. Halves are rounded once more.
        """
        weights = np.abs(self.kernel.weights(np.linspace(0, 1, 33))).sum(axis=0).max()
        summed = 2 * self.kernel.stencil * float(np.finfo(self.computed).eps)
        stored = float(np.finfo(self.dtype).eps) if self.dtype == "float16" else 0.0
        return self.sweeps * weights * (summed + stored)

    def mirrored(self, axis):
        """The same seen in a mirror across an axis."""
        boundary = list(self.grid.boundary)
        if boundary[axis] != "periodic":
            boundary[axis] = boundary[axis][::-1]
        velocities = []
        for values in self.velocities:
            images = self.image(values, axis)
            images[axis] *= -1
            velocities.append(images)
        return self.on(boundary=boundary, velocities=tuple(velocities))

    def image(self, values, axis):
        """Of values on the grid; the first point of a periodic axis is its own image."""
        is_periodic = self.grid.boundary[axis] == "periodic"
        return np.roll(np.flip(values, axis + 1), int(is_periodic), axis + 1)

    def turned(self):
        """The same with its axes in reverse order."""
        velocities = tuple(values.swapaxes(1, -1)[::-1] for values in self.velocities)
        return self.on(slice(None, None, -1), self.grid.boundary[::-1], velocities)

    def on(self, order=slice(None), boundary=None, velocities=()):
        grids = [
            pt.Grid(
                g.shape[order], origin=g.origin[order], extent=g.extent[order], boundary=boundary
            )
            for g in (self.grid, self.coarse)
        ]
        return replace(self, grid=grids[0], coarse=grids[1], velocities=velocities)


def drawn(draw, device, **given):
    """Draw a case, of which some choices may be given, and its values at the start."""
    chosen = dict(given)
    for name, options in CHOICES.items():
        if chosen.get("order", 1) is None:
            chosen |= UNSPLIT
        if name not in chosen:
            allowed = given_dtypes(device) if name == "dtype" else options
            chosen[name] = draw(st.sampled_from(allowed), name)
    grid, coarse = draw_grids(draw, chosen.pop("has_ends"))
    random = np.random.default_rng(draw(st.integers(0, 1000), "seed"))
    wind = draw(st.sampled_from([0.0, 15.0]), "wind")
    shape = (grid.ndim, *coarse.shape)
    levels = [wind + random.uniform(-1, 1, shape) for _ in range(chosen.pop("levels"))]
    chosen["kernel"] = pt.kernels.get(chosen["kernel"])
    components = draw(st.integers(1, 3), "components")
    case = Case(
        device, grid, coarse, tuple(levels), duration(grid, coarse, levels), components, **chosen
    )
    start = random.uniform(-1, 1, (components, *grid.shape))
    return case, start.astype(case.dtype).astype(np.float64)


def given_dtypes(device):
    return [name for name in CHOICES["dtype"] if np.dtype(name) in device.dtypes]


def draw_grids(draw, has_ends):
    """A grid, and one for the velocity that may be coarser."""
    ndim = draw(st.integers(1, 3), "dimensions")
    ratios = draw(st.tuples(*[st.sampled_from([1, 1, 2, 3])] * ndim), "ratios")
    shape = tuple(
        draw(st.integers(1, max(1, LONGEST[ndim] // ratio)), "points") for ratio in ratios
    )
    ends = st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS))
    axes = st.one_of(ends, st.just("periodic")) if has_ends else st.just("periodic")
    box = {
        "origin": (0.5,) * ndim,
        "extent": tuple(1.0 + k for k in range(ndim)),
        "boundary": draw(st.tuples(*[axes] * ndim), "boundary"),
    }
    return pt.Grid(np.multiply(shape, ratios).tolist(), **box), pt.Grid(shape, **box)


def duration(grid, coarse, levels):
    """Of steps in which particles keep their order, and cross 12 cells at most.

    A cubic is at most 4/3 as steep as its nodes.
    """
    rate = 1e-9
    for values in levels:
        rate = max(rate, np.abs(values).max() / min(grid.spacing) / 12)
        for axis, boundary in enumerate(coarse.boundary):
            for other in range(coarse.ndim):
                a = np.moveaxis(values[axis], other, 0)
                around = [a[-1:] if boundary == "periodic" else -a[:1], a]
                around += [] if boundary == "periodic" else [-a[-1:]]
                steepest = np.abs(np.diff(np.concatenate(around), axis=0)).max(initial=0)
                rate = max(rate, grid.ndim * steepest / coarse.spacing[other] / 0.6)
    return 1 / rate
