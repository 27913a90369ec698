# SPDX-License-Identifier: BSD-3-Clause
"""The core's table of Runge-Kutta schemes, and when their pushes look at a velocity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from particles import _core

Reals = npt.NDArray[np.float64]

SCHEMES = {scheme.name: scheme for scheme in _core.schemes()}


def _times_of(scheme: _core.Scheme) -> tuple[Reals, Reals]:
    """Return at which shares of a push the stages look, each once, and with what weight."""
    weights: dict[float, float] = {}
    for time, (numerator, denominator) in zip(scheme.times, scheme.weights, strict=True):
        weights[time] = weights.get(time, 0.0) + numerator / denominator
    return np.array(list(weights)), np.array(list(weights.values()))


TIMES = {name: _times_of(scheme) for name, scheme in SCHEMES.items()}
