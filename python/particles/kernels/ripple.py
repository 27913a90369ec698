# SPDX-License-Identifier: BSD-3-Clause
"""How far strained particles may be from each other until their kernels no longer add up to one."""

from __future__ import annotations

from functools import cache

import numpy as np

from particles.kernels.kernel import RemeshingKernel

_FINE = 100  # strains of a hundredth, two, three, ...
_PLACES = np.linspace(0, 1, 33)


def ripple(kernel: RemeshingKernel, spacing: float) -> float:
    """Return by how much evenly spaced particles of mass `spacing` differ from one, at most.

    They stand for a density of one whose particles a sweep has strained.
    """
    far = int(kernel.half_width / spacing) + 1
    particles = np.arange(-far, far + 2) * spacing
    density = spacing * kernel(_PLACES[:, None] * spacing - particles).sum(axis=1)
    return float(np.abs(density - 1).max())


@cache
def strain_kept(kernel: RemeshingKernel, share: float) -> float:
    """Return up to which strain a sweep keeps a constant but for a share, in hundredths."""
    for hundredths in range(1, _FINE):
        strain = hundredths / _FINE
        if max(ripple(kernel, 1 - strain), ripple(kernel, 1 + strain)) > share:
            return (hundredths - 1) / _FINE
    return (_FINE - 1) / _FINE
