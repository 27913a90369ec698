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
from particles.series import VelocitySeries
from particles.velocity import Velocity

__all__ = ["AdvectionOp"]

_SCHEMES = ("euler", "rk2", "heun", "rk3", "rk4")
# Cells are counted in 32 bits; a stage of Kutta's rule may look three times as far as a particle
# moves.
_MOST_CELLS = dict.fromkeys(_SCHEMES, 30) | {"rk3": 28}
_INTERPOLATIONS = ("linear", "cubic")


class AdvectionOp:
    """Push particles with their local velocity along one axis, by a Runge-Kutta scheme.

    A velocity on the grid is interpolated between the points of the line; a formula is evaluated
    exactly where and when the scheme needs it.

    Parameters
    ----------
    velocity : Field or Velocity or VelocitySeries
        A field with one component per axis, a formula, or fields at several times.
    scheme : str
        ``"euler"``, ``"rk2"`` (the midpoint rule), ``"heun"``, ``"rk3"`` (Kutta's) or ``"rk4"``
        (the classical one): of first, second, second, third and fourth order in time.
    interpolation : str, optional
        For a velocity on a grid: ``"linear"``, the default, is of second order in the spacing,
        ``"cubic"`` of fourth.
    grid : Grid, optional
        The particles', where the velocity's is coarser: the same box and boundary with 2, 3, 4, ...
        times as many points, another multiple along each axis if need be. By default the
        velocity's.
    dtype, device
        For a formula that is used alone; a field brings its own, and in a `Splitting` those of the
        carried fields count.
    form : Form or str, optional
        How lines are laid out on the device, or the name of its kind; by default what suits it. In
        a `Splitting` the form of the `RemeshOp` counts.

    Attributes
    ----------
    velocity, scheme, interpolation, form
        As above; the interpolation of a formula is None.
    grid : Grid
        The particles'.

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
        velocity: Field | Velocity | VelocitySeries,
        scheme: str = "rk2",
        *,
        interpolation: str | None = None,
        grid: Grid | None = None,
        dtype: npt.DTypeLike | None = None,
        device: Device | int | str | None = None,
        form: Form | str | None = None,
    ) -> None:
        if not isinstance(velocity, Field | Velocity | VelocitySeries):
            raise TypeError(
                f"velocity must be a Field, a Velocity or a VelocitySeries, not {velocity!r}"
            )
        if scheme not in _SCHEMES:
            raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, not {scheme!r}")
        self.velocity = velocity
        self.scheme = scheme
        self.fields = _fields_of(velocity)
        self.interpolation = _as_interpolation(interpolation, bool(self.fields))
        self.form = as_form("form", form)
        self.grid = _as_grid(grid, velocity.grid, bool(self.fields))
        if self.fields:
            _check_velocity(self.fields[0])
            if dtype is not None or device is not None:
                raise ValueError("dtype and device are those of the velocity field, give neither")
        self._dtype = None if dtype is None else as_dtype("dtype", dtype, REAL_DTYPES)
        self._device = device
        self._cores: dict[tuple[_core.Context, str], _core.AdvectionOp] = {}

    @property
    def device(self) -> Device:
        """Where `apply` works."""
        if self.fields:
            return self.fields[0].device
        return as_device(self._device)

    @property
    def dtype(self) -> np.dtype[Any]:
        """What the positions of `apply` are made of."""
        if self.fields:
            return self.fields[0].dtype
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
            When it begins, for a velocity that depends on time. A push must not pass a time of a
            `VelocitySeries`: push up to it, remesh, and push on, as a `Splitting` does.

        Returns
        -------
        Positions
        """
        duration, begin = as_real("dt", dt), as_real("time", time)
        direction = as_index("axis", axis, self.grid.ndim)
        displacement = Field(self.grid, 1, self.dtype, self.device, "displacement")
        core = self.core_for(self.device, self.dtype)
        self.check_times(begin, begin + duration)
        middle = begin + duration / 2 if isinstance(self.velocity, VelocitySeries) else begin
        self.check_move(core, direction, middle, duration)
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
        self.check_times(begin, begin)
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
        if not isinstance(self.velocity, Velocity):
            times = self.velocity.times if isinstance(self.velocity, VelocitySeries) else ()
            return _core.AdvectionOp(
                [field.core for field in self.fields],
                times,
                self.form.core,
                self.scheme,
                self.interpolation or _INTERPOLATIONS[0],
                self.grid.core,
            )
        _check_resolution(self.grid, dtype)
        sources = [self.velocity.source(axis) for axis in range(self.grid.ndim)]
        return _core.AdvectionOp(
            device.core,
            self.grid.core,
            sources,
            self.velocity.depends_on_time,
            dtype.name,
            self.form.core,
            self.scheme,
        )

    def check_move(
        self, core: _core.AdvectionOp, axis: int, time: float, duration: float
    ) -> tuple[float, float]:
        """Greatest speed and strain along an axis, of a series within half the duration of `time`."""
        if isinstance(self.velocity, VelocitySeries):
            speed, strain = core.extremes(axis, *self.velocity.around(time, abs(duration)))
        else:
            speed, strain = core.extremes(axis, time)
        if not (math.isfinite(speed) and math.isfinite(strain)):
            raise ValueError(f"velocity must be finite, but its component {axis} is not")
        self.check_cells(axis, speed, duration)
        return speed, strain

    def check_cells(self, axis: int, speed: float, duration: float) -> None:
        """Refuse moves, or stages of them, that no integer cell can hold."""
        cells = speed * abs(duration) / self.grid.spacing[axis]
        most = _MOST_CELLS[self.scheme]
        if cells >= 2**most:
            raise ValueError(
                f"dt must move particles by less than 2**{most} cells, not {cells:.3g} "
                f"along axis {axis}"
            )

    def check_times(self, first: float, last: float) -> None:
        """Refuse times at which a `VelocitySeries` has no velocity."""
        if isinstance(self.velocity, VelocitySeries):
            self.velocity.check_times(first, last)

    def __repr__(self) -> str:
        cubic = ", interpolation='cubic'" if self.interpolation == "cubic" else ""
        return f"AdvectionOp({self.velocity!r}, scheme={self.scheme!r}{cubic})"


