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
from types import ModuleType
from typing import TYPE_CHECKING

from particles import kernels
from particles._core import __version__
from particles.advection import AdvectionOp, WallWarning
from particles.array import Array
from particles.device import Device, default_device, devices, profile
from particles.diffusion import Diffusion
from particles.errors import (
    BuildError,
    DeviceError,
    NotFiniteError,
    NotFiniteWarning,
    OutOfMemoryError,
)
from particles.field import Field, draw_with
from particles.form import Form
from particles.grid import Grid
from particles.memory import Memory, memory
from particles.positions import Positions
from particles.remesh import RemeshOp
from particles.resample import resample
from particles.series import VelocitySeries
from particles.source import SourceOp
from particles.splitting import LCFLWarning, Report, Splitting, Stage
from particles.unsplit import Unsplit
from particles.velocity import Velocity

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
    "LCFLWarning",
    "Memory",
    "NotFiniteError",
    "NotFiniteWarning",
    "OutOfMemoryError",
    "Positions",
    "RemeshOp",
    "Report",
    "SourceOp",
    "Splitting",
    "Stage",
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


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return import_module(f"particles.{name}")
    raise AttributeError(f"module 'particles' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


@draw_with
def _draw(field: Field) -> bytes | None:
    from particles._thumbnail import thumbnail  # Matplotlib is slow to import

    return thumbnail(field)
