# SPDX-License-Identifier: BSD-3-Clause
"""Files of fields: what is read is what was written, and nothing is lost on the way."""

import errno
import tracemalloc
import zipfile

import numpy as np
import particles as pt
import pytest
from particles.io import contents

from tests.io.test_full_disks import disk_full_after
from tests.support.written import GRIDS, as_vectors, check_same, check_xdmf, numbered, read_vti


@pytest.fixture
def small_slabs(monkeypatch):
    """Have slabs end within a field, and the last one be shorter."""
    monkeypatch.setattr(contents, "SLAB_BYTES", 200)


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
            np.testing.assert_array_equal(values, as_vectors(fields[name]).astype(values.dtype))


def test_only_a_file_of_numpy_is_called_so(tmp_path):
    with pytest.raises(ValueError, match=r"path must end in \.npz, not .*u\.h5"):
        pt.io.save(tmp_path / "u.h5", numbered(GRIDS[0]))
    assert not list(tmp_path.iterdir())


def test_a_field_alone_goes_under_its_name(tmp_path):
    for name, expected in ("u", "u"), (None, "values"):
        pt.io.save(tmp_path / "u.npz", numbered(GRIDS[0], name=name))
        fields, time = pt.io.load(tmp_path / "u.npz")
        assert (list(fields), time) == ([expected], None)


@pytest.mark.sampled
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


def test_a_series_is_told_from_an_archive(tmp_path):
    pytest.importorskip("h5py")
    pt.io.Series(tmp_path / "u.h5").append(0.0, numbered(GRIDS[1]))
    with pytest.raises(ValueError, match=r"u\.h5 is a series: use io\.Series\(path\)"):
        pt.io.load(tmp_path / "u.h5")


WRITTEN = "file.npz", "file.vti", "file.checkpoint"


def writers():
    field = numbered(pt.Grid((8, 8)), name="u")
    wind = pt.Velocity(field.grid, lambda x, y: (1, 1))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(field))
    return [
        lambda path: pt.io.save(path, field),
        lambda path: pt.io.write_vti(path, field),
        lambda path: pt.io.checkpoint(path, transport),
    ]


@pytest.mark.parametrize("number", range(3))
def test_a_full_disk_costs_nothing(number, tmp_path):
    path = tmp_path / WRITTEN[number]
    path.write_bytes(b"what was there")
    write = writers()[number]
    with disk_full_after(300), pytest.raises(OSError, match="File too large") as caught:
        write(path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", range(3))
def test_a_file_is_on_the_disk_before_it_replaces_another(number, tmp_path, monkeypatch):
    path = tmp_path / WRITTEN[number]
    path.write_bytes(b"what was there")

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        writers()[number](path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_an_archive_that_declares_more_than_it_holds_takes_no_memory(tmp_path):
    sound, huge = tmp_path / "u.npz", tmp_path / "huge.npz"
    pt.io.save(sound, numbered(pt.Grid(4), name="u"))
    with zipfile.ZipFile(sound) as given, zipfile.ZipFile(huge, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            if name == "u.npy":
                content = content.replace(b"(4,), }" + b" " * 12, b"(1000000000000,), }")
                assert b"(1000000000000,)" in content
            made.writestr(name, content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="bytes for the shape"):
            pt.io.load(huge)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["u" * 70000, "ü" * 128])
def test_names_that_files_cannot_have_are_refused(name, tmp_path):
    for write in (pt.io.save, pt.io.write_vti):
        with pytest.raises(
            ValueError, match=r"^fields must have names that can be stored in a file"
        ):
            write(tmp_path / "u.npz", {name: numbered(pt.Grid(4))})
    assert list(tmp_path.iterdir()) == []


def test_links_stay_links_and_modes_are_usual(tmp_path):
    path, link = tmp_path / "u.npz", tmp_path / "link.npz"
    link.symlink_to(path)
    pt.io.save(link, numbered(GRIDS[0]))
    (tmp_path / "usual").touch()
    assert link.is_symlink()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.sampled
def test_no_second_copy_is_on_the_host(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "SLAB_BYTES", 2**16)
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


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        (3, TypeError, "fields must be a Field.*, not 3"),
        ({}, TypeError, "fields must be a Field"),
        (
            {"u": 1},
            TypeError,
            "fields must be a Field.*, not 1 in it",
        ),
        ({"a/b": numbered(GRIDS[0])}, ValueError, "names that can be stored in a file, not 'a/b'"),
        ({"a\0": numbered(GRIDS[0])}, ValueError, "names that can be stored in a file, not 'a"),
        ({"": numbered(GRIDS[0])}, ValueError, "names that can be stored in a file, not ''"),
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
