# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of a kernel that somebody else wrote, checked exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from particles.base.checks import as_mapping, as_sequence, entries, refusal, shown
from particles.base.kinds import is_a
from particles.kernels.pieces import moment
from particles.kernels.polynomials import ONE, ZERO, Polynomial, composed, trimmed, value

Rational: TypeAlias = int | np.integer[Any] | Fraction | str

MOST_DIGITS = 100
"""Of a numerator or denominator, and of an exponent's value: exact sums stay quick."""
LARGEST = 10**30
"""Of the polynomials' coefficients about the middle of a cell: float32 can compute them."""


def checked_pieces(
    pieces: Sequence[Sequence[Rational]] | Mapping[int, Sequence[Rational]], widest: int
) -> tuple[Polynomial, ...]:
    """Return ``W`` on ``[i, i + 1]``, ``i = 0, 1, ...``, of an even kernel that sums to one."""
    expected = "pieces must be a sequence or a mapping of sequences"
    if is_a(pieces, Mapping):
        named = as_mapping(pieces, expected)
        half = _mirrored(
            {left: _polynomial(left, piece, 4 * widest) for left, piece in named.items()}
        )
    else:
        half = [
            _polynomial(left, piece, 4 * widest)
            for left, piece in enumerate(as_sequence(pieces, expected))
        ]
    while half and half[-1] == ZERO:
        half.pop()
    if len(half) > widest:
        raise ValueError(f"pieces must end at x = {widest} at most, not at {len(half)}")
    _check_size(half)
    _check_sum(half)
    return tuple(half)


def _polynomial(left: object, piece: object, most: int) -> Polynomial:
    if not is_a(left, int | np.integer):
        raise TypeError(
            f"pieces must have as keys the integers at which they begin, not {shown(left)}"
        )
    left = int(left)
    where = f"pieces on [{shown(left)}, {shown(left + 1)}]"
    expected = f"{where} must be a sequence of coefficients"
    numbers = (entries(piece) or piece) if is_a(piece, np.ndarray) else piece
    coefficients = as_sequence(numbers, expected)
    if not coefficients:
        raise TypeError(refusal(expected, piece))
    for coefficient in coefficients:
        if not is_a(coefficient, int | np.integer | Fraction | str):
            raise TypeError(
                f"{where} must have coefficients that are integers, fractions or texts such as "
                f"'1/3', not {shown(coefficient)}"
            )
    try:
        polynomial = trimmed(map(_fraction, coefficients))
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{where} must have rational coefficients: {error}") from None
    if len(polynomial) > most:
        raise ValueError(f"pieces must be of degree {most - 1} at most, not {len(polynomial) - 1}")
    return polynomial


def _fraction(coefficient: Rational) -> Fraction:
    """Return a coefficient, which is refused before it takes long to compute."""
    if is_a(coefficient, str):
        _, _, exponent = coefficient.lower().partition("e")
        if len(coefficient) > 3 * MOST_DIGITS or (exponent and abs(int(exponent)) > MOST_DIGITS):
            raise ValueError(f"numbers of at most {MOST_DIGITS} digits, not {shown(coefficient)}")
    number = Fraction(int(coefficient) if is_a(coefficient, np.integer) else coefficient)
    if max(abs(number.numerator), number.denominator) >= 10**MOST_DIGITS:
        raise ValueError(f"numbers of at most {MOST_DIGITS} digits, not {shown(coefficient)}")
    return number


def _mirrored(pieces: Mapping[int, Polynomial]) -> list[Polynomial]:
    half_width = len(pieces) // 2
    if sorted(pieces) != list(range(-half_width, half_width)):
        raise ValueError(
            f"pieces must be given on [i, i + 1] for each i from -n to n - 1, not for "
            f"{shown(sorted(pieces))}"
        )
    for left in range(half_width):
        if composed(pieces[-left - 1], -1, 0) != pieces[left]:
            raise ValueError(
                f"pieces must be even, W(-x) = W(x), but that on [{-left - 1}, {-left}] does not "
                f"mirror that on [{left}, {left + 1}]"
            )
    return [pieces[left] for left in range(half_width)]


def _check_size(half: Sequence[Polynomial]) -> None:
    for left, piece in enumerate(half):
        largest = max(map(abs, composed(piece, 1, Fraction(2 * left + 1, 2))))
        if largest > LARGEST:
            raise ValueError(
                f"pieces on [{left}, {left + 1}] must have coefficients of at most 1e30 about its "
                f"middle, not {_told(largest)}"
            )


def _check_sum(half: Sequence[Polynomial]) -> None:
    total = moment(half, 0) if half else ZERO
    if total != ONE:
        places = [Fraction(1, 2), *(Fraction(k, len(total)) for k in range(len(total) + 1))]
        y = next(y for y in places if value(total, y) != 1)  # more places than total has roots
        raise ValueError(
            "pieces must sum to one over the nodes, or mass would be lost: for a particle at "
            f"{y} of its cell the weights sum to {_told(value(total, y))}"
        )


def _told(number: Fraction) -> str:
    return str(number) if number.denominator < LARGEST else f"about {float(number):g}"
