# SPDX-License-Identifier: BSD-3-Clause
"""The sweep as a scatter, and a semi-Lagrangian step as a gather, compiled by JAX."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates
from particles import kernels

from benchmarks.peers.comparison import Array, Peer, Problem

_PAIRS = kernels.get("M'6").even_odd()


def peers(problem: Problem) -> list[Peer]:
    """The sweep along the last axis, and one step in three dimensions at once."""
    u = jnp.asarray(problem.u)
    motion = [jnp.asarray(component) for component in problem.motion]
    return [
        Peer("JAX, scatter", 2, _timed(jax.jit(_sweep), u, motion[2]), 1e-5),
        Peer(
            "JAX, semi-Lagrangian, linear",
            None,
            _timed(jax.jit(_step), u, *motion),
            problem.step_tolerance(2e-3),
        ),
    ]


def _timed(function: Callable[..., jax.Array], *arguments: jax.Array) -> Callable[[], Array]:
    return lambda: function(*arguments).block_until_ready()


def _sweep(u: jax.Array, motion: jax.Array) -> jax.Array:
    n = u.shape[-1]
    points = jnp.arange(n)
    half = motion / 2
    cell = jnp.floor(half)
    left = (points + cell.astype(jnp.int32)) % n
    before = jnp.take_along_axis(motion, left, -1)
    after = jnp.take_along_axis(motion, (left + 1) % n, -1)
    move = before + (half - cell) * (after - before)
    cell = jnp.floor(move)
    t = move - cell - 0.5
    first = points + cell.astype(jnp.int32)
    even = [jnp.polyval(jnp.array([*map(float, e[::-1])]), t * t) for e, _ in _PAIRS]
    odd = [t * jnp.polyval(jnp.array([*map(float, o[::-1])]), t * t) for _, o in _PAIRS]
    lines = jnp.arange(u.size // n).reshape(*u.shape[:-1], 1) * n
    result = jnp.zeros(u.size, u.dtype)
    for j in range(3):
        result = result.at[lines + (first + j - 2) % n].add(u * (even[j] + odd[j]))
        result = result.at[lines + (first + 3 - j) % n].add(u * (even[j] - odd[j]))
    return result.reshape(u.shape)


def _step(u: jax.Array, *motion: jax.Array) -> jax.Array:
    points = jnp.meshgrid(*map(jnp.arange, u.shape), indexing="ij", sparse=True)
    middle = [x - a / 2 for x, a in zip(points, motion, strict=True)]
    moves = [map_coordinates(a, middle, order=1, mode="wrap") for a in motion]
    origin = [x - a for x, a in zip(points, moves, strict=True)]
    return map_coordinates(u, origin, order=1, mode="wrap")
