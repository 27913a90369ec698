# SPDX-License-Identifier: BSD-3-Clause
"""Files of fields: what is read is what was written, and nothing is lost on the way."""

import errno
import io
import struct
import tracemalloc
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import child
import h5py
import numpy as np
import particles as pt
import pytest
from particles import _files

GRIDS = [
    pt.Grid(9, origin=0.1, extent=3),
    pt.Grid((5, 7), spacing=(0.1, 0.3), boundary=["periodic", ("inflow", "outflow")]),
    pt.Grid((3, 4, 6), origin=(1, 2, 3), boundary="wall"),
]


def numbered(grid, components=1, dtype="float32", device=None, name=None):
    """A field whose values all differ, from 0.5 on."""
    field = pt.Field(grid, components, dtype, device, name)
    field[...] = np.arange(field.size).reshape(field.shape) + 0.5
    return field


def check_same(one, other):
    assert (one.grid, one.dtype, one.shape) == (other.grid, other.dtype, other.shape)
    assert one.get().tobytes() == other.get().tobytes()


@pytest.fixture
def small_slabs(monkeypatch):
    """Have slabs end within a field, and the last one be shorter."""
    monkeypatch.setattr(_files, "SLAB_BYTES", 200)


@pytest.mark.usefixtures("small_slabs")
@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"{grid.ndim}d")
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
class TestRoundTrips:
    """With every dtype, number of components, dimension and boundary."""

    @pytest.fixture
    def fields(self, grid, kind, device):
        if np.dtype(kind) not in device.dtypes:
            pytest.skip(f"{device.name} has no {kind}")
        return {f"u{n}": numbered(grid, n, kind, device) for n in (1, 2, 3)}

    def test_npz(self, fields, device, tmp_path):
        pt.io.save(tmp_path / "u.npz", fields, time=0.1)
        read, time = pt.io.load(tmp_path / "u.npz", device)
        assert (list(read), time) == (list(fields), 0.1)
        for name, field in fields.items():
            check_same(read[name], field)
        with np.load(tmp_path / "u.npz") as arrays:
            for name, field in fields.items():
                np.testing.assert_array_equal(arrays[name], field.get(), strict=True)

    def test_series(self, fields, device, tmp_path):
        series = pt.io.Series(tmp_path / "u.h5")
        series.append(-1, fields)
        before = {name: field.copy() for name, field in fields.items()}
        for field in fields.values():
            field[...] = -field.get()
        pt.io.Series(str(tmp_path / "u.h5")).append(0.5, fields)
        assert (series.times, len(series)) == ((-1.0, 0.5), 2)
        for number, written in enumerate((before, fields)):
            read, time = series.load(number, device)
            assert (sorted(read), time) == (sorted(written), series.times[number])
            for name, field in written.items():
                check_same(read[name], field)
        check_xdmf(tmp_path / "u.xdmf", [before, fields])

    def test_vti(self, fields, tmp_path):
        pt.io.write_vti(tmp_path / "u.vti", fields)
        for name, values in read_vti(tmp_path / "u.vti", fields["u1"].grid).items():
            np.testing.assert_array_equal(values, fields[name].get().astype(values.dtype))


