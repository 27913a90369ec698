# SPDX-License-Identifier: BSD-3-Clause
"""Fields as arrays of xarray."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import particles as pt
import pytest
import xarray

from tests.support import child

pytestmark = pytest.mark.one_device

GRIDS = [
    pt.Grid(9, origin=0.1, extent=3),
    pt.Grid((5, 7), spacing=(0.1, 0.3), boundary=["periodic", ("inflow", "outflow")]),
    pt.Grid((3, 4, 6), origin=(1, 2, 3), boundary="wall"),
]


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.ndim}d")
@pytest.mark.parametrize("components", [1, 2])
def test_values_names_and_coordinates(grid, components, device):
    field = pt.Field(grid, components, "float32", device, "u")
    field[...] = values = np.random.default_rng(2).normal(size=field.shape)
    array = field.to_xarray()
    axes = ("x", "y", "z")[: grid.ndim]
    assert isinstance(array, xarray.DataArray)
    assert array.dims == (("component", *axes) if components > 1 else axes)
    assert (array.name, array.dtype) == ("u", np.float32)
    np.testing.assert_array_equal(array, values.astype(np.float32))
    assert set(array.coords) == set(axes)
    for axis, points in zip(axes, grid.coordinates(), strict=True):
        np.testing.assert_array_equal(array[axis], points.ravel())
    array[...] = 0
    assert field.max() > 0


def test_there_and_back(device):
    field = pt.Field(GRIDS[2], 3, device=device)
    field[...] = np.random.default_rng(2).normal(size=field.shape)
    twin = pt.Field(GRIDS[2], 3, device=device)
    twin[...] = field.to_xarray()
    np.testing.assert_array_equal(twin.get(), field.get())


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.ndim}d")
@pytest.mark.parametrize(("components", "dtype"), [(1, "float64"), (3, "float16")])
def test_a_field_of_an_array_is_the_one_that_it_was_of(grid, components, dtype, device):
    """Whatever the order of its axes, and of the points along them."""
    field = pt.Field(grid, components, dtype, device, "u")
    field[...] = np.random.default_rng(2).normal(size=field.shape)
    array = field.to_xarray(time=2)
    turned = array.transpose(*reversed(array.dims)).isel({array.dims[-1]: slice(None, None, -1)})
    twin = pt.Field.from_xarray(turned, device=device)
    assert (twin.grid, twin.dtype, twin.name) == (grid, field.dtype, "u")
    np.testing.assert_array_equal(twin.get(), field.get())
    other = pt.Field.from_xarray(turned, dtype="float32", boundary="outflow", device=device)
    assert (other.dtype, other.grid.boundary) == ("float32", (("outflow", "outflow"),) * grid.ndim)
    for points, expected in zip(other.grid.coordinates(), grid.coordinates(), strict=True):
        np.testing.assert_allclose(points, expected, rtol=1e-14, atol=1e-14)


def test_a_field_of_an_array_from_elsewhere(device):
    """Integers, coordinates in float32 and no attributes."""
    x, y = np.linspace(-1, 1, 5, dtype="f4"), np.arange(0.05, 0.3, 0.1)
    array = xarray.DataArray(np.arange(15).reshape(3, 5), {"y": y, "x": x}, ("y", "x"), 3)
    field = pt.Field.from_xarray(array, boundary=["periodic", "wall"], device=device)
    assert (field.dtype, field.name, field.shape) == ("float32", None, (5, 3))
    assert field.grid.origin == pytest.approx((-1, 0))
    assert field.grid.extent == pytest.approx((2.5, 0.3))
    np.testing.assert_array_equal(field.get(), array.T)
    assert pt.Field.from_xarray(array.astype(">f4"), device=device).grid.is_periodic


def test_coordinates_may_be_off_by_a_thousandth_of_the_spacing():
    grid = pt.Grid((2, 5), extent=(20, 0.05), boundary="outflow")
    array = pt.Field(grid).to_xarray() + 1
    for turned in array, array[::-1, ::-1]:
        for axis, spacing in zip("xy", grid.spacing, strict=True):
            near, far = (
                turned.assign_coords({axis: turned[axis] + [0, *[0] * (n - 2), off * spacing]})
                for n, off in ((turned.sizes[axis], off) for off in (8e-4, -3e-3))
            )
            field = pt.Field.from_xarray(near, boundary="outflow")
            np.testing.assert_allclose(field.grid.first, grid.first, rtol=2e-3)
            np.testing.assert_allclose(field.grid.spacing, grid.spacing, rtol=2e-3)
            field = pt.Field(grid)
            field[...] = near
            with pytest.raises(ValueError, match=f"must lie on the points along {axis}"):
                field[...] = far
            assert field.sum() == 10


def test_a_file_of_netcdf_makes_the_same_field(tmp_path, device):
    field = pt.Field(GRIDS[2], 2, device=device, name="u")
    field[...] = np.random.default_rng(2).normal(size=field.shape)
    field.to_xarray().to_netcdf(tmp_path / "u.nc", engine="scipy")
    with xarray.open_dataarray(tmp_path / "u.nc", engine="scipy") as read:
        twin = pt.Field.from_xarray(read, device=device)
    assert twin.grid == field.grid
    np.testing.assert_array_equal(twin.get(), field.get())


def test_a_part_needs_a_boundary():
    array = pt.Field(GRIDS[1]).to_xarray()
    for part in ({"x": slice(1, None)}, {"x": slice(None, None, 2)}, {"x": [0]}, {"y": slice(3)}):
        with pytest.raises(ValueError, match="boundary must be given, because the coordinates of"):
            pt.Field.from_xarray(array.isel(part))
    field = pt.Field.from_xarray(array.isel(x=slice(1, 4)), boundary=["wall", "periodic"])
    assert field.grid.first == pytest.approx((0.1, 0.15))
    assert field.grid.origin == pytest.approx((0.05, 0.15))


@pytest.mark.parametrize(
    ("dims", "key", "part"),
    [
        ("xyz", np.s_[...], {}),
        ("xz", np.s_[...], {}),
        ("y", np.s_[...], {}),
        ("yz", np.s_[2], {}),
        ("xz", np.s_[:, 1, ::2], {"z": slice(None, None, 2)}),
        ("xyz", np.s_[..., 1:4], {"z": slice(1, 4)}),
        ("xyz", np.s_[::-1, ::-2], {"x": slice(None, None, -1), "y": slice(None, None, -2)}),
        ("xz", np.s_[:, None, 0], {}),
        ("", np.s_[0, 1, 2], {}),
    ],
    ids=str,
)
def test_axes_are_found_by_their_names_and_points_by_their_places(dims, key, part):
    """Of what is assigned; it is that of a sum of functions of one coordinate each."""
    grid = GRIDS[2]
    known = {axis: x.ravel() for axis, x in zip("xyz", grid.coordinates(), strict=True)}
    whole = sum(xarray.DataArray(known[axis] ** 2, {axis: known[axis]}, axis) for axis in dims)
    array = xarray.DataArray(whole).isel(part)
    field, expected = pt.Field(grid), np.zeros(grid.shape, "float32")
    shape = expected[key].shape
    kept = array.values  # its axes are in the order of the field's
    missing = tuple(np.s_[:] if axis in dims else None for axis in "xyz")
    expected[key] = kept[missing] if key is Ellipsis else kept.reshape(shape)
    for order in itertools.permutations(array.dims):
        for given in array, array.sortby([*array.dims]), array.drop_vars(list(array.coords)):
            field.fill(0)
            field[key] = given.transpose(*order)
            np.testing.assert_array_equal(field.get(), expected)
    if key is Ellipsis and dims == "xyz":
        field.fill(0)
        field.set(array.transpose(*order))
        np.testing.assert_array_equal(field.get(), expected)


def test_components_have_a_name_too(device):
    field = pt.Field(GRIDS[1], 3, device=device)
    values = np.random.default_rng(2).normal(size=(7, 3, 5)).astype("float32")
    for name in "component", "component_3":
        field.fill(0)
        field[...] = xarray.DataArray(values, dims=("y", name, "x"))
        np.testing.assert_array_equal(field.get(), values.transpose(1, 2, 0))
    field[1] = xarray.DataArray(values[:, 0], dims=("y", "x"))
    np.testing.assert_array_equal(field[1], values[:, 0].T)
    one = pt.Field.from_xarray(field.to_xarray().isel(component=[1]), device=device)
    np.testing.assert_array_equal(one.get(), field[1])


def test_values_of_other_axes_or_places_are_refused():
    field = pt.Field(GRIDS[1])
    array = field.to_xarray() + 1
    for given, words in (
        (array.rename(x="lon"), r"only the dimensions x, y, not \('lon', 'y'\)"),
        (array.expand_dims("time"), r"only the dimensions x, y, not \('time', 'x', 'y'\)"),
        (
            array.assign_coords(y=array.y + 1),
            r"on the points along y, 7 from 0\.15 to .*, not 7 from",
        ),
        (array.isel(x=[0, 2, 1, 3, 4]), r"on the points along x, 5 from 0\.0 to 0\.4, not 5 from"),
        (array.isel(x=[0]), r"on the points along x, 5 from 0\.0 to 0\.4, not 1 from"),
        (array.assign_coords(x=[*"abcde"]), "must have numbers as coordinates along x"),
        (array.drop_vars("x").isel(x=slice(3)), r"the shape .*\(3, 7\)"),
    ):
        for assign in field.set, lambda values: field.__setitem__(..., values):
            with pytest.raises((TypeError, ValueError), match=f"^values .*{words}"):
                assign(given)
    for key in [0, 1], np.ones(field.shape, bool):
        with pytest.raises(TypeError, match=r"^values with names of dimensions can be assigned to"):
            field[key] = array
    with pytest.raises(ValueError, match=r"only the dimensions of a number, not \('y',\)"):
        field[0, 0] = array[0]
    assert field.max() == 0
    field[[0, 1]] = array[0, 0]
    assert field.sum() == 14


@pytest.mark.parametrize(
    ("key", "taken", "is_right"),
    [
        (2, {"x": 2}, True),
        (2, {"x": 3}, False),
        (np.int64(-1), {"x": 4}, True),
        (np.s_[2:3], {"x": 2}, True),
        (np.s_[2:3], {"x": 1}, False),
        ((np.s_[:], 6), {"y": 6}, True),
        ((..., 6), {"y": 0}, False),
        ((1, 2), {"x": 1, "y": 2}, True),
        ((1, 2), {"x": 1, "y": 3}, False),
        ((None, 1, np.s_[:]), {"x": 0}, False),
        (np.s_[:], {"x": 1}, True),  # the same for every x
        (np.s_[1:3], {"x": 4}, True),
    ],
    ids=str,
)
def test_one_place_is_not_taken_for_another_one(key, taken, is_right):
    field = pt.Field(GRIDS[1])
    array = field.to_xarray() + 1
    part = array.isel(taken)
    if is_right:
        field[key] = part
        assert field.sum() == field.get()[key].size
        shifted = {axis: part[axis] + 1e-5 for axis in taken}
        field[key] = part.assign_coords(shifted)
    else:
        with pytest.raises(ValueError, match=r"values must be of (x|y) = \d\.\d+, not of \1 = \d"):
            field[key] = part
        assert field.max() == 0
        field[key] = part.drop_vars(["x", "y"])
        assert field.max() == 1


def test_a_number_of_an_array_is_a_number():
    field = pt.Field(GRIDS[1])
    number = (field.to_xarray() + 2)[1, 1]
    field[...] = number
    field += number
    field.fill(number + field.mean())
    assert field.min() == field.max() == 6
    field[0:2] = number * 6
    assert field.get()[:2].min() == 12


def test_values_are_found_by_their_places():
    field = pt.Field(pt.Grid((4, 4), boundary="wall"))
    field[2, 1] = 5
    assert field.to_xarray().sel(x=0.6, y=0.4, method="nearest") == 5


def test_a_file_of_netcdf_can_be_made_of_it(tmp_path):
    """What NetCDF cannot hold, such as lists of pairs, is not among the attributes."""
    field = pt.Field(GRIDS[1], name="u")
    field[2, 1] = 5
    field.to_xarray().to_netcdf(tmp_path / "u.nc", engine="scipy")
    with xarray.open_dataarray(tmp_path / "u.nc", engine="scipy") as read:
        xarray.testing.assert_identical(read.load(), field.to_xarray())


@pytest.mark.parametrize("has_places", [True, False])
def test_pictures_find_axes_by_their_names(has_places):
    """A turned array is drawn as the field that it was of, on its coordinates if it has any."""
    field = pt.Field(GRIDS[1], name="u")
    field[...] = np.arange(field.size).reshape(field.shape)
    array = field.to_xarray()
    given = (array if has_places else array.drop_vars(["x", "y"])).T
    whole = pt.plot.slice(field).images[0]
    drawn = pt.plot.slice(given).images[0]
    np.testing.assert_array_equal(drawn.get_array(), whole.get_array())
    box = whole.get_extent() if has_places else (-0.1, 0.9, -1 / 14, 13 / 14)
    np.testing.assert_allclose(drawn.get_extent(), box, atol=1e-12)
    other = pt.plot.slice(array.rename(x="lon").T).images[0]
    np.testing.assert_array_equal(other.get_array(), whole.get_array().T)
    plt.close("all")


def test_missing_xarray_is_named():
    output = child.check("""
        import sys
        import particles as pt
        assert "xarray" not in sys.modules
        sys.modules["xarray"] = None
        try:
            pt.Field(pt.Grid(3)).to_xarray()
        except ImportError as error:
            print(error)
    """)
    assert "to_xarray needs xarray: pip install xarray" in output


def test_time_is_a_coordinate(device):
    field = pt.Field(GRIDS[1], device=device, name="u")
    moments = []
    for time in (0, 0.5, 2):
        field.fill(time)
        moments.append(field.to_xarray(time))
    assert moments[1].time.item() == 0.5
    runs = xarray.concat(moments, "time")
    assert runs.dims == ("time", "x", "y")
    np.testing.assert_array_equal(runs.sel(time=2), np.full(GRIDS[1].shape, 2))


def test_attributes_tell_the_rest_of_the_grid():
    array = pt.Field(GRIDS[1]).to_xarray()
    shown = {"origin": 0.0, "extent": 5 * 0.1, "spacing": 0.1, "boundary": "periodic"}
    assert array.x.attrs == shown
    assert array.y.attrs["boundary"] == "inflow outflow"
