# SPDX-License-Identifier: BSD-3-Clause
"""The sweep, a line for each thread, and a semi-Lagrangian step, compiled by Taichi on all cores."""

from collections.abc import Callable

import numpy as np
import taichi as ti
from particles import kernels

from benchmarks.peers.comparison import Array, Peer, Problem

ti.init(arch=ti.cpu, log_level=ti.ERROR)

_OUTER, _MIDDLE, _NEAREST = (
    tuple(map(float, (*even, *odd))) for even, odd in kernels.get("M'6").even_odd()
)
_Box = ti.types.ndarray(dtype=ti.f32, ndim=3)


def peers(problem: Problem) -> list[Peer]:
    """The sweep along each axis, and one step in three dimensions at once."""
    sweeps = [
        Peer("Taichi, the same sweep", axis, _sweep_along(problem, axis), 1e-5) for axis in range(3)
    ]
    name = "Taichi, semi-Lagrangian, linear"
    return [*sweeps, Peer(name, None, _step(problem), problem.step_tolerance(2e-3))]


def _sweep_along(problem: Problem, axis: int) -> Callable[[], Array]:
    out = np.empty_like(problem.u)

    def work() -> Array:
        _sweep(problem.u, problem.motion[axis], out, axis)
        return out

    return work


def _step(problem: Problem) -> Callable[[], Array]:
    out = np.empty_like(problem.u)

    def work() -> Array:
        _semi_lagrangian(problem.u, *problem.motion, out)
        return out

    return work


@ti.func
def _node(axis: ti.template(), i, j, p):
    """Place in the box of node `p` of the line with the numbers `i` and `j`."""
    return (
        ti.Vector([p, i, j])
        if ti.static(axis == 0)
        else ti.Vector([i, p, j])
        if ti.static(axis == 1)
        else ti.Vector([i, j, p])
    )


@ti.func
def _wrapped(i, n):
    """Return i modulo n, where it is beyond by less than n."""
    return ti.select(i < 0, i + n, ti.select(i >= n, i - n, i))


@ti.func
def _pair(c: ti.template(), t):
    s = t * t
    even, odd = c[0] + s * (c[1] + s * c[2]), t * (c[3] + s * (c[4] + s * c[5]))
    return even + odd, even - odd


@ti.kernel
def _sweep(u: _Box, a: _Box, out: _Box, axis: ti.template()):
    n, across, inner = u.shape[axis], u.shape[0 if axis > 0 else 1], u.shape[1 if axis > 1 else 2]
    for i, j in ti.ndrange(across, inner):
        for p in range(n):
            out[_node(axis, i, j, p)] = 0.0
        for p in range(n):
            half = 0.5 * a[_node(axis, i, j, p)]
            whole = ti.floor(half)
            before = _wrapped(p + int(whole), n)
            after = _wrapped(before + 1, n)
            low, high = a[_node(axis, i, j, before)], a[_node(axis, i, j, after)]
            move = low + (half - whole) * (high - low)
            cell = ti.floor(move)
            t = move - cell - 0.5
            mass, first = u[_node(axis, i, j, p)], p + int(cell) - 2
            w0, w5 = _pair(ti.static(_OUTER), t)
            w1, w4 = _pair(ti.static(_MIDDLE), t)
            w2, w3 = _pair(ti.static(_NEAREST), t)
            for k, w in ti.static(enumerate((w0, w1, w2, w3, w4, w5))):
                node = _node(axis, i, j, _wrapped(first + k, n))
                out[node] = out[node] + w * mass


@ti.func
def _linear(values: ti.template(), place):
    low = ti.floor(place)
    cell = ti.cast(low, ti.i32)
    share = place - low
    total = 0.0
    for d in ti.static(ti.ndrange(2, 2, 2)):
        node, weight = ti.Vector([0, 0, 0]), 1.0
        for k in ti.static(range(3)):
            node[k] = _wrapped(_wrapped(cell[k], values.shape[k]) + d[k], values.shape[k])
            weight *= share[k] if ti.static(d[k] == 1) else 1.0 - share[k]
        total += weight * values[node]
    return total


@ti.kernel
def _semi_lagrangian(u: _Box, a: _Box, b: _Box, c: _Box, out: _Box):
    for i, j, k in u:
        here = ti.cast(ti.Vector([i, j, k]), ti.f32)
        half = here - 0.5 * ti.Vector([a[i, j, k], b[i, j, k], c[i, j, k]])
        move = ti.Vector([_linear(a, half), _linear(b, half), _linear(c, half)])
        out[i, j, k] = _linear(u, here - move)
