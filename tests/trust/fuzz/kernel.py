# SPDX-License-Identifier: BSD-3-Clause
"""Names and pieces of kernels: refused by name, or a kernel that keeps the mass."""

from fractions import Fraction

import numpy as np
from particles import kernels
from particles.kernels.polynomials import added, composed, value

from tests.trust.fuzz.choices import Choices

BASES = ("L1", "M'4", "M'6", "M'8", "L2_2", "L6_4", "L8_4")
STRANGE = (
    "1/0", "1e999999999", "-1e-999999999", "1e400", "1/3", " 1 ", "1_0", "٣", "0x1", "nan", "inf",
    0.1, None, True, b"1", [], 10**400, -(10**5000), Fraction(1, 10**400), "9" * 5000, "1e40",
)  # fmt: skip


def run(data):
    choose = Choices(data)
    kind = choose.below(4)
    try:
        if kind == 0:
            made = kernels.get(choose.text())
        else:
            pieces = changed(choose) if kind == 1 else anything(choose)
            made = kernels.custom(choose.text(), mirrored(pieces) if kind == 3 else pieces)
    except (TypeError, ValueError) as error:
        assert 0 < len(str(error)) < 2000  # noqa: PT017
        return
    check(made)


def changed(choose):
    """A kernel that is known, changed so that its weights still sum to one."""
    pieces = list(kernels.get(choose.pick(BASES)).pieces)
    while choose.are_left and choose.below(4):
        place = choose.below(len(pieces))
        odd = [Fraction(0), coefficient(choose), Fraction(0), choose.fraction()]
        about = -Fraction(2 * place + 1, 2)
        try:
            pieces[place] = added(pieces[place], composed(tuple(map(exact, odd)), 1, about))
        except (OverflowError, TypeError, ValueError, ZeroDivisionError):
            pieces[place] = odd
    return pieces


def anything(choose):
    count = choose.below(14)
    return [
        [coefficient(choose) for _ in range(choose.below(8) or choose.short() % 300)]
        for _ in range(count)
    ]


def coefficient(choose):
    kind = choose.below(8)
    if kind == 0:
        return choose.pick(STRANGE)
    if kind == 1:
        return choose.text()
    return choose.signed() if kind < 4 else choose.fraction()


def exact(number):
    """A number as a fraction; texts may mean numbers that take for ever to write out."""
    if isinstance(number, str):
        raise TypeError(number)
    return Fraction(number)


def mirrored(pieces):
    """The same on both sides, as a mapping, where it can be mirrored."""
    whole = dict(enumerate(pieces))
    for left, piece in enumerate(pieces):
        try:
            whole[-left - 1] = composed(tuple(map(exact, piece)), -1, 0)
        except (OverflowError, TypeError, ValueError, ZeroDivisionError):
            whole[-left - 1] = piece
    return whole


def check(kernel):
    for y in (Fraction(0), Fraction(1, 3), Fraction(1)):
        shares = [value(p, y + i) + value(p, 1 - y + i) for i, p in enumerate(kernel.pieces)]
        assert sum(shares) == 1
    weights = kernel.weights(np.linspace(0, 1, 9))
    assert np.isfinite(weights).all()
    assert np.abs(weights.sum(axis=0) - 1).max() <= 1e-12 * np.abs(weights).sum(axis=0).max()
    assert kernel.name in repr(kernel)
    assert kernel.name in repr(kernels.describe(kernel))
    source = kernels.opencl_source(kernel)
    assert "inf" not in source
    assert "nan" not in source
