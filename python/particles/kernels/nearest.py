# SPDX-License-Identifier: BSD-3-Clause
"""The kernel that gives all to the nearest node."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from particles.base.checks import as_values, shown
from particles.kernels.kernel import RemeshingKernel, as_offsets


@dataclass(frozen=True, repr=False)
class NearestKernel(RemeshingKernel):
    """``W(x)`` is 1 for ``|x| < 1/2``, and 0 beyond; halfway the higher node is the nearest.

    Its only piece is that of the nearer half of a cell.
    """

    @property
    def moments(self) -> int:
        """The moment 0 alone."""
        return 0

    @property
    def smoothness(self) -> int:
        """It jumps."""
        return -1

    def weights(self, y: ArrayLike) -> NDArray[np.float64]:
        """Weights of the two nodes around particles: see `RemeshingKernel.weights`."""
        is_left = as_offsets(y) < 0.5
        return np.stack([is_left, ~is_left]).astype(np.float64)

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """``W(x)``."""
        distance: NDArray[np.float64] = np.abs(as_values(x, name="x"))
        if not np.isfinite(distance).all():
            raise ValueError(f"x must be finite, not {shown(x)}")
        return (distance < 0.5).astype(np.float64)


NEAREST = NearestKernel("nearest", None, None, ((Fraction(1),),))
