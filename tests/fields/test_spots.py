# SPDX-License-Identifier: BSD-3-Clause
"""Where messages say that something is."""

import numpy as np
import particles as pt
import pytest
from particles.fields.spots import next_to_walls


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_wall_that_a_velocity_goes_through_is_where_it_does_not_vanish(flipped, sign):
    """Not where it is greatest beside a wall, on which it vanishes."""
    values = sign * np.array([0.9, 2.7, 4.5, 0, 0, 0.5, 0.4, 0.3])
    grid = pt.Grid((8, 2), boundary=["wall", "periodic"])
    across = np.stack([0 * values, values[::-1] if flipped else values], axis=1)
    spot = next_to_walls(across, grid, 0)
    assert spot.index == ((7, 1), (0, 1))[flipped]
    assert spot.value == pytest.approx(0.3 * sign)
    assert spot.note == f", next to the {'low' if flipped else 'high'} end of axis 0"
