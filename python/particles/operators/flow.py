# SPDX-License-Identifier: BSD-3-Clause
"""A velocity, and how particles follow it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import REAL_DTYPES, are_arrays, as_choice, as_dtype, shown
from particles.base.guards import OnDevice
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.fields.grid import Grid, are_as_long, check_grid, check_resolution
from particles.formulas.expressions import check_numbers
from particles.formulas.tracing import FROM_ARRAYS
from particles.operators.amplitudes import amplitude_of, nodes_for_core
from particles.operators.form import Form, as_form
from particles.operators.schemes import SCHEMES
from particles.operators.speed_bounds import SpeedBounds
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.runtime.crew import made
from particles.runtime.device import Device

_INTERPOLATIONS = ("linear", "cubic")


class Flow(OnDevice):
    """What is known of an `AdvectionOp` before it pushes anything: its arguments and their core."""

    _changing = ("used",)

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
        if not is_a(velocity, Field | Velocity | VelocitySeries):
            raise TypeError(
                f"velocity must be a Field, a Velocity or a VelocitySeries, not {shown(velocity)}"
                + _way_to_velocity(velocity)
            )
        self.velocity = velocity
        self.scheme = as_choice("scheme", scheme, tuple(SCHEMES))
        self.fields = _fields_of(velocity)
        self.interpolation = _as_interpolation(interpolation, bool(self.fields))
        self.form = as_form("form", form)
        self.grid = _as_grid(grid, velocity.grid, bool(self.fields))
        if self.fields:
            _check_velocity(self.fields[0])
            if dtype is not None or device is not None:
                raise ValueError(
                    "dtype and device must not be given with a velocity field, which has its own"
                )
        self._dtype = None if dtype is None else as_dtype("dtype", dtype, REAL_DTYPES)
        self._device = None if device is None else self.grid._as_device(device)
        self.speed_bounds = (
            SpeedBounds(velocity) if is_a(velocity, Velocity) and velocity.depends_on_time else None
        )
        self._cores: dict[tuple[_core.Context, str], _core.AdvectionOp] = {}

    @cached_property
    def slabs(self) -> tuple[Field, ...]:
        """The fields, or what blocks that are cut along two axes are put together to.

        :meta private:
        """
        return tuple(field._like_slabs() for field in self.fields)

    @property
    def device(self) -> Device:
        """The device on which `apply` runs."""
        if self.fields:
            return self.fields[0].device
        return self.grid._as_device(self._device)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the positions that `apply` returns."""
        if self.fields:
            return self.fields[0].dtype
        return self._dtype or np.dtype(np.float32)

    def core_for(self, device: Device, dtype: np.dtype[Any]) -> _core.AdvectionOp:
        """Return the compiled operator for fields of a device and dtype.

        :meta private:
        """
        key = (device.core, dtype.name)
        self.used = device, dtype
        if key not in self._cores:
            if dtype not in device.dtypes:
                raise TypeError(f"dtype must be float32 on {device.name}, which has no {dtype}")
            self._cores[key] = self._compile(device, dtype)
        return self._cores[key]

    def _has_changed(self, known: int | None, what: str) -> bool:
        """Whether the velocity of a divided grid is another one than that of a version, on any part.

        All ranks must ask at once, in the same words.

        :meta private:
        """
        if not self.grid.is_cut:
            return False
        numbers = ""
        if is_a(self.velocity, Velocity):
            numbers = f", {dict(self.velocity.parameters.items())}"
        has = self.version != known or any(field.core.is_shared for field in self.fields)
        ranks = self.grid.ranks
        if ranks is None:
            return has
        return bool(ranks.greatest(f"{what}{numbers}", np.array([float(has)]))[0])

    @property
    def version(self) -> int:
        """Another one where the velocity has changed.

        :meta private:
        """
        if is_a(self.velocity, Velocity):
            return self.velocity.parameters.version
        return sum(field.core.version for field in self.fields)

    def _components(self, axis: int, time: float) -> list[Field]:
        """Return a component on the device: at a time, or at both around it."""
        if is_a(self.velocity, Velocity):
            return [self._evaluated(axis, time)]
        if is_a(self.velocity, VelocitySeries):
            level = self.core_for(self.device, self.dtype).level_at(time)
            return [field.component(axis) for field in self.velocity.fields[level : level + 2]]
        return [field.component(axis) for field in self.fields]

    def _weights_at(self, time: float) -> tuple[float, ...]:
        """Return what each of these has at that time."""
        if not is_a(self.velocity, VelocitySeries):
            return (1.0,)
        level = self.core_for(self.device, self.dtype).level_at(time)
        first, last = self.velocity.times[level : level + 2]
        return (last - time) / (last - first), (time - first) / (last - first)

    def _evaluated(self, axis: int, time: float) -> Field:
        """Return a formula's component at all points, as the device last used evaluates it."""
        device, dtype = self.used
        values = Field(self.grid, 1, dtype, device, "values of a formula")
        euler = Flow(self.velocity, "euler").core_for(device, dtype)
        euler.displace(axis, time, self.grid.spacing[axis], values.core)  # one cell a unit of speed
        return values

    def _compile(self, device: Device, dtype: np.dtype[Any]) -> _core.AdvectionOp:
        if not is_a(self.velocity, Velocity):
            times = self.velocity.times if is_a(self.velocity, VelocitySeries) else ()
            return made(
                _core.AdvectionOp,
                [field.core for field in self.fields],
                times,
                self.form.core,
                self.scheme,
                self.interpolation or _INTERPOLATIONS[0],
                self.grid.core,
            )
        return made(
            _core.AdvectionOp,
            device.core,
            self.grid.core,
            self._sources(dtype),
            self.velocity.depends_on_time,
            dtype.name,
            self.form.core,
            self.scheme,
            self.velocity.parameters.core,
            self._amplitudes(),
        )

    def _amplitudes(self) -> list[list[_core.NodeOfFormula] | None]:
        """Return the factors in time of a formula's components; none where it is steady."""
        formula = self.velocity
        if not is_a(formula, Velocity) or not formula.depends_on_time:
            return []
        found = map(amplitude_of, formula.components)
        names = tuple(formula.parameters)
        return [None if one is None else nodes_for_core(one, names) for one in found]

    def _sources(self, dtype: np.dtype[Any]) -> list[str]:
        """Return OpenCL C of a formula's components, to be computed in a dtype."""
        formula = self.velocity
        if not is_a(formula, Velocity):
            raise TypeError(f"velocity must be a formula, not {shown(formula)}")
        check_resolution(self.grid, dtype)
        check_numbers("velocity", formula.components, dtype)
        formula.parameters.serve(dtype)
        return [formula.source(axis) for axis in range(self.grid.ndim)]

    def check_times(self, first: float, last: float) -> None:
        """Refuse times at which a `VelocitySeries` has no velocity.

        :meta private:
        """
        if is_a(self.velocity, VelocitySeries):
            self.velocity.check_times(first, last)


