# SPDX-License-Identifier: BSD-3-Clause
"""Remeshed particle methods for transport on CPUs and GPUs, with OpenCL.

Examples
--------
>>> import numpy as np
>>> import particles as pt
>>> grid = pt.Grid((32, 32))
>>> x, y = grid.coordinates()
>>> velocity = pt.Field(grid, components=2)
>>> velocity[0], velocity[1] = 1.0, 0.5
>>> phi = pt.Field(grid)
>>> phi[...] = np.sin(2 * np.pi * x) + 0 * y
>>> transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(phi))
>>> transport.step(0.1)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from particles import kernels
from particles._core import __version__
from particles.arrays.array import Array
from particles.base.errors import (
    BuildError,
    DeviceError,
    NotFiniteError,
    NotFiniteWarning,
    OutOfMemoryError,
)
from particles.base.guards import absent
from particles.communication.ranks import begin_together
from particles.fields.field import Field, draw_with
from particles.fields.grid import Grid
from particles.interpolation.interpolation import GridToParticles, ParticlesToGrid
from particles.operators.advection import AdvectionOp, WallWarning
from particles.operators.diffusion import Diffusion
from particles.operators.form import Form
from particles.operators.positions import Positions
from particles.operators.remesh import RemeshOp
from particles.operators.resample import resample
from particles.operators.source import SourceOp, SourceWarning
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.runtime.device import Device
from particles.runtime.devices import default_device, devices, profile
from particles.runtime.memory import Memory
from particles.sets.particle_set import ParticleSet
from particles.stepping.memory import memory
from particles.stepping.splitting import LCFLWarning, Report, Splitting, Stage
from particles.stepping.tracers import Tracers
from particles.stepping.unsplit import Unsplit

if TYPE_CHECKING:
    from particles import io, levelset, plot, problems

__all__ = [
    "AdvectionOp",
    "Array",
    "BuildError",
    "Device",
    "DeviceError",
    "Diffusion",
    "Field",
    "Form",
    "Grid",
    "GridToParticles",
    "LCFLWarning",
    "Memory",
    "NotFiniteError",
    "NotFiniteWarning",
    "OutOfMemoryError",
    "ParticleSet",
    "ParticlesToGrid",
    "Positions",
    "RemeshOp",
    "Report",
    "SourceOp",
    "SourceWarning",
    "Splitting",
    "Stage",
    "Tracers",
    "Unsplit",
    "Velocity",
    "VelocitySeries",
    "WallWarning",
    "__version__",
    "default_device",
    "devices",
    "io",
    "kernels",
    "levelset",
    "memory",
    "plot",
    "problems",
    "profile",
    "resample",
]


_LATER = ("io", "levelset", "plot", "problems")
"""Imported at first use, as what they need is slow to import."""


_WAYS = {
    **dict.fromkeys(
        ("zeros", "empty", "zeros_like", "empty_like"), "pt.Field(grid), which is zero"
    ),
    **dict.fromkeys(
        ("ones", "full", "ones_like", "full_like"), "field = pt.Field(grid); field[...] = 1"
    ),
    **dict.fromkeys(
        ("array", "asarray", "from_numpy", "from_array"), "pt.Field.from_arrays(grid, array)"
    ),
    **dict.fromkeys(("from_arrays", "from_xarray", "from_pyopencl"), "the method of pt.Field"),
    **dict.fromkeys(("linspace", "meshgrid", "mgrid", "coordinates"), "grid.coordinates()"),
    **dict.fromkeys(("advect", "transport", "Transport", "Solver", "solve", "run"), "pt.Splitting"),
    **dict.fromkeys(
        ("sin", "cos", "tan", "exp", "sqrt", "where", "pi"), "NumPy's, also in formulas"
    ),
    **dict.fromkeys(("imshow", "show"), "pt.plot.slice(field)"),
    **{
        name: f"pt.io.{name}"
        for name in ("Series", "checkpoint", "load", "restore", "save", "write_vti", "write_vtp")
    },
    **{name: f"pt.plot.{name}" for name in ("isosurface", "movie", "slice", "volume")},
    **{name: f"pt.problems.{name}" for name in ("vortex_box", "zalesak")},
}


if not TYPE_CHECKING:  # to which every attribute would be there

    def __getattr__(name: str) -> Any:  # noqa: ANN401
        if name in _LATER:
            return import_module(f"particles.{name}")
        raise absent("particles", name, __all__, _WAYS)


def __dir__() -> list[str]:
    return sorted(__all__)


@draw_with
def _draw(field: Field) -> bytes | None:
    from particles.plot.thumbnail import thumbnail  # Matplotlib is slow to import

    return thumbnail(field)


begin_together()
