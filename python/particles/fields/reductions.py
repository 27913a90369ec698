# SPDX-License-Identifier: BSD-3-Clause
"""Numbers made of all values of a field, on its device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.check_on_read import Seen
from particles.arrays.reductions import as_order, factor_for_squares
from particles.arrays.transfers import refuse_choices
from particles.base.checks import arithmetic, as_bound, as_flag, as_index, as_real, listed, shown
from particles.base.kinds import is_a
from particles.fields.grid import Grid
from particles.fields.neighbours import Neighbours
from particles.runtime.device import Device

AxisOrAxes: TypeAlias = int | tuple[int, ...] | None
_Whole: TypeAlias = "Callable[[Reductions, int], float]"  # of a field or one of its components
_Result = TypeVar("_Result")
_Reals: TypeAlias = npt.NDArray[np.float64]
_Digits: TypeAlias = npt.NDArray[np.int64]
# Of a field along some axes: some of all results of a component.
_Along: TypeAlias = Callable[[_core.Field, list[bool], slice, int], _Reals]


class Reductions(Seen):
    """The reductions of a field; each waits for the device.

    They know NumPy's arguments by name, so that ``np.sum(field)`` ends here.
    """

    core: _core.Field
    grid: Grid
    device: Device
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    components: int

    @property
    def name(self) -> str | None:
        """For messages, as `Field` knows it.

        :meta private:
        """
        raise NotImplementedError

    def copy(self) -> Any:  # noqa: ANN401
        """Return the same values in memory of their own, as `Field` does.

        :meta private:
        """
        raise NotImplementedError

    def component(self, index: int) -> Reductions:
        """Return one component, as `Field` does.

        :meta private:
        """
        raise NotImplementedError

    def _in_slabs(self, what: str) -> Reductions:
        """Return the same on slabs of planes, as `Field` does."""
        raise NotImplementedError

    def sum(
        self,
        axis: AxisOrAxes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        **others: object,
    ) -> Any:  # noqa: ANN401  as NumPy's
        """Return the sum, rounded about once whatever the number of values.

        Parameters
        ----------
        axis : int or tuple of int, optional
            Along which axes; all by default. What is left of other axes is that of the rank's own
            block.
        dtype, out : None
            For ``np.sum(field)``; nothing can be chosen.
        keepdims : bool
            Leave these axes, with length 1.
        **others
            As `dtype`.

        Returns
        -------
        float or numpy.ndarray
            A number, or a float64 array on the host if axes are left.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid((2, 3)))
        >>> phi[...] = [[0, 1, 2], [3, 4, 5]]
        >>> phi.sum(), phi.sum(axis=0)
        (15.0, array([3., 5., 7.]))
        """
        refuse_choices("field", "sum", dtype=dtype, out=out, **others)
        return self._sum(axis, keepdims)

    def mean(
        self,
        axis: AxisOrAxes = None,
        dtype: None = None,
        out: None = None,
        keepdims: bool = False,
        **others: object,
    ) -> Any:  # noqa: ANN401
        """Return the mean of the values, rounded about once whatever their number.

        Parameters
        ----------
        axis, dtype, out, keepdims, **others
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray
            As for `sum`.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid((2, 3)))
        >>> phi[...] = [[0, 1, 2], [3, 4, 5]]
        >>> phi.mean(), phi.mean(axis=1, keepdims=True).tolist()
        (2.5, [[1.0], [4.0]])
        """
        refuse_choices("field", "mean", dtype=dtype, out=out, **others)
        return self._sum(axis, keepdims) / self._count(self._axes(axis))

    def var(
        self,
        axis: AxisOrAxes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        **others: object,
    ) -> Any:  # noqa: ANN401
        """Return the variance: the mean square of what remains when the mean is subtracted.

        Parameters
        ----------
        axis, dtype, out
            As for `sum`.
        ddof : float
            The squares are divided by the number of values less this.
        keepdims, **others
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray
            As for `sum`.

        Notes
        -----
        Where squares are no numbers of the dtype, as those of float32 beyond 1e19 and below 1e-16,
        a copy is scaled and read. Lines with such small values beside others are not: theirs count
        as 0.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid((2, 4)))
        >>> phi[...] = [[1, 3, 1, 3], [5, 5, 5, 5]]
        >>> phi.var(), phi.var(axis=1)
        (2.75, array([1., 0.]))
        """
        refuse_choices("field", "var", dtype=dtype, out=out, **others)
        return self._variance(axis, keepdims, ddof, is_root=False)

    def std(
        self,
        axis: AxisOrAxes = None,
        dtype: None = None,
        out: None = None,
        ddof: float = 0,
        keepdims: bool = False,
        **others: object,
    ) -> Any:  # noqa: ANN401
        """Return the standard deviation, the root of the variance.

        Parameters
        ----------
        axis, dtype, out, ddof, keepdims, **others
            As for `var`.

        Returns
        -------
        float or numpy.ndarray
            As for `sum`.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(4))
        >>> phi[...] = [1, 3, 1, 3]
        >>> phi.std()
        1.0
        """
        refuse_choices("field", "std", dtype=dtype, out=out, **others)
        return self._variance(axis, keepdims, ddof, is_root=True)

    def integral(self) -> Any:  # noqa: ANN401
        """Return the integral over the grid: the sum times the volume of a cell.

        Returns
        -------
        float or numpy.ndarray
            An array of one number for each component where there are several.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid((4, 4), extent=(1, 2)))
        >>> phi.fill(3)
        >>> phi.integral()
        6.0
        """
        volume = math.prod(self.grid.spacing)
        if self.components == 1:
            return self.sum() * volume
        return np.array([self.component(k).sum() for k in range(self.components)]) * volume

    def min(
        self, axis: AxisOrAxes = None, out: None = None, keepdims: bool = False, **others: object
    ) -> Any:  # noqa: ANN401
        """Return the least value, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out, keepdims, **others
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray
            As for `sum`, but arrays have the field's dtype.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi[...] = [2, -1, 0]
        >>> phi.min()
        -1.0
        """
        refuse_choices("field", "min", out=out, **others)
        return self._extremum("min", Reductions._least, axis, keepdims)

    def max(
        self, axis: AxisOrAxes = None, out: None = None, keepdims: bool = False, **others: object
    ) -> Any:  # noqa: ANN401
        """Return the largest value, or NaN if there is a NaN.

        Parameters
        ----------
        axis, out, keepdims, **others
            As for `sum`.

        Returns
        -------
        float or numpy.ndarray
            As for `sum`, but arrays have the field's dtype.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid((2, 2)))
        >>> phi[...] = [[2, -1], [0, 4]]
        >>> phi.max(), phi.max(axis=1).tolist()
        (4.0, [2.0, 4.0])
        """
        refuse_choices("field", "max", out=out, **others)
        return self._extremum("max", Reductions._largest, axis, keepdims)

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
        kind = as_order(ord)
        if kind == 2:
            count = self._count(self._axes(None))
            squares = self._of_squares(
                lambda field: field._total("sum_squares"), count, is_root=True
            )
            return self._placed(float(squares))
        if kind == 1:
            return self._placed(self._total("sum_abs"))
        return self._placed(self._greatest("norm", self.core.max_abs()))

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
        count = self.core.count_between(*bounds)
        ranks = self.grid.ranks
        return (
            count
            if ranks is None
            else int(ranks.total(self._told(f"count between {bounds}"), np.array([count]))[0])
        )

    def summary(self) -> tuple[float, float, float, float]:
        """Return the sum, the sum of squares, the least and the greatest value, of all ranks.

        :meta private:
        """
        if not self.grid.is_divided:
            return self.core.summary()
        slabs = self._in_slabs("summary")
        squares = slabs._total("sum_squares")
        return slabs._total("sum"), squares, self._least(), self._largest()

    def _sum(self, axis: AxisOrAxes, keepdims: bool) -> Any:  # noqa: ANN401
        return self._own(self._sum_of_all(axis, keepdims), self._axes(axis), keepdims)

    def _sum_of_all(self, axis: AxisOrAxes, keepdims: bool) -> Any:  # noqa: ANN401
        def whole(field: Reductions, _: int) -> float:
            return field._total("sum")

        return self._placed(self._reduced("sum", whole, _along("sum"), axis, keepdims))

    def _own(self, values: Any, axes: tuple[int, ...], is_kept: bool) -> Any:  # noqa: ANN401
        """Return one's own part of what becomes of lines along the first axis, on blocks."""
        first = len(self.shape) - self.grid.ndim
        if first not in axes or first + 1 in axes or self.grid.slabs is self.grid:
            return values
        place = first + 1 if is_kept else first + 1 - sum(axis <= first for axis in axes)
        begin = self.grid.begin[1]
        own = slice(begin, begin + self.grid.shape[1])
        return np.ascontiguousarray(values[(slice(None),) * place + (own,)])

    def _total(self, name: str) -> float:
        """Return a sum of the core, by its name there, of all ranks."""
        if self.grid.ranks is None:
            return float(getattr(self.core, name)())
        return self._of_all(name, lambda core: getattr(core, f"digits_of_{name}")())

    def _of_all(self, name: str, digits_of: Callable[[_core.Field], _Digits]) -> float:
        """Return the sum of the ranks' sums, whose digits are known of each field."""
        neighbours = self.grid.neighbours
        if neighbours is None:
            return _core.value_of_digits(digits_of(self.core))
        core, is_counted = self._in_slabs(name).core, True
        if self.grid.ndim == 1:  # whose parts are not added up alike wherever it is cut
            whole, _ = self._whole_lines(name, neighbours)
            core, is_counted = whole or core, whole is not None
        digits = digits_of(core) * is_counted
        return _core.value_of_digits(neighbours.ranks.total(self._told(name), digits))

    def _whole_lines(self, name: str, neighbours: Neighbours) -> tuple[_core.Field | None, slice]:
        """Return some lines along the axis that is cut, and which; None where there are none."""
        neighbours.ranks.meet(self._told(f"lines for {name}"))
        return neighbours.whole_lines_of(self.core, self.device.core)

    def _told(self, what: str) -> str:
        """Return what is made of which kind of field, in words that ranks compare."""
        device = self.device
        driver = f"{device.name}, {device.platform} {device.driver}"  # others have other bits
        whose = "" if self.name is None else f" of {self.name!r}"
        kind = f"{self.components} of {self.dtype} on {self.grid.whole.shape}"
        return f"{what}{whose} of {kind} by {driver}"

    def _largest(self) -> float:
        return self._greatest("max", self.core.max())

    def _least(self) -> float:
        # a minus would turn the sign of zeros and NaN, which is the same for all
        return 0.0 - self._greatest("min", 0.0 - self.core.min())

    def _greatest(self, name: str, value: float) -> float:
        ranks = self.grid.ranks
        return (
            value
            if ranks is None
            else float(ranks.greatest(self._told(name), np.array([value]))[0])
        )

    def _count(self, axes: tuple[int, ...]) -> int:
        """Return how many values become one along these axes."""
        shape = (*self.shape[: len(self.shape) - self.grid.ndim], *self.grid.whole.shape)
        return math.prod(shape[k] for k in axes)

    def _variance(self, axis: AxisOrAxes, keepdims: bool, ddof: float, *, is_root: bool) -> Any:  # noqa: ANN401
        """Return the variance, or the root of it."""
        axes, is_kept, taken = (
            self._axes(axis),
            as_flag("keepdims", keepdims),
            as_real("ddof", ddof),
        )
        count = self._count(axes)
        if taken >= count:
            raise ValueError(
                f"ddof must be less than the number of values, {count}, not {shown(ddof)}"
            )
        if not axes:
            mean = self._sum_of_all(axes, is_kept)
            return mean - mean
        name = f"var (ddof={taken})"

        def of(field: Reductions) -> Any:  # noqa: ANN401
            squares = field._squared_deviations(name, axes, is_kept)
            return np.maximum(squares, 0) / (count - taken)

        found = self._own(self._of_squares(of, 1, is_root=is_root), axes, is_kept)
        return found if np.ndim(found) else float(found)

    def _squared_deviations(self, name: str, axes: tuple[int, ...], is_kept: bool) -> Any:  # noqa: ANN401
        """Return sums of squares of what remains when the mean along axes is subtracted."""
        count = self._count(axes)
        mean = self._sum_of_all(axes, is_kept) / count
        centre = np.asarray(mean, arithmetic(self.dtype)).astype(np.float64)

        def whole(field: Reductions, number: int) -> float:
            value = float(centre.flat[number])
            if field.grid.ranks is None:
                return field.core.sum_squared_deviations(value)
            return field._of_all(name, lambda core: core.digits_of_squared_deviations(value))

        def along(core: _core.Field, are_reduced: list[bool], results: slice, all_: int) -> _Reals:
            centres = centre.reshape(-1, all_)[:, results]
            return core.sum_squared_deviations_along(are_reduced, centres.ravel())

        with np.errstate(invalid="ignore"):  # of infinite means
            return self._reduced(name, whole, along, axes, is_kept) - count * (mean - centre) ** 2

    def _of_squares(
        self,
        of: Callable[[Reductions], Any],
        count: int,
        *,
        is_root: bool,
    ) -> Any:  # noqa: ANN401
        """Return what is made of so many squares, or its root.

        Of scaled values where squares leave the range of numbers.
        """
        found = of(self)
        root = np.sqrt(found) if is_root else found
        real = np.finfo(arithmetic(self.dtype))
        is_beyond = ~(found > count * float(real.tiny / real.eps)) | (found == math.inf)
        if not self._greatest("range of squares", float(np.any(is_beyond))):
            return root
        scaled = self.scaled_for_squares()
        if scaled is None:
            return root
        copied, factor = scaled
        with np.errstate(over="ignore"):  # the square of what is large is infinite
            other = np.sqrt(of(copied)) / factor if is_root else of(copied) / factor / factor
        is_helped = ~np.isfinite(found) if factor < 1 else is_beyond & np.isfinite(found)
        return np.where(is_helped, other, root)

    def scaled_for_squares(self) -> tuple[Any, float] | None:
        """Return what is scaled so that squares are neither infinite nor none, and by what.

        None where they are not anyway.

        :meta private:
        """
        factor = factor_for_squares(self._greatest("norm", self.core.max_abs()), self.dtype)
        if factor == 1:
            return None
        copied = self.copy()
        copied *= factor
        return copied, factor

    def _extremum(
        self, name: str, whole: Callable[[Reductions], float], axis: AxisOrAxes, keepdims: bool
    ) -> Any:  # noqa: ANN401
        axes, is_kept = self._axes(axis), as_flag("keepdims", keepdims)
        self._be_seen()  # it would not tell of all infinities
        values = self._reduced(name, lambda field, _: whole(field), _along(name), axes, is_kept)
        values = self._own(values, axes, is_kept)
        return values.astype(self.dtype) if is_a(values, np.ndarray) else values

    def _reduced(
        self, name: str, whole: _Whole, along: _Along, axis: AxisOrAxes, keepdims: bool
    ) -> Any:  # noqa: ANN401
        """Return a number, or an array where axes are left."""
        axes, is_kept = self._axes(axis), as_flag("keepdims", keepdims)
        are_reduced = [k in axes for k in range(len(self.shape))]
        if all(are_reduced):
            number = whole(self, 0)
            return np.full((1,) * len(self.shape), number) if is_kept else number
        if not any(are_reduced):
            return np.asarray(self, np.float64)
        flags = [*[False] * (self.components == 1), *are_reduced]
        front = len(self.shape) - self.grid.ndim
        whole_shape = self.shape
        neighbours = self.grid.neighbours
        if all(flags[1:]):  # a number for each component
            values = np.array([whole(self.component(k), k) for k in range(self.components)])
        elif neighbours is not None and flags[1]:
            values = self._in_slabs(name)._along_cut(f"{name} along axis {axis}", along, flags)
            whole_shape = (*self.shape[:front], *self.grid.whole.shape)
        elif neighbours is not None and 1 in neighbours.cuts and flags[2]:
            values = self._along_cut_across(f"{name} along axis {axis}", neighbours, along, flags)
        else:
            counts = zip(flags[1:], self.grid.shape, strict=True)
            all_ = math.prod(n for is_reduced, n in counts if not is_reduced)
            values = along(self.core, flags, slice(None), all_)
        shape = [
            1 if k in axes else n for k, n in enumerate(whole_shape) if is_kept or k not in axes
        ]
        return values.reshape(shape)

    def _along_cut_across(
        self, name: str, neighbours: Neighbours, along: _Along, flags: list[bool]
    ) -> _Reals:
        """Return what becomes of one's own planes, of which others have parts.

        Each rank along the second axis has all that becomes some of the results.
        """
        slabs = self._in_slabs(name)
        each = 1 if flags[3] else self.grid.shape[2]  # results of a plane
        begin = (slabs.grid.begin[0] - self.grid.begin[0]) * each
        end = begin + slabs.grid.shape[0] * each
        found = along(slabs.core, flags, slice(begin, end), self.grid.shape[0] * each)
        every = neighbours.cuts[1].ranks.every(name, found.reshape(-1, end - begin))
        return np.concatenate(every, axis=1)

    def _along_cut(self, name: str, along: _Along, flags: list[bool]) -> _Reals:
        """Return what becomes of all lines along the first axis, on all ranks.

        Each rank has all that becomes some of the results.
        """
        neighbours = self.grid.neighbours
        assert neighbours is not None
        left = [axis for axis in range(1, self.grid.ndim) if not flags[axis + 1]]
        all_ = math.prod(self.grid.shape[axis] for axis in left)
        if len(left) == self.grid.ndim - 1:
            core, results = self._whole_lines(name, neighbours)
            given = [*flags[:2], False]
        else:  # one axis is left
            neighbours.ranks.meet(self._told(f"planes for {name}"))
            core, results = neighbours.whole_planes_of(self.core, self.device.core, left[0])
            given = flags
        found = None
        if core is not None:
            count = results.stop - results.start
            found = along(core, given, results, all_).reshape(-1, count)
        every = neighbours.ranks.every(name, found)
        return np.concatenate([some for some in every if some is not None], axis=1)

    def _axes(self, axis: AxisOrAxes) -> tuple[int, ...]:
        """Return which axes are meant, from 0 on."""
        count = len(self.shape)
        if axis is None:
            return tuple(range(count))
        several = listed(axis) if is_a(axis, tuple) else [axis]
        axes = tuple(as_index("axis", one, count) for one in several or ())
        if len(set(axes)) < len(axes):
            raise ValueError(f"axis must name each axis once, not {shown(axis)}")
        return axes

    def _placed(self, result: _Result) -> _Result:
        """Return what is not finite if any value is not; then have the reader told where."""
        values: Any = result
        if not np.isfinite(values).all():
            self._be_seen()
        return result


def _along(name: str) -> _Along:
    """Return a reduction of the core along some axes."""
    return lambda core, are_reduced, *_: getattr(core, f"{name}_along")(are_reduced)
