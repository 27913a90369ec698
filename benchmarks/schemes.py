# SPDX-License-Identifier: BSD-3-Clause
"""What each choice of the method costs, against the default sweep of the same process.

``python -m benchmarks.schemes --json FILE``
    on 256³ points: three minutes on two cores
``python -m benchmarks.schemes --quick``
    on 128³ points: half a minute
``python -m benchmarks.schemes --shape 127 127 127``
    on so many; a coarser velocity is left out where its points do not divide them
``python -m benchmarks.schemes --shape 600 5000 --only diffusion``
    of these alone, whose name begins so
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import particles as pt
from particles.cli.bench import POINTS, QUICK_POINTS, device_of
from particles.cli.machine import facts
from tqdm.auto import tqdm

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.tables import Row, schemes

CFL, REPEATS = 2.0, 40


@dataclass(frozen=True)
class Choice:
    """A choice that differs from the default: M'6, rk2, linear, periodic, float32."""

    name: str
    scheme: str = "rk2"
    interpolation: str = "linear"
    kernel: str = "M'6"
    limiter: str | None = None
    conservative: bool = True
    boundary: str | tuple[str, str] = "periodic"
    dtype: str = "float32"
    coarser: int = 1
    is_series: bool = False
    is_formula: bool = False
    is_faint: bool = False
    spread: float = 0.0  # of diffusion in place of a sweep: viscosity * dt / spacing**2

    def advection(self, grid: pt.Grid, device: pt.Device) -> pt.AdvectionOp:
        """Return what moves the particles of a grid."""
        if self.is_formula:
            return pt.AdvectionOp(pt.Velocity(grid, vortex_formulas(grid.ndim)), self.scheme)
        boundary = [self.boundary] * grid.ndim
        coarse = pt.Grid([n // self.coarser for n in grid.shape], boundary=boundary)
        velocity = vortex(coarse, device)
        if "inflow" in self.boundary:
            for axis in range(coarse.ndim):
                velocity.component(axis)[...] = (1 + velocity.component(axis).get()) / 2
        moving = (
            pt.VelocitySeries([velocity, velocity.copy()], [0, 1]) if self.is_series else velocity
        )
        return pt.AdvectionOp(moving, self.scheme, interpolation=self.interpolation, grid=grid)

    def transport(self, shape: tuple[int, ...], device: pt.Device) -> pt.Splitting:
        """Return sweeps over a field that is no particular one."""
        grid = pt.Grid(shape, boundary=[self.boundary] * len(shape))
        u = pt.Field(grid, dtype=self.dtype, device=device)
        u[...] = fading(grid) if self.is_faint else np.random.default_rng(0).random(shape, "f4")
        advection = self.advection(grid, device)
        remesh = pt.RemeshOp(
            u,
            self.kernel,
            limiter=self.limiter,
            conservative=self.conservative,
            inflow=0.5 if "inflow" in self.boundary else None,
        )
        viscosity = self.spread * grid.spacing[0] / CFL  # in steps as below
        diffusion = pt.Diffusion(u, viscosity) if viscosity else None
        return pt.Splitting(advection, remesh, order=1, diffusion=diffusion)


CHOICES = (
    Choice("euler", "euler"),
    Choice("heun", "heun"),
    Choice("rk3", "rk3"),
    Choice("rk4", "rk4"),
    Choice("cubic", interpolation="cubic"),
    Choice("rk4, cubic", "rk4", "cubic"),
    Choice("M'4", kernel="M'4"),
    Choice("L6_4", kernel="L6_4"),
    Choice("L8_4", kernel="L8_4"),
    Choice("preset accurate: rk4, cubic, L6_4", "rk4", "cubic", "L6_4"),
    Choice("positive", limiter="positive"),
    Choice("monotone", limiter="monotone"),
    Choice("values", conservative=False),
    Choice("values, positive", limiter="positive", conservative=False),
    Choice("values, monotone", limiter="monotone", conservative=False),
    Choice("walls", boundary="wall"),
    Choice("outflow", boundary="outflow"),
    Choice("inflow, outflow", boundary=("inflow", "outflow")),
    Choice("velocity 2 times coarser", coarser=2),
    Choice("velocity 4 times coarser, cubic", interpolation="cubic", coarser=4),
    Choice("velocity at two times", is_series=True),
    Choice("formula", is_formula=True),
    Choice("formula, rk4", "rk4", is_formula=True),
    Choice("float16", dtype="float16"),
    Choice("a hill that fades out", is_faint=True),
    Choice("diffusion by 1 cell", spread=0.5),
    Choice("diffusion by 10 cells", spread=50.0),
    Choice("diffusion by 100 cells", spread=5000.0),
    Choice("diffusion by 10 cells, walls", boundary="wall", spread=50.0),
    Choice("diffusion by 10 cells, inflow", boundary=("inflow", "outflow"), spread=50.0),
    Choice("diffusion by 100 cells, inflow", boundary=("inflow", "outflow"), spread=5000.0),
)


def fading(grid: pt.Grid) -> npt.NDArray[np.float64]:
    """Return a Gaussian hill an eighth of which lies below the smallest normal number of float32."""
    values: npt.NDArray[np.float64] = np.exp(-400 * sum((x - 0.5) ** 2 for x in grid.coordinates()))
    return values


def vortex(grid: pt.Grid, device: pt.Device) -> pt.Field:
    """Return a velocity that vanishes on the faces of the unit box, and is at most 1."""
    velocity = pt.Field(grid, grid.ndim, device=device)
    for axis in range(grid.ndim):
        value = np.ones((1,) * grid.ndim)
        for other, x in enumerate(grid.coordinates()):
            value = value * (np.sin(np.pi * x) ** 2 if other == axis else np.sin(2 * np.pi * x))
        velocity.component(axis)[...] = value
    return velocity


def vortex_formulas(ndim: int) -> list[str]:
    """Return the same velocity as formulas."""
    return [
        " * ".join(
            f"sin(M_PI*{name}) * sin(M_PI*{name})" if other == axis else f"sin(2*M_PI*{name})"
            for other, name in enumerate("xyz"[:ndim])
        )
        for axis in range(ndim)
    ]


def seconds(transport: pt.Splitting, axis: int) -> float:
    """Time of a sweep along an axis, or its share of diffusion, which is along all of them."""
    field = transport.remesh.fields[0]
    diffuses = bool(transport.diffusion)
    begin = time.perf_counter()
    transport.sweep("diffusion" if diffuses else axis, CFL * field.grid.spacing[axis])
    field.device.finish()
    return (time.perf_counter() - begin) / (field.grid.ndim if diffuses else 1)


def compared(usual: pt.Splitting, transport: pt.Splitting) -> Row:
    """Return what a sweep along each axis takes, what the usual one takes beside it, and the ratio.

    In ns a particle. Machines drift, and others use them: both are timed in turns, and the medians
    count, also that of the ratios of one turn.
    """
    grid = transport.remesh.fields[0].grid
    times = np.empty((REPEATS + 1, grid.ndim, 2))
    for repeat, axis in np.ndindex(REPEATS + 1, grid.ndim):
        order = (0, 1) if repeat % 2 else (1, 0)  # the second may profit of the first, or suffer
        for which in order:
            times[repeat, axis, which] = seconds((usual, transport)[which], axis)
    times = times[1:]  # the first builds kernels
    in_all = times.sum(axis=1)
    ns = np.median(times, axis=0) / grid.size * 1e9
    ratio = np.median(in_all[:, 1] / in_all[:, 0])
    return {"ns": list(ns[:, 1]), "default_ns": list(ns[:, 0]), "times_default": float(ratio)}


def measure(
    shape: tuple[int, ...], device: pt.Device, choices: Sequence[Choice] = CHOICES
) -> Iterator[Row]:
    """Yield what every choice takes, and what that is beside the default."""
    usual = Choice("default").transport(shape, device)
    for choice in tqdm(choices, unit="choice", leave=False):
        yield {"name": choice.name, **compared(usual, choice.transport(shape, device))}


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    parser.add_argument("--shape", type=int, nargs="+", metavar="N", help="points")
    parser.add_argument("--only", default="", metavar="NAME", help="choices that begin so")
    arguments = parser.parse_args()
    device = device_of(arguments)
    shape = tuple(arguments.shape or (QUICK_POINTS if arguments.quick else POINTS))
    choices = [
        choice
        for choice in CHOICES
        if choice.name.startswith(arguments.only) and not any(n % choice.coarser for n in shape)
    ]
    if not choices:
        names = "; ".join(choice.name for choice in CHOICES)
        parser.error(
            f"no choice that this shape allows begins with {arguments.only!r}; there are: {names}"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LCFLWarning)
        found = {**facts(device), "shape": shape, "schemes": list(measure(shape, device, choices))}
    print(schemes({"schemes": found}))
    write(found, arguments.json)


if __name__ == "__main__":
    main()