def _fields_of(velocity: Field | Velocity | VelocitySeries) -> tuple[Field, ...]:
    """Return the fields that make a velocity; none make a formula."""
    if isinstance(velocity, Velocity):
        return ()
    return (velocity,) if isinstance(velocity, Field) else velocity.fields


def _as_interpolation(name: str | None, is_on_grid: bool) -> str | None:
    if name is None:
        return _INTERPOLATIONS[0] if is_on_grid else None
    if not is_on_grid:
        raise ValueError(
            f"interpolation must not be given with a formula, which is exact everywhere, "
            f"but it is {name!r}"
        )
    if name not in _INTERPOLATIONS:
        raise ValueError(f"interpolation must be one of {', '.join(_INTERPOLATIONS)}, not {name!r}")
    return name


def _as_grid(grid: Grid | None, own: Grid, is_on_grid: bool) -> Grid:
    """Return the particles' grid, whose cells divide the velocity's."""
    if grid is None:
        return own
    if not isinstance(grid, Grid):
        raise TypeError(f"grid must be a Grid, not {grid!r}")
    if not is_on_grid:
        raise ValueError("grid must not be given with a formula, which brings its own")
    divides = grid.ndim == own.ndim and all(
        fine % coarse == 0 for fine, coarse in zip(grid.shape, own.shape, strict=True)
    )
    is_same_box = (
        grid.boundary == own.boundary
        and all(
            np.allclose(ours, theirs, rtol=0, atol=1e-9 * min(own.extent))
            for ours, theirs in ((grid.origin, own.origin), (grid.extent, own.extent))
        )
        if divides
        else False
    )
    if not is_same_box:
        raise ValueError(
            "grid must be of the velocity's box, with a whole multiple of its points along every "
            f"axis, not {grid} for a velocity on {own}"
        )
    return grid


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


def _check_velocity(velocity: Field) -> None:
    ndim = velocity.grid.ndim
    if velocity.components != ndim:
        raise ValueError(
            f"velocity must have one component per axis of its grid, {ndim}, "
            f"not {velocity.components}"
        )
    if velocity.dtype not in REAL_DTYPES:
        raise TypeError(f"velocity must be of float32 or float64, not of {velocity.dtype}")
