# SPDX-License-Identifier: BSD-3-Clause
"""A remeshing kernel: piecewise polynomial, even, exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particles.base.checks import as_values, shown
from particles.kernels.pieces import conserved_moments, continuity
from particles.kernels.polynomials import Polynomial, composed, trimmed, values


@dataclass(frozen=True, repr=False)
class RemeshingKernel:
    """An even, piecewise polynomial ``W(x)`` that spreads a particle over its nearest nodes.

    Attributes
    ----------
    name : str
        The name under which `kernels.get` knows it, or that was given to `kernels.custom`.
    p, q : int or None
        Its indices if it is the member ``Lp_q`` of the family; otherwise None.
    pieces : tuple of tuple of Fraction
        ``W(x)`` on ``[i, i + 1]``, ``i = 0, 1, ...``: coefficients in ascending powers of ``x``.

    Examples
    --------
    >>> from particles import kernels
    >>> kernel = kernels.get("M'6")
    >>> kernel
    RemeshingKernel(M'6 = L4_2: 6 nodes, degree 5, moments 0 to 4, C2)
    >>> kernel([0.0, 0.5, 1.0])
    array([1.       , 0.5859375, 0.       ])
    """

    name: str
    p: int | None
    q: int | None
    pieces: tuple[Polynomial, ...]

    @property
    def half_width(self) -> int:
        """The least ``|x|`` from which on ``W(x)`` is 0."""
        return len(self.pieces)

    @property
    def stencil(self) -> int:
        """Number of nodes over which a particle is spread."""
        return 2 * self.half_width

    @property
    def degree(self) -> int:
        """Degree of the pieces."""
        return max(map(len, self.pieces)) - 1

    @cached_property
    def moments(self) -> int:
        """The largest ``a`` such that the moments ``0`` to ``a`` are conserved exactly.

        That is, ``sum_j (y - j)**b W(y - j)`` is 1 for ``b = 0`` and 0 for ``b = 1 ... a``.
        """
        return conserved_moments(self.pieces)

    @cached_property
    def smoothness(self) -> int:
        """The largest ``q`` such that ``W`` is ``q`` times continuously differentiable.

        0 if it is only continuous, -1 if it jumps.
        """
        return continuity(self.pieces)

    def even_odd(self) -> tuple[tuple[Polynomial, Polynomial], ...]:
        """Weights of the left half of the nodes about the middle of the cell, leftmost first.

        With ``t = y - 1/2`` and ``s = t**2`` the weight of a node is ``E(s) + t O(s)``, and that of
        the node opposite is ``E(s) - t O(s)``.

        Returns
        -------
        tuple of (E, O)
            Coefficients of both polynomials in ascending powers of ``s``.

        Examples
        --------
        >>> from particles import kernels
        >>> (outer, inner) = kernels.get("M'4").even_odd()
        >>> [str(c) for c in inner[0]], [str(c) for c in inner[1]]
        (['9/16', '-1/4'], ['-11/8', '3/2'])
        """
        return self._even_odd

    @cached_property
    def _even_odd(self) -> tuple[tuple[Polynomial, Polynomial], ...]:
        centred = [composed(w, 1, Fraction(2 * i + 1, 2)) for i, w in enumerate(self.pieces)]
        return tuple((trimmed(w[0::2]), trimmed(w[1::2])) for w in reversed(centred))

    @cached_property
    def about_nodes(self) -> tuple[tuple[Polynomial, Polynomial], ...]:
        """The same polynomials in ``r = t**2 - 1/4``, which vanishes on the nodes.

        On the nodes all weights of an interpolating kernel are exactly 0 or 1, even if the
        coefficients are rounded. Elsewhere rounding errors are small, even for high degrees.
        """
        shift = Fraction(1, 4)
        return tuple((composed(e, 1, shift), composed(o, 1, shift)) for e, o in self._even_odd)

    def weights(self, y: ArrayLike) -> NDArray[np.float64]:
        """Weights of the nodes around particles at offset ``y`` of their cell.

        Parameters
        ----------
        y : array_like
            Offsets in ``[0, 1]``, in grid spacings.

        Returns
        -------
        numpy.ndarray
            Of shape ``(stencil, *y.shape)``. Item ``i`` belongs to the node
            ``i - half_width + 1`` cells after the particle's own.

        Examples
        --------
        >>> from particles import kernels
        >>> kernels.get("L1").weights([0.0, 0.25])
        array([[1.  , 0.75],
               [0.  , 0.25]])
        """
        t = as_offsets(y) - 0.5
        r = t * t - 0.25
        even = [values(e, r) for e, _ in self.about_nodes[:-1]]
        even.append(0.5 - sum(even, np.zeros_like(r)))
        odd = [t * values(o, r) for _, o in self.about_nodes]
        left = [e + o for e, o in zip(even, odd, strict=True)]
        right = [e - o for e, o in zip(even, odd, strict=True)]
        return np.stack(left + right[::-1])

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """``W(x)`` in double precision.

        Parameters
        ----------
        x : array_like
            Distances from a node, in grid spacings.

        Returns
        -------
        numpy.ndarray
            Of the shape of ``x``.
        """
        distance: NDArray[np.float64] = np.abs(as_values(x, name="x"))
        if not np.isfinite(distance).all():
            raise ValueError(f"x must be finite, not {shown(x)}")
        t = distance - np.floor(distance) - 0.5
        r = t * t - 0.25
        result = np.zeros_like(t)
        for i, (even, odd) in enumerate(reversed(self.about_nodes)):
            result = np.where(np.floor(distance) == i, values(even, r) + t * values(odd, r), result)
        return result

    def __repr__(self) -> str:
        member = f"L{self.p}_{self.q}"
        also = "" if self.p is None or self.name == member else f" = {member}"
        return (
            f"RemeshingKernel({self.name}{also}: {self.stencil} nodes, degree {self.degree}, "
            f"moments 0 to {self.moments}, C{self.smoothness})"
        )


def as_offsets(y: ArrayLike) -> NDArray[np.float64]:
    """Return offsets in a cell."""
    offsets = as_values(y, name="y")
    if not np.all((offsets >= 0) & (offsets <= 1)):
        raise ValueError(f"y must be offsets from 0 to 1, not {shown(y)}")
    return offsets
