# SPDX-License-Identifier: BSD-3-Clause
"""Whatever writes replaces regular files alone and lets those read them who could; so does what reads."""

import json
import os
import socket
import stat
import struct
from contextlib import closing, suppress
from pathlib import Path

import particles as pt
import pytest
from particles.base import disk
from particles.cli import main
from particles.levelset.pictures import new_figure
from particles.plot.drawing import save

from tests.trust.bad_world import World

ACCESS_LIST = "system.posix_acl_access"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def film(world):
    """Return a transport that has not been advanced, and a function that films it."""

    def write(path):
        world.transport.time = 0.0
        pt.plot.movie(path, world.transport, 0.02, dt=0.01, frames=2)

    return write


@pytest.fixture(
    params=["save .npz", "write_vti .vti", "checkpoint .checkpoint", "movie .gif", "picture .png"]
)
def writer(request, world, film):
    """Return what writes a file, and the suffix that it wants."""
    name, suffix = request.param.split()
    return {
        "save": lambda path: pt.io.save(path, world.u),
        "write_vti": lambda path: pt.io.write_vti(path, world.u),
        "checkpoint": lambda path: pt.io.checkpoint(path, world.transport),
        "movie": film,
        "picture": lambda path: save(new_figure((1, 1)), path),
    }[name], suffix


def fifo(path):
    os.mkfifo(path)


def bound_socket(path):
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


def device(path):
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))  # of /dev/null
    except PermissionError:
        pytest.skip("only root may make devices")


SPECIAL = {"a FIFO": fifo, "a socket": bound_socket, "a character device": device}


@pytest.mark.sampled
@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("through_link", [False, True])
def test_what_is_no_regular_file_is_refused_and_stays(writer, kind, through_link, tmp_path):
    write, suffix = writer
    path, link = tmp_path / f"special{suffix}", tmp_path / f"link{suffix}"
    os.chdir(tmp_path)  # a socket's path must be short
    SPECIAL[kind](Path(path.name))
    link.symlink_to(path)
    before = path.lstat()
    with pytest.raises(ValueError, match=f"path must name a regular file, not {kind}: "):
        write(link if through_link else path)
    after = path.lstat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert sorted(tmp_path.iterdir()) == sorted([path, link])


@pytest.mark.sampled
def test_a_folder_and_a_loop_of_links_are_refused(writer, tmp_path):
    write, suffix = writer
    folder, loop = tmp_path / f"folder{suffix}", tmp_path / f"loop{suffix}"
    folder.mkdir()
    loop.symlink_to(loop)
    with pytest.raises(IsADirectoryError):
        write(folder)
    with pytest.raises((ValueError, OSError), match=r"loop"):
        write(loop)
    assert sorted(tmp_path.iterdir()) == [folder, loop]


@pytest.mark.sampled
def test_a_link_stays_and_its_target_keeps_its_mode(writer, tmp_path):
    write, suffix = writer
    (tmp_path / "there").mkdir()
    path, link = tmp_path / "there" / f"file{suffix}", tmp_path / f"link{suffix}"
    path.write_text("old")
    link.symlink_to(path)
    for mode in (0o600, 0o640, 0o666):
        path.chmod(mode)
        write(link)
        assert link.is_symlink()
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() != b"old"
    assert [child.name for child in path.parent.iterdir()] == [path.name]


def test_new_files_have_the_mode_that_the_umask_leaves(writer, tmp_path):
    write, suffix = writer
    before = os.umask(0o027)
    try:
        write(tmp_path / f"file{suffix}")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / f"file{suffix}").stat().st_mode) == 0o640


