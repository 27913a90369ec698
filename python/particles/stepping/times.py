# SPDX-License-Identifier: BSD-3-Clause
"""How many steps lead from one time to another."""

from __future__ import annotations

import math
import sys

from particles.base.checks import as_real
from particles.operators.limits import REFUSED


def as_limit(lcfl: float) -> float:
    """Return a strain that steps may have."""
    limit = as_real("lcfl", lcfl)
    if not 0 < limit <= REFUSED:
        raise ValueError(f"lcfl must be above 0 and at most {REFUSED}, not {limit}")
    return limit


def parts(ratio: float) -> int:
    """Return the fewest parts of which none is larger than allowed, but for rounding."""
    return max(1, math.ceil(ratio * (1 - 1e-9)))


def steps_between(start: float, end: float, dt: float) -> tuple[int, float]:
    """Whole steps, and what is left; what is left by rounding alone is none."""
    steps = (end - start) / dt
    if steps > 0.5 and abs(steps - round(steps)) <= 1e-9 * max(1.0, steps):
        return round(steps), 0.0
    if end - start <= 4 * sys.float_info.epsilon * max(abs(start), abs(end)):
        return 0, 0.0
    whole = math.floor(steps)
    return whole, end - (start + whole * dt)
