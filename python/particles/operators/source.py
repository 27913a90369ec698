# SPDX-License-Identifier: BSD-3-Clause
"""Sources, which change carried fields at each point."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.overlap import overlap
from particles.base.checks import arithmetic, as_duration, as_real
from particles.base.guards import OnDevice
from particles.fields.alike import as_fields, as_several, check_alike
from particles.fields.field import Field
from particles.fields.grid import check_resolution
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import Expression, check_numbers, reads, variable
from particles.formulas.opencl import opencl_rates
from particles.formulas.parameters import Parameters
from particles.formulas.printing import readable
from particles.formulas.tracing import COORDINATES, Formula, Signature, places, traced
from particles.operators.finiteness import Watch
from particles.operators.time_resolution import check_resolved
from particles.runtime.crew import made

__all__ = ["SourceOp", "SourceWarning"]

_Values = list["npt.NDArray[np.float64]"]

ELSEWHERE = 0.1  # of the greatest magnitude: so far two half steps lead from one, which is told
RESOLVED = 1e-3  # of it, where a step is short enough
_SAMPLED = {1: 4096, 2: 64, 3: 16}  # points along each axis that are looked at


class SourceWarning(UserWarning):
    """A step is too long for a source: two half steps lead somewhere else.

    `run` looks at this before its first step, at some of the points. At its end it names a step to take.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("error", pt.SourceWarning)
    >>> u = pt.Field(pt.Grid(8))
    >>> u.fill(1)
    >>> decay = pt.SourceOp(u, lambda u: -10 * u)
    >>> pt.Splitting(source=decay).run(until=1.0, dt=0.25)
    Traceback (most recent call last):
    ...
    particles.SourceWarning: steps of 0.25 are too long for the source: two half steps ...
    """

    __module__ = "particles"


class SourceOp(OnDevice):
    """Change fields at every point by ``du/dt = rate``, with the Runge-Kutta scheme of order 4.

    In a `Splitting` this is one more direction of the splitting: particles change while they are on
    the points of the grid.

    Parameters
    ----------
    fields : Field or sequence of Field
        The fields that change, on one grid; in a `Splitting`, some of the carried fields.
    rate : callable or sequence of str
        A function of the components of `fields`, then of those of `given`, by any names, and of any
        of ``x``, ``y``, ``z`` and the time ``t``, by these names (:doc:`/howto/formulas`). It
        returns one rate for each component of `fields`. It is called once, with symbols, like the
        formula of a `Velocity`. Or one expression of OpenCL C per component, in ``u0``, ``u1``, ...
        (``u`` for a single component), ``g0``, ... (``g``) for `given`, ``x``, ``y``, ``z`` and
        ``t``. Coordinates and time are rounded as for a `Velocity`.
    given : Field or sequence of Field
        Other fields in the rate, such as gradients of the velocity; they may be carried fields.
    **parameters : float
        Further numbers in the rate, as for a `Velocity`: ``source.parameters["k"] = 3.0``.

    Attributes
    ----------
    fields, given : tuple of Field
        As above.
    grid : Grid
        That of the fields.
    text : str
        The rates in OpenCL C.
    depends_on_time : bool
        Whether the rates depend on the time.
    parameters : mapping of str to float
        The present numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid(4)
    >>> u, heat = pt.Field(grid, dtype="float64"), pt.Field(grid, dtype="float64")
    >>> u[...], heat[...] = 1, [0, 1, 2, 3]
    >>> source = pt.SourceOp(u, lambda u, g, x: -g * u, given=heat)
    >>> source
    SourceOp(u: -g * u)
    >>> source.apply(0.1)
    >>> np.allclose(u, np.exp(-0.1 * np.arange(4)), atol=3e-5)
    True
    """

    def __init__(
        self,
        fields: Field | Sequence[Field],
        rate: Formula,
        given: Field | Sequence[Field] = (),
        **parameters: float,
    ) -> None:
        self.fields = as_fields(fields)
        self.given = _as_given(given, self.fields)
        self.grid = self.fields[0].grid
        changed = _names("u", self.fields)
        known = _names("g", self.given)
        named = places(self.grid.ndim, variable("t"))
        self.parameters = Parameters("source", parameters, (*changed, *known, *named))
        signature = Signature(
            "source",
            "rate",
            "values and coordinates",
            (*changed, *known),
            named,
            changed,
            f"for {len(changed)} components of the fields and {len(known)} given ones "
            f"on a grid of {self.grid.ndim} dimensions",
            tuple(self.parameters),
            [field.name for field in (*self.fields, *self.given) for _ in range(field.components)],
        )
        self._rates = traced(rate, signature)
        check_numbers("rate", self._rates, arithmetic(self.fields[0].dtype))
        self.parameters.serve(arithmetic(self.fields[0].dtype))
        self.depends_on_time = reads(self._rates, "t")
        if reads(self._rates, *COORDINATES):
            check_resolution(self.grid, arithmetic(self.fields[0].dtype))
        self._changed = changed
        self.text = opencl_rates(self._rates, (*changed, *known), tuple(self.parameters))
        self.core = made(
            _core.SourceOp,
            [field.core for field in self.fields],
            [field.core for field in self.given],
            self.text,
            self.parameters.core,
        )
        self._watch: Watch | None = None

    def apply(self, dt: float, *, time: float = 0.0) -> None:
        """Apply the source over the duration `dt` without transport; does not wait for the device.

        Parameters
        ----------
        dt : float
            Duration.
        time : float
            When it begins, for a rate that depends on time.

        Examples
        --------
        >>> import particles as pt
        >>> u = pt.Field(pt.Grid(2))
        >>> heating = pt.SourceOp(u, lambda u, x, t: 2 * t)
        >>> heating.apply(1.0, time=1.0)
        >>> u.get()
        array([3., 3.], dtype=float32)
        """
        duration, begin = as_duration("dt", dt), as_real("time", time)
        if self.depends_on_time:
            check_resolved(arithmetic(self.fields[0].dtype), begin, duration)
        if self._watch is None:
            self._watch = Watch(self.fields)
        self._watch.look_when_read_after("SourceOp.apply")
        self.core.apply(begin, duration)

    def _advice(self, begin: float, dt: float) -> SourceWarning | None:
        """Return what to warn of if two half steps lead elsewhere than one, as it is too long."""
        values, known = self._sampled()
        error = self._error_of_step(values, known, begin, dt)
        if not error > ELSEWHERE:
            return None
        enough = dt
        while error > RESOLVED and enough > dt / 4096:
            enough /= 2
            error = self._error_of_step(values, known, begin, enough)
        if not error <= RESOLVED:  # no step is short enough: it is not the step's fault
            return None
        return SourceWarning(
            f"steps of {dt:.3g} are too long for the source: two half steps lead to other values; "
            f"take dt of about {enough:.1g}"
        )

    def _sampled(self) -> tuple[_Values, dict[str, npt.NDArray[np.float64]]]:
        """Return at some points what changes, and by name what else the rates may read."""
        grid = self.grid
        some = tuple(np.s_[:: -(-n // _SAMPLED[grid.ndim])] for n in grid.shape)
        values, given = (
            [np.asarray(one.component(k)[some], float) for one in of for k in range(one.components)]
            for of in (self.fields, self.given)
        )
        known = dict(zip(_names("g", self.given), given, strict=True))
        for name, along in zip(COORDINATES, grid.coordinates(), strict=False):
            known[name] = along[
                tuple(s if n > 1 else np.s_[:] for s, n in zip(some, along.shape, strict=True))
            ]
        return values, known | {
            name: np.float64(number) for name, number in self.parameters.items()
        }

    def _error_of_step(
        self, values: _Values, known: dict[str, npt.NDArray[np.float64]], begin: float, dt: float
    ) -> float:
        """Return how far a step leads from two half ones, of the greatest magnitude of a component."""

        def rates(at: _Values, time: float) -> _Values:
            now = dict(zip(self._changed, at, strict=True))
            return evaluate(self._rates, known | now | {"t": np.float64(time)})

        def stepped(at: _Values, time: float, duration: float) -> _Values:
            def ahead(share: float, slopes: _Values) -> _Values:
                return [u + share * duration * k for u, k in zip(at, slopes, strict=True)]

            first = rates(at, time)
            second = rates(ahead(0.5, first), time + duration / 2)
            third = rates(ahead(0.5, second), time + duration / 2)
            last = rates(ahead(1, third), time + duration)
            slopes = [
                (a + 2 * b + 2 * c + d) / 6
                for a, b, c, d in zip(first, second, third, last, strict=True)
            ]
            return ahead(1, slopes)

        with np.errstate(all="ignore"):
            one = stepped(values, begin, dt)
            two = stepped(stepped(values, begin, dt / 2), begin + dt / 2, dt / 2)
            errors = [
                float(np.max(np.abs(a - b)) / max(np.max(np.abs(u)), np.max(np.abs(b)), 1e-300))
                for u, a, b in zip(values, one, two, strict=True)
                if np.all(np.isfinite(u))
            ]
        return max((math.inf if math.isnan(error) else error for error in errors), default=0.0)

    @property
    def rates(self) -> tuple[Expression, ...]:
        """One expression for each component of the fields.

        :meta private:
        """
        return self._rates

    def readable_rates(self) -> str:
        """Return the rate of each component, and the numbers in them, for messages.

        :meta private:
        """
        rates = zip(self._changed, self._rates, strict=True)
        formulas = ", ".join(f"{name}: {readable(rate)}" for name, rate in rates)
        return formulas + "".join(f", {own}={value:g}" for own, value in self.parameters.items())

    def __repr__(self) -> str:
        return f"SourceOp({self.readable_rates()})"


def _as_given(given: object, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    every = as_several("given", given)
    for field in every:
        check_alike("given", field, fields[0], fields[0].dtype)
        if any(overlap(field.core, changed.core) for changed in fields):
            raise ValueError("given must not share memory with the fields that change")
    return every


def _names(letter: str, fields: tuple[Field, ...]) -> tuple[str, ...]:
    """Return names for all components; a single one needs no number."""
    count = sum(field.components for field in fields)
    return (letter,) if count == 1 else tuple(f"{letter}{k}" for k in range(count))
