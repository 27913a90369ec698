# SPDX-License-Identifier: BSD-3-Clause
"""Times that a formula on a device can tell from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

# Roundings of the time in a duration, at least: else stages of a step look at wrong times.
_LEAST = 8


def check_resolved(dtype: np.dtype[Any], begin: float, duration: float) -> None:
    """Refuse a duration that is lost in the rounding of the time."""
    farthest = max(abs(begin), abs(begin + duration))
    least = _least_of_time(dtype) * farthest
    if 0 < abs(duration) < least:
        raise ValueError(
            f"dt must be at least {least:.3g}, not {abs(duration):g}, because formulas in {dtype} "
            f"round the time {farthest:g}: begin the time nearer to 0, or use float64"
        )


def _least_of_time(dtype: np.dtype[Any]) -> float:
    return _LEAST * float(np.finfo(dtype).eps)


class TimeResolution:
    """Which steps formulas of a dtype can tell from none.

    Parameters
    ----------
    is_read : bool
        Whether any formula reads the time.

    Attributes
    ----------
    least : float
        What share of a time a step must be.
    """

    def __init__(self, dtype: np.dtype[Any], *, is_read: bool) -> None:
        self._dtype = dtype
        self._is_read = is_read
        self.least = _least_of_time(dtype) if is_read else 0.0

    def check(self, begin: float, duration: float) -> None:
        """Refuse a step that is lost in the rounding of the time."""
        if self._is_read:
            check_resolved(self._dtype, begin, duration)
