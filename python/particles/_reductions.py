# SPDX-License-Identifier: BSD-3-Clause
"""Numbers made of all values of a field, on its device."""

from __future__ import annotations

import math

import numpy as np

from particles import _core
from particles._check import as_bound, shown
from particles._kinds import is_a
from particles._seen import Seen


class Reductions(Seen):
    """The reductions of a field; each waits for the device.

    `sum`, `min` and `max` know NumPy's arguments by name, so that ``np.sum(field)`` ends here.
    """

    core: _core.Field

    def sum(
        self, axis: None = None, dtype: None = None, out: None = None, **others: object
    ) -> float:
        """Return the sum, rounded about once whatever the number of values.

        Parameters
        ----------
        axis, dtype, out : None
            For ``np.sum(field)``; nothing can be chosen.
        **others
            Likewise.

        Returns
        -------
        float

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(10))
        >>> phi[...] = range(10)
        >>> phi.sum()
        45.0
        """
        _refuse_choices("sum", axis=axis, dtype=dtype, out=out, **others)
        return self._placed(self.core.sum())

    def min(self, axis: None = None, out: None = None, **others: object) -> float:
        """Return the least value, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out : None
            For ``np.min(field)``; nothing can be chosen.
        **others
            Likewise.

        Returns
        -------
        float

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi[...] = [2, -1, 0]
        >>> phi.min()
        -1.0
        """
        _refuse_choices("min", axis=axis, out=out, **others)
        self._be_seen()  # it would not tell of +inf
        return self.core.min()

    def max(self, axis: None = None, out: None = None, **others: object) -> float:
        """Return the largest value, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out : None
            For ``np.max(field)``; nothing can be chosen.
        **others
            Likewise.

        Returns
        -------
        float

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi[...] = [2, -1, 0]
        >>> phi.max()
        2.0
        """
        _refuse_choices("max", axis=axis, out=out, **others)
        self._be_seen()  # it would not tell of -inf
        return self.core.max()

    def norm(self, ord: float = 2) -> float:
        """Return a norm of all values taken as one vector.

        Parameters
        ----------
        ord : {1, 2, inf}
            Sum of magnitudes, root of the sum of squares, or largest magnitude.

        Returns
        -------
        float

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(2))
        >>> phi[...] = [3, -4]
        >>> phi.norm(), phi.norm(1), phi.norm(float("inf"))
        (5.0, 7.0, 4.0)
        """
        if is_a(ord, bool) or not is_a(ord, int | float | np.integer | np.floating):
            raise TypeError(f"ord must be 1, 2 or inf, not {shown(ord)}")
        if ord == 2:
            return self._placed(math.sqrt(self.core.sum_squares()))
        if ord == 1:
            return self._placed(self.core.sum_abs())
        if ord == math.inf:
            return self._placed(self.core.max_abs())
        raise ValueError(f"ord must be 1, 2 or inf, not {shown(ord)}")

    def count(self, lower: float | None = None, upper: float | None = None) -> int:
        """Return how many values lie strictly between two bounds; NaN never does.

        Parameters
        ----------
        lower, upper : float, optional
            One of them may be left out.

        Returns
        -------
        int

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(4))
        >>> phi[...] = [0, 0.5, 1, 2]
        >>> phi.count(lower=0.5), phi.count(lower=0, upper=2)
        (2, 2)
        """
        if lower is None and upper is None:
            raise TypeError("count needs lower, upper or both")
        bounds = as_bound("lower", lower), as_bound("upper", upper)
        self._be_seen()
        return self.core.count_between(*bounds)

    def _placed(self, result: float) -> float:
        """Return what is not finite if any value is not; then have the reader told where."""
        if not math.isfinite(result):
            self._be_seen()
        return result


def _refuse_choices(reduction: str, **choices: object) -> None:
    for name, choice in choices.items():
        if choice is not None:
            raise TypeError(
                f"{name} cannot be chosen, a Field is reduced as a whole: "
                f"use np.{reduction}(np.asarray(field), {name}={shown(choice)})"
            )
