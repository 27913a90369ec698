# SPDX-License-Identifier: BSD-3-Clause
"""Particles pushed along one axis by a velocity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles._check import REAL_DTYPES, as_dtype, as_index, as_real
from particles.device import Device, as_device
from particles.field import Field
from particles.form import Form, as_form
from particles.grid import Grid
from particles.positions import Positions
from particles.velocity import Velocity

__all__ = ["AdvectionOp"]

_SCHEMES = ("rk2",)


class AdvectionOp:
    """Push particles with their local velocity: the midpoint rule along one axis.

    A velocity on the grid is interpolated linearly between the points of the line; a formula is
    evaluated exactly where and when the scheme needs it.

    Parameters
    ----------
    velocity : Field or Velocity
        A field with one component per axis, or a formula.
    scheme : str
        ``"rk2"``, the midpoint rule.
    dtype, device
        For a formula that is used alone; a field brings its own, and in a `Splitting` those of the
        carried fields count.
    form : Form or str, optional
        How lines are laid out on the device, or the name of its kind; by default what suits it. In
        a `Splitting` the form of the `RemeshOp` counts.

    Attributes
    ----------
    velocity, scheme, form
        As above.
    grid : Grid
        The velocity's.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid(8)
    >>> advection = pt.AdvectionOp(pt.Velocity(grid, lambda x: 0.5))
    >>> np.asarray(advection.apply(dt=0.25, axis=0))
    array([0.125, 0.25 , 0.375, 0.5  , 0.625, 0.75 , 0.875, 1.   ])
    """

    def __init__(
        self,
        velocity: Field | Velocity,
        scheme: str = "rk2",
        *,
        dtype: npt.DTypeLike | None = None,
        device: Device | int | str | None = None,
        form: Form | str | None = None,
    ) -> None:
        if not isinstance(velocity, Field | Velocity):
            raise TypeError(f"velocity must be a Field or a Velocity, not {velocity!r}")
        if scheme not in _SCHEMES:
            raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, not {scheme!r}")
        if isinstance(velocity, Field):
            _check_components(velocity)
            if dtype is not None or device is not None:
                raise ValueError("dtype and device are those of the velocity field, give neither")
        self.velocity = velocity
        self.scheme = scheme
        self.form = as_form("form", form)
        self.grid: Grid = velocity.grid
        self._dtype = None if dtype is None else as_dtype("dtype", dtype, REAL_DTYPES)
        self._device = device
        self._cores: dict[tuple[_core.Context, str], _core.AdvectionOp] = {}

    @property
    def device(self) -> Device:
        """Where `apply` works."""
        if isinstance(self.velocity, Field):
            return self.velocity.device
        return as_device(self._device)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the positions of `apply` are made of."""
        if isinstance(self.velocity, Field):
            return self.velocity.dtype
        return self._dtype or np.dtype(np.float32)

    def apply(self, dt: float, axis: int, *, time: float = 0.0) -> Positions:
        """Push the particles of all grid points along one axis.

        Parameters
        ----------
        dt : float
            Duration of the push.
        axis : int
            Direction of the push.
        time : float
            When it begins, for a formula that depends on time.

        Returns
        -------
        Positions
        """
        duration, begin = as_real("dt", dt), as_real("time", time)
        direction = as_index("axis", axis, self.grid.ndim)
        displacement = Field(self.grid, 1, self.dtype, self.device, "displacement")
        core = self.core_for(self.device, self.dtype)
        self.check_move(core, direction, begin, duration)
        core.displace(direction, begin, duration, displacement.core)
        return Positions(displacement, direction)

    def strain(self, time: float = 0.0) -> tuple[float, ...]:
        """Greatest difference quotient of each velocity component along its own axis.

        A sweep of duration dt keeps particles in order while strain times dt is below one.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> shear = pt.Velocity(pt.Grid((64, 64)), lambda x, y: (np.sin(2 * np.pi * y), 0))
        >>> pt.AdvectionOp(shear).strain()
        (0.0, 0.0)
        """
        core = self.core_for(self.device, self.dtype)
        begin = as_real("time", time)
        return tuple(core.extremes(axis, begin)[1] for axis in range(self.grid.ndim))

    def core_for(self, device: Device, dtype: np.dtype[Any]) -> _core.AdvectionOp:
        """Return the compiled operator for fields of a device and dtype."""
        key = (device.core, dtype.name)
        if key not in self._cores:
            if dtype not in device.dtypes:
                raise TypeError(f"dtype must be float32 on {device.name}, which has no {dtype}")
            self._cores[key] = self._compile(device, dtype)
        return self._cores[key]

    def _compile(self, device: Device, dtype: np.dtype[Any]) -> _core.AdvectionOp:
        if isinstance(self.velocity, Field):
            return _core.AdvectionOp(self.velocity.core, self.form.core)
        _check_resolution(self.grid, dtype)
        sources = [self.velocity.source(axis) for axis in range(self.grid.ndim)]
        return _core.AdvectionOp(
            device.core,
            self.grid.core,
            sources,
            self.velocity.depends_on_time,
            dtype.name,
            self.form.core,
        )

    def check_move(
        self, core: _core.AdvectionOp, axis: int, time: float, duration: float
    ) -> tuple[float, float]:
        """Greatest speed and strain along an axis; refuses what no integer cell can hold."""
        speed, strain = core.extremes(axis, time)
        if not (math.isfinite(speed) and math.isfinite(strain)):
            raise ValueError(f"velocity must be finite, but its component {axis} is not")
        cells = speed * abs(duration) / self.grid.spacing[axis]
        if cells >= 2**30:
            raise ValueError(
                f"dt must move particles by less than 2**30 cells, not {cells:.3g} along axis {axis}"
            )
        return speed, strain

    def __repr__(self) -> str:
        return f"AdvectionOp({self.velocity!r}, scheme={self.scheme!r})"


def _check_resolution(grid: Grid, dtype: np.dtype[Any]) -> None:
    """Refuse a formula on points that the device cannot tell from each other."""
    for axis, (origin, extent, spacing) in enumerate(
        zip(grid.origin, grid.extent, grid.spacing, strict=True)
    ):
        farthest = max(abs(origin), abs(origin + extent))
        if spacing < np.finfo(dtype).eps * farthest:
            raise ValueError(
                f"grid must have points that {dtype} tells apart, but along axis {axis} they are "
                f"{spacing:.3g} apart at coordinates up to {farthest:.3g}"
            )


def _check_components(velocity: Field) -> None:
    as_dtype("velocity", velocity.dtype, REAL_DTYPES)
    ndim = velocity.grid.ndim
    if velocity.components != ndim:
        raise ValueError(
            f"velocity must have one component per axis of its grid, {ndim}, "
            f"not {velocity.components}"
        )