def _way_to_velocity(given: object) -> str:
    """Say how what was given becomes a velocity."""
    if are_arrays(given):
        return f": {FROM_ARRAYS.format('velocity')}"
    return ": a formula makes a pt.Velocity(grid, formula)" if callable(given) else ""


def _fields_of(velocity: Field | Velocity | VelocitySeries) -> tuple[Field, ...]:
    """Return the fields that make a velocity; none make a formula."""
    if is_a(velocity, Velocity):
        return ()
    return (velocity,) if is_a(velocity, Field) else velocity.fields


def _as_interpolation(name: str | None, is_on_grid: bool) -> str | None:
    """Return how a velocity on a grid is interpolated, None for a formula."""
    if name is None:
        return _INTERPOLATIONS[0] if is_on_grid else None
    if not is_on_grid:
        raise ValueError(
            f"interpolation must not be given with a formula, which is exact everywhere, "
            f"but it is {shown(name)}"
        )
    return as_choice("interpolation", name, _INTERPOLATIONS)


def _as_grid(grid: Grid | None, own: Grid, is_on_grid: bool) -> Grid:
    """Return the particles' grid, whose cells divide the velocity's."""
    if grid is None:
        return own
    check_grid(grid)
    if not is_on_grid:
        raise ValueError("grid must not be given with a formula, which brings its own")
    divides = grid.ndim == own.ndim and all(
        fine % coarse == 0 for fine, coarse in zip(grid.whole.shape, own.whole.shape, strict=True)
    )
    is_same_box = (
        divides
        and grid.ranks is own.ranks
        and grid.boundary == own.boundary
        and all(are_as_long(grid, own, axis) for axis in range(own.ndim))
    )
    if not is_same_box:
        raise ValueError(
            "grid must be of the velocity's box, with a whole multiple of its points along every "
            f"axis, not {grid} for a velocity on {own}"
        )
    grid._check_cuts(own)
    return grid


def _check_velocity(velocity: Field) -> None:
    """Refuse a field that cannot be a velocity."""
    ndim = velocity.grid.ndim
    if velocity.components != ndim:
        raise ValueError(
            f"velocity must have one component per axis of its grid, {ndim}, "
            f"not {velocity.components}"
        )
    if velocity.dtype not in REAL_DTYPES:
        raise TypeError(f"velocity must be of float32 or float64, not of {velocity.dtype}")
