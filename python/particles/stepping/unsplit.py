# SPDX-License-Identifier: BSD-3-Clause
"""Time steps without splitting, along all axes at once."""

from __future__ import annotations

from particles import _core
from particles._core import Fitted
from particles.base.checks import arithmetic
from particles.base.progress import BUILDING, said_if_long
from particles.communication.ranks import bound
from particles.fields.grid import refuse_blocks
from particles.operators.advection import AdvectionOp
from particles.operators.form import Form
from particles.operators.remesh import RemeshOp
from particles.runtime.crew import made
from particles.stepping.forecast import Forecast, told_in_full
from particles.stepping.gauges import UnsplitGauge
from particles.stepping.operands import check_divided, check_operators
from particles.stepping.transport import Transport

__all__ = ["Unsplit"]


class Unsplit(Transport):
    """Advance fields in time by moving particles along all axes at once.

    Solves ``du/dt + div(a u) = 0`` without an error of splitting: particles follow the full
    velocity by the scheme of `advection`, and are remeshed with the product of a kernel along
    each axis. In d dimensions, a kernel of n nodes needs n^d weights for each particle.
    `Splitting` is many times faster: use it, and use this class as a reference.

    A velocity on a grid is interpolated along all axes. Particles keep their order while ``dt`` times
    the strain stays below 1: the greatest sum, over the axes, of the difference quotients of one
    component. Grids must be periodic; there are neither limiters nor particles that carry values.

    Parameters
    ----------
    advection : AdvectionOp
        Moves the particles.
    remesh : RemeshOp
        Puts them back on the grid, and holds the fields that are carried.
    time : float
        Time at the start.

    Attributes
    ----------
    advection, remesh
        As above.
    time : float
        Where the fields are in time.

    Examples
    --------
    >>> import particles as pt
    >>> wind = pt.Velocity(pt.Grid((64, 64)), lambda x, y: (1, 0.5))
    >>> u = pt.Field(wind.grid)
    >>> u[0, 0] = 1
    >>> transport = pt.Unsplit(pt.AdvectionOp(wind), pt.RemeshOp(u))
    >>> transport.run(until=0.25, dt=0.125)
    >>> float(u[16, 8]), transport.time
    (1.0, 0.25)
    """

    _core: _core.Unsplit

    def __init__(self, advection: AdvectionOp, remesh: RemeshOp, *, time: float = 0.0) -> None:
        check_operators(advection, remesh)
        refuse_blocks("fields", "Unsplit", remesh.grid)
        check_divided("an Unsplit", advection, remesh)
        super().__init__(advection, remesh, time)
        _check_choices(advection, remesh)
        carried = remesh.fields[0]
        with said_if_long(BUILDING):
            advection_core = advection.core_for(carried.device, arithmetic(carried.dtype))
            self._forecast = Forecast(advection, remesh, (advection_core, remesh.core), None)
            with told_in_full(self._forecast):
                self._core = made(_core.Unsplit, advection_core, remesh.core)
        self._gauge = UnsplitGauge(advection, advection_core, self._core)

    def _enqueue(
        self, times: list[float], dt: float, each: int, first: int = 0, *, joined: bool
    ) -> None:
        with bound(self.remesh.grid.ranks, BaseException):
            for time in times:
                self._core.advance(time, dt, each, first)

    def _enqueue_fitted(self, fitted: Fitted) -> None:
        with bound(self.remesh.grid.ranks, BaseException):
            for begin, dt in zip(fitted.begins, fitted.durations, strict=True):
                self._core.advance(begin, dt, 1)

    def __repr__(self) -> str:
        return f"Unsplit(time={self._known_time()},\n  {self.advection!r},\n  {self.remesh!r})"

    def _repr_html_(self) -> str:
        return self._facts("Unsplit")


def _check_choices(advection: AdvectionOp, remesh: RemeshOp) -> None:
    if not remesh.grid.is_periodic:
        raise ValueError(f"fields must be on a periodic grid, not on {remesh.grid}")
    for name, operator in ("advection", advection), ("remesh", remesh):
        if operator.form != Form():
            raise ValueError(
                f"{name} must have no form for Unsplit, which has no lines, not {operator.form!r}"
            )
    if remesh.limiter is not None:
        raise ValueError(f"remesh must have no limiter for Unsplit, not {remesh.limiter!r}")
    if not remesh.conservative:
        raise ValueError("remesh must be conservative for Unsplit, not conservative=False")
