# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion in NumPy: the exponential of the three-point second difference, from its eigenvectors.

Ends are a pair of names (low, high). What comes in is a pair of polynomials of the time since the
beginning, the constant coefficient first.
"""

import itertools

import numpy as np


def second_difference(n, ends):
    """Matrix of a line of n nodes, and how it takes in what is at either end."""
    if ends == "periodic" or "periodic" in ends:
        return (
            np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0) - 2 * np.eye(n),
            np.zeros((n, 2)),
        )
    matrix = np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n)
    taken = np.zeros((n, 2))
    for node, end, column in ((0, ends[0], 0), (n - 1, ends[1], 1)):
        if end == "inflow":  # the node beyond is as far below the value as this one is above
            matrix[node, node] -= 1
            taken[node, column] += 2
        else:
            matrix[node, node] += 1
    return matrix, taken


def diffuse_line(lines, rate, ends, dt=1.0, inflow=((0.0,), (0.0,))):
    """Lines along the last axis after dt; `rate`: viscosity over the square of the spacing.

    In the eigenvectors' frame v' = rate * (lam v + b(t)), which is solved exactly.
    """
    n = lines.shape[-1]
    matrix, taken = second_difference(n, ends)
    lam, vectors = np.linalg.eigh(matrix)
    result = (lines.astype(float) @ vectors) * np.exp(rate * dt * lam)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    for end in range(2):
        if not taken[:, end].any():
            continue
        into = rate * (taken[:, end] @ vectors)
        # Intervals of the integral over what is left of the time shrink towards its end.
        edges = np.concatenate([[0], dt * 0.5 ** np.arange(40, -1, -1.0)])
        for begin, stop in itertools.pairwise(edges):
            left = begin + (stop - begin) * (nodes + 1) / 2
            value = np.polynomial.polynomial.polyval(dt - left, inflow[end])
            fade = np.exp(rate * lam[:, None] * left)
            result = result + into * ((fade * value) @ weights) * (stop - begin) / 2
    return result @ vectors.T


def diffuse(u, viscosity, grid, dt, inflow=((0.0,), (0.0,))):
    """A field of one component after dt."""
    for axis in range(grid.ndim):
        lines = np.moveaxis(u, axis, -1)
        rate = viscosity / grid.spacing[axis] ** 2
        lines = diffuse_line(lines, rate, grid.boundary[axis], dt, inflow)
        u = np.moveaxis(lines, -1, axis)
    return u
