# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion of carried fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

import numpy.typing as npt

from particles import _core
from particles.base.checks import arithmetic, as_duration, as_numbers, as_real, entries
from particles.base.guards import OnDevice
from particles.fields.alike import as_fields
from particles.fields.field import Field
from particles.operators.finiteness import Watch
from particles.operators.inflow import Inflow, Inflows, as_inflows
from particles.operators.time_resolution import check_resolved
from particles.runtime.crew import made

if TYPE_CHECKING:
    from particles.operators.remesh import RemeshOp

__all__ = ["Diffusion"]


class Diffusion(OnDevice):
    """Diffuse fields: ``du/dt = viscosity * (sum of the second derivatives of u)``.

    Each node becomes a mean of the nodes around it. Its weights solve the equation with the
    three-point second difference exactly, for any step. So no step is too large, no value leaves
    the range of the previous values, and two steps equal one step of twice the duration.

    Nothing flows through walls and outflow ends, where the gradient vanishes. At inflow ends the
    field has the value that flows in. If nothing flows in, the sum of a field is constant to
    rounding.

    Parameters
    ----------
    fields : Field or sequence of Field
        The fields that diffuse, on one grid; in a `Splitting`, some of the carried fields.
    viscosity : float or array_like
        At least 0: one number for all components of the fields, or one for each. It is the same
        everywhere.
    inflow
        The values of the fields at inflow ends, as for `RemeshOp`. In a `Splitting` the default is
        the inflow of the `RemeshOp`.

    Attributes
    ----------
    fields : tuple of Field
        As above.
    grid : Grid
        That of the fields.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid(5, boundary="wall"))
    >>> u[0] = 1
    >>> diffusion = pt.Diffusion(u, viscosity=0.01)
    >>> diffusion.apply(dt=2.0)
    >>> u.get().round(3)
    array([0.674, 0.258, 0.058, 0.009, 0.001], dtype=float32)
    >>> diffusion.apply(dt=1e6)
    >>> np.allclose(u, 0.2)
    True
    """

    def __init__(
        self,
        fields: Field | Sequence[Field],
        viscosity: npt.ArrayLike,
        *,
        inflow: Inflow | None = None,
    ) -> None:
        self.fields = as_fields(fields)
        self.grid = self.fields[0].grid
        self._components = sum(field.components for field in self.fields)
        self._viscosity = self._as_viscosity(viscosity)
        flows_in = any("inflow" in ends for ends in self.grid.boundary)
        self.inflows: Inflows | None = (
            None
            if flows_in and inflow is None
            else as_inflows(inflow, self.grid, self._components, arithmetic(self.fields[0].dtype))
        )
        self._alone: tuple[_core.Diffusion, Watch] | None = None  # made at first need
        self._cores: WeakSet[_core.Diffusion] = WeakSet()

    @property
    def viscosity(self) -> float | tuple[float, ...]:
        """The viscosity; it may be set at any time, also between two steps.

        Examples
        --------
        >>> import particles as pt
        >>> diffusion = pt.Diffusion(pt.Field(pt.Grid(8), 2), viscosity=[0.1, 0.2])
        >>> diffusion.viscosity
        (0.1, 0.2)
        >>> diffusion.viscosity = 0.3
        """
        return self._viscosity

    @viscosity.setter
    def viscosity(self, viscosity: npt.ArrayLike) -> None:
        self._viscosity = self._as_viscosity(viscosity)
        for core in self._cores:
            core.viscosities = self.viscosities

    def apply(self, dt: float, *, time: float = 0.0) -> None:
        """Diffuse the fields over the duration `dt` without transport; does not wait for the device.

        Parameters
        ----------
        dt : float
            Duration.
        time : float
            When it begins, for an inflow that depends on time.

        Examples
        --------
        >>> import particles as pt
        >>> u = pt.Field(pt.Grid(4))
        >>> u[0] = 4
        >>> pt.Diffusion(u, viscosity=1.0).apply(dt=10.0)
        >>> u.get()
        array([1., 1., 1., 1.], dtype=float32)
        """
        duration, begin = as_duration("dt", dt), as_real("time", time)
        if self.inflows is None:
            raise ValueError("inflow must be given to a Diffusion that is applied alone")
        if self.inflows.depends_on_time:
            check_resolved(arithmetic(self.fields[0].dtype), begin, duration)
        if self._alone is None:
            self._alone = self._core_with(self.inflows.sources), Watch(self.fields)
        core, watch = self._alone
        watch.look_when_read_after("Diffusion.apply")
        self._by_all(f"Diffusion.apply({dt}, time={time})", partial(core.apply, begin, duration))

    def _by_all(self, what: str, action: Callable[[], None]) -> None:
        """Do what all ranks of a divided grid must do together, or one alone of another.

        :meta private:
        """
        ranks = self.grid.ranks
        if ranks is None:
            return action()
        kinds = ", ".join(f"{field.components} of {field.dtype}" for field in self.fields)
        ranks.meet(f"{what} of {kinds} by {self.viscosities}")
        with ranks.bound(BaseException):
            return action()

    def core_for(self, remesh: RemeshOp) -> _core.Diffusion:
        """Return a compiled operator for a splitting, where what is not said here flows in.

        :meta private:
        """
        if self.inflows is not None:
            return self._core_with(self.inflows.sources)
        numbers, first = {}, 0
        for field in remesh.fields:
            numbers[id(field)] = range(first, first + field.components)
            first += field.components
        own = [number for field in self.fields for number in numbers[id(field)]]
        sources = remesh.inflows.sources
        return self._core_with([[[end[k] for k in own if end] for end in axis] for axis in sources])

    def _core_with(self, sources: list[list[list[str]]]) -> _core.Diffusion:
        fields = [field.core for field in self.fields]
        core = made(_core.Diffusion, fields, self.viscosities, sources)
        self._cores.add(core)
        return core

    def _as_viscosity(self, viscosity: object) -> float | tuple[float, ...]:
        listed = entries(viscosity)
        several = listed is not None
        if any(entries(one) is not None for one in listed or ()):
            raise ValueError(
                f"viscosity must be the same everywhere: one number or one for each of "
                f"{self._components} components, not several for one"
            )
        values = (
            as_numbers("viscosity", viscosity) if several else (as_real("viscosity", viscosity),)
        )
        if several and len(values) != self._components:
            raise ValueError(
                f"viscosity must be one number or one for each of {self._components} components, "
                f"not {len(values)}"
            )
        for value in values:
            if value < 0:
                raise ValueError(f"viscosity must be at least 0, not {value}")
        return values if several else values[0]

    @property
    def viscosities(self) -> list[float]:
        """One for each component of the fields.

        :meta private:
        """
        own = self._viscosity
        return list(own) if isinstance(own, tuple) else [own] * self._components

    def __repr__(self) -> str:
        fields = ", ".join(repr(field) for field in self.fields)
        return f"Diffusion([{fields}], viscosity={self._viscosity})"
