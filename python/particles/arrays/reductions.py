# SPDX-License-Identifier: BSD-3-Clause
"""Numbers made of all numbers of an array, on its device."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.transfers import Transfers, refuse_choices
from particles.base.checks import (
    arithmetic,
    as_bound,
    as_flag,
    as_index,
    as_real,
    numeric,
    shown,
)
from particles.base.kinds import is_a

Axis: TypeAlias = int | None
_Columns: TypeAlias = Sequence[int | None]
_REAL = np.dtype(np.float64)


class _Numbers(Protocol):
    """What makes one number of many; the core's arrays do."""

    def sum(self) -> float: ...
    def sum_abs(self) -> float: ...
    def sum_squared_deviations(self, centre: float) -> float: ...


class OnHost:
    """Numbers on the host: integers, reals whose squares are none of their dtype, and what it computes."""

    def __init__(self, values: npt.NDArray[np.float64]) -> None:
        self._values = values

    def sum(self) -> float:
        """Return the sum."""
        return float(self._values.sum())

    def sum_abs(self) -> float:
        """Return the sum of magnitudes."""
        return float(np.abs(self._values).sum())

    def sum_squared_deviations(self, centre: float) -> float:
        """Return the sum of squares of what they differ by from a number."""
        return float(np.square(self._values - centre).sum())

    def min(self) -> Any:  # noqa: ANN401
        """Return the least, or NaN."""
        return self._values.min(axis=None).tolist()

    def max(self) -> Any:  # noqa: ANN401
        """Return the largest, or NaN."""
        return self._values.max(axis=None).tolist()

    def max_abs(self) -> float:
        """Return the largest magnitude."""
        return float(np.abs(self._values).max())

    def count_between(self, lower: float, upper: float) -> int:
        """Return how many lie between two bounds, of which NaN is none."""
        outside = (self._values <= lower) | (self._values >= upper) | np.isnan(self._values)
        return int(np.count_nonzero(~outside))


def _integers_between(values: npt.NDArray[Any], lower: float, upper: float) -> int:
    """Return how many integers lie strictly between two bounds, of which NaN is none."""
    limits = np.iinfo(values.dtype)
    if lower >= limits.max or upper <= limits.min:
        return 0
    least = math.floor(lower) + 1 if lower >= limits.min else limits.min
    greatest = math.ceil(upper) - 1 if upper <= limits.max else limits.max
    number = values.dtype.type
    return int(np.count_nonzero((values >= number(least)) & (values <= number(greatest))))


def factor_for_squares(largest: float, dtype: np.dtype[Any]) -> float:
    """Return by what numbers are multiplied so that squares are neither infinite nor none.

    1 where they are not anyway.
    """
    most = int(np.finfo(arithmetic(dtype)).maxexp)
    _, exponent = math.frexp(largest)
    if not math.isfinite(largest) or abs(exponent) <= most // 4:
        return 1.0
    return 2.0 ** -min(max(exponent, 32 - most), most - 32)


def as_order(value: object) -> float:
    """Return which norm is meant."""
    if is_a(value, bool) or not is_a(value, int | float | np.integer | np.floating):
        raise TypeError(f"ord must be 1, 2 or inf, not {shown(value)}")
    for order in (1.0, 2.0, math.inf):
        if value == order:
            return order
    raise ValueError(f"ord must be 1, 2 or inf, not {shown(value)}")


