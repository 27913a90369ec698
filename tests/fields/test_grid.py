# SPDX-License-Identifier: BSD-3-Clause
"""Grids: geometry, identity and refusals."""

import copy
import pickle

import numpy as np
import particles as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st

lengths = st.floats(1e-6, 1e6)


@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6), lengths), min_size=1, max_size=3)
)
def test_points_are_equally_spaced_and_leave_the_end_out(axes):
    shape, origin, extent = zip(*axes, strict=True)
    grid = pt.Grid(shape, origin=origin, extent=extent)
    assert (grid.ndim, grid.size) == (len(shape), np.prod(shape))
    for k, x in enumerate(grid.coordinates()):
        assert x.dtype == np.float64
        assert x.shape == tuple(n if k == axis else 1 for axis, n in enumerate(shape))
        expected = origin[k] + np.arange(shape[k]) * grid.spacing[k]
        np.testing.assert_array_equal(x.ravel(), expected)
        assert grid.spacing[k] * shape[k] == pytest.approx(extent[k], rel=1e-15)


def test_dense_coordinates_are_the_sparse_ones_spread():
    grid = pt.Grid((2, 3, 5))
    spread = np.broadcast_arrays(*grid.coordinates())
    for dense, expected in zip(grid.coordinates(sparse=False), spread, strict=True):
        assert dense.shape == grid.shape
        np.testing.assert_array_equal(dense, expected)


def test_defaults_are_a_periodic_unit_box():
    grid = pt.Grid([4, 8])
    assert grid.shape == (4, 8)
    assert grid.origin == (0.0, 0.0)
    assert grid.extent == (1.0, 1.0)
    assert grid.spacing == (0.25, 0.125)
    assert grid.boundary == ("periodic", "periodic")


def test_points_lie_in_the_middle_of_cells_along_axes_with_ends():
    grid = pt.Grid((4, 2), origin=(1, 3), extent=(2, 1), boundary=["wall", "periodic"])
    assert grid.boundary == (("wall", "wall"), "periodic")
    assert grid.origin == (1.0, 3.0)
    assert grid.first == (1.25, 3.0)
    assert grid.extent == (2.0, 1.0)
    x, y = grid.coordinates()
    np.testing.assert_array_equal(x.ravel(), [1.25, 1.75, 2.25, 2.75])
    np.testing.assert_array_equal(y.ravel(), [3, 3.5])
    moved = pt.Field(grid)
    np.testing.assert_array_equal(np.asarray(pt.Positions(moved, 0))[:, 0], x.ravel())


@pytest.mark.parametrize(
    "boundary", ["wall", ["periodic", ("inflow", "outflow")], [["outflow", "wall"], "wall"]]
)
def test_boundaries_are_part_of_a_grid(boundary):
    grid = pt.Grid((4, 5), boundary=boundary)
    assert grid == pt.Grid((4, 5), boundary=boundary)
    assert grid != pt.Grid((4, 5))
    assert grid.core != pt.Grid((4, 5)).core
    assert eval(repr(grid), {"Grid": pt.Grid}) == grid
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert hash(copy.deepcopy(grid)) == hash(grid)


def test_spacing_stands_for_extent():
    assert pt.Grid((4, 8), spacing=0.5) == pt.Grid((4, 8), extent=(2, 4))


@pytest.mark.parametrize("shape", [7, np.int64(7), (7,), [7], np.array([7])])
def test_one_axis_may_be_a_number_or_a_sequence(shape):
    assert pt.Grid(shape).shape == (7,)


def test_equality_and_hash_see_every_number():
    grid = pt.Grid((4, 5), origin=(1, 2), extent=(3, 4))
    same = pt.Grid((4, 5), origin=(1.0, 2.0), extent=(3.0, 4.0))
    assert grid == same
    assert hash(grid) == hash(same)
    assert grid.core == same.core
    others = [
        pt.Grid((5, 4), origin=(1, 2), extent=(3, 4)),
        pt.Grid((4, 5), origin=(1, 3), extent=(3, 4)),
        pt.Grid((4, 5), origin=(1, 2), extent=(3, 5)),
        pt.Grid(4),
    ]
    for other in others:
        assert grid != other
        assert grid.core != other.core
    assert grid != "grid"


