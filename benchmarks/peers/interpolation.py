# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation between particles and grid in Numba, rows unrolled, on all cores.

Positions are in cells, sorted by row; points have a margin on every side, so that no index wraps:
what both need besides, sorting and folding the margin, is left out. Planes of particles are divided
into slabs, of which every other one gives to the grid at the same time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange
from particles import kernels

SLAB = 8
"""Planes of cells."""
_AXES = "zyx"


def functions(kernel: str, ndim: int) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return ``to_particles(points, positions, result)`` and ``to_grid(points, starts, positions,
    values, first)``, which gives from every other slab, beginning with the first or the second one.
    """
    text = f"""
def to_particles(points, positions, result):
    for p in prange(len(positions)):
{_indented(_around(kernel, ndim), 8)}
        result[p] = {_sum(kernel, ndim)}

def to_grid(points, starts, positions, values, first):
    for half in prange((len(starts) - first) // 2):
        slab = 2 * half + first
        for p in range(starts[slab], starts[slab + 1]):
{_indented(_around(kernel, ndim), 12)}
            s = values[p]
{_indented(_gifts(kernel, ndim), 12)}
"""
    made: dict[str, Any] = {"prange": prange, "np": np}
    exec(text, made)  # noqa: S102  our own text
    compiled = njit(parallel=True, fastmath=True, error_model="numpy")
    return compiled(made["to_particles"]), compiled(made["to_grid"])


def _around(kernel: str, ndim: int) -> list[str]:
    """The first point of the stencil along each axis, and the weights."""
    lines = []
    for axis, name in enumerate(_AXES[-ndim:]):
        lines += [
            f"i{name} = int(positions[p, {axis}])",
            f"t{name} = positions[p, {axis}] - np.float32(i{name}) - np.float32(0.5)",
            f"r{name} = t{name} * t{name}",
        ]
        for j, (even, odd) in enumerate(kernels.get(kernel).even_odd()):
            opposite = kernels.get(kernel).stencil - 1 - j
            lines += [
                f"e{j} = {_polynomial(even, f'r{name}')}",
                f"o{j} = t{name} * ({_polynomial(odd, f'r{name}')})",
                f"w{name}{j} = e{j} + o{j}",
                f"w{name}{opposite} = e{j} - o{j}",
            ]
    return lines


def _polynomial(coefficients: Any, x: str) -> str:
    first, *others = (f"np.float32({float(c)!r})" for c in coefficients)
    return first + (f" + {x} * ({_text(others, x)})" if others else "")


def _text(numbers: list[str], x: str) -> str:
    return numbers[0] + (f" + {x} * ({_text(numbers[1:], x)})" if numbers[1:] else "")


def _sum(kernel: str, ndim: int) -> str:
    def along(axes: str, index: str) -> str:
        if not axes:
            return f"points[{index}]"
        name, rest = axes[0], axes[1:]
        terms = (
            f"w{name}{j} * ({along(rest, f'{index}, i{name} + {j}' if index else f'i{name} + {j}')})"
            for j in range(kernels.get(kernel).stencil)
        )
        return " + ".join(terms)

    return along(_AXES[-ndim:], "")


def _gifts(kernel: str, ndim: int) -> list[str]:
    names, nodes = _AXES[-ndim:], range(kernels.get(kernel).stencil)
    lines = []
    for outer in itertools.product(nodes, repeat=ndim - 1):
        pairs = list(zip(names, outer, strict=False))
        factor = " * ".join(["s", *(f"w{name}{j}" for name, j in pairs)])
        index = "".join(f"i{name} + {j}, " for name, j in pairs)
        lines += [f"g = {factor}", *(f"points[{index}ix + {j}] += g * wx{j}" for j in nodes)]
    return lines


def _indented(lines: list[str], by: int) -> str:
    return "\n".join(" " * by + line for line in lines)


class Rival:
    """Both directions for one set of particles.

    Parameters
    ----------
    kernel : str
        Of the weights.
    shape : tuple of int
        Points of a periodic grid.
    positions : numpy.ndarray
        In cells, (N, d), sorted by row.
    values : numpy.ndarray
        What each particle gives.
    """

    def __init__(
        self,
        kernel: str,
        shape: tuple[int, ...],
        positions: npt.NDArray[np.float64],
        values: npt.NDArray[np.float32],
    ) -> None:
        stencil = kernels.get(kernel).stencil
        self._before = stencil // 2 - 1
        self._shape = shape
        # A position counts from the first point of its stencil on, in an array with a margin.
        self._positions = np.minimum(
            positions.astype("float32"), np.nextafter(np.float32(shape), np.float32(0))
        )
        self._values = values
        self._points = np.zeros([n + stencil for n in shape], "float32")
        self._result = np.zeros(len(positions), "float32")
        planes = self._positions[:, 0].astype(int)
        slabs = shape[0] // SLAB
        self._starts = np.searchsorted(planes, np.arange(slabs + 1) * SLAB)
        if shape[0] % (2 * SLAB):
            raise ValueError(f"the first axis must have a multiple of {2 * SLAB} points")
        self._to_particles, self._to_grid = functions(kernel, len(shape))

    def to_particles(self) -> npt.NDArray[np.float32]:
        """Sample what the grid has."""
        self._to_particles(self._points, self._positions, self._result)
        return self._result

    def set(self, field: npt.NDArray[np.float32]) -> None:
        """Give the grid these values, margin included."""
        after = self._points.shape[0] - self._shape[0] - self._before
        self._points[...] = np.pad(field, (self._before, after), mode="wrap")

    def to_grid(self) -> None:
        """Give what the particles carry."""
        self._points[...] = 0
        for first in (0, 1):
            self._to_grid(self._points, self._starts, self._positions, self._values, first)

    def received(self) -> npt.NDArray[np.float64]:
        """Return what the points have received, with what the margin has."""
        total = np.zeros(self._shape)
        index = [
            (np.arange(m) - self._before) % n
            for m, n in zip(self._points.shape, self._shape, strict=True)
        ]
        np.add.at(total, np.ix_(*index), self._points)
        return total
