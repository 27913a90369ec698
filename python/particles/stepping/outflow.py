# SPDX-License-Identifier: BSD-3-Clause
"""What has left through the ends of the grid."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import as_values, shown
from particles.operators.remesh import RemeshOp
from particles.runtime.crew import of_each


class Outflow:
    """Net mass that has left: what the device has counted, and what there was before.

    Attributes
    ----------
    before : float or array
        What there was before the device began to count.
    """

    def __init__(
        self,
        remesh: RemeshOp,
        core: _core.Splitting,
        before: npt.NDArray[np.float64] | float = 0.0,
    ) -> None:
        self._remesh = remesh
        self._core = core
        self.before = before

    def get(self) -> npt.NDArray[np.float64]:
        """Return it by component, axis and end; waits for the device."""
        return self.counted() + self.before

    def set(self, left: npt.ArrayLike) -> None:
        """Count on from there."""
        counted = self.counted()
        given = as_values(left, name="outflow")
        if not np.isfinite(given).all():
            raise ValueError(f"outflow must be finite, not {shown(left)}")
        try:
            self.before = np.broadcast_to(given, counted.shape) - counted
        except ValueError:
            raise ValueError(
                f"outflow must be of the shape {counted.shape}, not {given.shape}"
            ) from None

    def counted(self) -> npt.NDArray[np.float64]:
        """Return what the device has counted since the start."""
        if not self._remesh.conservative:
            raise ValueError(
                "outflow counts masses, but these particles carry values (conservative=False)"
            )
        components = sum(field.components for field in self._remesh.fields)
        ndim = self._remesh.grid.ndim
        left = np.zeros((components, ndim, 2))
        for axis in range(ndim):
            for crossed in of_each(self._core, "crossed", axis):
                left[:, axis] += crossed
        ranks = self._remesh.grid.ranks
        return left if ranks is None else ranks.sums("outflow", left)