def read_vti(path, grid):
    """Read what VTK's description says, and check that the points are the grid's."""
    head, _, raw = path.read_bytes().partition(b'encoding="raw">\n_')
    (image,) = ElementTree.fromstring(head + b'encoding="raw"/></VTKFile>').iter("ImageData")
    shape = [int(n) + 1 for n in image.get("WholeExtent").split()[1::2]]
    first, spacing = ([float(x) for x in image.get(k).split()] for k in ("Origin", "Spacing"))
    assert shape == [*grid.shape, 1, 1][:3]
    for x, n, a, h in zip(grid.coordinates(), grid.shape, first, spacing, strict=False):
        np.testing.assert_allclose(x.ravel(), a + h * np.arange(n), rtol=1e-15)
    arrays = {}
    for array in image.iter("DataArray"):
        dtype = np.dtype(array.get("type").lower())
        components, offset = int(array.get("NumberOfComponents")), int(array.get("offset"))
        (size,) = struct.unpack_from("<Q", raw, offset)
        values = np.frombuffer(raw, dtype, size // dtype.itemsize, offset + 8)
        values = values.reshape((*shape[::-1], components)).T  # x is the fastest in the file
        arrays[array.get("Name")] = values.reshape((*[components][: components - 1], *grid.shape))
    assert raw[offset + 8 + size :] == b"\n  </AppendedData>\n</VTKFile>\n"
    return arrays


def check_xdmf(path, moments):
    """Read values as XDMF describes them, and check that the points are the grid's."""
    described = ElementTree.parse(path).getroot().findall("Domain/Grid/Grid")
    assert len(described) == len(moments)
    for moment, fields in zip(described, moments, strict=True):
        grid = next(iter(fields.values())).grid
        missing = 3 - grid.ndim
        shape = [int(n) for n in moment.find("Topology").get("Dimensions").split()]
        assert shape == [*[1] * missing, *grid.shape[::-1]]
        first, spacing = (
            [float(x) for x in item.text.split()] for item in moment.iterfind("Geometry/DataItem")
        )
        assert (first[missing:], spacing[missing:]) == ([*grid.first[::-1]], [*grid.spacing[::-1]])
        read = {a.get("Name"): read_attribute(a, path.parent) for a in moment.iter("Attribute")}
        for name, field in fields.items():
            values = field.get().reshape((field.components, *grid.shape))
            backwards = values.T.reshape((*shape, field.components))
            if field.components == 2:
                np.testing.assert_array_equal(read.pop(f"{name}[0]"), backwards[..., 0])
                np.testing.assert_array_equal(read.pop(f"{name}[1]"), backwards[..., 1])
            else:
                whole = backwards if field.components > 1 else backwards[..., 0]
                np.testing.assert_array_equal(read.pop(name), whole)
        assert not read


def read_attribute(attribute, folder):
    slab = attribute.find("DataItem")
    bounds, item = slab.findall("DataItem")
    start, stride, count = np.array(bounds.text.split(), int).reshape(3, -1)
    assert list(stride) == [1] * len(stride)
    name, _, place = item.text.partition(":")
    with h5py.File(folder / name) as file:
        values = file[place]
        assert values.dtype.itemsize == int(item.get("Precision")) >= 4
        assert list(values.shape) == [int(n) for n in item.get("Dimensions").split()]
        part = values[tuple(slice(a, a + n) for a, n in zip(start, count, strict=True))]
    return part.reshape([int(n) for n in slab.get("Dimensions").split()])


def test_a_field_alone_goes_under_its_name(tmp_path):
    for name, expected in ("u", "u"), (None, "values"):
        pt.io.save(tmp_path / "u.npz", numbered(GRIDS[0], name=name))
        fields, time = pt.io.load(tmp_path / "u.npz")
        assert (list(fields), time) == ([expected], None)


def test_every_damaged_byte_is_noticed_or_of_no_matter(tmp_path):
    field = numbered(pt.Grid(3, boundary="wall"), name="u")
    path = tmp_path / "u.npz"
    pt.io.save(path, field, time=1)
    content = path.read_bytes()
    noticed = 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            fields, time = pt.io.load(path)
        except ValueError as error:
            assert "u.npz is damaged, or not a file of fields" in str(error)  # noqa: PT017
            noticed += 1
        else:
            assert (list(fields), time) == (["u"], 1)
            check_same(fields["u"], field)
    assert noticed > len(content) / 2


@pytest.mark.parametrize("kept", [0, 10, 500, -1])
def test_an_archive_that_is_cut_short_is_refused(kept, tmp_path):
    path = tmp_path / "u.npz"
    pt.io.save(path, numbered(GRIDS[1]))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"u\.npz is damaged, or not a file of fields"):
        pt.io.load(path)


def test_other_archives_are_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez_compressed(tmp_path / "packed.npz", a=np.zeros(3))
    with zipfile.ZipFile(tmp_path / "text.npz", "w") as archive:
        archive.writestr("boundary.npy", "none")
    for name in "other", "packed", "text":
        with pytest.raises(ValueError, match=f"{name}.npz is damaged, or not a file of fields"):
            pt.io.load(tmp_path / f"{name}.npz")
    with pytest.raises(FileNotFoundError):
        pt.io.load(tmp_path / "none.npz")


def writers():
    field = numbered(pt.Grid((8, 8)), name="u")
    wind = pt.Velocity(field.grid, lambda x, y: (1, 1))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(field))
    return [
        lambda path: pt.io.save(path, field),
        lambda path: pt.io.write_vti(path, field),
        lambda path: pt.io.checkpoint(path, transport),
    ]


class FullDisk(io.FileIO):
    """A disk with room for 300 bytes."""

    def write(self, content):
        if self.tell() + len(content) > 300:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


