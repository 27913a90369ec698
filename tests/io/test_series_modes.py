# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a file that is there when a series is opened: it is continued or replaced."""

import copy
import fcntl
import os
import pickle
import stat

import h5py
import numpy as np
import particles as pt
import pytest
from particles.io.atomic import changing, locks
from particles.io.atomic.journal import journal_of

from tests.io.cuts import Disk, put
from tests.io.test_full_disks import disk_full_after
from tests.support.written import GRIDS, check_same, check_xdmf, numbered

pytestmark = pytest.mark.one_device


def filled(value, grid=GRIDS[1], name="u"):
    field = pt.Field(grid, name=name)
    field.fill(value)
    return field


def values_of(series):
    """Return the times, each with the value that all points of the first field have."""
    fields = (next(iter(series.load(k).fields.values())) for k in range(len(series)))
    return dict(zip(series.times, (float(np.unique(u).item()) for u in fields), strict=True))


@pytest.fixture
def path(tmp_path):
    """Return a series of two times."""
    path = tmp_path / "u.h5"
    for time in 0, 1:
        pt.io.Series(path).append(time, filled(time))
    return path


def test_a_new_series_takes_the_place_of_the_old_one_with_its_first_fields(path):
    """They may be on another grid, under other names, at earlier times."""
    series, v = pt.io.Series(path, mode="w"), numbered(GRIDS[2], 2, name="v")
    assert (len(series), series.times) == (0, ())
    with pytest.raises(IndexError, match=r"u\.h5 has no times"):
        series.load(-1)
    assert values_of(pt.io.Series(path)) == {0: 0, 1: 1}
    series.append(-3, v)
    series.append(-2, v)
    assert series.times == pt.io.Series(path).times == (-3, -2)
    check_same(series.load(1).fields["v"], v)
    check_xdmf(path.with_suffix(".xdmf"), [{"v": v}, {"v": v}])
    assert {file.name for file in path.parent.iterdir()} == {"u.h5", "u.xdmf"}


def test_a_series_that_is_read_alone_must_be_there_and_stays(path):
    with pytest.raises(FileNotFoundError, match=r"none\.h5"):
        pt.io.Series(path.with_name("none.h5"), mode="r")
    series, old = pt.io.Series(path, mode="r"), path.read_bytes()
    for one in series, pickle.loads(pickle.dumps(series)):
        assert values_of(one) == {0: 0, 1: 1}
        with pytest.raises(ValueError, match=r"u\.h5 is opened with mode='r', to be read"):
            one.append(2, filled(2))
    assert path.read_bytes() == old


def test_a_series_tells_that_there_is_no_file_yet(path):
    series = pt.io.Series(path.with_name("none.h5"))
    assert repr(series).endswith("none.h5', no file yet)")
    with pytest.raises(IndexError, match=r"none\.h5 has no times: there is no such file"):
        series.load(-1)
    assert repr(pt.io.Series(path)).endswith("u.h5', 2 times)")


def test_what_cannot_be_appended_names_the_file_and_the_way_out(path):
    series = pt.io.Series(path)
    words = rf"; {path} is continued, unless it is opened with mode='w'$"
    for time, fields, what in (
        (1, filled(0), r"time must be after the last one, 1\.0, not 1\.0"),
        (2, filled(0, name="v"), "fields must be u as before, not v"),
        (2, filled(0, GRIDS[0]), r"field 'u' must be of the shape \(5, 7\)"),
    ):
        with pytest.raises(ValueError, match=what + ".*" + words):
            series.append(time, fields)


def test_what_begins_anew_may_be_copied_until_it_has_begun(path):
    series = pt.io.Series(path, mode="w")
    assert copy.copy(series).times == pickle.loads(pickle.dumps(series)).times == ()
    series.append(5, filled(5))
    assert copy.copy(series).times == pickle.loads(pickle.dumps(series)).times == (5,)


@pytest.mark.parametrize("what", ["text", "damaged", "hdf5", "nothing"])
def test_any_regular_file_is_replaced(path, what):
    if what == "damaged":
        path.write_bytes(path.read_bytes()[:-1])
    elif what == "hdf5":
        h5py.File(path, "w").close()
    else:
        path.write_text("text" if what == "text" else "")
    pt.io.Series(path, mode="w").append(3, filled(4))
    assert values_of(pt.io.Series(path)) == {3: 4}


