# SPDX-License-Identifier: BSD-3-Clause
"""Grids of which one axis has ends, and sweeps on them in any form."""

import numpy as np
import particles as pt
from particles import _core, kernels

from tests.support.sweeps import advection_core, core_form


def noise(shape, seed, dtype):
    """Values from -1 to 1 that the dtype holds exactly."""
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def boundary_along(axis, ndim, ends):
    return [ends if k == axis else "periodic" for k in range(ndim)]


def splitting_core(velocity, u, inflow, form=None, capacity=None):
    """A splitting in a form of which the user cannot set everything."""
    remesh = pt.RemeshOp(u, inflow=inflow)
    core = _core.RemeshOp(
        [u.core],
        kernels.opencl_source(remesh.kernel),
        remesh.kernel.stencil,
        [core_form(form, capacity)] * u.grid.ndim,
        inflow=remesh.inflows.sources,
    )
    advection = advection_core(velocity, u.dtype, u.device, form, capacity)
    return _core.Splitting(advection, core, 1)
