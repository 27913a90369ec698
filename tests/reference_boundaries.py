# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps along axes with ends, in NumPy: the line is continued far beyond them, then cut again.

Ends are a pair of names (low, high). A velocity is an array on the grid or a function of the places
along the axis, in cells from the low end, and the time; `inflow` a function of the time.
"""

import numpy as np
import reference


def continued(places, n, ends):
    """Where on the line of n cells places beyond its ends stand for, and the velocity's sign.

    Beyond an end without a wall they stay where they are.
    """
    places, sign = np.array(places, float), np.ones(np.shape(places))
    while True:
        beyond = np.zeros(places.shape, bool)
        for end, wall in zip(ends, (0, n), strict=True):
            if end == "wall":
                images = places < wall if wall == 0 else places > wall
                places[images] = 2 * wall - places[images]
                sign[images] *= -1
                beyond |= images
        if not beyond.any():
            return places, sign


class Line:
    """All lines along an axis, with so many ghosts on either side."""

    def __init__(self, u, velocity, axis, ends, ghosts):
        self.ends, self.axis, self.ghosts = ends, axis, ghosts
        self.u = np.moveaxis(u, axis, -1)
        self.n = self.u.shape[-1]
        self.velocity = velocity if callable(velocity) else np.moveaxis(velocity, axis, -1)
        self.nodes = np.arange(-ghosts, self.n + ghosts)
        self.sources, self.signs = continued(self.nodes + 0.5, self.n, ends)
        self.stored = np.clip(np.floor(self.sources), 0, self.n - 1).astype(int)

    def velocity_at(self, moved, time):
        """So many cells after the nodes."""
        if callable(self.velocity):
            places = self.nodes + 0.5 + moved
            inner, sign = continued(places, self.n, self.ends)
            return sign * self.velocity(np.clip(inner, 0, self.n), time)
        far = 4 * self.ghosts + 4 * self.n
        nodes = np.arange(-far, self.n + far)
        sources, signs = continued(nodes + 0.5, self.n, self.ends)
        stored = np.clip(np.floor(sources), 0, self.n - 1).astype(int)
        a = signs * self.velocity[..., stored]
        whole = np.floor(moved)
        share, left = moved - whole, self.nodes + whole.astype(int) + far
        before, after = (np.take_along_axis(a, left + k, -1) for k in (0, 1))
        return (1 - share) * before + share * after

    def moves(self, cells_per_speed, time=0.0, duration=0.0):
        """Midpoint rule."""
        nowhere = np.zeros((*self.u.shape[:-1], len(self.nodes)))
        half = self.velocity_at(nowhere, time) * cells_per_speed / 2
        return self.velocity_at(half, time + duration / 2) * cells_per_speed

    def strengths(self, moves, inflow, time, duration):
        """Of all particles, ghosts among them."""
        strengths = self.u[..., self.stored].astype(np.float64)
        for end, name in enumerate(self.ends):
            if name != "inflow":
                continue
            outside = -self.sources if end == 0 else self.sources - self.n
            inwards = self.signs * moves * (1 if end == 0 else -1) * (-1 if duration < 0 else 1)
            enters = (outside > 0) & (inwards > 0)
            sweeps = np.where(enters, outside, 0) / np.where(enters, inwards, 1)
            values = inflow(time + abs(duration) * np.minimum(sweeps, 1024))
            strengths = np.where(enters, values, strengths)
        return strengths


def sweep(
    u,
    velocity,
    axis,
    cells_per_speed,
    ends,
    kernel,
    inflow=None,
    time=0.0,
    duration=0.0,
    ghosts=80,
    lines=Line,
):
    """The field after a sweep, and what has left through both ends less what has come in."""
    line = lines(u, velocity, axis, ends, ghosts)
    n, moves = line.n, line.moves(cells_per_speed, time, duration)
    strengths = line.strengths(moves, inflow, time, duration)
    result, crossed = np.zeros(line.u.shape), [0.0, 0.0]
    whole = np.floor(moves)
    for node in range(1 - reference.half_width(kernel), reference.half_width(kernel) + 1):
        shares = strengths * reference.kernel_value(kernel, moves - whole - node)
        targets = line.nodes + whole.astype(int) + node
        inside = (targets >= 0) & (targets < n)
        flat = np.where(inside, targets, 0) + n * np.arange(result.size // n).reshape(
            (*result.shape[:-1], 1)
        )
        np.add.at(result.reshape(-1), flat.ravel(), np.where(inside, shares, 0).ravel())
        folded = continued(targets + 0.5, n, ends)[0]
        real = (line.nodes >= 0) & (line.nodes < n)
        for end, (name, out, ghost) in enumerate(
            zip(ends, (folded < 0, folded > n), (line.nodes < 0, line.nodes >= n), strict=True)
        ):
            if name != "wall":
                crossed[end] += shares[real & out].sum()
                crossed[end] -= shares[ghost & (folded > 0) & (folded < n)].sum()
    return np.moveaxis(result, -1, axis), crossed
