# SPDX-License-Identifier: BSD-3-Clause
"""Series as datasets of xarray."""

import pickle

import numpy as np
import particles as pt
import pytest
import xarray
from particles.io import series_reading
from particles.io.atomic.pages import PAGE

from tests.support import child

pytestmark = pytest.mark.one_device

GRID = pt.Grid((4, 5, 6), origin=0.1, boundary=["periodic", "wall", ("inflow", "outflow")])
TIMES = (0.0, 0.5, 2.0)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a series of fields of every dtype and number of components, and their values."""
    path, random = tmp_path_factory.mktemp("series") / "run.h5", np.random.default_rng(1)
    kinds = {"u": (1, "float32"), "v": (3, "float16"), "w": (2, "float64")}
    fields = {name: pt.Field(GRID, *kind) for name, kind in kinds.items()}
    values = {name: [] for name in kinds}
    for time in TIMES:
        for name, field in fields.items():
            field[...] = random.normal(size=field.shape)
            values[name].append(field.get())
        pt.io.Series(path).append(time, fields)
    return pt.io.Series(path), {name: np.stack(those) for name, those in values.items()}


def test_values_dimensions_and_coordinates(written):
    series, values = written
    dataset = series.to_xarray()
    assert isinstance(dataset, xarray.Dataset)
    axes = ("x", "y", "z")
    assert dataset.u.dims == ("time", *axes)
    assert dataset.v.dims == ("time", "component_3", *axes)
    assert dataset.w.dims == ("time", "component_2", *axes)
    np.testing.assert_array_equal(dataset.time, TIMES)
    for axis in axes:
        xarray.testing.assert_identical(dataset[axis], pt.Field(GRID).to_xarray()[axis])
    for name, expected in values.items():
        assert dataset[name].dtype == expected.dtype
        np.testing.assert_array_equal(dataset[name], expected)


KEYS = [
    np.s_[1],
    np.s_[:, 2],
    np.s_[-1, 0, 0, 0, 0],
    np.s_[::2, ::-1, 1, :, 2:4],
    np.s_[:, :, 3, ::-2, 5],
    np.s_[2:0:-1, 1, ..., 3:],
    np.s_[1:1],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_parts(written, key):
    series, values = written
    np.testing.assert_array_equal(series.to_xarray().v[key], values["v"][key])


def test_arrays_of_places(written):
    series, values = written
    places = {"time": [2, 0], "component_3": [1], "y": [4, 1, 1]}
    outer = series.to_xarray().v.isel(places)
    np.testing.assert_array_equal(outer, values["v"][[2, 0]][:, [1]][:, :, :, [4, 1, 1]])
    along = {"time": ("p", [0, 2]), "z": ("p", [5, 1])}
    points = series.to_xarray().u.isel(
        {k: xarray.DataArray(v, dims=d) for k, (d, v) in along.items()}
    )
    expected = np.stack([values["u"][0, ..., 5], values["u"][2, ..., 1]])
    np.testing.assert_array_equal(points.transpose("p", "x", "y"), expected)


def test_one_number_of_components_needs_none_in_its_name(tmp_path):
    series = pt.io.Series(tmp_path / "run.h5")
    series.append(0, {"u": pt.Field(GRID), "v": pt.Field(GRID, 2), "w": pt.Field(GRID, 2)})
    assert series.to_xarray().w.dims == ("time", "component", "x", "y", "z")


def test_only_what_is_asked_for_is_read(written, monkeypatch):
    """And is compared with its sums: what is damaged elsewhere is of no matter."""
    series, _ = written
    read = []
    usual = series_reading.Reader.readinto

    def noted(reader, buffer):
        read.append(memoryview(buffer).nbytes)
        return usual(reader, buffer)

    monkeypatch.setattr(series_reading.Reader, "readinto", noted)
    dataset = series.to_xarray()
    before = sum(read)
    assert before < series.path.stat().st_size
    dataset.u.isel(time=1).load()
    assert 0 < sum(read) - before < 2 * before + 4 * GRID.size


def test_damage_is_named(tmp_path):
    series, grid = pt.io.Series(tmp_path / "run.h5"), pt.Grid(2 * PAGE)
    for time in range(3):
        u = pt.Field(grid, name="u")
        u.fill(time + 1)
        series.append(time, u)
    content = bytearray(series.path.read_bytes())
    place = content.index(np.full(PAGE, 2, "float32").tobytes()) + 2 * PAGE
    dataset = series.to_xarray()
    content[place] ^= 1
    series.path.write_bytes(content)
    np.testing.assert_array_equal(dataset.u[2], 3)
    with pytest.raises(ValueError, match=r"run\.h5 is damaged: field 'u': bytes .* another sum"):
        dataset.u[1].load()


def test_it_stays_as_it_was_opened(tmp_path):
    """Later times are not in it, a change is its own, and of another file it reads nothing."""
    series, u = pt.io.Series(tmp_path / "run.h5"), pt.Field(pt.Grid(4), name="u")
    series.append(0, u)
    dataset, copied = series.to_xarray(), pickle.loads(pickle.dumps(series.to_xarray()))
    u.fill(1)
    series.append(1, u)
    assert (dataset.sizes["time"], series.to_xarray().sizes["time"]) == (1, 2)
    dataset.u[0] = 5
    assert float(dataset.u.max()) == 5
    assert float(series.to_xarray().u.max()) == 1
    pt.io.Series(series.path, mode="w").append(0, u)
    with pytest.raises(ValueError, match=r"run\.h5 has been replaced since it was opened"):
        copied.u.load()


def test_it_is_written_to_netcdf(written, tmp_path):
    dataset = written[0].to_xarray().drop_vars("v")  # NetCDF 3 has no float16
    dataset.to_netcdf(tmp_path / "run.nc", engine="scipy")
    with xarray.open_dataset(tmp_path / "run.nc", engine="scipy") as read:
        xarray.testing.assert_identical(read.load(), dataset.load())


def test_xarray_opens_it_by_itself(written, tmp_path):
    """And leaves other files to others."""
    series, _ = written
    assert xarray.open_dataset(series.path).identical(series.to_xarray())
    assert set(xarray.open_dataset(series.path, drop_variables=["v", "w"])) == {"u"}
    (tmp_path / "other.h5").write_bytes(b"other")
    with pytest.raises(ValueError, match="did not find a match"):
        xarray.open_dataset(tmp_path / "other.h5")


def test_what_cannot_be_a_dataset_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"none\.h5 has no times: there is no such file"):
        pt.io.Series(tmp_path / "none.h5").to_xarray()
    series = pt.io.Series(tmp_path / "x.h5")
    series.append(0, {"x": pt.Field(pt.Grid(4)), "u": pt.Field(pt.Grid(4))})
    with pytest.raises(ValueError, match=r"x\.h5 has fields named x, as coordinates are"):
        series.to_xarray()


def test_missing_xarray_is_named(written):
    code = """
        import sys
        sys.modules["xarray"] = None
        import particles as pt
        try:
            pt.io.Series(sys.argv[1]).to_xarray()
        except ImportError as error:
            print(error)
    """
    output = child.check(code, written[0].path)
    assert "to_xarray needs xarray: pip install xarray" in output
