# SPDX-License-Identifier: BSD-3-Clause
"""Positions of particles between a push and a remeshing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_flag, as_index, shown
from particles.base.guards import Fixed
from particles.base.kinds import is_a
from particles.fields.field import Field

__all__ = ["Positions"]


class Positions(Fixed):
    """Particles that started on the points of a grid and have moved along one axis.

    If `back` is true, they are the departure points of particles that arrive on the points. The device
    stores how many cells each particle has moved. In float32 this is as accurate far from the
    origin as near it.

    Parameters
    ----------
    displacement : Field
        Cells from each grid point to its particle; a scalar field.
    axis : int
        The axis along which they moved.
    back : bool
        True: the particles come from there to the points, as a `RemeshOp` of values needs. False: they
        go there from the points, as a `RemeshOp` of masses needs.

    Attributes
    ----------
    displacement, axis, back
        As above.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> moved = pt.Field(pt.Grid(4))
    >>> moved.fill(1.25)
    >>> positions = pt.Positions(moved, axis=0)
    >>> np.asarray(positions)
    array([0.3125, 0.5625, 0.8125, 1.0625])
    >>> positions.cells(), positions.offsets()
    (array([1, 2, 3, 4]), array([0.25, 0.25, 0.25, 0.25], dtype=float32))
    """

    def __init__(self, displacement: Field, axis: int, *, back: bool = False) -> None:
        if not is_a(displacement, Field):
            raise TypeError(f"displacement must be a Field, not {shown(displacement)}")
        if displacement.components != 1:
            raise ValueError(f"displacement must have one component, not {displacement.components}")
        self.displacement = displacement
        self.axis = as_index("axis", axis, displacement.grid.ndim)
        self.back = as_flag("back", back)

    def cells(self) -> npt.NDArray[np.int64]:
        """Index along the axis of the cell that each particle is in, not wrapped.

        On a divided grid it is counted on the whole one.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> moved = pt.Field(pt.Grid(3))
        >>> moved[...] = [-0.5, 0, 2.25]
        >>> pt.Positions(moved, axis=0).cells()
        array([-1,  1,  4])
        """
        whole, _ = self._split()
        cells: npt.NDArray[np.int64] = whole.astype(np.int64) + self._starts(np.int64)
        return cells

    def offsets(self) -> npt.NDArray[Any]:
        """Position of each particle within its cell, in [0, 1).

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> import particles as pt
        >>> moved = pt.Field(pt.Grid(3))
        >>> moved[...] = [-0.5, 0, 2.25]
        >>> pt.Positions(moved, axis=0).offsets()
        array([0.5 , 0.  , 0.25], dtype=float32)
        """
        return self._split()[1]

    def _split(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return whole cells and what is left of them, which rounding may make one more."""
        moved = self.displacement.get()
        whole = np.floor(moved)
        left = moved - whole
        return whole + (left >= 1), np.where(left >= 1, moved.dtype.type(0), left)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Coordinates along the axis, in float64, not wrapped into the box."""
        if copy is False:
            raise ValueError("Positions are on a device and cannot become an array without a copy")
        grid = self.displacement.grid
        places = self._starts(np.float64) + self.displacement.get()
        coordinates = grid.whole.first[self.axis] + grid.spacing[self.axis] * places
        return np.asarray(coordinates, dtype=dtype)

    def _starts(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        grid = self.displacement.grid
        across = [1] * grid.ndim
        across[self.axis] = -1
        begin, rows = grid.begin[self.axis], grid.shape[self.axis]
        return np.arange(begin, begin + rows, dtype=dtype).reshape(across)

    def __repr__(self) -> str:
        field = self.displacement
        back = ", back=True" if self.back else ""
        return (
            f"Positions(axis={self.axis}, {field.shape}, {field.dtype.name}, {field.device.name}"
            f"{back})"
        )
