# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels, built in exact rational arithmetic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from particles.base.checks import as_name, shown
from particles.base.kinds import is_a
from particles.kernels.custom_pieces import Rational, checked_pieces
from particles.kernels.description import KernelDescription, described
from particles.kernels.kernel import RemeshingKernel
from particles.kernels.pieces import extrapolated_spline, family_pieces
from particles.kernels.polynomials import ONE, ZERO, Polynomial, added, negative

Pairs: TypeAlias = tuple[tuple[Polynomial, Polynomial], ...]

__all__ = ["KernelDescription", "RemeshingKernel", "custom", "describe", "get", "opencl_source"]

_MEMBERS = {"M'4": (2, 1), "M'6": (4, 2)}

LARGEST = 20
"""Of p and q: rounding would allow more, but nobody needs a kernel of more than 22 nodes."""


def get(kernel: str | RemeshingKernel) -> RemeshingKernel:
    """Return the remeshing kernel of the given name.

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
    if is_a(kernel, RemeshingKernel):
        return kernel
    if not is_a(kernel, str):
        raise TypeError(f"kernel must be a name or a RemeshingKernel, not {shown(kernel)}")
    return _named(kernel)


@cache
def _named(name: str) -> RemeshingKernel:
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
            """kernel must be "M'4", "M'6", "M'8", "L1", or "Lp_q" with p even and 2 q + 1 >= p, """
            f"""such as "L2_2", "L6_4" or "L8_4", not {shown(name)}"""
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
    if name in ("L1", "M'8", *_MEMBERS) or re.fullmatch(r"L\d+_\d+", name):
        raise ValueError(f"name must not be that of another kernel, such as {shown(name)}")
    return RemeshingKernel(name, None, None, checked_pieces(pieces, LARGEST // 2 + 1))


def describe(kernel: str | RemeshingKernel) -> KernelDescription:
    """Return the properties of a kernel; ``print`` shows a table.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        As for `get`.

    Returns
    -------
    KernelDescription

    Examples
    --------
    >>> from particles import kernels
    >>> kernels.describe("M'6")
    M'6 = L4_2
      support            [-3, 3]: 6 nodes
      degree             5
      smoothness         C2
      conserved moments  0 to 4, exactly
      values at nodes    W(0) = 1, W(1) = 0, W(2) = 0: interpolates
      least value        -0.116634 at |x| = 1.34
      largest sum |w|    1.39062 (Lebesgue constant)
      operations         29 for the weights of a particle, 12 to add it to its nodes
      order              4 at a fixed CFL number; of masses 2 at worst, where the flow rests
    >>> kernels.describe("M'6").lebesgue
    1.390625
    """
    described_kernel = get(kernel)
    body = opencl_source(described_kernel).partition("{")[2].partition("}")[0]
    operations = 2 * body.count("MAD(") + sum(body.count(sign) for sign in (" * ", " + ", " - "))
    return described(described_kernel, operations)


def opencl_source(kernel: str | RemeshingKernel) -> str:
    """OpenCL C that computes the weights of a particle, and what limiters need.

    The functions work on the type ``V``, a real scalar or vector, and use the macros ``REAL(x)``
    (literal of the real type), ``MAD(a, b, c)`` (``a * b + c``) and ``INLINE``, which the embedding
    file defines. The weights of the nearest pair of nodes are computed so that all sum to one.
    Polynomials in ``t**2`` are written in ``r = t**2 - 1/4``: see `RemeshingKernel.about_nodes`.

    The weights ``w`` differ from those of the linear kernel, ``l``, by fluxes between neighbours:
    ``w[j] = l[j] - (f[j] - f[j - 1])``, with ``f[j]`` the sum of ``l - w`` up to ``j``.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        As for `get`.

    Returns
    -------
    str
        Macros ``STENCIL`` and ``STENCIL_LEFT`` and the functions ``remeshing_weights`` and
        ``remeshing_fluxes``.

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
    /* f[j]: flux through the right face of that node that makes it of the linear kernel's. */
    INLINE void remeshing_fluxes(const V t, __private V *f) {
      const V r = MAD(t, t, (V)(REAL(-0.25)));
      f[0] = t * (V)(REAL(0.0));
    }
    <BLANKLINE>
    """
    pairs = get(kernel).about_nodes
    return (
        f"#define STENCIL {len(pairs) * 2}\n#define STENCIL_LEFT {len(pairs) - 1}\n"
        "/* w[j]: weight of node cell - STENCIL_LEFT + j"
        " for a particle at t + 1/2 of its cell. */\n"
        f"INLINE void remeshing_weights(const V t, __private V *w) {_body(_weights(pairs))}"
        "/* f[j]: flux through the right face of that node"
        " that makes it of the linear kernel's. */\n"
        f"INLINE void remeshing_fluxes(const V t, __private V *f) {_body(_fluxes(pairs))}"
    )


def _weights(pairs: Pairs) -> list[str]:
    nearest = len(pairs) - 1
    lines = [f"const V o{j} = t * {_horner_text(o)};" for j, (_, o) in enumerate(pairs)]
    lines += [f"const V e{j} = {_horner_text(e)};" for j, (e, _) in enumerate(pairs[:-1])]
    others = " + ".join(f"e{j}" for j in range(nearest))
    closure = f" - ({others})" if others else ""
    lines.append(f"const V e{nearest} = (V)(REAL(0.5)){closure};")
    for j in range(nearest + 1):
        lines += [f"w[{j}] = e{j} + o{j};", f"w[{2 * nearest + 1 - j}] = e{j} - o{j};"]
    return lines


def _fluxes(pairs: Pairs) -> list[str]:
    """Return sums of what the weights differ by, even and odd like these; the middle one is odd."""
    nearest = len(pairs) - 1
    even, odd, lines = ZERO, ZERO, []
    for j, (e, o) in enumerate(pairs[:-1]):
        even, odd = added(even, negative(e)), added(odd, negative(o))
        lines += [
            f"const V o{j} = t * {_horner_text(odd)};",
            f"const V e{j} = {_horner_text(even)};",
            f"f[{j}] = o{j} + e{j};",
            f"f[{2 * nearest - j}] = o{j} - e{j};",
        ]
    middle = added(odd, negative(pairs[-1][1]), negative(ONE))
    return [*lines, f"f[{nearest}] = t * {_horner_text(middle)};"]


def _body(lines: list[str]) -> str:
    square = "const V r = MAD(t, t, (V)(REAL(-0.25)));"
    return "{\n" + "".join(f"  {line}\n" for line in [square, *lines]) + "}\n"


def _horner_text(polynomial: Polynomial) -> str:
    text = _literal(polynomial[-1])
    for coefficient in reversed(polynomial[:-1]):
        text = f"MAD(r, {text}, {_literal(coefficient)})" if coefficient else f"r * {text}"
    return text


def _literal(number: Fraction) -> str:
    return f"(V)(REAL({float(number)!r}))"
