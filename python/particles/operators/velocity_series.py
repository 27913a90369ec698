# SPDX-License-Identifier: BSD-3-Clause
"""Velocities known on a grid at several times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from particles.base.checks import are_arrays, as_numbers, as_sequence, refusal, shown
from particles.base.guards import Fixed
from particles.base.kinds import is_a
from particles.fields.data_arrays import as_data_array, times_of
from particles.fields.field import Field
from particles.fields.grid import Boundary
from particles.runtime.device import Device

if TYPE_CHECKING:
    import xarray

__all__ = ["VelocitySeries"]


class VelocitySeries(Fixed):
    """A velocity on the points of a grid at several times, linear in time between them.

    Parameters
    ----------
    fields : sequence of Field
        At least two, each with one component per axis, on one grid, dtype and device.
    times : array_like
        The times of the fields, in ascending order.

    Attributes
    ----------
    fields : tuple of Field
        As above.
    times : tuple of float
        As above.
    grid : Grid
        The fields'.

    Notes
    -----
    Sweeps are divided at these times, because the velocity has a kink there, which would reduce the
    order of the scheme. There is no velocity before the first time and after the last.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid(8)
    >>> slow, fast = pt.Field(grid), pt.Field(grid)
    >>> slow.fill(1.0)
    >>> fast.fill(3.0)
    >>> wind = pt.VelocitySeries([slow, fast], times=[0.0, 1.0])
    >>> u = pt.Field(grid)
    >>> u[0] = 1
    >>> pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u)).run(until=0.5, dt=0.5)
    >>> int(np.argmax(u)) / 8  # 1.5 on the average
    0.75
    """

    depends_on_time = True

    def __init__(self, fields: Sequence[Field], times: npt.ArrayLike) -> None:
        self.fields = _as_fields(fields)
        self.times = _as_times(times, len(self.fields))
        self.grid = self.fields[0].grid

    @classmethod
    def from_xarray(
        cls,
        array: xarray.DataArray,
        *,
        boundary: Boundary | None = None,
        dtype: npt.DTypeLike | None = None,
        device: Device | int | str | None = None,
    ) -> VelocitySeries:
        """Return the series of an xarray array, on the grid and at the times of its coordinates.

        The components of a dataset become one array by ``dataset[["u", "v"]].to_dataarray("component")``.

        Parameters
        ----------
        array : xarray.DataArray
            With the dimensions ``time``, ``component`` unless there is one alone, and ``x``, ``y``,
            ``z`` as for `Field.from_xarray`, in any order. Times are numbers.
        boundary, dtype, device
            As for `Field.from_xarray`.

        Returns
        -------
        VelocitySeries

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> import xarray
        >>> grid = pt.Grid((4, 6), boundary="wall")
        >>> x, y = (points.ravel() for points in grid.coordinates())
        >>> array = xarray.DataArray(
        ...     np.ones((3, 2, 4, 6), "float32"),
        ...     {"time": [0.0, 0.5, 2.0], "x": x, "y": y},
        ...     ("time", "component", "x", "y"),
        ... )
        >>> wind = pt.VelocitySeries.from_xarray(array, boundary="wall")
        >>> wind.times, wind.grid == grid
        ((0.0, 0.5, 2.0), True)
        """
        given = as_data_array(array)
        times = _as_times(times_of(given), given.sizes["time"])
        if len(times) < 2:
            raise ValueError(f"array must have two times or more, not {len(times)}")
        fields = [
            Field.from_xarray(
                given.isel(time=number), boundary=boundary, dtype=dtype, device=device
            )
            for number in range(len(times))
        ]
        return cls(fields, times)

    def check_times(self, first: float, last: float) -> None:
        """Refuse what is not all between the first and the last time, but for rounding.

        :meta private:
        """
        begin, end = self.times[0], self.times[-1]
        present = max(abs(first), abs(last), abs(begin), self.times[1] - begin)
        rounded = 1e-9 * min(end - begin, present)  # as in the core
        if min(first, last) < begin - rounded or max(first, last) > end + rounded:
            raise ValueError(
                f"time must be within the velocity's, {begin:g} to {end:g}, "
                f"not from {first:g} to {last:g}"
            )

    def __repr__(self) -> str:
        begin, end, count = self.times[0], self.times[-1], len(self.times)
        return f"VelocitySeries({count} times from {begin:g} to {end:g}, {self.fields[0]!r})"


def _as_fields(fields: object) -> tuple[Field, ...]:
    expected = "fields must be a sequence of Field"
    way = ": make each by pt.Field.from_arrays(grid, *components)"
    if is_a(fields, np.ndarray):
        raise TypeError(f"{refusal(expected, fields)}{way}")
    several = as_sequence(fields, expected)
    for field in several:
        if not is_a(field, Field):
            raise TypeError(
                f"{expected}, not one with {shown(field)} in it{way * are_arrays(field)}"
            )
    if len(several) < 2:
        raise ValueError(f"fields must be at least two, not {len(several)}")
    first = several[0]
    for field in several[1:]:
        for what in ("grid", "components", "dtype", "device"):
            one, other = getattr(first, what), getattr(field, what)
            if one != other:
                raise ValueError(f"fields must have the same {what}, not {one} and {other}")
    return tuple(several)


def _as_times(times: npt.ArrayLike, count: int) -> tuple[float, ...]:
    values = as_numbers("times", times)
    if len(values) != count:
        raise ValueError(f"times must be one for each of {count} fields, not {values}")
    if not all(one < other for one, other in pairwise(values)):
        raise ValueError(f"times must ascend, not be {values}")
    return values
