# SPDX-License-Identifier: BSD-3-Clause
"""Series of fields in files: they go on as they began, or are refused and left alone."""

import fcntl
import itertools
import os
import shutil

import h5py
import numpy as np
import particles as pt
import pytest
from particles.io.atomic import locks

from tests.io.cuts import Disk, put
from tests.io.test_full_disks import disk_full_after
from tests.support import child
from tests.support.written import GRIDS, check_same, check_xdmf, numbered


def test_a_series_may_be_moved(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    u = numbered(GRIDS[1], name="u")
    pt.io.Series(here / "u.h5").append(0, u)
    here.rename(there)
    check_xdmf(there / "u.xdmf", [{"u": u}])


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
    with pytest.raises(
        IndexError,
        match=r"index must be that of a time, but .*none\.h5 has no times: there is no such file",
    ):
        pt.io.Series(tmp_path / "none.h5").load(-1)
    with pytest.raises(IndexError, match="index must be from -1 to 0, not 1"):
        series.load(1)


def test_a_disk_that_fills_leaves_a_series_as_it_was(tmp_path):
    """Wherever it does, and as often; and once there is room it goes on."""
    path, u = tmp_path / "u.h5", numbered(pt.Grid((40, 40)), name="u")
    series = pt.io.Series(path)
    series.append(0, u)
    old, files = path.read_bytes(), set(tmp_path.iterdir())
    shutil.copy(path, tmp_path.parent / "longer.h5")
    pt.io.Series(tmp_path.parent / "longer.h5").append(1, u)
    needed = (tmp_path.parent / "longer.h5").stat().st_size
    for size in (*range(len(old), needed, 1000), needed - 1, 0):
        with disk_full_after(size), pytest.raises(OSError, match="File too large") as caught:
            series.append(1, u)
        assert caught.value.filename in map(str, files)
        assert path.read_bytes() == old
        assert set(tmp_path.iterdir()) == files
    u.fill(3)
    series.append(2, u)
    assert series.times == (0.0, 2.0)
    check_same(series.load(1).fields["u"], u)
    check_same(series.load(0).fields["u"], numbered(pt.Grid((40, 40))))


def test_what_lies_beside_a_series_is_not_the_series(tmp_path):
    with pytest.raises(
        ValueError, match=r"^path must name the HDF5 file, not the XDMF file beside it"
    ):
        pt.io.Series(tmp_path / "run.xdmf")
    u = numbered(GRIDS[2], name="u")
    for name in ("run.1", "run.2", "run.h5", "other.hdf5"):
        pt.io.Series(tmp_path / name).append(0, u)
    there = {path.name for path in tmp_path.glob("*.xdmf")}
    assert there == {"run.1.xdmf", "run.2.xdmf", "run.xdmf", "other.xdmf"}


def test_a_series_for_which_there_is_no_room_is_not_begun(tmp_path):
    series, u = pt.io.Series(tmp_path / "u.h5"), numbered(GRIDS[2])
    for size in (0, 100, 5000):
        with disk_full_after(size), pytest.raises(OSError, match="File too large"):
            series.append(0, u)
        assert list(tmp_path.iterdir()) == []
    series.append(0, u)
    check_same(series.load(0).fields["values"], u)


def test_a_series_that_another_appends_to_is_left_alone(tmp_path, monkeypatch):
    path, u = tmp_path / "u.h5", numbered(GRIDS[2])
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    series = pt.io.Series(path)
    series.append(0, u)
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(OSError, match=r"in use by others: .*u\.h5"):
            series.append(1, u)
    series.append(1, u)
    assert series.times == (0.0, 1.0)


@pytest.mark.sampled
@pytest.mark.parametrize("times", [0, 2])
def test_wherever_an_append_is_cut_a_series_is_as_before_or_after(tmp_path, monkeypatch, times):
    """At each write, flush, new end, name and removal: by a kill or, in any order, a power cut."""
    path, u, random = (
        tmp_path / "u.h5",
        pt.Field(pt.Grid((40, 40)), name="u"),
        np.random.default_rng(times),
    )
    series = pt.io.Series(path)
    monkeypatch.setattr(os, "fsync", lambda number: None)
    for time in range(times):
        u.fill(time)
        series.append(time, u)
    disk = Disk(tmp_path, ["u.h5", "u.h5.journal"])
    u.fill(times)
    with disk.noted():
        series.append(times, u)
    seen = []
    for count in range(len(disk.log) + 1):
        for contents in disk.killed(count, part=0.5), disk.without_power(count, random):
            put(tmp_path, contents)
            found = len(series)
            seen.append(found - times)
            for time in range(found):
                assert (series.load(time).fields["u"].get() == time).all()
            u.fill(found)
            series.append(found, u)
            assert series.times == tuple(range(found + 1))
            assert {path.name for path in tmp_path.iterdir()} == {"u.h5", "u.xdmf"}
    print(len(seen), "cuts")
    assert set(seen) == {0, 1}


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.95])
def test_a_series_that_is_cut_short_is_refused_and_left_alone(kept, tmp_path):
    path, u = tmp_path / "u.h5", numbered(pt.Grid((16, 16, 16)))
    series = pt.io.Series(path)
    for time in range(3):
        series.append(time, u)
    content = path.read_bytes()[: int(kept * path.stat().st_size)]
    path.write_bytes(content)
    for use in (lambda: series.append(3, u), lambda: series.load(0), lambda: pt.io.Series(path)):
        with pytest.raises(ValueError, match=r"u\.h5 is damaged: it is cut short"):
            use()
    assert path.read_bytes() == content


def test_other_files_are_no_series(tmp_path):
    (tmp_path / "text.h5").write_text("text")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["time"] = [1.0]
    for name in ("text.h5", "other.h5"):
        content = (tmp_path / name).read_bytes()
        with pytest.raises(ValueError, match=f"{name} is not a series of fields that this version"):
            pt.io.Series(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content


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
    assert "Series needs h5py: pip install h5py" in output


def test_importing_it_imports_no_h5py():
    child.check("import sys, particles.io; assert 'h5py' not in sys.modules")


def test_names_with_signs_of_hdf5_lead_to_their_own_values(tmp_path):
    path = tmp_path / "u.h5"
    named = {name: pt.Field(GRIDS[1], name=name) for name in ("100%", "a%%b", "a%b", "%d{}")}
    for moment in range(2):
        for k, field in enumerate(named.values()):
            field.fill(10 * moment + k + 1)
        pt.io.Series(path).append(moment, named)
    with h5py.File(path) as file:
        for moment, (k, name) in itertools.product(range(2), enumerate(named)):
            assert (file[f"moments/{moment}/{name}"][()] == 10 * moment + k + 1).all()


def test_fields_named_as_components_of_others_are_refused(tmp_path):
    one, four = pt.Field(GRIDS[1]), pt.Field(GRIDS[1], 4)
    words = r"^fields must not have the names of components of others, as do u, u\[1\]$"
    with pytest.raises(ValueError, match=words):
        pt.io.Series(tmp_path / "u.h5").append(0, {"u": four, "u[1]": one})
    assert not list(tmp_path.iterdir())