@pytest.mark.parametrize("number", range(3))
def test_a_full_disk_costs_nothing(number, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"what was there")
    monkeypatch.setattr(Path, "open", lambda self, mode: FullDisk(self, mode.replace("b", "")))
    with pytest.raises(OSError, match="No space left"):
        writers()[number](path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", range(3))
def test_a_file_is_on_the_disk_before_it_replaces_another(number, tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"what was there")

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(_files.os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        writers()[number](path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_links_and_modes_are_usual(tmp_path):
    path, link = tmp_path / "u.npz", tmp_path / "link.npz"
    link.symlink_to(path)
    pt.io.save(link, numbered(GRIDS[0]))
    (tmp_path / "usual").touch()
    assert link.is_symlink()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_no_second_copy_is_on_the_host(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "SLAB_BYTES", 2**16)
    field = numbered(pt.Grid((64, 128, 128)), 2, name="u")
    wind = pt.Velocity(field.grid, lambda x, y, z: (1, 1, 1))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(field))
    series = pt.io.Series(tmp_path / "u.h5")
    for work in (
        lambda: pt.io.save(tmp_path / "u.npz", field),
        lambda: pt.io.load(tmp_path / "u.npz"),
        lambda: pt.io.write_vti(tmp_path / "u.vti", field),
        lambda: pt.io.checkpoint(tmp_path / "u.checkpoint", transport),
        lambda: pt.io.restore(tmp_path / "u.checkpoint", transport),
        lambda: series.append(0, field),
        lambda: series.load(0),
    ):
        tracemalloc.start()
        work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < field.nbytes / 4


def test_a_series_goes_on_only_with_what_it_began_with(tmp_path):
    path = tmp_path / "u.h5"
    grid, other = GRIDS[1], pt.Grid((5, 7))
    series = pt.io.Series(path)
    assert series.times == ()
    series.append(1, {"u": numbered(grid)})
    for time, fields, words in (
        (1, {"u": numbered(grid)}, r"time must be after the last one, 1\.0, not 1\.0"),
        (2, {"v": numbered(grid)}, "fields must be u as before, not v"),
        (2, {"u": numbered(grid, 2)}, r"field 'u' must be of the shape \(5, 7\) and of float32"),
        (2, {"u": numbered(grid, 1, "float16")}, "as before, not .* and float16"),
        (2, {"u": numbered(other)}, "field 'u' must be on .* as before, not on"),
    ):
        with pytest.raises(ValueError, match=words):
            series.append(time, fields)
    assert series.times == (1.0,)
    check_same(series.load(-1).fields["u"], numbered(grid))
    with pytest.raises(IndexError, match="index must be from -1 to 0, not 1"):
        series.load(1)


def test_what_could_not_be_appended_is_written_over(tmp_path, monkeypatch):
    series, u = pt.io.Series(tmp_path / "u.h5"), numbered(GRIDS[2])
    series.append(0, u)
    with monkeypatch.context() as patch:
        patch.setattr(h5py.File, "flush", refuse)
        with pytest.raises(OSError, match="No space left"):
            series.append(1, u)
    assert series.times == (0.0,)
    u.fill(3)
    series.append(2, u)
    assert series.times == (0.0, 2.0)
    check_same(series.load(1).fields["values"], u)


def refuse(file):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_other_files_are_no_series(tmp_path):
    (tmp_path / "text.h5").write_text("text")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["time"] = [1.0]
    with pytest.raises(OSError, match=r"text\.h5 cannot be opened as a file of HDF5"):
        pt.io.Series(tmp_path / "text.h5")
    with pytest.raises(ValueError, match=r"other\.h5 is a file of HDF5, but not a series"):
        pt.io.Series(tmp_path / "other.h5")


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        (3, TypeError, "fields must be a Field or a dict of them by name, not 3"),
        ({}, TypeError, "fields must be a Field or a dict of them by name"),
        ({"u": 1}, TypeError, "fields must be a Field or a dict of them by name, not 1 in it"),
        ({"a/b": numbered(GRIDS[0])}, ValueError, "names that files can have, not 'a/b'"),
        ({"a\0": numbered(GRIDS[0])}, ValueError, "names that files can have, not 'a"),
        ({"": numbered(GRIDS[0])}, ValueError, "names that files can have, not ''"),
        ({"time": numbered(GRIDS[0])}, ValueError, "must not be named .* but one is 'time'"),
        (
            {"u": numbered(GRIDS[0]), "v": numbered(GRIDS[1])},
            ValueError,
            "fields must be on one grid, not on Grid",
        ),
    ],
)
def test_what_cannot_be_written_is_refused(fields, error, words, tmp_path):
    for write in (
        lambda: pt.io.save(tmp_path / "u.npz", fields),
        lambda: pt.io.write_vti(tmp_path / "u.vti", fields),
        lambda: pt.io.Series(tmp_path / "u.h5").append(0, fields),
    ):
        with pytest.raises(error, match=words):
            write()
    assert not list(tmp_path.iterdir())


def test_missing_h5py_is_named():
    output = child.check("""
        import sys
        sys.modules["h5py"] = None
        import particles as pt
        try:
            pt.io.Series("run.h5")
        except ImportError as error:
            print(error)
    """)
    assert "Series needs h5py: pip install 'particles-opencl[io]'" in output


def test_importing_it_imports_no_h5py():
    child.check("import sys, particles.io; assert 'h5py' not in sys.modules")
