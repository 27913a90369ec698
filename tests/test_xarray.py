# SPDX-License-Identifier: BSD-3-Clause
"""Fields as arrays of xarray."""

import child
import numpy as np
import particles as pt
import pytest
import xarray

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
    assert "to_xarray needs xarray: pip install 'particles-opencl[xarray]'" in output


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
