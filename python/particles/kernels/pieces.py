# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise polynomials ``W(x)`` on ``[i, i + 1]``, ``i = 0, 1, ...``, and what they conserve."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

from particles.kernels.polynomials import (
    ONE,
    ZERO,
    Polynomial,
    X,
    added,
    composed,
    derivative,
    multiplied,
    value,
)


def family_pieces(p: int, q: int) -> tuple[Polynomial, ...]:
    """Return ``Lp_q`` on ``[i, i + 1]``, ``i = 0 ... p/2``: Hermite interpolants.

    Differentiating ``sum_k k**a W(x - k) = x**a`` ``m`` times at ``x = 0`` gives the derivatives of
    ``W`` at the integers: those at 0 of the Lagrange polynomials of the nodes ``-p/2 ... p/2``.
    """
    half = p // 2
    nodal = [
        [factorial(m) * c for m, c in enumerate(_lagrange(-k, half))] + [Fraction(0)] * q
        for k in range(half + 1)
    ] + [[Fraction(0)] * (q + 1)]
    basis = [_hermite(m, q) for m in range(q + 1)]
    mirrored = [multiplied((Fraction((-1) ** m),), composed(h, -1, 1)) for m, h in enumerate(basis)]
    return tuple(
        composed(
            added(
                *(multiplied((nodal[i][m],), basis[m]) for m in range(q + 1)),
                *(multiplied((nodal[i + 1][m],), mirrored[m]) for m in range(q + 1)),
            ),
            1,
            -i,
        )
        for i in range(half + 1)
    )


def _lagrange(node: int, half: int) -> Polynomial:
    """Return the polynomial that is 1 at ``node`` and 0 at the other integers of ``[-half, half]``."""
    others = [k for k in range(-half, half + 1) if k != node]
    return multiplied(*((Fraction(-k, node - k), Fraction(1, node - k)) for k in others))


def _hermite(m: int, q: int) -> Polynomial:
    """Return the polynomial of degree ``2 q + 1`` with the derivative ``m`` at 0 equal to 1.

    Its other derivatives up to the ``q``-th vanish at 0, and all of them at 1.
    """
    vanishing = [(Fraction(1), Fraction(-1))] * (q + 1)
    series = tuple(Fraction(comb(q + k, k), factorial(m)) for k in range(q - m + 1))
    return multiplied(*[X] * m, series, *vanishing)


def extrapolated_spline() -> tuple[Polynomial, ...]:
    """Return ``15/8 M8 + 9/8 x M8' + 1/8 x**2 M8''``, ``M8`` being the B-spline of order 8."""
    pieces = []
    for i in range(4):
        spline = ZERO
        for k in range(4 - i):
            power = multiplied(*[(Fraction(4 - k), Fraction(-1))] * 7)
            share = Fraction((-1) ** k * comb(8, k), factorial(7))
            spline = added(spline, multiplied((share,), power))
        slope = derivative(spline)
        pieces.append(
            added(
                multiplied((Fraction(15, 8),), spline),
                multiplied((Fraction(9, 8),), X, slope),
                multiplied((Fraction(1, 8),), X, X, derivative(slope)),
            )
        )
    return tuple(pieces)


def conserved_moments(pieces: Sequence[Polynomial]) -> int:
    """Return the largest ``a`` such that ``sum_j (y - j)**b W(y - j)`` is exact for ``b <= a``."""
    order = 0
    while moment(pieces, order) == (ONE if order == 0 else ZERO):
        order += 1
    return order - 1


def moment(pieces: Sequence[Polynomial], order: int) -> Polynomial:
    """Return ``sum_j (y - j)**order W(y - j)``, a polynomial of the offset ``y``."""
    integrands = [multiplied(*[X] * order, piece) for piece in pieces]
    before = (composed(f, 1, i) for i, f in enumerate(integrands))
    sign = Fraction((-1) ** order)
    after = (multiplied((sign,), composed(f, -1, i + 1)) for i, f in enumerate(integrands))
    return added(*before, *after)


def continuity(pieces: Sequence[Polynomial]) -> int:
    """Return the largest ``q`` such that ``W`` is ``q`` times continuously differentiable."""
    left = [composed(pieces[0], -1, 0), *pieces]
    right = [*pieces, ZERO]
    order = -1
    while all(value(a, x) == value(b, x) for x, (a, b) in enumerate(zip(left, right, strict=True))):
        left = [derivative(piece) for piece in left]
        right = [derivative(piece) for piece in right]
        order += 1
    return order
