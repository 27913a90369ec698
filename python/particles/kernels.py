# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels, built in exact rational arithmetic.

A particle at offset ``y`` of its cell (``0 <= y < 1``, in grid spacings) gives the share
``W(y - j)`` of its strength to the node ``j`` cells further on. `get` knows these kernels:

``"Lp_q"``
    the family of even ``p``, ``2 q + 1 >= p``: conserves the moments ``0`` to ``p``, is ``q`` times
    continuously differentiable, and leaves a particle on a node where it is;
``"M'4"``, ``"M'6"``
    the usual names of ``"L2_1"`` and ``"L4_2"``;
``"M'8"``
    the extrapolated B-spline of order 8, which smooths: ``W(0) < 1``;
``"L1"``
    the hat function: linear, two nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._kernel_pieces import conserved_moments, continuity, extrapolated_spline, family_pieces
from ._polynomials import Polynomial, composed, trimmed, values

__all__ = ["RemeshingKernel", "get", "opencl_source"]


@dataclass(frozen=True, repr=False)
class RemeshingKernel:
    """An even, piecewise polynomial ``W(x)`` that spreads a particle over its nearest nodes.

    Attributes
    ----------
    name : str
        The name under which `get` knows it.
    p, q : int or None
        The member ``Lp_q`` of the family that it is; None for ``"M'8"`` and ``"L1"``.
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
        """``W(x)`` vanishes for ``|x|`` from here on."""
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
        """The largest ``q`` such that ``W`` is ``q`` times continuously differentiable."""
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
        t = np.asarray(y, dtype=np.float64) - 0.5
        s = t * t
        even = [values(e, s) for e, _ in self._even_odd[:-1]]
        even.append(0.5 - sum(even, np.zeros_like(s)))
        odd = [t * values(o, s) for _, o in self._even_odd]
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
        distance = np.abs(np.asarray(x, dtype=np.float64))
        t = distance - np.floor(distance) - 0.5
        s = t * t
        result = np.zeros_like(t)
        for i, (even, odd) in enumerate(reversed(self._even_odd)):
            result = np.where(np.floor(distance) == i, values(even, s) + t * values(odd, s), result)
        return result

    def __repr__(self) -> str:
        member = f"L{self.p}_{self.q}"
        also = "" if self.p is None or self.name == member else f" = {member}"
        return (
            f"RemeshingKernel({self.name}{also}: {self.stencil} nodes, degree {self.degree}, "
            f"moments 0 to {self.moments}, C{self.smoothness})"
        )


def get(kernel: str | RemeshingKernel) -> RemeshingKernel:
    """Return the remeshing kernel of a name.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        ``"M'4"``, ``"M'6"``, ``"M'8"``, ``"L1"`` or ``"Lp_q"`` such as ``"L6_4"``; a kernel is
        returned as it is.

    Returns
    -------
    RemeshingKernel

    Examples
    --------
    >>> from particles import kernels
    >>> kernels.get("L6_4").stencil
    8
    >>> kernels.get("L4_2") is kernels.get("M'6")
    True
    """
    if isinstance(kernel, RemeshingKernel):
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"kernel must be a name or a RemeshingKernel, not {kernel!r}")
    return _named(kernel)


@cache
def _named(name: str) -> RemeshingKernel:
    if name == "L1":
        return RemeshingKernel(name, None, None, ((Fraction(1), Fraction(-1)),))
    if name == "M'8":
        return RemeshingKernel(name, None, None, extrapolated_spline())
    if name in ("M'4", "M'6"):
        p, q = {"M'4": (2, 1), "M'6": (4, 2)}[name]
        return RemeshingKernel(name, p, q, family_pieces(p, q))
    if match := re.fullmatch(r"L([1-9][0-9]*)_([1-9][0-9]*)", name, re.ASCII):
        p, q = int(match[1]), int(match[2])
        if p % 2 == 0 and 2 * q + 1 >= p:
            alias = {(2, 1): "M'4", (4, 2): "M'6"}.get((p, q))
            return _named(alias) if alias else RemeshingKernel(name, p, q, family_pieces(p, q))
    raise ValueError(
        f"""unknown remeshing kernel {name!r}: expected "M'4", "M'6", "M'8", "L1", """
        """or "Lp_q" with p even and 2 q + 1 >= p, such as "L2_2", "L6_4" or "L8_4\""""
    )


def opencl_source(kernel: str | RemeshingKernel) -> str:
    """OpenCL C that computes the weights of a particle.

    The function works on the type ``V``, a real scalar or vector, and uses the macros ``REAL(x)``
    (literal of the real type), ``MAD(a, b, c)`` (``a * b + c``) and ``INLINE``, which the embedding
    file defines. The pair of nodes nearest to the particle closes the sum of the weights to one.
    Polynomials in ``t**2`` are written in ``r = t**2 - 1/4``, which vanishes on the nodes: there all
    weights of an interpolating kernel are exactly 0 or 1, however its coefficients are rounded.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        As for `get`.

    Returns
    -------
    str
        Macros ``STENCIL`` and ``STENCIL_LEFT`` and the function ``remeshing_weights``.

    Examples
    --------
    >>> from particles import kernels
    >>> print(kernels.opencl_source("L1"))
    #define STENCIL 2
    #define STENCIL_LEFT 0
    /* w[j]: weight of node cell - STENCIL_LEFT + j for a particle at t + 1/2 of its cell. */
    INLINE void remeshing_weights(const V t, __private V *w) {
      const V r = MAD(t, t, (V)(REAL(-0.25)));
      const V o0 = t * (V)(REAL(-1.0));
      const V e0 = (V)(REAL(0.5));
      w[0] = e0 + o0;
      w[1] = e0 - o0;
    }
    <BLANKLINE>
    """
    about_nodes = Fraction(1, 4)
    pairs = [
        (composed(e, 1, about_nodes), composed(o, 1, about_nodes))
        for e, o in get(kernel).even_odd()
    ]
    nearest = len(pairs) - 1
    lines = [f"const V o{j} = t * {_horner_text(o)};" for j, (_, o) in enumerate(pairs)]
    lines += [f"const V e{j} = {_horner_text(e)};" for j, (e, _) in enumerate(pairs[:-1])]
    others = " + ".join(f"e{j}" for j in range(nearest))
    closure = f" - ({others})" if others else ""
    lines.append(f"const V e{nearest} = (V)(REAL(0.5)){closure};")
    for j in range(nearest + 1):
        lines += [f"w[{j}] = e{j} + o{j};", f"w[{2 * nearest + 1 - j}] = e{j} - o{j};"]
    body = "".join(f"  {line}\n" for line in ["const V r = MAD(t, t, (V)(REAL(-0.25)));", *lines])
    return (
        f"#define STENCIL {len(pairs) * 2}\n#define STENCIL_LEFT {nearest}\n"
        "/* w[j]: weight of node cell - STENCIL_LEFT + j"
        " for a particle at t + 1/2 of its cell. */\n"
        f"INLINE void remeshing_weights(const V t, __private V *w) {{\n{body}}}\n"
    )


def _horner_text(polynomial: Polynomial) -> str:
    text = _literal(polynomial[-1])
    for coefficient in reversed(polynomial[:-1]):
        text = f"MAD(r, {text}, {_literal(coefficient)})" if coefficient else f"r * {text}"
    return text


def _literal(number: Fraction) -> str:
    return f"(V)(REAL({float(number)!r}))"
