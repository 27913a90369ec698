# SPDX-License-Identifier: BSD-3-Clause
"""Boxes of equally spaced points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from particles import _core
from particles._check import as_reals, as_shape

__all__ = ["Grid"]


class Grid:
    """Equally spaced points in a box of one, two or three dimensions; it cannot be changed.

    Point i of an axis lies at ``origin + i * spacing``. The axes are periodic: the point at
    ``origin + extent`` is the one at ``origin`` and is not stored.

    Parameters
    ----------
    shape : int or sequence of int
        Number of points along each axis.
    origin : float or sequence of float, optional
        Where the first point lies; 0 by default.
    extent : float or sequence of float, optional
        Length of the box along each axis; 1 by default.
    spacing : float or sequence of float, optional
        Distance of neighbouring points, instead of `extent`.
    boundary : str or sequence of str
        What is beyond each end of an axis; "periodic" is the one there is.

    Attributes
    ----------
    shape : tuple of int
        Number of points along each axis.
    ndim, size : int
        Number of axes and of points.
    origin, extent, spacing : tuple of float
        As above, one number for each axis.
    boundary : tuple of str
        As above, one for each axis.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid((4, 8), extent=(1, 2))
    >>> grid.spacing
    (0.25, 0.25)
    >>> x, y = grid.coordinates()
    >>> (x + y).shape
    (4, 8)
    """

    __slots__ = ("boundary", "core", "extent", "ndim", "origin", "shape", "size", "spacing")

    shape: tuple[int, ...]
    ndim: int
    size: int
    origin: tuple[float, ...]
    extent: tuple[float, ...]
    spacing: tuple[float, ...]
    boundary: tuple[str, ...]
    core: _core.Grid

    def __init__(
        self,
        shape: int | Sequence[int],
        origin: float | Sequence[float] | None = None,
        extent: float | Sequence[float] | None = None,
        spacing: float | Sequence[float] | None = None,
        boundary: str | Sequence[str] = "periodic",
    ) -> None:
        points = as_shape("shape", shape)
        ndim = len(points)
        start = as_reals("origin", 0.0 if origin is None else origin, ndim)
        if spacing is None:
            lengths = _as_lengths("extent", 1.0 if extent is None else extent, ndim)
            steps = tuple(length / n for length, n in zip(lengths, points, strict=True))
        elif extent is None:
            steps = _as_lengths("spacing", spacing, ndim)
            lengths = tuple(step * n for step, n in zip(steps, points, strict=True))
        else:
            raise ValueError(f"give extent or spacing, not both: {extent!r} and {spacing!r}")
        if not all(math.isfinite(a) and b > 0 for a, b in zip(lengths, steps, strict=True)):
            raise ValueError(f"extent {lengths} of {points} points is beyond the range of numbers")
        values = {
            "shape": points,
            "ndim": ndim,
            "size": math.prod(points),
            "origin": start,
            "extent": lengths,
            "spacing": steps,
            "boundary": _as_boundary(boundary, ndim),
            "core": _core.Grid(points, start, steps),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def coordinates(self, sparse: bool = True) -> tuple[npt.NDArray[np.float64], ...]:
        """Return where the points lie along each axis.

        Parameters
        ----------
        sparse : bool
            Whether each array has length 1 along the other axes, so that they broadcast against
            each other; otherwise each has the grid's shape.

        Returns
        -------
        tuple of numpy.ndarray
            One float64 array for each axis.

        Examples
        --------
        >>> import particles as pt
        >>> x, y = pt.Grid((2, 3)).coordinates()
        >>> x.shape, y.shape
        ((2, 1), (1, 3))
        """
        axes = (
            origin + np.arange(n) * spacing
            for n, origin, spacing in zip(self.shape, self.origin, self.spacing, strict=True)
        )
        return tuple(np.meshgrid(*axes, indexing="ij", sparse=sparse))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Grid cannot be changed: {name} is {getattr(self, name, None)!r}")

    def __reduce__(self) -> tuple[type[Grid], tuple[object, ...]]:
        return Grid, (self.shape, self.origin, None, self.spacing, self.boundary)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.shape, self.origin, self.spacing, self.boundary

    def __repr__(self) -> str:
        by_extent = all(
            length / n == step
            for length, n, step in zip(self.extent, self.shape, self.spacing, strict=True)
        )
        length = f"extent={self.extent}" if by_extent else f"spacing={self.spacing}"
        return f"Grid({self.shape}, origin={self.origin}, {length})"


def _as_lengths(name: str, value: object, ndim: int) -> tuple[float, ...]:
    lengths = as_reals(name, value, ndim)
    if min(lengths) <= 0:
        raise ValueError(f"{name} must be positive along every axis, not {lengths}")
    return lengths


def _as_boundary(value: object, ndim: int) -> tuple[str, ...]:
    boundary = tuple(value) if isinstance(value, list | tuple) else (value,) * ndim
    if boundary != ("periodic",) * ndim:
        raise ValueError(f"boundary must be 'periodic' along each of {ndim} axes, not {value!r}")
    return ("periodic",) * ndim
