# SPDX-License-Identifier: BSD-3-Clause
"""A field that carries a body, and how it differs from what it should be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from particles.fields.field import Field
from particles.levelset.result import Row
from particles.operators.limits import Given
from particles.stepping.splitting import Splitting


class Body:
    """A field that is 1 inside a body and 0 outside of it when it begins.

    Parameters
    ----------
    field : Field
        Filled with the body.
    inside : array of bool
        Which points are inside.
    """

    def __init__(self, field: Field, inside: npt.NDArray[np.bool_]) -> None:
        self.field, self.initial = field, inside
        field[...] = inside
        self._volume, self._mass = field.count(lower=0.5), field.sum()

    def warm_up(self, transport: Splitting, dt: float, given: Given) -> None:
        """Make a step, so that the driver has prepared every kernel, and undo it."""
        transport._check_strain(dt, given)
        transport.step(dt)
        self.field[...] = self.initial
        transport.time = 0.0

    def compared(
        self, time: float, values: npt.NDArray[np.floating], inside: npt.NDArray[np.bool_]
    ) -> Row:
        """Return how the field, whose values are given, differs from a body at a time."""
        planes = zip(values, inside, strict=True)
        error = sum(float(np.abs(u - exact).sum(dtype=np.float64)) for u, exact in planes)
        field = self.field
        return Row(
            time=time,
            volume_change=field.count(lower=0.5) / self._volume - 1,
            mass_change=field.sum() / self._mass - 1,
            l1_error=error / self._mass,
            minimum=field.min(),
            maximum=field.max(),
        )
