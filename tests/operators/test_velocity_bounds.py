# SPDX-License-Identifier: BSD-3-Clause
"""Velocities beyond all bounds are refused, and where they are is named."""

import numpy as np
import particles as pt
import pytest
from particles.fields.spots import steepest
from particles.operators.limits import steepest_place

from tests.support.transports import transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

GRID = pt.Grid((16, 16))


@pytest.mark.parametrize("kind", [pt.Splitting, pt.Unsplit])
def test_moves_that_no_integer_can_hold(device, dtype, kind):
    velocity = pt.Field(GRID, 2, dtype, device)
    velocity[1, 3, 7] = -1e9
    u = pt.Field(GRID, 1, dtype, device)
    transport = kind(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    words = (
        r"^dt must move particles by less than 2\*\*30 cells, not 1\.6e\+10 along axis 1, where "
        r"the velocity is -1e\+09 at index \(3, 7\), place \(0\.1875, 0\.4375\)$"
    )
    with pytest.raises(ValueError, match=words):
        transport.step(1.0)
    assert transport.steps == 0


def test_cells_that_no_number_counts(device):
    """Of a spacing so small that the duration over it is infinite in float32."""
    grid = pt.Grid(16, spacing=1e-41, boundary="outflow")
    push = pt.AdvectionOp(pt.Velocity(grid, "1e-41"), device=device)
    words = r"^dt must be at most 0\.0034, not 1, because moves in cells of 1e-41 along axis 0 must"
    for run in (
        lambda: push.apply(1.0, 0),
        lambda: pt.Splitting(push, pt.RemeshOp(pt.Field(grid, device=device))).step(1.0),
    ):
        with pytest.raises(ValueError, match=words):
            run()
    np.testing.assert_allclose(push.apply(0.003, 0).displacement.get(), 0.003, rtol=1e-4)


@pytest.mark.parametrize("kind", [pt.Splitting, pt.Unsplit])
def test_differences_that_are_infinite(device, kind):
    velocity = pt.Field(GRID, 2, "float32", device)
    velocity[0, 3, 7], velocity[0, 4, 7] = 3e38, -3e38
    transport = kind(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(GRID, device=device)))
    with pytest.raises(ValueError, match=r"(difference quotient|less than 2\*\*30 cells)"):
        transport.step(1e-38)


@pytest.mark.parametrize("axis", [0, 1])
def test_the_place_where_particles_lose_their_order(device, dtype, axis):
    velocity = pt.Field(GRID, 2, dtype, device)
    velocity[axis, 5, 6] = 2 * GRID.spacing[axis]
    u = pt.Field(GRID, 1, dtype, device)
    words = (
        rf"above 0\.9 particles lose their order; component {axis} of the velocity has the "
        rf"difference quotient 2 at index {('[(]4, 6[)]', '[(]5, 5[)]')[axis]}, place "
    )
    with pytest.raises(ValueError, match=words):
        transport_of(u, velocity, order=1).step(1.0)


@pytest.mark.parametrize("steeper", [0, 1])
def test_the_steepest_of_all_components_and_levels_is_named(device, steeper):
    fields = [pt.Field(GRID, 2, device=device) for _ in range(2)]
    for number, one in enumerate(fields):
        for component in range(2):
            size = 1 + 2 * (component == steeper) + 4 * (number == steeper)
            one[component, 5, 6] = size * GRID.spacing[0]
    of_one = steepest_place(pt.AdvectionOp(fields[0]), None, 0.0)
    assert of_one.startswith(f"component {steeper} of the velocity has the difference quotient ")
    series = pt.AdvectionOp(pt.VelocitySeries(fields, [0.0, 1.0]))
    assert "the difference quotient 7 at" in steepest_place(series, steeper, 0.5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (15, 15), (7, 3)])
def test_no_comparison_lets_nan_slip_through(device, dtype, value, place):
    """Wherever it is, whatever comes after it: sizes, strains, moments of a series, all axes."""
    fields = [pt.Field(GRID, 2, dtype, device) for _ in range(2)]
    fields[1].fill(1e3)
    fields[1][(1, *place)] = value
    for velocity in (fields[1], pt.VelocitySeries(fields, [0.0, 1.0])):
        u = pt.Field(GRID, 1, dtype, device)
        for kind in (pt.Splitting, pt.Unsplit):
            transport = kind(pt.AdvectionOp(velocity), pt.RemeshOp(u))
            with pytest.raises(pt.NotFiniteError, match="its component 1 is not") as caught:
                transport.step(1e-3)
            assert caught.value.index == place


@pytest.mark.parametrize("axis", [0, 1])
def test_a_wall_is_steep_where_the_velocity_does_not_vanish(axis):
    ends = ["periodic", "periodic"]
    ends[axis] = ("outflow", "wall")
    grid = pt.Grid((4, 8), boundary=ends)
    spot = steepest(np.ones(grid.shape), grid, (0, 1))
    assert spot.index == ((3, 0), (0, 7))[axis]
    assert spot.value == 2 / grid.spacing[axis]
    assert spot.note == ", beside a wall, where it must vanish"


def test_difference_quotients_add_up_over_axes_of_different_spacing():
    grid = pt.Grid((4, 8), extent=(4.0, 2.0))
    values = np.zeros(grid.shape)
    values[2, 3] = 1.0
    spot = steepest(values, grid, (0, 1))
    assert spot.index == (2, 3)
    assert spot.value == 1 / 1.0 + 1 / 0.25
