# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation by rings of planes wherever these can be, whatever their size, or nowhere."""

import numpy as np
from particles import _core, kernels


def have_rings(one, wherever):
    """Let an operator, or the parts of one on several devices, have rings wherever they can be."""
    for part in (one,) if one._several is None else one._several.parts:
        part._core = _core.Interpolation(
            part.swarm.device.core,
            kernels.opencl_source(part.kernel),
            part.kernel.stencil,
            10**6,
            np.inf if wherever else 0,
        )
