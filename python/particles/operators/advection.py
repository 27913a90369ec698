# SPDX-License-Identifier: BSD-3-Clause
"""Particles pushed along one axis by a velocity."""

from __future__ import annotations

from particles.base.checks import (
    as_flag,
    as_index,
    as_real,
)
from particles.base.errors import DeviceError
from particles.communication.ranks import bound
from particles.fields.field import Field
from particles.operators.flow import Flow
from particles.operators.limits import (
    WallWarning,
    strain_of_push,
    warn_of_disorder,
    warn_of_leak,
)
from particles.operators.positions import Positions
from particles.operators.time_resolution import check_resolved

__all__ = ["AdvectionOp", "WallWarning"]


class AdvectionOp(Flow):
    """Push particles with their local velocity along one axis, by a Runge-Kutta scheme.

    A velocity on the grid is interpolated between the points of the line. A formula is evaluated
    exactly at the positions and times of the scheme.

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
        The grid of the particles, if the grid of the velocity is coarser: the same box and
        boundary with 2, 3, 4, ... times as many points. The multiple may differ between the axes.
        By default the grid of the velocity.
    dtype, device
        For a formula that is used alone. A velocity field has its own, and a `Splitting` uses
        those of the carried fields.
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

    def apply(self, dt: float, axis: int, *, time: float = 0.0, back: bool = False) -> Positions:
        """Push the particles of all grid points along one axis.

        Warns with `LCFLWarning` where a push strains them by more than 0.9: they lose their order.

        Parameters
        ----------
        dt : float
            Duration of the push.
        axis : int
            Direction of the push.
        time : float
            When it begins, for a velocity that depends on time. A push must not pass a time of a
            `VelocitySeries`: push up to it, remesh, and push on, as a `Splitting` does.
        back : bool
            Whether to follow the particles that are on the points at the end back to where they
            were at the beginning: what a `RemeshOp` of values needs.

        Returns
        -------
        Positions

        Examples
        --------
        >>> import particles as pt
        >>> slope = pt.Velocity(pt.Grid(4), lambda x: x)
        >>> moved = pt.AdvectionOp(slope, "euler").apply(dt=0.5, axis=0)
        >>> moved.displacement.get()  # in cells
        array([0. , 0.5, 1. , 1.5], dtype=float32)
        """
        duration, begin = as_real("dt", dt), as_real("time", time)
        direction, is_back = as_index("axis", axis, self.grid.ndim), as_flag("back", back)
        displacement = Field(self.grid, 1, self.dtype, self.device, "displacement")
        core = self.core_for(self.device, self.dtype)
        self.check_times(begin, begin + duration)
        if self.speed_bounds is not None:
            check_resolved(self.dtype, begin, duration)
        what = f"a push by {self.scheme} along axis {direction} of {duration!r} from {begin!r} on"
        if self._has_changed(None, f"{what}{', back' * is_back}"):
            core.forget()
        with bound(self.grid.ranks, DeviceError, MemoryError):
            strain = strain_of_push(self, core, direction, begin, duration, is_back=is_back)
            warn_of_leak(self, strain.leak)
            warn_of_disorder(self, strain, duration)
            if is_back:
                begin, duration = begin + duration, -duration
            core.displace(direction, begin, duration, displacement.core)
        return Positions(displacement, direction, back=is_back)

    def strain(self, time: float = 0.0) -> tuple[float, ...]:
        """Greatest difference quotient of each velocity component along its own axis.

        A sweep of duration dt keeps particles in order while strain times dt is small enough for
        the scheme: below 0.73 (rk2), 0.85 (rk3), 1 (euler), 1.41 (heun), 1.59 (rk4).

        Parameters
        ----------
        time : float
            When, for a velocity that depends on time.

        Returns
        -------
        tuple of float
            One for each axis.

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
        if self._has_changed(None, f"AdvectionOp.strain at {begin!r}"):
            core.forget()
        axes = range(self.grid.ndim)
        return tuple(strain for _, strain, _ in core.measure(list(axes), [begin for _ in axes]))

    def __repr__(self) -> str:
        cubic = ", interpolation='cubic'" if self.interpolation == "cubic" else ""
        return f"AdvectionOp({self.velocity!r}, scheme={self.scheme!r}{cubic})"
