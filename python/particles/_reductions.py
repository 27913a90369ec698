# SPDX-License-Identifier: BSD-3-Clause
"""Numbers made of all values of a field, on its device."""

from __future__ import annotations

import math

import numpy as np

from particles import _core
from particles._check import as_bound


class Reductions:
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
        axis, dtype, out, **others
            For ``np.sum(field)``; nothing can be chosen.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(10))
        >>> phi[...] = range(10)
        >>> phi.sum()
        45.0
        """
        _refuse_choices("sum", axis=axis, dtype=dtype, out=out, **others)
        return self.core.sum()

    def min(self, axis: None = None, out: None = None, **others: object) -> float:
        """Return the least value, or NaN if there is a NaN; its arguments are as for `sum`."""
        _refuse_choices("min", axis=axis, out=out, **others)
        return self.core.min()

    def max(self, axis: None = None, out: None = None, **others: object) -> float:
        """Return the largest value, or NaN if there is a NaN; its arguments are as for `sum`."""
        _refuse_choices("max", axis=axis, out=out, **others)
        return self.core.max()

    def norm(self, ord: float = 2) -> float:
        """Return a norm of all values taken as one vector.

        Parameters
        ----------
        ord : {1, 2, inf}
            Sum of magnitudes, root of the sum of squares, or largest magnitude.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(2))
        >>> phi[...] = [3, -4]
        >>> phi.norm(), phi.norm(1), phi.norm(float("inf"))
        (5.0, 7.0, 4.0)
        """
        if not isinstance(ord, int | float | np.number):
            raise TypeError(f"ord must be 1, 2 or inf, not {ord!r}")
        if ord == 2:
            return math.sqrt(self.core.sum_squares())
        if ord == 1:
            return self.core.sum_abs()
        if ord == math.inf:
            return self.core.max_abs()
        raise ValueError(f"ord must be 1, 2 or inf, not {ord!r}")

    def count(self, lower: float | None = None, upper: float | None = None) -> int:
        """Return how many values lie strictly between two bounds; NaN never does.

        Parameters
        ----------
        lower, upper : float, optional
            One of them may be left out.

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
        return self.core.count_between(as_bound("lower", lower), as_bound("upper", upper))


def _refuse_choices(reduction: str, **choices: object) -> None:
    for name, choice in choices.items():
        if choice is not None:
            raise TypeError(
                f"{name} cannot be chosen, a Field is reduced as a whole: "
                f"use np.{reduction}(np.asarray(field), {name}={choice!r})"
            )
