# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of higher order and Runge and Kutta's rule, written with NumPy alone."""

import numpy as np

SUZUKI = 1 / (4 - 4 ** (1 / 3))


def strang(parts, begin, length):
    """Stages (part, begin, length) of one Strang step; the last part is done whole."""
    *outer, full = parts
    half = length / 2
    before = [(part, begin, half) for part in outer]
    after = [(part, begin + half, half) for part in reversed(outer)]
    return [*before, (full, begin, length), *after]


def joined(stages):
    """Neighbouring stages of one part as one."""
    result = []
    for part, begin, length in stages:
        if result and result[-1][0] == part:
            last = result.pop()
            result.append((part, last[1], last[2] + length))
        else:
            result.append((part, begin, length))
    return result


def suzuki(parts):
    """Stages of a step of fourth order."""
    lengths = [SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI]
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    pieces = [strang(parts, begin, length) for begin, length in zip(begins, lengths, strict=True)]
    return joined([stage for piece in pieces for stage in piece])


def rk4(u, rate, time, dt):
    """One step of the classical rule for du/dt = rate(u, t)."""
    k1 = rate(u, time)
    k2 = rate(u + dt / 2 * k1, time + dt / 2)
    k3 = rate(u + dt / 2 * k2, time + dt / 2)
    k4 = rate(u + dt * k3, time + dt)
    return u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def observed_order(counts, errors):
    """Slope of the errors over the numbers of steps, by regression."""
    return float(-np.polyfit(np.log(counts), np.log(errors), 1)[0])
