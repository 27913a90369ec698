# SPDX-License-Identifier: BSD-3-Clause
"""What somebody else may have put into the cache is not used, which is said once."""

import os
import warnings
from pathlib import Path

import particles as pt
import pytest
from particles import _cache, _cli, _core, _own_folder, _toolchain
from particles._own_folder import NotOurs, own_folder

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
SOURCE = "__kernel void f(__global float* a) { a[0] = 1; }"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the cache folder, none of whose faults has been told yet."""
    folder = tmp_path / "above" / "cache"
    monkeypatch.setenv("PARTICLES_CACHE", str(folder))
    monkeypatch.setattr(_cache, "_said", set())
    return folder


def give_away(path):
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(path, 12345, 12345)


def open_to_all(path):
    path.chmod(0o777)


def open_to_group(path):
    path.chmod(0o775)
    os.chown(path, -1, 12345) if os.geteuid() == 0 else pytest.skip("only root may change groups")


def make_sticky(path):
    path.chmod(0o1777)


FAULTS = [give_away, open_to_all, open_to_group]


@pytest.mark.parametrize("where", ["cache", "above"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_folder_that_others_can_change_is_not_used_and_that_is_said_once(
    folder, where, fault, capsys
):
    path = _cache.path_of("form", "fact")
    _cache.write_facts(path, {"known": True})
    programs = Path(_cache.program_folder(False))
    assert programs == folder / "programs"
    at_fault = folder if where == "cache" else folder.parent
    fault(at_fault)
    with pytest.warns(RuntimeWarning) as caught:
        assert _cache.cache_folder() == _cache.cache_folder() == ""
    (warning,) = caught
    words = str(warning.message)
    assert words.startswith(f"the cache folder {folder} is not used, and nothing is kept: ")
    assert str(at_fault) in words
    assert _cache.read_facts(_cache.path_of("form", "fact")) == {}
    assert _cache.contents()["form"] == []
    assert _cli.main(["cache", "show"]) == 0
    assert capsys.readouterr().out == words + "\n"
    assert _cli.main(["cache", "clear"]) == 0
    assert path.exists()


def test_a_sticky_folder_may_be_above_but_not_be_the_cache(folder):
    assert _cache.cache_folder() == str(folder)
    make_sticky(folder.parent)
    assert _cache.cache_folder() == str(folder)
    make_sticky(folder)
    with pytest.warns(RuntimeWarning, match=f"others may write {folder} "):
        assert _cache.cache_folder() == ""


def test_a_link_is_followed_to_a_folder_of_ours_alone(folder, tmp_path):
    target = tmp_path / "elsewhere"
    folder.parent.mkdir()
    folder.symlink_to(target)
    assert _cache.cache_folder() == str(target)
    assert target.stat().st_mode & 0o777 == 0o700
    open_to_all(target)
    with pytest.warns(RuntimeWarning, match=f"others may write {target} "):
        assert _cache.cache_folder() == ""


def test_a_loop_of_links_is_no_folder(folder):
    folder.parent.mkdir()
    folder.symlink_to(folder)
    assert _cache.cache_folder() == ""


@needs_root
def test_root_makes_no_folders_in_the_home_of_a_user(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    give_away(home)
    monkeypatch.delenv("PARTICLES_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(_cache, "_said", set())
    with pytest.warns(RuntimeWarning, match=f"{home} belongs to user 12345, not to root"):
        assert _cache.cache_folder() == ""
    assert list(home.iterdir()) == []


def test_a_group_of_ones_own_may_write_above(tmp_path, monkeypatch):
    me = os.geteuid()
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o775)

    class Group:
        gr_name, gr_mem = _own_folder.pwd.getpwuid(me).pw_name, []

    class User:
        pw_name, pw_gid = Group.gr_name, above.stat().st_gid

    monkeypatch.setattr(_own_folder.grp, "getgrgid", lambda _: Group)
    monkeypatch.setattr(_own_folder.pwd, "getpwuid", lambda _: User)
    assert own_folder(above / "cache") == above / "cache"
    for members, name in (([Group.gr_name, "other"], Group.gr_name), ([], "users")):
        Group.gr_mem, Group.gr_name = members, name
        with pytest.raises(NotOurs, match=f"others may write {above} "):
            own_folder(above / "cache")


@pytest.mark.parametrize("fault", [give_away, open_to_all, "fifo", "link"])
def test_a_file_that_others_could_write_is_not_read(folder, fault, tmp_path):
    path = _cache.path_of("form", "fact")
    _cache.write_facts(path, {"known": True})
    assert path.stat().st_mode & 0o777 == 0o600
    spoil(path, fault, tmp_path)
    assert _cache.read_facts(path) == {}
    _cache.write_facts(path, {"known": 2})
    assert _cache.read_facts(path) == ({"known": 2} if callable(fault) else {})


def spoil(path, fault, tmp_path):
    if callable(fault):
        fault(path)
    elif fault == "fifo":
        path.unlink()
        os.mkfifo(path)
    else:
        path.rename(tmp_path / "target")
        path.symlink_to(tmp_path / "target")


def counts(device, folder):
    core = _core.Context.open(device.info, str(folder))
    core.build(SOURCE, "")
    return core.programs_compiled, core.programs_loaded


@pytest.mark.parametrize("fault", [*FAULTS, "fifo", "link"])
def test_programs_that_others_could_write_are_built_anew(device, tmp_path, fault):
    folder = tmp_path / "programs"
    assert counts(device, folder) == (1, 0)
    assert counts(device, folder) == (0, 1)
    (path,) = folder.iterdir()
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)
    spoil(path, fault, tmp_path)
    before = path.lstat().st_mode
    assert counts(device, folder) == (1, 0)
    if callable(fault):
        assert counts(device, folder) == (0, 1)
        fault(folder)
        assert counts(device, folder) == counts(device, folder) == (1, 0)
    else:
        assert path.lstat().st_mode == before


def test_programs_in_a_folder_that_others_can_write_are_not_asked_for(folder):
    open_to_all(Path(_cache.program_folder(False)))
    with pytest.warns(RuntimeWarning, match="others may write .*programs"):
        assert _cache.program_folder(False) == ""


def test_archives_go_where_nobody_else_can_write(folder, monkeypatch):
    open_to_all(Path(_cache.archives_folder()))
    monkeypatch.setenv("LIBRARY_PATH", "")
    with pytest.warns(RuntimeWarning, match="others may write .*empty-archives"):
        _toolchain.add_archives()
    path = os.environ["LIBRARY_PATH"]
    assert str(folder) not in path
    made = Path(path.split(os.pathsep)[-1])
    assert sorted(file.name for file in made.iterdir()) == sorted(_toolchain.ARCHIVES)


def test_without_faults_nothing_is_said(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _cache.cache_folder() == str(folder)
    assert _cache.why_not_used() == ""
    assert pt.devices()
