# SPDX-License-Identifier: BSD-3-Clause
"""The sweep and a semi-Lagrangian step in Numba, on all cores: the rivals that compile as we do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import float32, int32, njit, prange, uint32, uint64
from particles import kernels

from benchmarks.peers.comparison import Array, Peer, Problem

LINES = 16
_OUTER, _MIDDLE, _NEAREST = (
    tuple(np.float32(c) for c in (*even, *odd)) for even, odd in kernels.get("M'6").even_odd()
)
_HALF = np.float32(0.5)

compiled = njit(fastmath=True, error_model="numpy")


def peers(problem: Problem) -> list[Peer]:
    """The sweep along each axis, and one step in three dimensions at once."""
    sweeps = [
        Peer("Numba, the same sweep", axis, _sweep_along(problem, axis), 1e-5) for axis in range(3)
    ]
    name = "Numba, semi-Lagrangian, linear"
    return [*sweeps, Peer(name, None, _step(problem), problem.step_tolerance(2e-3))]


def _sweep_along(problem: Problem, axis: int) -> Callable[[], Array]:
    n = problem.u.shape[axis]
    row = math.prod(problem.u.shape[axis + 1 :])
    lane, inner = (n, n) if row == 1 else (1, row)
    u, motion = problem.u.ravel(), problem.motion[axis].ravel()
    out = np.empty_like(u)

    def work() -> Array:
        _sweep(u, motion, out, n, row, lane, inner)
        return out.reshape(problem.u.shape)

    return work


@compiled
def _read(values, start, n, row, lane, lines):
    if row == 1:
        for k in range(LINES):
            for p in range(n):
                lines[k, p] = values[start + k * lane + p]
    else:
        for p in range(n):
            for k in range(LINES):
                lines[k, p] = values[start + k + p * row]


@compiled
def _write(lines, start, n, row, lane, values):
    if row == 1:
        for k in range(LINES):
            for p in range(n):
                values[start + k * lane + p] = lines[k, p]
    else:
        for p in range(n):
            for k in range(LINES):
                values[start + k + p * row] = lines[k, p]


@compiled
def _places(a, n, index, share):
    """Node before the place of every particle half-way, and the share of the next node."""
    for p in range(n):
        place = _HALF * a[p]
        whole = np.floor(place)
        share[p] = place - whole
        index[p] = _wrapped(int32(p) + int32(whole), n)


@compiled
def _moves(a, n, index, share, move):
    for p in range(n):
        i = uint64(uint32(index[p]))
        move[p] = a[i] + share[p] * (a[i + uint64(1)] - a[i])


@compiled
def _cells(n, move, first):
    """First node of every particle; what is left of its move is an offset from mid-cell."""
    for p in range(n):
        whole = np.floor(move[p])
        move[p] = move[p] - whole - _HALF
        first[p] = _wrapped(int32(p) + int32(whole) - int32(2), n)


@compiled
def _pair(mass, offset, n, left, right, e0, e1, e2, o0, o1, o2):
    """What every particle gives to two nodes on either side of it."""
    for p in range(n):
        t = offset[p]
        s = t * t
        even = (e0 + s * (e1 + s * e2)) * mass[p]
        odd = t * (o0 + s * (o1 + s * o2)) * mass[p]
        left[p] = even + odd
        right[p] = even - odd


@compiled
def _add(sums, at, w0, w1, w2, w3, w4, w5):
    i = uint64(uint32(at))
    sums[i] += w0
    sums[i + uint64(1)] += w1
    sums[i + uint64(2)] += w2
    sums[i + uint64(3)] += w3
    sums[i + uint64(4)] += w4
    sums[i + uint64(5)] += w5


@compiled
def _deposit(n, first, w, sums):
    """Keep the six sums around the particle in registers while particles stay in order."""
    at = first[0]
    s0 = s1 = s2 = s3 = s4 = s5 = float32(0)
    for p in range(n):
        if first[p] == at + 1:
            sums[uint64(uint32(at))] += s0
            s0, s1, s2, s3, s4, s5 = s1, s2, s3, s4, s5, float32(0)
        elif first[p] != at:
            _add(sums, at, s0, s1, s2, s3, s4, s5)
            s0 = s1 = s2 = s3 = s4 = s5 = float32(0)
        at = first[p]
        s0 += w[0, p]
        s1 += w[1, p]
        s2 += w[2, p]
        s3 += w[3, p]
        s4 += w[4, p]
        s5 += w[5, p]
    _add(sums, at, s0, s1, s2, s3, s4, s5)


@njit(parallel=True, fastmath=True, error_model="numpy")
def _sweep(u, motion, out, n, row, lane, inner):
    """Tiles of neighbouring lines use whole cache lines; short loops over a line become vectors."""
    n, tiles = int32(n), inner // LINES
    for job in prange(u.size // (n * LINES)):
        start = (job // tiles) * n * inner + (job % tiles) * LINES * lane
        a, mass = np.empty((LINES, n + 1), np.float32), np.empty((LINES, n), np.float32)
        sums, w = np.zeros((LINES, n + 6), np.float32), np.empty((6, n), np.float32)
        first, share = np.empty(n, np.int32), np.empty(n, np.float32)
        move = np.empty(n, np.float32)
        _read(motion, start, n, row, lane, a)
        _read(u, start, n, row, lane, mass)
        for k in range(LINES):
            a[k, n] = a[k, 0]
            _places(a[k], n, first, share)
            _moves(a[k], n, first, share, move)
            _cells(n, move, first)
            _pair(mass[k], move, n, w[0], w[5], *_OUTER)
            _pair(mass[k], move, n, w[1], w[4], *_MIDDLE)
            _pair(mass[k], move, n, w[2], w[3], *_NEAREST)
            _deposit(n, first, w, sums[k])
            sums[k, :6] += sums[k, n:]
        _write(sums, start, n, row, lane, out)


def _step(problem: Problem) -> Callable[[], Array]:
    out = np.empty_like(problem.u)

    def work() -> Array:
        _semi_lagrangian(problem.u, *problem.motion, out)
        return out

    return work


@compiled
def _wrapped(i, n):
    """Return i modulo n, where it is beyond by less than n."""
    i = i + n if i < 0 else i
    return i - n if i >= n else i


@compiled
def _cell(place, n):
    whole = np.floor(place)
    i = _wrapped(int32(whole), int32(n))
    return uint32(i), uint32(_wrapped(i + int32(1), int32(n))), place - whole


@compiled
def _between(a, b, share):
    return a + share * (b - a)


@compiled
def _linear(a, x, y, z):
    i, i1, s = x
    j, j1, t = y
    k, k1, r = z
    low = _between(_between(a[i, j, k], a[i, j, k1], r), _between(a[i, j1, k], a[i, j1, k1], r), t)
    high = _between(
        _between(a[i1, j, k], a[i1, j, k1], r), _between(a[i1, j1, k], a[i1, j1, k1], r), t
    )
    return _between(low, high, s)


@njit(parallel=True, fastmath=True, error_model="numpy")
def _semi_lagrangian(u, a, b, c, out):
    """Follow every point half a step back, take the velocity there, and look where it leads."""
    n0, n1, n2 = u.shape
    for i in prange(n0):
        for j in range(n1):
            for k in range(n2):
                x = _cell(float32(i) - _HALF * a[i, j, k], n0)
                y = _cell(float32(j) - _HALF * b[i, j, k], n1)
                z = _cell(float32(k) - _HALF * c[i, j, k], n2)
                x, y, z = (
                    _cell(float32(i) - _linear(a, x, y, z), n0),
                    _cell(float32(j) - _linear(b, x, y, z), n1),
                    _cell(float32(k) - _linear(c, x, y, z), n2),
                )
                out[i, j, k] = _linear(u, x, y, z)
