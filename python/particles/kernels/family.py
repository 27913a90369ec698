# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels by name, and those that users make."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache

from particles.base.checks import as_name, shown
from particles.base.kinds import is_a
from particles.kernels.custom_pieces import Rational, checked_pieces
from particles.kernels.kernel import RemeshingKernel
from particles.kernels.nearest import NEAREST
from particles.kernels.pieces import extrapolated_spline, family_pieces

_MEMBERS = {"M'4": (2, 1), "M'6": (4, 2)}

LARGEST = 20
"""Of p and q: rounding would allow more, but nobody needs a kernel of more than 22 nodes."""


def get(kernel: str | RemeshingKernel) -> RemeshingKernel:
    """Return the remeshing kernel of the given name.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        ``"M'4"``, ``"M'6"``, ``"M'8"``, ``"L1"``, ``"nearest"`` or ``"Lp_q"`` such as ``"L6_4"``; a
        kernel is returned as it is.

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
    if is_a(kernel, RemeshingKernel):
        return kernel
    if not is_a(kernel, str):
        raise TypeError(f"kernel must be a name or a RemeshingKernel, not {shown(kernel)}")
    return _named(kernel)


@cache
def _named(name: str) -> RemeshingKernel:
    if name == NEAREST.name:
        return NEAREST
    if name == "L1":
        return RemeshingKernel(name, None, None, ((Fraction(1), Fraction(-1)),))
    if name == "M'8":
        return RemeshingKernel(name, None, None, extrapolated_spline())
    if name in _MEMBERS:
        p, q = _MEMBERS[name]
        return RemeshingKernel(name, p, q, family_pieces(p, q))
    match = re.fullmatch(r"L(0|[1-9][0-9]*)_(0|[1-9][0-9]*)", name, re.ASCII)
    if not match:
        raise ValueError(
            """kernel must be "M'4", "M'6", "M'8", "L1", "nearest", or "Lp_q" with p even and """
            f"""2 q + 1 >= p, such as "L2_2", "L6_4" or "L8_4", not {shown(name)}"""
        )
    p, q = (int(digits) if len(digits) < 9 else 10**9 for digits in match.groups())
    _check_member(name, p, q)
    alias = next((other for other, member in _MEMBERS.items() if member == (p, q)), None)
    return _named(alias) if alias else RemeshingKernel(name, p, q, family_pieces(p, q))


def _check_member(name: str, p: int, q: int) -> None:
    if p < 2 or p % 2:
        raise ValueError(f"kernel {name!r} must have an even p of at least 2, not {p}")
    if 2 * q + 1 < p:
        raise ValueError(
            f"kernel {name!r} must have 2 q + 1 >= p: with p = {p} q must be at least {p // 2}, "
            f"not {q}"
        )
    if max(p, q) > LARGEST:
        raise ValueError(f"kernel {name!r} must have p and q of at most {LARGEST}, not {max(p, q)}")


def custom(
    name: str, pieces: Sequence[Sequence[Rational]] | Mapping[int, Sequence[Rational]]
) -> RemeshingKernel:
    """Make your own kernel, to use wherever the name of a kernel is expected.

    The kernel must be even, and its weights must sum to one for every position of the particle, so
    that mass is conserved. Both are checked exactly. Its moments and its smoothness are computed:
    see `describe`.

    Parameters
    ----------
    name : str
        A name that `get` does not know yet.
    pieces : sequence or mapping of sequence of int, Fraction or str
        ``W(x)`` on ``[i, i + 1]``: coefficients in ascending powers of ``x``, as integers (also NumPy's),
        fractions, or texts such as ``"-1/3"``. Floats are refused, because 0.1 is not exactly a
        tenth. A sequence begins with ``i = 0``, and the kernel is mirrored. A mapping from each
        ``i`` gives the whole support; its two halves must be mirror images.

    Returns
    -------
    RemeshingKernel

    Examples
    --------
    >>> from particles import kernels
    >>> kernels.custom("cubic spline", [["2/3", 0, -1, "1/2"], ["4/3", -2, 1, "-1/6"]])
    RemeshingKernel(cubic spline: 4 nodes, degree 3, moments 0 to 1, C2)
    >>> kernels.custom("hat", {-1: [1, 1], 0: [1, -1]}).weights(0.25)
    array([0.75, 0.25])
    """
    if not is_a(name, str):
        raise TypeError(f"name must be a text, not {shown(name)}")
    if not as_name("name", name):
        raise ValueError("name must not be empty")
    if name in ("L1", "M'8", NEAREST.name, *_MEMBERS) or re.fullmatch(r"L\d+_\d+", name):
        raise ValueError(f"name must not be that of another kernel, such as {shown(name)}")
    return RemeshingKernel(name, None, None, checked_pieces(pieces, LARGEST // 2 + 1))
