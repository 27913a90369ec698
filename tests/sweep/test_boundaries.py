# SPDX-License-Identifier: BSD-3-Clause
"""Axes with ends: walls, outflow, inflow; what leaves is accounted for."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_boundaries as reference
from tests.support import lot
from tests.support.ends import boundary_along, noise, splitting_core
from tests.support.sweeps import field

ENDS = [("wall", "wall"), ("outflow", "inflow"), ("wall", "outflow"), ("inflow", "wall")]
ends_and_dtypes = pytest.mark.parametrize(
    ("ends", "dtype"),  # which know nothing of each other
    [*[(ends, "float32") for ends in ENDS], (ENDS[1], "float64")],
    ids=str,
    indirect=["dtype"],
)


def sine(t):
    return np.sin(t)


def brought_in(ends):
    return sine if "inflow" in ends else None


@ends_and_dtypes
@pytest.mark.parametrize(
    ("shape", "axis"), [((1,), 0), ((101,), 0), ((5, 19), 0), ((20, 33), 1), ((20, 3), 1)], ids=str
)
def test_a_sweep_is_that_of_the_reference(device, dtype, shape, axis, ends):
    grid = pt.Grid(shape, extent=2.0, boundary=boundary_along(axis, len(shape), ends))
    rates = [noise(shape, k, dtype) for k in range(len(shape))]
    velocity = field(rates, grid, dtype, device)
    start = noise(shape, 9, dtype)
    u = field(start, grid, dtype, device)
    for cells in (0.4, 3.7, 30.0, -3.7):
        u[...] = start
        dt = cells * grid.spacing[axis]
        splitting = splitting_core(velocity, u, brought_in(ends))
        splitting.sweep(axis, 0.3, dt)
        expected, crossed = reference.sweep(
            start, rates[axis], axis, cells, ends, "M'6", brought_in(ends), 0.3, dt
        )
        latest = 1024 * dt if "inflow" in ends else 0  # what comes in is rounded with its time
        limit = (200 * (1 + abs(cells)) + 4 * abs(latest)) * np.finfo(dtype).eps
        assert np.abs(u.get() - expected).max() <= limit
        count = start.size // shape[axis] * min(shape[axis], abs(cells))
        assert np.abs(np.subtract(splitting.crossed(axis)[0], crossed)).max() <= limit * count


FORMS = [
    *[("private", None), ("local", None), ({"kind": "lanes", "lanes": 4}, None)],
    *[("lanes", 8), ("private", 7), ("local", 9)],
    *[("registers", None), ("registers", 9), ("team", None), ("team", 9)],
]


@pytest.mark.sampled
@pytest.mark.drawn(1)
@pytest.mark.parametrize("axis", range(2))
def test_forms_give_the_same_bits(device, dtype, axis):
    ends = ENDS[2 * axis + 1]
    grid = pt.Grid((40, 31), boundary=boundary_along(axis, 2, ends))
    velocity = field([noise(grid.shape, k, dtype) for k in range(2)], grid, dtype, device)
    start = noise(grid.shape, 9, dtype)
    results, crossings = [], []
    drawn = lot.some(FORMS, 4, f"forms with {ends}")
    for form, capacity in [(None, None), *drawn]:
        u = field(start, grid, dtype, device)
        splitting = splitting_core(velocity, u, brought_in(ends), form, capacity)
        for cells in (0.4, 26.0):
            splitting.sweep(axis, 0.3, cells * grid.spacing[axis])
        splitting.advance([0.3], 2.6 * grid.spacing[axis], 1, False)  # the axes in turns
        results.append(u.get())
        crossings.append(splitting.crossed(axis)[0])
    for result, crossed in zip(results[1:], crossings[1:], strict=True):
        np.testing.assert_array_equal(result, results[0])
        # Forms add up in another order what crosses: less than two for each line and cell.
        rounding = 2 * 26 * max(grid.shape) * np.finfo(dtype).eps
        np.testing.assert_allclose(crossed, crossings[0], rtol=0, atol=rounding)


def flow(x, t):
    return np.cos(3 * x + t) / 2


@ends_and_dtypes
@pytest.mark.parametrize("points", [70, 9000])
def test_a_formula_is_continued_beyond_the_ends(device, dtype, points, ends):
    grid = pt.Grid(points, boundary=[ends])
    start = noise(points, 9, dtype)
    results = []
    for capacity in (None, 1000):
        u = field(start, grid, dtype, device)
        velocity = pt.Velocity(grid, flow)
        splitting = splitting_core(velocity, u, brought_in(ends), None, capacity)
        dt = 12 * grid.spacing[0]
        splitting.sweep(0, 0.3, dt)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])
    expected, _ = reference.sweep(
        start,
        lambda cells, t: flow(cells * grid.spacing[0], t),
        0,
        12,
        ends,
        "M'6",
        brought_in(ends),
        0.3,
        dt,
    )
    assert np.abs(results[0] - expected).max() <= 400 * max(points / 70, 1) * np.finfo(dtype).eps


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(9000,), (2, 9000), (9000, 3)], ids=str)
def test_long_lines(device, dtype, shape):
    axis = int(np.argmax(shape))
    ends = ("inflow", "wall")
    grid = pt.Grid(shape, boundary=boundary_along(axis, len(shape), ends))
    rates = [0.2 + noise(shape, k, dtype) / 2 for k in range(len(shape))]
    velocity = field(rates, grid, dtype, device)
    start = noise(shape, 9, dtype)
    u = field(start, grid, dtype, device)
    dt = 30 * grid.spacing[axis]
    splitting = splitting_core(velocity, u, sine)
    splitting.sweep(axis, 0.0, dt)
    expected, crossed = reference.sweep(
        start, velocity.component(axis).get(), axis, 30, ends, "M'6", sine, 0.0, dt
    )
    assert np.abs(u.get() - expected).max() <= 6000 * np.finfo(dtype).eps
    lost = np.subtract(splitting.crossed(axis)[0], crossed)
    assert np.abs(lost).max() <= 1e4 * np.finfo(dtype).eps


def test_a_wall_strains_as_much_as_its_image(device, dtype):
    grid = pt.Grid(4, boundary=[("wall", "outflow")])
    velocity = field([np.array([1.0, 0.5, 0.5, -3.0])], grid, dtype, device)
    assert pt.AdvectionOp(velocity).strain() == (4 * 3.5,)
    velocity[...] = [3.0, 1.0, 0.5, 0.0]
    assert pt.AdvectionOp(velocity).strain() == (4 * 6.0,)


def test_positions_are_remeshed_with_their_images(device, dtype):
    grid = pt.Grid(8, boundary=[("wall", "inflow")])
    u = field(np.full(8, 2.0), grid, dtype, device)
    moved = field(np.zeros(8), grid, dtype, device)
    pt.RemeshOp(u, inflow=5).apply(pt.Positions(moved, 0))
    np.testing.assert_array_equal(u.get(), 2)
    moved.fill(-1)
    pt.RemeshOp(u, inflow=5).apply(pt.Positions(moved, 0))
    np.testing.assert_array_equal(u.get(), [4, 2, 2, 2, 2, 2, 2, 5])
    with pytest.raises(ValueError, match=r"inflow must be numbers .*: Positions have none"):
        pt.RemeshOp(u, inflow=sine).apply(pt.Positions(moved, 0))


@pytest.mark.parametrize(
    ("boundary", "inflow", "error", "words"),
    [
        ("inflow", None, ValueError, r"inflow must be given for .*, \(0, 'low'\), .*not N"),
        ("wall", 1, ValueError, "inflow must be None for a grid without inflow ends, not 1"),
        (
            [("inflow", "wall"), "wall"],
            {(0, "high"): 1},
            ValueError,
            r"inflow must have the keys \(0, 'low'\), as the grid has, not \(0, 'high'\)",
        ),
        ("inflow", [1, 2, 3], ValueError, "inflow must have a value for each of 2 comp.*, not 3"),
        ("inflow", "1", TypeError, "inflow must be a number, not '1'"),
        ("inflow", np.nan, ValueError, "inflow must be finite, not nan"),
        ("inflow", lambda t: "t", TypeError, r"^inflow at \(0, 'low'\): a formula is made of real"),
    ],
)
def test_wrong_inflow_is_refused(device, boundary, inflow, error, words):
    u = pt.Field(pt.Grid((4, 4), boundary=boundary), 2, device=device)
    with pytest.raises(error, match=words):
        pt.RemeshOp(u, inflow=inflow)


def test_sums_in_the_result_are_refused(device):
    u = pt.Field(pt.Grid((4, 4), boundary=["periodic", "wall"]), device=device)
    words = "form: expected another kind along axis 1, which is not periodic, got global"
    with pytest.raises(ValueError, match=words):
        pt.RemeshOp(u, form="global")


def test_what_wants_a_periodic_grid_says_so(device):
    grid = pt.Grid((8, 8), boundary=["periodic", "wall"])
    velocity, u = pt.Field(grid, 2, device=device), pt.Field(grid, device=device)
    with pytest.raises(ValueError, match="fields must be on a periodic grid, not on Grid"):
        pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp(u))
