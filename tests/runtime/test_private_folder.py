# SPDX-License-Identifier: BSD-3-Clause
"""What somebody else may have put into the cache is not used, which is said once."""

import os
import tempfile
import warnings
from pathlib import Path

import particles as pt
import pytest
from particles import _core
from particles._core import testing
from particles.cli import main
from particles.runtime import cache, linker, private_folder
from particles.runtime.private_folder import NotOurs, own_folder

from tests.support import child

SOURCE = "__kernel void f(__global float* a) { a[0] = 1; }"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the cache folder, none of whose faults has been told yet."""
    folder = tmp_path / "above" / "cache"
    monkeypatch.setenv("PARTICLES_CACHE", str(folder))
    monkeypatch.setattr(cache, "_said", set())
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
    path = cache.path_of("form", "fact")
    cache.write_facts(path, {"known": True})
    programs = Path(cache.program_folder(False))
    assert programs == folder / "programs"
    at_fault = folder if where == "cache" else folder.parent
    fault(at_fault)
    with pytest.warns(RuntimeWarning) as caught:
        assert cache.cache_folder() == cache.cache_folder() == ""
    (warning,) = caught
    words = str(warning.message)
    assert words.startswith(f"the cache folder {folder} is not used, and nothing is kept: ")
    assert str(at_fault) in words
    assert cache.read_facts(cache.path_of("form", "fact")) == {}
    assert cache.contents()["form"] == []
    assert main.main(["cache", "show"]) == 0
    assert capsys.readouterr().out == words + "\n"
    assert main.main(["cache", "clear"]) == 0
    assert path.exists()


def test_a_sticky_folder_may_be_above_but_not_be_the_cache(folder):
    assert cache.cache_folder() == str(folder)
    make_sticky(folder.parent)
    assert cache.cache_folder() == str(folder)
    make_sticky(folder)
    with pytest.warns(RuntimeWarning, match=f"others may write {folder} "):
        assert cache.cache_folder() == ""


def test_a_link_is_followed_to_a_folder_of_ours_alone(folder, tmp_path):
    target = tmp_path / "elsewhere"
    folder.parent.mkdir()
    folder.symlink_to(target)
    assert cache.cache_folder() == str(target)
    assert target.stat().st_mode & 0o777 == 0o700
    open_to_all(target)
    with pytest.warns(RuntimeWarning, match=f"others may write {target} "):
        assert cache.cache_folder() == ""


@pytest.mark.parametrize("where", ["cache", "above"])
def test_a_link_of_somebody_else_is_not_followed_to_a_folder_of_ours(folder, tmp_path, where):
    link = folder if where == "cache" else folder.parent
    target = tmp_path / "target"
    target.mkdir()
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(target)
    if os.geteuid() != 0:
        pytest.skip("only root may give links away")
    os.lchown(link, 12345, 12345)
    with pytest.warns(RuntimeWarning, match=f"{link} belongs to user 12345, not to "):
        assert cache.cache_folder() == ""
    assert not any(target.iterdir())


def test_a_loop_of_links_is_no_folder(folder):
    folder.parent.mkdir()
    folder.symlink_to(folder)
    assert cache.cache_folder() == ""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return a home folder that decides where things are kept, beside a folder for temporary files."""
    for name in ("PARTICLES_CACHE", "XDG_CACHE_HOME", "POCL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, folder in (("HOME", tmp_path / "home"), ("TMPDIR", tmp_path / "temporary")):
        folder.mkdir()
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "home"


def elsewhere(home):
    return home.parent / "temporary" / f"particles-{os.geteuid()}"


def lock(home, monkeypatch):
    if os.geteuid() != 0:
        home.chmod(0o555)
        return
    # What root may not write either.
    monkeypatch.setenv("HOME", "/proc")


def fill(home, monkeypatch):
    monkeypatch.setattr(cache, "_is_full", lambda folder: folder.is_relative_to(home))


def own_by_another(home, monkeypatch):
    give_away(home)


@pytest.mark.parametrize("spoil_home", [lock, fill, own_by_another])
def test_where_home_cannot_be_used_things_are_kept_elsewhere(home, spoil_home, monkeypatch, capsys):
    spoil_home(home, monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.cache_folder() == str(elsewhere(home))
        assert cache.folder_of_pocl() == str(elsewhere(home) / "pocl")
    for folder in (elsewhere(home), elsewhere(home) / "pocl"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert main.main(["cache", "show"]) == 0
    output = capsys.readouterr().out
    wanted = Path(os.environ["HOME"], ".cache", "particles")
    assert f"\nthe cache folder {wanted} is not used: " in output
    assert f"PoCL keeps what it builds in {elsewhere(home) / 'pocl'}: " in output
    if spoil_home is not fill:
        assert list(home.iterdir()) == []


def test_a_home_that_can_be_used_is(home):
    assert cache.cache_folder() == str(home / ".cache" / "particles")
    assert cache.folder_of_pocl() == ""
    assert cache.why_not_used() == ""
    assert list(elsewhere(home).parent.iterdir()) == []


def test_somebody_elses_folder_for_temporary_files_is_not_used(home, monkeypatch):
    lock(home, monkeypatch)
    elsewhere(home).mkdir()
    give_away(elsewhere(home))
    assert cache.cache_folder() == ""
    assert cache.folder_of_pocl() == cache.temporary_folder()


def test_a_folder_that_is_named_stands_alone(home, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", "/dev/null/cache")
    monkeypatch.setenv("POCL_CACHE_DIR", "/dev/null/pocl")
    assert cache.cache_folder() == cache.folder_of_pocl() == ""


def test_without_home_pocl_gets_a_folder_that_nobody_else_has_made(home, monkeypatch):
    monkeypatch.delenv("HOME")
    shared = Path("/tmp/pocl/kcache")

    def own_folder(wanted):
        if wanted == shared:
            raise NotOurs(f"{wanted} belongs to somebody else")
        return private_folder.own_folder(wanted)

    monkeypatch.setattr(cache, "own_folder", own_folder)
    assert cache._default_of_pocl() == shared
    assert cache.folder_of_pocl() == str(Path(cache.cache_folder(), "pocl"))


COMPUTE = """
    import sys
    import particles as pt
    from particles.runtime import cache
    u = pt.Field(pt.Grid((4, 4)), device=int(sys.argv[1]))
    u.fill(2)
    assert u.sum() == 32
    print(cache.cache_folder())
"""


@pytest.mark.sampled
def test_a_driver_works_where_home_cannot_be_written(home, device, monkeypatch):
    lock(home, monkeypatch)
    output = child.check(COMPUTE, device.index)
    assert output == f"{elsewhere(home)}\n"


def test_a_group_of_ones_own_may_write_above(tmp_path, monkeypatch):
    me = os.geteuid()
    above = tmp_path / "above"
    above.mkdir()
    above.chmod(0o775)

    class Group:
        gr_name, gr_mem = private_folder.pwd.getpwuid(me).pw_name, []

    class User:
        pw_name, pw_gid = Group.gr_name, above.stat().st_gid

    monkeypatch.setattr(private_folder.grp, "getgrgid", lambda _: Group)
    monkeypatch.setattr(private_folder.pwd, "getpwuid", lambda _: User)
    assert own_folder(above / "cache") == above / "cache"
    for members, name in (([Group.gr_name, "other"], Group.gr_name), ([], "users")):
        Group.gr_mem, Group.gr_name = members, name
        with pytest.raises(NotOurs, match=f"others may write {above} "):
            own_folder(above / "cache")


@pytest.mark.parametrize("fault", [give_away, open_to_all, "fifo", "link"])
def test_a_file_that_others_could_write_is_not_read(folder, fault, tmp_path):
    path = cache.path_of("form", "fact")
    cache.write_facts(path, {"known": True})
    assert path.stat().st_mode & 0o777 == 0o600
    spoil(path, fault, tmp_path)
    assert cache.read_facts(path) == {}
    cache.write_facts(path, {"known": 2})
    assert cache.read_facts(path) == ({"known": 2} if callable(fault) else {})


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
    return testing.programs_compiled(core), testing.programs_loaded(core)


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
    open_to_all(Path(cache.program_folder(False)))
    with pytest.warns(RuntimeWarning, match="others may write .*programs"):
        assert cache.program_folder(False) == ""


def test_archives_go_where_nobody_else_can_write(folder, monkeypatch):
    open_to_all(Path(cache.archives_folder()))
    monkeypatch.setenv("LIBRARY_PATH", "")
    with pytest.warns(RuntimeWarning, match="others may write .*empty-archives"):
        linker.add_archives()
    path = os.environ["LIBRARY_PATH"]
    assert str(folder) not in path
    made = Path(path.split(os.pathsep)[-1])
    assert sorted(file.name for file in made.iterdir()) == sorted(linker.ARCHIVES)


def test_without_faults_nothing_is_said(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.cache_folder() == str(folder)
    assert cache.why_not_used() == ""
    assert pt.devices()


def test_a_home_folder_is_written_as_in_a_shell(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setenv("PARTICLES_CACHE", "~/cache")
    assert cache.path_of("form", "fact").is_relative_to(tmp_path / "cache")
