# SPDX-License-Identifier: BSD-3-Clause
"""Times that a formula on a device can tell from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from particles._check import arithmetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from particles.advection import AdvectionOp
    from particles.diffusion import Diffusion
    from particles.remesh import RemeshOp
    from particles.source import SourceOp

# Roundings of the time in a duration, at least: else stages of a step look at wrong times.
_LEAST = 8


def check_clock(dtype: np.dtype[Any], begin: float, duration: float) -> None:
    """Refuse a duration that is lost in the rounding of the time."""
    farthest = max(abs(begin), abs(begin + duration))
    least = _LEAST * float(np.finfo(dtype).eps) * farthest
    if 0 < abs(duration) < least:
        raise ValueError(
            f"dt must be at least {least:.3g} at the time {farthest:g}, which formulas of {dtype} "
            f"round, not {abs(duration):g}: count the time from nearer by, or use float64"
        )


class Hands:
    """What formulas of a stepper see of the time."""

    def __init__(
        self,
        advection: AdvectionOp | None,
        remesh: RemeshOp,
        source: SourceOp | None,
        diffusions: Sequence[Diffusion],
    ) -> None:
        self._dtype = arithmetic(remesh.fields[0].dtype)
        self._are_seen = (
            (advection is not None and advection.amplitudes is not None)
            or any(d.inflows is not None and d.inflows.depends_on_time for d in diffusions)
            or remesh.inflows.depends_on_time
            or (source is not None and source.depends_on_time)
        )

    def check(self, begin: float, duration: float) -> None:
        """Refuse a step that is lost in the rounding of the time."""
        if self._are_seen:
            check_clock(self._dtype, begin, duration)
