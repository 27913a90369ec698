# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps along axes with ends, in NumPy: the line is continued far beyond them, then cut again.

Ends are a pair of names (low, high). A velocity is an array on the grid or a function of the places
along the axis, in cells from the low end, and the time; `inflow` a function of the time.
"""

import numpy as np

from tests.reference import reference


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


PLACES = 4  # of which a velocity beyond an inflow end is made


def polynomial(values, places):
    """Coefficients of the polynomial through values at places, the constant one first."""
    powers = np.vander(places, increasing=True)
    return np.moveaxis(np.linalg.solve(powers, values[..., None]), -2, 0)


def at_places(coefficients, places):
    """Values of polynomials, one for each line, and their derivatives."""
    powers = np.arange(len(coefficients)).reshape(-1, *(1,) * (coefficients.ndim - 1))
    below = np.maximum(powers - 1, 0)
    return (
        (coefficients * places**powers).sum(axis=0),
        (coefficients * powers * places**below).sum(axis=0),
    )


def bounded(velocity, end):
    """Between half and twice of what it is at the end."""
    return np.clip(velocity, np.minimum(end / 2, 2 * end), np.maximum(end / 2, 2 * end))


def on_nodes(lines, nodes, ends, points=None):
    """A velocity on nodes that may lie beyond the ends of lines, which run along the last axis.

    `points`: of a component across the lines, from how many it is interpolated. It has the same
    sign in images, and beyond inflow no bounds.
    """
    n = lines.shape[-1]
    sources, signs = continued(nodes + 0.5, n, ends)
    sources = np.broadcast_to(np.floor(sources).astype(int), (*lines.shape[:-1], nodes.shape[-1]))
    values = np.take_along_axis(lines, np.clip(sources, 0, n - 1), -1)
    for end, name in enumerate(ends):
        if name == "inflow":
            near = lines[..., :: 1 if end == 0 else -1][..., : points or PLACES]
            places = sources if end == 0 else n - 1 - sources
            beyond, _ = at_places(polynomial(near, np.arange(near.shape[-1])), places)
            beyond = beyond if points else bounded(beyond, near[..., :1])
            values = np.where(places < 0, beyond, values)
    return values if points else signs * values


def crossflow(velocity, k, axis, grid):
    """How the velocity along axis k changes along it, next to either end of the lines of `axis`."""
    along, ends = np.moveaxis(velocity[k], k, -1), grid.boundary[k]
    if ends == "periodic":
        differences = np.roll(along, -1, -1) - np.roll(along, 1, -1)
    else:
        near = on_nodes(along, np.arange(-1, along.shape[-1] + 1), ends)
        differences = near[..., 2:] - near[..., :-2]
    rates = np.moveaxis(np.moveaxis(differences, -1, k), axis, -1) / (2 * grid.spacing[k])
    return rates[..., :1], rates[..., -1:]


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
            velocity = self.velocity(np.clip(inner, 0, self.n), time)
            for end, name in enumerate(self.ends):
                if name == "inflow":
                    coefficients, at_end = self.near_end(end, time)
                    outside = inner if end == 0 else self.n - inner
                    beyond = bounded(at_places(coefficients, outside)[0], at_end)
                    velocity = np.where(outside < 0, beyond, velocity)
            return sign * velocity
        far = 4 * self.ghosts + 4 * self.n
        a = on_nodes(self.velocity, np.arange(-far, self.n + far), self.ends)
        whole = np.floor(moved)
        share, left = moved - whole, self.nodes + whole.astype(int) + far
        before, after = (np.take_along_axis(a, left + k, -1) for k in (0, 1))
        return (1 - share) * before + share * after

    def near_end(self, end, time):
        """The velocity as a polynomial of the cells from an end on, and what it is at the first.

        Of a formula places begin with the end, of a grid with the node next to it.
        """
        if callable(self.velocity):
            cells = np.arange(min(PLACES, self.n + 1.0))
            near = self.velocity(cells if end == 0 else self.n - cells, time)
        else:
            near = self.velocity[..., :: 1 if end == 0 else -1][..., :PLACES]
            cells = np.arange(near.shape[-1]) + 0.5
        return polynomial(near, cells), near[..., :1]

    def moves(self, cells_per_speed, time=0.0, duration=0.0):
        """Midpoint rule."""
        nowhere = np.zeros((*self.u.shape[:-1], len(self.nodes)))
        half = self.velocity_at(nowhere, time) * cells_per_speed / 2
        return self.velocity_at(half, time + duration / 2) * cells_per_speed

    def strengths(self, cells_per_speed, inflow, time, duration, carries_values=False, turns=()):
        """Of all particles, ghosts among them.

        `turns`: of every other axis the crossflow, and how much earlier it has been swept to.
        """
        strengths = self.u[..., self.stored].astype(np.float64)
        for end, name in enumerate(self.ends):
            if name != "inflow":
                continue
            outside = -self.sources if end == 0 else self.sources - self.n
            inwards = abs(cells_per_speed) * (1 if end == 0 else -1)
            way = Way([self.near_end(end, time + k * duration / 2) for k in range(3)], inwards)
            sweeps, denser = way.arrive(np.maximum(outside, 0), -1 if duration < 0 else 1)
            later = abs(duration) * sweeps
            grown = sum(rates[end] * (later + lead) for rates, lead in turns)
            denser = denser * np.exp(np.clip(grown, -np.log(4), np.log(4)))
            values = inflow(time + later) * (1 if carries_values else denser)
            strengths = np.where((outside > 0) & (way.mean > 0), values, strengths)
        return strengths


class Way:
    """From outside to an end, by velocities at the beginning, the middle and the end of a sweep."""

    def __init__(self, velocities, inwards):
        self.coefficients = [inwards * coefficients for coefficients, _ in velocities]
        self.at_end = [inwards * at_end for _, at_end in velocities]
        begin, middle, end = self.at_end
        self.mean = (begin + 4 * middle + end) / 6

    def arrive(self, outside, forward):
        """In how many sweeps, and how much denser what comes in was at first: two steps of RK4."""
        least = np.maximum(np.maximum(self.mean / 8, outside / 1024), 1e-300)

        def slopes(cells, sweeps, denser):
            part = forward * np.minimum(sweeps, 64)
            weights = (1 - part) * (1 - 2 * part), 4 * part * (1 - part), part * (2 * part - 1)

            def at_time(values):
                return sum(w * value for w, value in zip(weights, values, strict=True))

            free, slope = at_places(at_time(self.coefficients), cells)
            speed = np.maximum(bounded(free, at_time(self.at_end)), least)
            return 1 / speed, np.where(speed == free, slope, 0) / speed * denser

        h = outside / 2
        state = np.stack([0 * (h * self.mean), 1 + 0 * (h * self.mean)])
        for begin in (-outside, -h):
            k1 = np.stack(slopes(begin, *state))
            k2 = np.stack(slopes(begin + h / 2, *(state + h / 2 * k1)))
            k3 = np.stack(slopes(begin + h / 2, *(state + h / 2 * k2)))
            k4 = np.stack(slopes(begin + h, *(state + h * k3)))
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return state[0], np.clip(state[1], 1 / 4, 4)


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
    turns=(),
):
    """The field after a sweep, and what has left through both ends less what has come in."""
    line = lines(u, velocity, axis, ends, ghosts)
    n, moves = line.n, line.moves(cells_per_speed, time, duration)
    strengths = line.strengths(cells_per_speed, inflow, time, duration, turns=turns)
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
