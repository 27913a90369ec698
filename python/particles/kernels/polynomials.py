# SPDX-License-Identifier: BSD-3-Clause
"""Polynomials with rational coefficients, as tuples in ascending powers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Polynomial: TypeAlias = tuple[Fraction, ...]

ZERO: Polynomial = (Fraction(0),)
ONE: Polynomial = (Fraction(1),)
X: Polynomial = (Fraction(0), Fraction(1))


def trimmed(coefficients: Iterable[Fraction]) -> Polynomial:
    """Return the same polynomial without leading zeros."""
    kept = list(coefficients)
    while kept and kept[-1] == 0:
        kept.pop()
    return tuple(kept) or ZERO


def added(*polynomials: Polynomial) -> Polynomial:
    """Return the sum of the polynomials."""
    total = [Fraction(0)] * max(map(len, polynomials))
    for polynomial in polynomials:
        for power, coefficient in enumerate(polynomial):
            total[power] += coefficient
    return trimmed(total)


def negative(polynomial: Polynomial) -> Polynomial:
    """Return the polynomial with the other sign."""
    return tuple(-coefficient for coefficient in polynomial)


def multiplied(*polynomials: Polynomial) -> Polynomial:
    """Return the product of the polynomials."""
    product = ONE
    for polynomial in polynomials:
        result = [Fraction(0)] * (len(product) + len(polynomial) - 1)
        for i, a in enumerate(product):
            for j, b in enumerate(polynomial):
                result[i + j] += a * b
        product = trimmed(result)
    return product


def composed(polynomial: Polynomial, scale: int, shift: Fraction | int) -> Polynomial:
    """Return the polynomial of ``scale * x + shift``."""
    result = ZERO
    for coefficient in reversed(polynomial):
        result = added(multiplied(result, (Fraction(shift), Fraction(scale))), (coefficient,))
    return result


def derivative(polynomial: Polynomial) -> Polynomial:
    """Return the first derivative."""
    return trimmed(power * c for power, c in enumerate(polynomial) if power > 0)


def value(polynomial: Polynomial, x: Fraction | int) -> Fraction:
    """Return the exact value at ``x``."""
    total = Fraction(0)
    for coefficient in reversed(polynomial):
        total = total * x + coefficient
    return total


def values(polynomial: Polynomial, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values at the points ``x`` in double precision, by Horner's rule."""
    total = np.full_like(x, float(polynomial[-1]))
    for coefficient in reversed(polynomial[:-1]):
        total = total * x + float(coefficient)
    return total