class ArrayReductions(Transfers):
    """The reductions of an array; each waits for the device.

    They know NumPy's arguments by name, so that ``np.sum(array)`` ends here. Where an array is an
    attribute of a set on several ranks, all ranks must call them, and all get the same.
    """

    core: _core.Array
    shape: tuple[int, ...]
    name: str | None

    def sum(
        self,
        axis: Axis = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> Any:  # noqa: ANN401
        """Return the sum of all numbers.

        Parameters
        ----------
        axis : {None, 0}
            With 0 each component has a sum of its own.
        dtype, out : None
            For ``np.sum(array)``; nothing can be chosen.
        keepdims : bool
            Return an array whose reduced axes have length one.

        Returns
        -------
        float, int or numpy.ndarray
            For real numbers rounded about once, however many there are. For integers the sum
            modulo 2^64, as in NumPy. An array where there are components and `axis` is 0.

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(3, "uint8")
        >>> a[...] = 200
        >>> a.sum()
        600
        >>> v = pt.Array((2, 2))
        >>> v[...] = [[1, 2], [3, 4]]
        >>> v.sum(), v.sum(axis=0)
        (10.0, array([4., 6.]))
        """
        refuse_choices("array", "sum", dtype=dtype, out=out)
        columns, is_kept = self._columns("sum", axis), as_flag("keepdims", keepdims)
        wide = np.dtype("i8" if self.dtype.kind == "b" else f"{self.dtype.kind}8")
        sums = [self._total("sum", self._core(column).sum(), self.dtype) for column in columns]
        return self._as_one(sums, columns, wide, is_kept)

    def mean(
        self,
        axis: Axis = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
    ) -> Any:  # noqa: ANN401
        """Return the mean of all numbers; the host computes that of integers.

        Parameters
        ----------
        axis, dtype, out, keepdims
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> v = pt.Array((2, 2))
        >>> v[...] = [[1, 2], [3, 4]]
        >>> v.mean(), v.mean(axis=0)
        (2.5, array([2., 3.]))
        """
        refuse_choices("array", "mean", dtype=dtype, out=out)
        columns, is_kept = self._columns("mean", axis), as_flag("keepdims", keepdims)
        count = self._count("mean", columns)
        sums = [self._total("sum", self._numbers(column).sum(), _REAL) for column in columns]
        return self._as_one([one / count for one in sums], columns, _REAL, is_kept)

    def var(
        self,
        axis: Axis = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:  # noqa: ANN401
        """Return the variance: the mean square of what remains when the mean is subtracted.

        The host computes that of integers, and of numbers whose squares leave the range of the dtype.

        Parameters
        ----------
        axis, dtype, out
            As for `sum`.
        ddof : float
            The squares are divided by the number of values less this.
        keepdims : bool
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(4)
        >>> a[...] = [1, 3, 1, 3]
        >>> a.var(), round(a.var(ddof=1), 3)
        (1.0, 1.333)
        """
        refuse_choices("array", "var", dtype=dtype, out=out)
        return self._variance("var", axis, ddof, keepdims, is_root=False)

    def std(
        self,
        axis: Axis = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:  # noqa: ANN401
        """Return the standard deviation, the root of the variance; where, `var` says.

        Parameters
        ----------
        axis, dtype, out, ddof, keepdims
            As for `var`.

        Returns
        -------
        float or numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> v = pt.Array((2, 2))
        >>> v[...] = [[1, 2], [3, 6]]
        >>> v.std(axis=0)
        array([1., 2.])
        """
        refuse_choices("array", "std", dtype=dtype, out=out)
        return self._variance("std", axis, ddof, keepdims, is_root=True)

    def min(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> Any:  # noqa: ANN401
        """Return the least number, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out, keepdims
            As for `sum`.

        Returns
        -------
        float, int or numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(3, "int32")
        >>> a[1] = -4
        >>> a.min()
        -4
        """
        refuse_choices("array", "min", out=out)
        return self._extremes("min", axis, keepdims)

    def max(self, axis: Axis = None, out: None = None, keepdims: bool = False) -> Any:  # noqa: ANN401
        """Return the largest number, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out, keepdims
            As for `sum`.

        Returns
        -------
        float, int or numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> v = pt.Array((2, 2))
        >>> v[1] = 4, -1
        >>> v.max(), v.max(axis=0)
        (4.0, array([4., 0.], dtype=float32))
        """
        refuse_choices("array", "max", out=out)
        return self._extremes("max", axis, keepdims)

    def norm(self, ord: float = 2) -> float:
        """Return a norm of all numbers taken as one vector; the host computes that of integers.

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
        >>> a = pt.Array(2)
        >>> a[...] = [3, -4]
        >>> a.norm(), a.norm(1), a.norm(float("inf"))
        (5.0, 7.0, 4.0)
        """
        kind = as_order(ord)
        (whole,) = self._columns("norm", None)
        if kind == math.inf:
            return self._largest(whole)
        if kind == 1:
            return self._total("norm 1", self._numbers(whole).sum_abs(), _REAL)

        def squares(numbers: _Numbers) -> float:
            return self._total("norm 2", numbers.sum_squared_deviations(0.0), _REAL)

        count = self.components * int(self._total("rows", self.shape[0], np.dtype(np.int64)))
        return self._of_squares(whole, squares, count, is_root=True)

    def count(self, lower: float | None = None, upper: float | None = None) -> int:
        """Return how many numbers lie strictly between two bounds; NaN never does.

        The host counts integers.

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
        >>> a = pt.Array(4)
        >>> a[...] = [0, 0.5, 1, 2]
        >>> a.count(lower=0.5), a.count(lower=0, upper=2)
        (2, 2)
        """
        if lower is None and upper is None:
            raise TypeError("count needs lower, upper or both")
        bounds = as_bound("lower", lower), as_bound("upper", upper)
        self._be_seen()
        if self.dtype.kind == "f":
            own = self._core(None).count_between(*bounds)
        else:
            own = _integers_between(self.get().astype(numeric(self.dtype)), *bounds)
        return int(self._total(f"count between {bounds}", own, np.dtype(np.int64)))

    def _columns(self, reduction: str, axis: Axis) -> _Columns:
        """Return which components are reduced, each for itself, or None for all together."""
        if axis is not None and as_index("axis", axis, len(self.shape)):
            raise TypeError(
                f"axis must be None or 0, not {shown(axis)}: use "
                f"np.{reduction}(np.asarray(array), axis={shown(axis)})"
            )
        self._be_seen()
        return [None] if axis is None or self.components == 1 else range(self.components)

    def _core(self, column: int | None) -> Any:  # noqa: ANN401  an array of the core, or of several
        return self.core if column is None else self.core.component(column)

    def _numbers(self, column: int | None, factor: float = 1.0) -> _Numbers:
        """Return a column's numbers; the host has integers, and what a factor has changed."""
        if self.dtype.kind == "f" and factor == 1:
            numbers: _Numbers = self._core(column)
            return numbers
        values = self.get() if column is None else self[:, column]
        return OnHost(values.astype(np.float64) * factor)

    def _count(self, reduction: str, columns: _Columns) -> int:
        """Return how many numbers become one, which is one at least."""
        count = int(self._total("rows", self.shape[0], np.dtype(np.int64)))
        if not count:
            raise self._has_none(reduction)
        return count * (self.components if columns == [None] else 1)

    def _as_one(
        self,
        numbers: Sequence[float],
        columns: _Columns,
        dtype: np.dtype[Any],
        is_kept: bool,
    ) -> Any:  # noqa: ANN401
        if is_kept:
            return np.array(numbers, dtype).reshape([1, len(columns)][: len(self.shape)])
        return numbers[0] if columns == [None] else np.array(numbers, dtype)

    def _extremes(self, name: str, axis: Axis, keepdims: bool) -> Any:  # noqa: ANN401
        columns, is_kept = self._columns(name, axis), as_flag("keepdims", keepdims)
        own = [getattr(self._core(column), name)() for column in columns] if self.shape[0] else None
        found = self._extremes_of_all(name, own, self.dtype)
        if found is None:
            raise self._has_none(name)
        return self._as_one(found, columns, self.dtype, is_kept)

    def _largest(self, column: int | None) -> float:
        """Return a column's largest magnitude, or 0 where there is no number."""
        own = None
        if self.shape[0] and self.dtype.kind == "f":
            own = [self._core(column).max_abs()]
        elif self.shape[0]:
            own = [float(np.abs(self.get().astype(np.float64)).max())]
        found = self._extremes_of_all("max of magnitudes", own, _REAL)
        return float(found[0]) if found else 0.0

    def _variance(
        self, name: str, axis: Axis, ddof: float, keepdims: bool, *, is_root: bool
    ) -> Any:  # noqa: ANN401
        taken = as_real("ddof", ddof)
        columns, is_kept = self._columns(name, axis), as_flag("keepdims", keepdims)
        count = self._count(name, columns)
        if taken >= count:
            raise ValueError(
                f"ddof must be less than the number of values, {count}, not {shown(ddof)}"
            )
        real = arithmetic(self.dtype) if self.dtype.kind == "f" else _REAL

        def squares(numbers: _Numbers) -> float:
            mean = self._total("sum", numbers.sum(), _REAL) / count
            centre = float(np.asarray(mean, real))
            own = numbers.sum_squared_deviations(centre)
            found = self._total("squares", own, _REAL) - count * (mean - centre) ** 2
            return float(np.maximum(found, 0.0)) / (count - taken)

        found = [self._of_squares(column, squares, 1, is_root=is_root) for column in columns]
        return self._as_one(found, columns, _REAL, is_kept)

    def _of_squares(
        self,
        column: int | None,
        squares: Callable[[_Numbers], float],
        count: int,
        *,
        is_root: bool,
    ) -> float:
        """Return what is made of so many squares of a column, or its root.

        Of numbers on the host, scaled, where squares or sums leave the range of the dtype.
        """
        found, factor = squares(self._numbers(column)), 1.0
        if self.dtype.kind == "f":
            real = np.finfo(arithmetic(self.dtype))
            if not count * float(real.tiny / real.eps) < found < math.inf:
                factor = factor_for_squares(self._largest(column), self.dtype)
            if factor != 1:
                found = squares(self._numbers(column, factor))
        return math.sqrt(found) / factor if is_root else found / factor / factor

    def _total(self, what: str, own: float, dtype: np.dtype[Any]) -> float:
        """Return the sum of what this process has and of what others have, if there are any."""
        return own

    def _extremes_of_all(
        self, what: str, own: list[float] | None, dtype: np.dtype[Any]
    ) -> list[float] | None:
        """Return the least or greatest of what this process has and others have."""
        return own

    def _has_none(self, reduction: str) -> ValueError:
        return ValueError(
            f"{reduction} needs one number at least, and {self.name or 'the Array'} has none"
        )
