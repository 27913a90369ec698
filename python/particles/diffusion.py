# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion: what spreads carried fields while they are transported."""

from __future__ import annotations

from collections.abc import Sequence

from particles import _core
from particles._check import arithmetic, as_duration, as_real, as_sequence, shown
from particles._clock import check_clock
from particles._inflow import Inflow, Inflows, as_inflows
from particles._kinds import is_a
from particles._on_device import OnDevice
from particles._together import as_fields
from particles._watch import Watch
from particles.field import Field

__all__ = ["Diffusion"]


class Diffusion(OnDevice):
    """Diffuse fields: ``du/dt = viscosity * (sum of the second derivatives of u)``.

    Each node becomes a mean of nodes around it, with the weights that solve the equation of the
    three-point second difference exactly, however long the step. So no step is too large, no value
    leaves the range of those there were, and two steps are the same as one of twice the duration.

    Nothing flows through walls and outflow ends, where the gradient vanishes; at inflow ends the
    field has the value that flows in. Where nothing flows in, the sum of a field stays, to
    round-off.

    Parameters
    ----------
    fields : Field or sequence of Field
        What diffuses, on one grid; in a `Splitting` some of the fields that are carried.
    viscosity : float or sequence of float
        At least 0: one for all components of the fields, or one for each.
    inflow
        What the fields are at inflow ends, as for `RemeshOp`. In a `Splitting` with a `RemeshOp` it
        is what flows in there, if it is left out here.

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
    array([0.429, 0.288, 0.162, 0.081, 0.041], dtype=float32)
    >>> diffusion.apply(dt=1e6)
    >>> np.allclose(u, 0.2)
    True
    """

    def __init__(
        self,
        fields: Field | Sequence[Field],
        viscosity: float | Sequence[float],
        *,
        inflow: Inflow | None = None,
    ) -> None:
        self.fields = as_fields(fields)
        self.grid = self.fields[0].grid
        self._components = sum(field.components for field in self.fields)
        self._viscosity = self._as_viscosity(viscosity)
        self._inflows: Inflows | None = None
        self._cores: dict[str, _core.Diffusion] = {}
        if inflow is not None or not any("inflow" in ends for ends in self.grid.boundary):
            self._inflows = as_inflows(
                inflow, self.grid, self._components, arithmetic(self.fields[0].dtype)
            )
            self._core_with(self._inflows.sources)
        self._watch: Watch | None = None

    @property
    def viscosity(self) -> float | tuple[float, ...]:
        """How fast the fields diffuse; it may be set at any time, between two steps too.

        Examples
        --------
        >>> import particles as pt
        >>> diffusion = pt.Diffusion(pt.Field(pt.Grid(8), 2), viscosity=[0.1, 0.2])
        >>> diffusion.viscosity = 0.3
        >>> diffusion
        Diffusion(viscosity=0.3)
        """
        return self._viscosity

    @viscosity.setter
    def viscosity(self, viscosity: float | Sequence[float]) -> None:
        self._viscosity = self._as_viscosity(viscosity)
        for core in self._cores.values():
            core.viscosities = self._per_component()

    def apply(self, dt: float, *, time: float = 0.0) -> None:
        """Let the fields diffuse alone for so long; does not wait for the device.

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
        if self._inflows is None:
            raise ValueError("inflow must be given to a Diffusion that is applied alone")
        if self._inflows.depends_on_time:
            check_clock(arithmetic(self.fields[0].dtype), begin, duration)
        if self._watch is None:
            self._watch = Watch(self.fields)
        self._watch.look_when_read_after("Diffusion.apply")
        self._core_with(self._inflows.sources).apply(begin, duration)

    def core_for(self, inflows: Inflows | None, carried: Sequence[Field]) -> _core.Diffusion:
        """Return the compiled operator of a splitting that carries fields with such an inflow.

        :meta private:
        """
        if self._inflows is not None:
            return self._core_with(self._inflows.sources)
        if inflows is None:
            raise ValueError("inflow must be given to a Diffusion where nothing is carried")
        first, places = 0, {}
        for field in carried:
            places[id(field)] = range(first, first + field.components)
            first += field.components
        own = [number for field in self.fields for number in places[id(field)]]
        return self._core_with(
            [[[end[k] for k in own] if end else [] for end in axis] for axis in inflows.sources]
        )

    def _core_with(self, sources: list[list[list[str]]]) -> _core.Diffusion:
        key = repr(sources)
        if key not in self._cores:
            cores = [field.core for field in self.fields]
            self._cores[key] = _core.Diffusion(cores, self._per_component(), sources)
        return self._cores[key]

    def _as_viscosity(self, viscosity: object) -> float | tuple[float, ...]:
        several = is_a(viscosity, Sequence) and not is_a(viscosity, str)
        refusal = f"viscosity must be a number or a sequence of them, not {shown(viscosity)}"
        values = [
            as_real("viscosity", value)
            for value in (as_sequence(viscosity, refusal) if several else [viscosity])
        ]
        if several and len(values) != self._components:
            raise ValueError(
                f"viscosity must be one number or one for each of {self._components} components, "
                f"not {len(values)}"
            )
        for value in values:
            if value < 0:
                raise ValueError(f"viscosity must not be negative, not {value}")
        return tuple(values) if several else values[0]

    def _per_component(self) -> list[float]:
        own = self._viscosity
        return list(own) if isinstance(own, tuple) else [own] * self._components

    def __repr__(self) -> str:
        return f"Diffusion(viscosity={self._viscosity})"