def test_an_empty_file_is_a_series_without_times(tmp_path):
    path = tmp_path / "u.h5"
    path.touch(mode=0o640)
    series = pt.io.Series(path)
    assert series.times == ()
    with pytest.raises(IndexError, match=r"u\.h5 has no times"):
        series.load(0)
    series.append(0, filled(1))
    assert values_of(pt.io.Series(path)) == {0: 1}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_links_lead_to_the_new_file_and_hard_links_to_the_old_one(path, tmp_path):
    (tmp_path / "soft.h5").symlink_to(path)
    os.link(path, tmp_path / "hard.h5")
    path.chmod(0o640)
    pt.io.Series(tmp_path / "soft.h5", mode="w").append(5, filled(6))
    assert (tmp_path / "soft.h5").is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert values_of(pt.io.Series(path)) == {5: 6}
    assert values_of(pt.io.Series(tmp_path / "hard.h5")) == {0: 0, 1: 1}


def test_a_file_of_several_names_is_read_and_not_changed(path, tmp_path):
    """Under the other one somebody may be at work with a journal of that name."""
    os.link(path, tmp_path / "other.h5")
    content = path.read_bytes()
    for name in "u.h5", "other.h5":
        series = pt.io.Series(tmp_path / name)
        with pytest.raises(OSError, match=rf"another hard link.*; change a copy: '.*{name}'"):
            series.append(2, filled(2))
        assert values_of(series) == {0: 0, 1: 1}
    assert path.read_bytes() == content
    assert not list(tmp_path.glob("*.journal"))
    (tmp_path / "other.h5").unlink()
    pt.io.Series(path).append(2, filled(2))


def test_who_changes_or_may_not_write_is_not_replaced(path, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    series = pt.io.Series(path, mode="w")
    with changing(path, lambda: None), pytest.raises(OSError, match="in use by others"):
        series.append(5, filled(5))
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as HDF5 does
        with pytest.raises(OSError, match="in use by others"):
            series.append(5, filled(5))
    assert values_of(pt.io.Series(path)) == {0: 0, 1: 1}
    usual = os.open

    def not_to_write(name, flags, *mode, **options):
        if str(name) == str(path) and flags & os.O_RDWR:  # as root may write anything
            raise PermissionError(13, "Permission denied", str(name))
        return usual(name, flags, *mode, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", not_to_write)
        with pytest.raises(PermissionError):
            series.append(5, filled(5))
    assert {file.name for file in path.parent.iterdir()} == {"u.h5", "u.xdmf"}
    assert values_of(pt.io.Series(path)) == {0: 0, 1: 1}
    series.append(5, filled(5))
    assert values_of(series) == {5: 5}


def test_a_disk_that_is_full_keeps_the_old_series(path):
    series, old = pt.io.Series(path, mode="w"), path.read_bytes()
    for size in (0, 5000, len(old) // 2):
        with disk_full_after(size), pytest.raises(OSError, match="File too large"):
            series.append(5, filled(5))
        assert path.read_bytes() == old
        assert {file.name for file in path.parent.iterdir()} == {"u.h5", "u.xdmf"}
    series.append(5, filled(5))
    assert values_of(series) == {5: 5}


@pytest.mark.sampled
@pytest.mark.parametrize("is_cut", [False, True])
def test_wherever_a_replacement_is_cut_there_is_the_old_series_or_the_new_one(
    path, monkeypatch, is_cut
):
    """Also where the old one was left in the middle of a change."""
    monkeypatch.setattr(os, "fsync", lambda number: None)
    names, random, folder = ["u.h5", "u.h5.journal"], np.random.default_rng(is_cut), path.parent
    if is_cut:
        disk = Disk(folder, names)
        with disk.noted():
            pt.io.Series(path).append(2, filled(2))
        put(folder, disk.killed(disk.log.index(("flush folder",)) + 3))
        assert journal_of(path).stat().st_size > 0
    disk = Disk(folder, names)
    with disk.noted():
        pt.io.Series(path, mode="w").append(7, filled(8))
    seen = []
    for count in range(len(disk.log) + 1):
        for contents in disk.killed(count, part=0.5), disk.without_power(count, random):
            put(folder, contents)
            found = values_of(pt.io.Series(path))
            seen.append(found)
            pt.io.Series(path).append(9, filled(10))
            assert values_of(pt.io.Series(path)) == {**found, 9: 10}
            assert {file.name for file in folder.iterdir()} == {"u.h5", "u.xdmf"}
    print(len(seen), "cuts")
    assert {tuple(one.items()) for one in seen} == {((0, 0), (1, 1)), ((7, 8),)}
