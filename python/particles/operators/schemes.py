# SPDX-License-Identifier: BSD-3-Clause
"""Runge-Kutta schemes: when their stages look at a velocity, and with what weight."""

from __future__ import annotations

from typing import NamedTuple

from particles import _core

SCHEMES = {scheme.name: scheme for scheme in _core.schemes()}


class Look(NamedTuple):
    """When a velocity that depends on time is looked at, and its weight in the move."""

    moment: float
    weight: float


def looks(scheme: str, begin: float, duration: float) -> list[Look]:
    """Return when the stages of a push look at the velocity; those at one time are one look."""
    weights: dict[float, float] = {}
    for time, (numerator, denominator) in zip(
        SCHEMES[scheme].times, SCHEMES[scheme].weights, strict=True
    ):
        weights[time] = weights.get(time, 0.0) + numerator / denominator
    return [Look(begin + time * duration, weight) for time, weight in weights.items()]