@needs_root
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    disk.write_text(path, "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o640)


@pytest.mark.parametrize("may_change_group", [True, False])
def test_whose_group_cannot_be_kept_gives_ours_no_more_than_everybody(
    tmp_path, monkeypatch, may_change_group
):
    path = tmp_path / "file"
    path.touch()
    path.chmod(0o664)

    def chown(number, user, group):
        if user != -1 or not may_change_group:
            raise PermissionError

    monkeypatch.setattr(os, "fchown", chown)
    disk.write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == (0o664 if may_change_group else 0o644)


def access_list(rights):
    """Return a list that lets the user 12345 do something, the owner all and nobody else anything."""
    owner, user, group, mask, other = 0x01, 0x02, 0x04, 0x10, 0x20
    nobody = 2**32 - 1
    entries = [(owner, 6, nobody), (user, rights, 12345), (group, 0, nobody)]
    entries += [(mask, 6, nobody), (other, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def test_lists_of_access_and_notes_are_kept_and_none_is_added(tmp_path):
    path, folder = tmp_path / "file", tmp_path / "folder"
    path.touch()
    folder.mkdir()
    try:
        os.setxattr(path, "user.note", b"mine")
        os.setxattr(path, ACCESS_LIST, access_list(0o4))
        os.setxattr(folder, "system.posix_acl_default", access_list(0o6))
    except (AttributeError, OSError):
        pytest.skip("no access lists can be made here")
    access = os.getxattr(path, ACCESS_LIST)
    disk.write_text(path, "new")
    assert os.getxattr(path, ACCESS_LIST) == access
    assert os.getxattr(path, "user.note") == b"mine"
    private = folder / "private"
    private.touch()
    os.removexattr(private, ACCESS_LIST)
    private.chmod(0o640)
    disk.write_text(private, "new")
    with pytest.raises(OSError, match="No data available"):
        os.getxattr(private, ACCESS_LIST)
    assert stat.S_IMODE(private.stat().st_mode) == 0o640


def test_what_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # root may write anything
    with pytest.raises(PermissionError) as caught:
        disk.write_text(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"


def test_names_of_any_length_can_be_written(tmp_path):
    for name in ("u" * 255, "ü" * 127):
        disk.write_text(tmp_path / name, "new")
        assert (tmp_path / name).read_text() == "new"
    with pytest.raises(OSError, match="File name too long"):
        disk.write_text(tmp_path / ("u" * 256), "new")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "fifo"])
def test_what_may_never_end_is_not_read(path, world, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fifo("fifo")
    for read in (pt.io.load, lambda path: pt.io.restore(path, world.transport)):
        with pytest.raises(ValueError, match="path must name a regular file, not a"):
            read(path)


def test_commands_replace_no_devices(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    fifo(out / "zalesak.png")
    code = main.main(["zalesak", "--shape", "16", "--out", "out", "--json"])
    output, errors = capsys.readouterr()
    assert code == 1
    assert "path must name a regular file, not a FIFO" in errors
    assert json.loads(output)["pictures"] == []
    assert stat.S_ISFIFO((out / "zalesak.png").lstat().st_mode)


def test_measurements_are_written_to_regular_files_alone(tmp_path):
    pytest.importorskip("benchmarks", reason="they are not in the sdist")
    from benchmarks.json_lines import write

    fifo(tmp_path / "fifo")
    with pytest.raises(ValueError, match="path must name a regular file, not a FIFO"):
        write({}, tmp_path / "fifo")
    write({"a": 1}, tmp_path / "file.jsonl")
    assert json.loads((tmp_path / "file.jsonl").read_text()) == {"a": 1}


def test_a_movie_that_is_cut_off_takes_the_place_of_the_old_one(world, tmp_path):
    path, drawn = tmp_path / "u.gif", []
    path.write_text("old")

    def draw(axes):
        drawn.append(path.read_bytes()[:3])
        if len(drawn) == 3:
            raise KeyboardInterrupt

    world.transport.time = 0.0
    with suppress(KeyboardInterrupt):
        pt.plot.movie(path, world.transport, 0.02, dt=0.01, frames=4, draw=draw)
    assert set(drawn) == {b"old"}
    assert path.read_bytes().startswith(b"GIF89a")
    assert list(tmp_path.iterdir()) == [path]
