# SPDX-License-Identifier: BSD-3-Clause
"""What a velocity is at most: the numbers by which steps are judged, and nothing else of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.operators.schemes import Reals


def maxima(
    core: _core.AdvectionOp | _core.Unsplit | _core.Tracers, *looks: npt.NDArray[Any]
) -> Reals:
    """Return what the core measures of a velocity, by look, in one call that waits once.

    All that bounds a step comes from here, however particles move: so this is where the greatest of
    several domains would be taken.
    """
    return np.array(core.measure(*map(np.ndarray.tolist, looks)))