@given(st.lists(st.tuples(st.integers(1, 99), lengths), min_size=1, max_size=3), st.booleans())
def test_repr_and_pickle_make_the_same_grid(axes, by_spacing):
    shape, size = zip(*axes, strict=True)
    grid = pt.Grid(shape, spacing=size) if by_spacing else pt.Grid(shape, extent=size)
    assert eval(repr(grid), {"Grid": pt.Grid}) == grid
    assert pickle.loads(pickle.dumps(grid)) == grid
    assert copy.deepcopy(grid) == grid


def test_two_numbers_are_no_shape_and_origin():
    with pytest.raises(TypeError, match=r"is Grid\(\(64, 64\)\) meant\?$"):
        pt.Grid(64, 64)


def test_a_grid_cannot_be_changed():
    with pytest.raises(AttributeError, match=r"a Grid cannot be changed: shape is \(4,\)"):
        pt.Grid(4).shape = (5,)


def test_two_ends_of_one_axis_are_one_entry():
    with pytest.raises(ValueError, match=r"two ends of one axis are \[\('inflow', 'outflow'\)\]$"):
        pt.Grid(8, boundary=("inflow", "outflow"))
    assert pt.Grid(8, boundary=[("inflow", "outflow")]).boundary == (("inflow", "outflow"),)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"shape": 0}, ValueError, "shape must be at least 1, not 0"),
        ({"shape": (4, -1)}, ValueError, "shape must be at least 1, not -1"),
        ({"shape": 4.0}, TypeError, "shape must be an integer, not 4.0"),
        ({"shape": (4, True)}, TypeError, "shape must be an integer, not True"),
        ({"shape": "44"}, TypeError, "shape must be an integer, not '44'"),
        ({"shape": None}, TypeError, "shape must be an integer, not None"),
        ({"shape": ()}, ValueError, "shape must have one to three axes, not 0"),
        ({"shape": np.empty(0, int)}, ValueError, "shape must have one to three axes, not 0"),
        ({"shape": (2, 2, 2, 2)}, ValueError, "shape must have one to three axes, not 4"),
        (
            {"shape": (2**30, 2**30)},
            ValueError,
            "shape must have at most 1099511627776 points, not",
        ),
        ({"shape": 10**30}, ValueError, "shape must have at most 1099511627776 points, not"),
        ({"origin": (0, 0, 0)}, ValueError, "origin must have one number for each of 2 axes"),
        ({"origin": (0, np.nan)}, ValueError, "origin must be finite, not nan"),
        ({"origin": "0"}, TypeError, "origin must be a number, not '0'"),
        ({"origin": (0, 1j)}, TypeError, "origin must be a number, not 1j"),
        ({"extent": 0}, ValueError, "extent must be positive along every axis"),
        ({"extent": (1, -1)}, ValueError, "extent must be positive along every axis"),
        ({"extent": np.inf}, ValueError, "extent must be finite, not inf"),
        ({"extent": 5e-324}, ValueError, "extent .* must be within the range of float64"),
        ({"spacing": 0}, ValueError, "spacing must be positive along every axis"),
        ({"spacing": 1e308}, ValueError, "extent .* must be within the range of float64"),
        ({"spacing": 1, "extent": 1}, ValueError, "give extent or spacing, not both: 1 and 1"),
        (
            {"boundary": "open"},
            ValueError,
            r"boundary must be periodic, wall, outflow, inflow or a pair \(low, high\) .*not 'open'",
        ),
        (
            {"boundary": ["wall"]},
            ValueError,
            r"boundary must have one entry for each of 2 axes, not \['wall'\]",
        ),
        (
            {"boundary": ["wall", ("wall", "periodic")]},
            ValueError,
            "boundary must be periodic at both ends of an axis or at neither, not .'wall', 'periodic'.",
        ),
        (
            {"boundary": ["wall", ("wall", "wall", "wall")]},
            ValueError,
            "boundary must be periodic, wall, .* or a pair",
        ),
        ({"boundary": None}, ValueError, "boundary must be periodic, wall, .*, not None"),
        ({"boundary": [["wall"], [[], []]]}, ValueError, "boundary must be periodic, wall"),
    ],
)
def test_refusals_name_the_argument(arguments, error, words):
    with pytest.raises(error, match=words):
        pt.Grid(**{"shape": (4, 4), **arguments})


def test_the_most_points_there_may_be():
    assert pt.Grid((2**20, 2**20)).size == 2**40
    with pytest.raises(ValueError, match=f"at most {2**40} points"):
        pt.Grid((2**20, 2**20 + 1))
