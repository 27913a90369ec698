# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels as functions in OpenCL C."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from particles.kernels.family import get
from particles.kernels.kernel import RemeshingKernel
from particles.kernels.nearest import NEAREST
from particles.kernels.polynomials import ONE, ZERO, Polynomial, added, negative

Pairs: TypeAlias = tuple[tuple[Polynomial, Polynomial], ...]

_IS_LEFT = "const V is_left = SELECT(t < 0, (V)(REAL(1.0)), (V)(REAL(0.0)));"
_NEAREST_WEIGHTS = [_IS_LEFT, "w[0] = is_left;", "w[1] = (V)(REAL(1.0)) - is_left;"]
_NEAREST_FLUXES = [_IS_LEFT, "f[0] = (V)(REAL(0.5)) - t - is_left;"]


def opencl_source(kernel: str | RemeshingKernel) -> str:
    """OpenCL C that computes the weights of a particle, and what limiters need.

    The functions work on the type ``V``, a real scalar or vector, and use the macros ``REAL(x)``
    (literal of the real type), ``MAD(a, b, c)`` (``a * b + c``), ``INLINE`` and, for
    ``"nearest"``, ``SELECT(mask, yes, no)``, which the embedding file defines. The weights of the
    nearest pair of nodes are computed so that all sum to one. Polynomials in ``t**2`` are written in
    ``r = t**2 - 1/4``: see `RemeshingKernel.about_nodes`.

    The weights ``w`` differ from those of the linear kernel, ``l``, by fluxes between neighbours:
    ``w[j] = l[j] - (f[j] - f[j - 1])``, with ``f[j]`` the sum of ``l - w`` up to ``j``.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        As for `get`.

    Returns
    -------
    str
        Macros ``STENCIL`` and ``STENCIL_BEFORE`` and the functions ``remeshing_weights`` and
        ``remeshing_fluxes``; for ``"nearest"`` also ``CHOOSES_POINT``, which is 1.

    Examples
    --------
    >>> from particles import kernels
    >>> print(kernels.opencl_source("L1"))
    #define STENCIL 2
    #define STENCIL_BEFORE 0
    /* w[j]: weight of node cell - STENCIL_BEFORE + j for a particle at t + 1/2 of its cell. */
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
    chosen = get(kernel)
    if chosen is NEAREST:
        return "#define CHOOSES_POINT 1\n" + _functions(1, _NEAREST_WEIGHTS, _NEAREST_FLUXES)
    pairs = chosen.about_nodes
    return _functions(len(pairs), _weights(pairs), _fluxes(pairs))


def _functions(pairs: int, weights: list[str], fluxes: list[str]) -> str:
    return (
        f"#define STENCIL {pairs * 2}\n#define STENCIL_BEFORE {pairs - 1}\n"
        "/* w[j]: weight of node cell - STENCIL_BEFORE + j"
        " for a particle at t + 1/2 of its cell. */\n"
        f"INLINE void remeshing_weights(const V t, __private V *w) {_body(weights)}"
        "/* f[j]: flux through the right face of that node"
        " that makes it of the linear kernel's. */\n"
        f"INLINE void remeshing_fluxes(const V t, __private V *f) {_body(fluxes)}"
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
