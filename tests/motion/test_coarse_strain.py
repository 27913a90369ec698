# SPDX-License-Identifier: BSD-3-Clause
"""How much velocities on coarse grids strain the particles of fine ones."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_coarse
from tests.support.coarse import CASES, boxes, random_velocity
from tests.support.sweeps import components


@pytest.mark.parametrize(("coarse", "ratios", "boundary", "interpolation"), CASES, ids=str)
def test_the_strain_is_that_of_the_reference(
    device, dtype, coarse, ratios, boundary, interpolation
):
    """Of particles beside each other, those beyond the ends among them."""
    grid, fine = boxes(coarse, ratios, boundary)
    velocity = random_velocity(grid, dtype, device)
    found = pt.AdvectionOp(velocity, interpolation=interpolation, grid=fine).strain()
    for axis, component in enumerate(components(velocity)):
        n, ends = fine.shape[axis], grid.boundary[axis]
        lines = reference_coarse.across(component, axis, ratios, grid, interpolation)
        lines = np.moveaxis(lines, axis, -1)
        points = np.arange(n + 1.0) if ends == "periodic" else np.arange(-1, n + 1) + 0.5
        places = np.broadcast_to(points, (*lines.shape[:-1], len(points)))
        values = reference_coarse.along(lines, places, ratios[axis], ends, interpolation)
        expected = np.abs(np.diff(values)).max() / fine.spacing[axis]
        rounding = 30 * float(np.finfo(dtype).eps) / fine.spacing[axis]
        assert found[axis] == pytest.approx(expected, abs=rounding)
