# SPDX-License-Identifier: BSD-3-Clause
"""Time steps made of sweeps along the axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from particles import _core
from particles._core import Fitted
from particles.base.checks import arithmetic, as_index, as_real, shown
from particles.base.errors import OutOfMemoryError
from particles.base.kinds import is_a
from particles.base.progress import BUILDING, said_if_long
from particles.fields.field import Field
from particles.kernels.kernel import RemeshingKernel
from particles.operators.advection import AdvectionOp
from particles.operators.diffusion import Diffusion
from particles.operators.flow import Flow
from particles.operators.form import Form
from particles.operators.inflow import Inflow
from particles.operators.limits import LCFLWarning, shears, warn_of_leak
from particles.operators.remesh import RemeshOp
from particles.operators.source import SourceOp
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.runtime.crew import made, promised
from particles.stepping.forecast import Forecast, told_in_full
from particles.stepping.gauges import Gauge, SplittingGauge, Stillness
from particles.stepping.operands import (
    as_diffusions,
    as_remesh,
    check_changes,
    check_divided,
    check_operators,
    given_alone,
)
from particles.stepping.outflow import Outflow
from particles.stepping.presets import preset_of
from particles.stepping.report import Left, Report
from particles.stepping.runs import Run
from particles.stepping.schedule import SPLITTINGS, Stage, as_order, stages_of, step_table
from particles.stepping.stepper import Stepper
from particles.stepping.transport import Transport
from particles.tuning import tuner

__all__ = ["LCFLWarning", "Report", "Splitting", "Stage"]

_T = TypeVar("_T")


class Splitting(Transport):
    """Advance fields in time by sweeps along one axis after the other.

    Solves ``du/dt + div(a u) = s + div(grad(nu u))``. Nothing leaves the device during a step.

    Parameters
    ----------
    advection : AdvectionOp, optional
        Moves the particles. Without it nothing moves, for reaction and diffusion only.
    remesh : RemeshOp, optional
        Puts them back on the grid, and holds the carried fields. It is optional if nothing moves
        and nothing flows in.
    order : int
        1 for Lie splitting, one sweep per axis; 2 for Strang splitting, second order in time, whose
        full sweep is along the axis of least strain; 4 for five Strang steps, the middle one
        backwards, of fourth order, without diffusion.
    source : SourceOp, optional
        The source s. It acts once in a Lie step, and for half a step on either side of the full sweep
        in a Strang step.
    diffusion : Diffusion or sequence of Diffusion, optional
        Diffusion of carried fields, with the viscosity nu. It comes last in a Lie step, and once
        in the middle of a Strang step, in which all sweeps are then half sweeps.
    time : float
        Time at the start.

    Attributes
    ----------
    advection, remesh, order, source
        As above.
    diffusion : tuple of Diffusion
        As above, none to many.
    time : float
        Where the fields are in time.

    Notes
    -----
    Steps of order 4 are Suzuki's: ``p, p, 1 - 4p, p, p`` of the step with
    ``p = 1/(4 - 4^(1/3))``. Yoshida's three (1.35, -1.70, 1.35) have 135 times the sum of fifth
    powers, 17 times as much for as many sweeps, and strain particles 2.6 times as much, where
    Suzuki's longest part is -0.66. For errors in space and along a particle's path to be as
    small, take ``scheme="rk4"``, ``interpolation="cubic"`` and a kernel of high order. The step
    back needs values that have left through an outflow end and are not known, so near such ends
    the order falls to about one. Walls, inflow and periodic axes keep the order in time.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((64, 64))
    >>> x, y = grid.coordinates()
    >>> u = pt.Field(grid)
    >>> u[...] = np.exp(-50 * ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    >>> swirl = pt.Velocity(grid, lambda x, y: (np.sin(2 * np.pi * y), np.sin(2 * np.pi * x)))
    >>> transport = pt.Splitting(pt.AdvectionOp(swirl), pt.RemeshOp(u), order=2)
    >>> before = u.sum()
    >>> transport.run(until=0.5, dt=0.05)
    >>> transport.time, abs(u.sum() / before - 1) < 1e-6
    (0.5, True)
    >>> transport.schedule[0]
    Stage(axis=0, begin=0.0, length=0.5)
    """

    _core: _core.Splitting
    _gauge: SplittingGauge | Stillness
    _forms: list[Form]
    _outflow: Outflow

    def __init__(
        self,
        advection: AdvectionOp | None = None,
        remesh: RemeshOp | None = None,
        order: int = 2,
        *,
        source: SourceOp | None = None,
        diffusion: Diffusion | Sequence[Diffusion] | None = None,
        time: float = 0.0,
    ) -> None:
        diffusions = as_diffusions(diffusion)
        if advection is None and (diffusions or source is not None):
            remesh = _still(source, diffusions) if remesh is None else as_remesh(remesh)
        else:
            remesh = check_operators(advection, remesh)
        check_changes(remesh, source, diffusions)
        check_divided(f"a Splitting of order {shown(order)}", advection, remesh)
        super().__init__(
            advection, remesh, time, source, diffusions, is_split=advection is not None
        )
        self.order = as_order(order)
        if self.order == 4 and diffusions:
            raise ValueError(
                "order must be 1 or 2 with diffusion, not 4, which steps back: diffusion cannot"
            )
        self.source = source
        self.diffusion = diffusions
        self._looked_at: tuple[int | None, float] = None, 0.0  # for shear: a version, and cells
        with said_if_long(BUILDING):
            self._sweep_in(self._best_forms())

    def _sweep_in(
        self, forms: list[Form], left_before: npt.NDArray[np.float64] | float = 0.0
    ) -> None:
        """Make the sweeps in these forms; nothing has been swept in others."""
        carried, source, advection = self.remesh.fields[0], self.source, self.advection
        advection_core = (
            None
            if advection is None
            else advection.core_for(carried.device, arithmetic(carried.dtype))
        )
        diffusions = [diffusion.core_for(self.remesh) for diffusion in self.diffusion]
        forecast = Forecast(
            advection,
            self.remesh,
            (advection_core, self.remesh.core_in(forms)),
            self.order,
            given_alone(advection, self.remesh, source),
            diffusions,
        )
        with told_in_full(forecast):
            core = made(
                _core.Splitting,
                *forecast.cores,
                self.order,
                None if source is None else source.core,
                diffusions,
            )
        gauge = (
            Stillness()
            if advection is None or advection_core is None
            else SplittingGauge(advection, advection_core, core, self.remesh.conservative)
        )
        outflow = Outflow(self.remesh, core, left_before)
        # All or nothing, where an interrupt comes.
        vars(self).update(
            _forms=forms, _forecast=forecast, _core=core, _gauge=gauge, _outflow=outflow
        )

    def _advice(self, longest: float) -> Warning | None:
        if self.source is None or self._grid.ranks is not None:
            return None
        return self.source._advice(self.time, longest)

    def _may_shear(self, flow: Flow) -> bool:
        grid, cells = self._grid, self._account.cells_of_run
        known = None if any(field.core.is_shared for field in flow.fields) else flow.version
        if grid.ranks is not None or not shears(cells, grid):
            return False
        version, most = self._looked_at
        if known is not None and known == version and cells <= 1.25 * most:
            return False
        self._looked_at = known, cells
        return True

    def _enqueue(
        self, times: list[float], dt: float, each: int, first: int = 0, *, joined: bool
    ) -> None:
        self._meet_to_spread(f"{len(times)} x {each} steps of {dt} from {times[0]} on")
        self._by_all(self._core.advance)(times, dt, each, joined, first)

    def _enqueue_fitted(self, fitted: Fitted) -> None:
        self._meet_to_spread(f"steps from {fitted.begins[0]} to {fitted.ends[-1]}")
        self._by_all(self._core.advance_fitted)(fitted)

    def _meet_to_spread(self, what: str) -> None:
        """Have all ranks of a divided grid diffuse by the same viscosities."""
        ranks = self.remesh.grid.ranks
        if ranks is not None and self.diffusion:
            spread = [diffusion.viscosities for diffusion in self.diffusion]
            ranks.meet(f"{what} by {spread}")

    def _by_all(self, action: Callable[..., None]) -> Callable[..., None]:
        """Return what is done; all ranks of a divided grid end where one of them cannot do it."""
        ranks = self.remesh.grid.ranks
        if ranks is None:
            return action

        def bound(*arguments: object) -> None:
            with ranks.bound(BaseException):
                action(*arguments)

        return bound

    def _advance(self, run: Run[Stepper], dt: float, steps: int, joints: float) -> None:
        self._ended(super()._advance, run, dt, steps, joints)

    def _fit(
        self,
        gauge: Gauge,
        run: Run[Stepper],
        lcfl: float,
        longest: tuple[float, float],
        end: float,
    ) -> tuple[float, int]:
        return self._ended(super()._fit, gauge, run, lcfl, longest, end)

    def _ended(self, act: Callable[..., _T], *wanted: object) -> _T:
        """Do steps that end whatever happens."""
        begin, end = promised(self._core, "close")
        close = self._by_all(begin)
        try:
            return act(*wanted)
        finally:
            close()  # without a line of Python before it, where an interrupt could come
            end()

    def _take_fewer_parts(self, joined: int, together: int, alone: int) -> bool:
        if together == 1:
            return False
        return self._core.take_fewer_parts(joined, math.ceil(joined / together), alone)

    def _prepare(self, steps: float) -> None:
        if self._has_begun:
            return
        forms = self._best_forms(steps)
        if forms != self._forms:
            with suppress(OutOfMemoryError):  # those there are do as well
                self._sweep_in(forms, self._outflow.before)

    def _best_forms(self, steps: float = 0) -> list[Form]:
        if self.advection is None or self.remesh.grid.is_cut:
            return [self.remesh.form] * self.remesh.grid.ndim
        return tuner.forms_for(self.advection, self.remesh, self.time, steps)

    @classmethod
    def from_preset(
        cls,
        preset: str,
        velocity: Field | Velocity | VelocitySeries,
        fields: Field | Sequence[Field],
        *,
        kernel: str | RemeshingKernel | None = None,
        scheme: str | None = None,
        interpolation: str | None = None,
        limiter: str | None = None,
        order: int = 2,
        conservative: bool = True,
        inflow: Inflow | None = None,
        source: SourceOp | None = None,
        diffusion: Diffusion | Sequence[Diffusion] | None = None,
        time: float = 0.0,
    ) -> Splitting:
        """Make operators that fit together, and a `Splitting` of them.

        Parameters
        ----------
        preset : str
            ``"default"``: the kernel ``M'6``, the midpoint rule, linear interpolation.
            ``"accurate"``: ``L6_4``, ``rk4``, cubic interpolation. ``"positive"``: as the default,
            with a floor at 0.
        velocity : Field or Velocity or VelocitySeries
            As for `AdvectionOp`; on a grid that may be coarser than the fields'.
        fields : Field or sequence of Field
            What is carried; changed in place.
        kernel, scheme, interpolation, limiter
            As for `RemeshOp` and `AdvectionOp`, in place of the preset's; None keeps that.
        order
            As above.
        conservative : bool
            Whether particles carry masses or, in ``du/dt + a grad u = s``, values.
        inflow
            As for `RemeshOp`, where the grid's boundary asks for it.
        source, diffusion, time
            As above.

        Returns
        -------
        Splitting

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(32)
        >>> u, wind = pt.Field(grid), pt.Velocity(grid, "1")
        >>> transport = pt.Splitting.from_preset("accurate", wind, u, kernel="L8_4")
        >>> transport.remesh.kernel.name, transport.advection.scheme
        ('L8_4', 'rk4')
        """
        is_formula = is_a(velocity, Velocity)
        choice = preset_of(preset).but(
            kernel=kernel, scheme=scheme, interpolation=interpolation, limiter=limiter
        )
        remesh = RemeshOp(
            fields,
            choice.kernel,
            limiter=choice.limiter,
            conservative=conservative,
            inflow=inflow,
        )
        advection = AdvectionOp(
            velocity,
            choice.scheme,
            interpolation=interpolation if is_formula else choice.interpolation,
            grid=None if is_formula else remesh.grid,
        )
        return cls(advection, remesh, order, source=source, diffusion=diffusion, time=time)

    @property
    def sweeps(self) -> int:
        """Number of sweeps along an axis done; those of joined steps count once.

        Examples
        --------
        >>> import particles as pt
        >>> wind = pt.Velocity(pt.Grid((8, 8)), ["1", "0"])
        >>> transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(pt.Field(wind.grid)))
        >>> transport.run(0.3, 0.1)
        >>> transport.sweeps
        7
        """
        return self._core.sweeps_done

    @property
    def schedule(self) -> tuple[Stage, ...]:
        """The parts of a step, in order; of the last step if the velocity varies in time.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> flow = pt.Velocity(pt.Grid((16, 16)), lambda x, y: (np.sin(2 * np.pi * x), 1))
        >>> u = pt.Field(flow.grid)
        >>> for stage in pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u)).schedule:
        ...     print(stage)
        Stage(axis=0, begin=0.0, length=0.5)
        Stage(axis=1, begin=0.0, length=1.0)
        Stage(axis=0, begin=0.5, length=0.5)
        """
        self._gauge.update_schedules(self.time)
        return stages_of(self._core.schedule)

    @property
    def joined_schedule(self) -> tuple[Stage, ...]:
        """The parts of a step that `run` joins to the next.

        The last one and the first one of the next are done as one. So in Strang's steps the axes
        swept whole are the two of least strain.

        Examples
        --------
        >>> import particles as pt
        >>> flow = pt.Velocity(pt.Grid((16, 16)), lambda x, y: (y, x))
        >>> u = pt.Field(flow.grid)
        >>> transport = pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u))
        >>> transport.joined_schedule[0].axis == transport.joined_schedule[-1].axis
        True
        """
        self._gauge.update_schedules(self.time)
        return stages_of(self._core.joined_schedule)

    def sweep(self, axis: int | str | None, dt: float) -> None:
        """Do one sweep along `axis` over the duration `dt`, outside the schedule.

        Use it to build your own splittings. `time` does not change, and the call does not wait.
        Masses that come in through an end are strained along this axis alone.

        Parameters
        ----------
        axis : int or str or None
            Direction; None stands for the source, ``"diffusion"`` for diffusion.
        dt : float
            Duration; a negative one goes back in time, which diffusion cannot.

        Examples
        --------
        A splitting of first order that takes the axes in turn:

        >>> import particles as pt
        >>> flow = pt.Velocity(pt.Grid((16, 16)), lambda x, y: (0.25, 0.5))
        >>> u = pt.Field(flow.grid)
        >>> u[0, 0] = 1
        >>> transport = pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u))
        >>> for axis in (0, 1):
        ...     transport.sweep(axis, dt=0.5)
        >>> float(u[2, 4]), transport.time
        (1.0, 0.0)
        """
        duration = as_real("dt", dt)
        if duration == 0:
            raise ValueError("dt must not be zero")
        direction = self._as_direction(axis)
        if direction == "diffusion" and duration < 0:
            raise ValueError(
                f"dt must be positive, because diffusion cannot go back in time, not {duration}"
            )
        with self._alone:
            self._resolution.check(self.time, duration)
            if isinstance(direction, int) and isinstance(self._gauge, SplittingGauge):
                self._check_times(self.time + duration)
                strain = self._gauge.of_sweep(direction, self.time, duration)
                warn_of_leak(self.advection, strain.leak)
                strain.refuse(abs(duration), self._gauge.place_of)
                strain.warn(abs(duration), self._open_account())
            self._has_begun = True
            sweep = self._by_all(self._core.sweep)
            self._watch.look_when_read(self.steps, self.time, duration)
            sweep(direction, self.time, duration)

    def _as_direction(self, axis: object) -> int | str | None:
        if axis is None and self.source is None:
            raise ValueError("axis must not be None (the source), because there is no source")
        if is_a(axis, str) and axis == "diffusion" and self.diffusion:
            return "diffusion"
        if axis is None:
            return None
        if self.advection is None:
            raise ValueError(
                f"axis must be None or 'diffusion' without a velocity, not {shown(axis)}"
            )
        return as_index("axis", axis, self.remesh.grid.ndim)

    @property
    def outflow(self) -> npt.NDArray[np.float64]:
        """Net mass that has left through the ends, in units of `Field.sum`; waits for the device.

        Of each component of the fields, in their order, through the low and the high end of each
        axis, less what has come in: an array of shape (components, axes, 2). What is inside and
        what has left add up to what there was, to round-off. Nothing goes through walls. It may be
        set, to count on from there.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(10, boundary="outflow")
        >>> u = pt.Field(grid)
        >>> u.fill(1)
        >>> wind = pt.Velocity(grid, lambda x: 1.0)
        >>> transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
        >>> transport.step(0.5)
        >>> transport.outflow
        array([[[-5.,  5.]]])
        """
        return self._outflow.get()

    @outflow.setter
    def outflow(self, left: npt.ArrayLike) -> None:
        self._outflow.set(left)

    def _left(self) -> Left | None:
        ends = itertools.chain.from_iterable(self.remesh.grid.boundary)
        if self.remesh.conservative and {"inflow", "outflow"}.intersection(ends):
            left: Left = self._outflow.counted().sum(axis=(1, 2))
            return left
        return super()._left()

    def __repr__(self) -> str:
        parts = " ".join(
            f"{s.axis if isinstance(s.axis, int) else s.axis or 'source'}[{s.begin:g},{s.begin + s.length:g}]"
            for s in self._known_schedule()
        )
        moving = () if self.advection is None else (self.advection,)
        changing = () if self.source is None else (self.source,)
        made_of = ",\n  ".join(map(repr, (*moving, self.remesh, *changing, *self.diffusion)))
        return (
            f"Splitting({SPLITTINGS[self.order]}, sweeps {parts or 'unknown'}{self._launches()}, "
            f"time={self._known_time()},\n  {made_of})"
        )

    def _repr_html_(self) -> str:
        text = self._facts(f"Splitting ({SPLITTINGS[self.order]}{self._launches()})")
        stages = self._known_schedule()
        return text + step_table(stages) if stages else text

    def _launches(self) -> str:
        """Say whether one launch does many sweeps, or the form along each axis that is no CPU's."""
        if self._core.is_chained:
            return ", many in a launch"
        if self.remesh.fields[0].device.is_cpu and self.remesh.form == Form():
            return ""
        along = [" and ".join(names) for names in self._core.forms]
        return f", forms {', '.join(along)}" if along else ""

    def _known_schedule(self) -> tuple[Stage, ...]:
        """Return the parts of a step; none where the velocity cannot be measured, or by all alone."""
        if self.remesh.grid.is_divided:
            return ()
        with suppress(ValueError, RuntimeError):
            return self.schedule
        return ()


def _still(source: SourceOp | None, diffusions: Sequence[Diffusion]) -> RemeshOp:
    """Return what holds all fields that a source or diffusion changes, where nothing moves."""
    changing: list[SourceOp | Diffusion] = [*diffusions]
    if source is not None:
        if not is_a(source, SourceOp):
            raise TypeError(f"source must be a SourceOp or None, not {shown(source)}")
        changing.insert(0, source)
    fields = {id(field): field for one in changing for field in one.fields}
    if any("inflow" in ends for ends in changing[0].grid.boundary):
        raise ValueError("remesh must be given with its inflow, because the grid has inflow ends")
    return RemeshOp(list(fields.values()))
