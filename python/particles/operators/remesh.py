# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing: moved particles are put back on the points of their grid."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from particles import _core, kernels
from particles.arrays.overlap import overlap
from particles.base.checks import arithmetic, as_flag, is_one_of, shown
from particles.base.guards import OnDevice
from particles.base.kinds import is_a
from particles.communication.ranks import bound
from particles.fields.alike import as_fields, check_alike
from particles.fields.field import Field
from particles.operators.finiteness import Watch
from particles.operators.form import Form, as_form
from particles.operators.inflow import Inflow, as_inflows
from particles.operators.positions import Positions
from particles.runtime.crew import made

__all__ = ["RemeshOp"]

LIMITERS = ("positive", "monotone")


class RemeshOp(OnDevice):
    """Remesh moved particles: put the masses or values that they carry back on the grid.

    Masses are distributed over the grid points around the places where particles go: along one
    axis, ``u_g = sum over p of u_p W((x_g - x_p) / h)``, with W a `kernels` kernel, which solves
    ``du/dt + div(a u) = 0``. With ``conservative=False`` particles carry values,
    ``du/dt + a grad u = 0``: a point receives the value that the kernel interpolates at the
    departure point X of the particle that arrives there,
    ``u_g = sum over points i of u_i W((X - x_i) / h)``. A constant then keeps every bit, whatever
    the velocity. The fields are remeshed in groups of up to four components of one layout, with
    weights computed once per group.

    Kernels above first order overshoot and undershoot where a field jumps. A limiter keeps
    results within bounds. For masses it remeshes with the linear kernel, which is positive, and
    then adds as much of the fluxes of `kernel` between neighbouring points as the bounds allow.
    It conserves mass. For values it cuts off what is beyond the bounds.

    - ``"positive"``, for concentrations and densities: the bound is 0. A field that is nowhere
      negative stays so. Wherever it would not fall below 0, the result is that of the kernel,
      with the kernel's order. Where masses are negative, only the linear kernel is used. Where
      values are negative, the bound is the lesser of the two points on either side of X.
    - ``"monotone"``, for colours and where overshoots do more harm than clipped extrema: bounds are
      the least and the greatest of what the linear kernel gives a point and its neighbours, or of
      the values of the two points on either side of X. Smooth fields are left with an order of
      about 1 to 1.8.

    Parameters
    ----------
    fields : Field or sequence of Field
        The fields to carry, on one grid; changed in place. No two may share memory.
    kernel : str or RemeshingKernel
        ``"M'4"``, ``"M'6"``, ``"L6_4"``, ...: see `kernels.get`.
    limiter : "positive" or "monotone", optional
        Bounds of the fields, as above; by default there are none.
    conservative : bool
        Whether particles carry masses, the default, or values.
    inflow : float, callable, array_like, sequence or dict, optional
        What flows in where the grid's `boundary` is ``"inflow"``: a number; a function of the
        time ``t``, which is called once, with a symbol, like the formula of a `Velocity`, but
        takes no numbers besides (:doc:`/howto/formulas`); or a sequence of these, one for each component of the fields. A dict has one of these for each such
        side, ``(axis, "low")`` or ``(axis, "high")``.
    form : Form or str, optional
        The layout of lines on the device, or the name of its kind. By default it suits the
        device; a `Splitting` uses the one that was measured to be fastest, unless
        ``PARTICLES_TUNE`` is ``off``. Axes that are not periodic cannot be ``"global"``,
        nor can masses with a limiter.

    Attributes
    ----------
    fields : tuple of Field
        As above.
    kernel : RemeshingKernel
        As above.
    limiter : str or None
        As above.
    conservative : bool
        As above.
    inflow, form : Inflow, Form
        As above.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid(6)
    >>> u = pt.Field(grid)
    >>> u[2] = 1
    >>> advection = pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0))
    >>> pt.RemeshOp(u, kernel="M'4").apply(advection.apply(dt=1.5 / 6, axis=0))
    >>> np.asarray(u)
    array([ 0.    ,  0.    , -0.0625,  0.5625,  0.5625, -0.0625], dtype=float32)
    """

    def __init__(
        self,
        fields: Field | Sequence[Field],
        kernel: str | kernels.RemeshingKernel = "M'6",
        *,
        limiter: str | None = None,
        conservative: bool = True,
        inflow: Inflow | None = None,
        form: Form | str | None = None,
    ) -> None:
        if limiter is not None and not is_one_of(limiter, LIMITERS):
            raise ValueError(
                f"limiter must be one of {', '.join(LIMITERS)} or None, not {shown(limiter)}"
            )
        self.fields = as_fields(fields)
        self.kernel = kernels.get(kernel)
        self.limiter = limiter
        self.conservative = as_flag("conservative", conservative)
        self.form = as_form("form", form)
        self.grid = self.fields[0].grid
        self.inflow = inflow
        self.inflows = as_inflows(
            inflow,
            self.grid,
            sum(f.components for f in self.fields),
            arithmetic(self.fields[0].dtype),
        )
        self.core = self.core_in([self.form] * self.grid.ndim)
        self._carries_colours = False  # as found before first steps
        self._watch: Watch | None = None

    def core_in(self, forms: Sequence[Form]) -> _core.RemeshOp:
        """Return the compiled operator that works in a form along each axis.

        :meta private:
        """
        return made(
            _core.RemeshOp,
            [field.core for field in self.fields],
            kernels.opencl_source(self.kernel),
            self.kernel.stencil,
            [form.core for form in forms],
            self.limiter,
            self.conservative,
            self.inflows.sources,
        )

    def apply(self, positions: Positions) -> None:
        """Remesh the fields from particles that have moved to `positions` or come from there.

        Parameters
        ----------
        positions : Positions
            What an `AdvectionOp` gives, or any displacements of the same grid and device; of the
            fields' dtype, or float32 where that is float16. Masses go there; values come from
            there, so that their positions are `Positions.back`. Beyond the ends of an axis
            particles move as the last one does, or its image.

        Examples
        --------
        >>> import particles as pt
        >>> u, moved = pt.Field(pt.Grid(4)), pt.Field(pt.Grid(4))
        >>> u[0] = 1
        >>> moved.fill(2.5)  # cells
        >>> pt.RemeshOp(u, kernel="L1").apply(pt.Positions(moved, axis=0))
        >>> u.get()
        array([0. , 0. , 0.5, 0.5], dtype=float32)
        >>> came = pt.Positions(moved, axis=0, back=True)
        >>> pt.RemeshOp(u, kernel="L1", conservative=False).apply(came)
        >>> u.get()
        array([0.5 , 0.25, 0.  , 0.25], dtype=float32)
        """
        if self.inflows.depends_on_time:
            raise ValueError(
                "inflow must be numbers for RemeshOp.apply, not functions of the time: Positions have none"
            )
        if not is_a(positions, Positions):
            raise TypeError(f"positions must be Positions, not {shown(positions)}")
        if positions.back is self.conservative:
            expected, carried = ("False", "masses") if self.conservative else ("True", "values")
            raise ValueError(
                f"positions must have back={expected} where particles carry {carried}, "
                f"not back={positions.back}"
            )
        moved = positions.displacement
        real = arithmetic(self.fields[0].dtype)
        advice = f": an AdvectionOp of a formula takes dtype={real.name!r}"
        check_alike("positions", moved, self.fields[0], real, advice)
        if any(overlap(moved.core, field.core) for field in self.fields):
            raise ValueError("positions must have memory of their own, not that of a field")
        greatest = moved.core.max_abs()
        ranks = self.grid.ranks
        if ranks is not None:
            carried = ", ".join(f"{field.components} of {field.dtype}" for field in self.fields)
            what = (
                f"{carried} remeshed along axis {positions.axis} by {self.kernel.name}, "
                f"limiter={self.limiter}, conservative={self.conservative}, "
                f"inflow={self.inflows.sources}"
            )
            greatest = float(ranks.greatest(what, np.array([greatest]))[0])
        if not math.isfinite(greatest) or greatest >= 2**30:
            raise ValueError(
                f"positions must be finite and within 2**30 cells, not {greatest} cells away"
            )
        if self._watch is None:
            self._watch = Watch(self.fields)
        self._watch.look_when_read_after("RemeshOp.apply")
        with bound(ranks, BaseException):
            self.core.apply(positions.axis, moved.core, greatest)

    def __repr__(self) -> str:
        fields = ", ".join(repr(field) for field in self.fields)
        limiter = "" if self.limiter is None else f", limiter={self.limiter!r}"
        carried = "" if self.conservative else ", conservative=False"
        inflow = f", inflow={shown(self.inflow)}" if self.inflows.formulas else ""
        return f"RemeshOp([{fields}], kernel={self.kernel.name!r}{limiter}{carried}{inflow})"
