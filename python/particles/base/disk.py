# SPDX-License-Identifier: BSD-3-Clause
"""Regular files: opened to be read, and replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from particles.base.checks import as_path

StrPath: TypeAlias = str | os.PathLike[str]

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFLNK: "a loop of links",
}
_ACCESS_LIST = "system.posix_acl_access"


def check_regular(path: Path, found: os.stat_result) -> None:
    """Refuse what is no regular file: a device or a FIFO may never end, or be somebody's."""
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise ValueError(f"path must name a regular file, not {kind}: {str(path)!r}")


@contextmanager
def open_to_read(path: StrPath) -> Iterator[BinaryIO]:
    """Open a regular file."""
    name = as_path("path", path)
    check_regular(name, name.stat())  # to open a device may already do something
    with open(name, "rb", opener=_open_at_once) as file:
        check_regular(name, os.fstat(file.fileno()))
        yield file


@contextmanager
def replacing(path: StrPath) -> Iterator[BinaryIO]:
    """Give a file to write into, which takes the place of `path` when all is on the disk.

    Until then, and whatever goes wrong, what was at `path` stays there. It must be a regular file,
    whose owner, mode and access list are kept where that is allowed, or nothing. A link stays:
    what it leads to is replaced.
    """
    with _beside(path) as (number, _), open(number, "wb", closefd=False) as file:
        yield file


def write_text(path: StrPath, text: str) -> None:
    """Replace a file by a text."""
    with replacing(path) as file:
        file.write(text.encode())


@contextmanager
def replacing_by_name(path: StrPath) -> Iterator[Path]:
    """Do the same as `replacing` for those who open files by themselves."""
    with _beside(path) as (_, unfinished):
        yield unfinished


@contextmanager
def unfinished_for(target: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """Give a new file, open and by name, which is renamed to `target` at the end."""
    number, unfinished = _new_beside(target, mode)
    try:
        with errors_naming(target, unfinished):
            yield number, unfinished
            unfinished.replace(target)
    finally:
        if _is_at(unfinished, number):
            unfinished.unlink()
        os.close(number)


@contextmanager
def errors_naming(target: Path, unfinished: Path) -> Iterator[None]:
    """Have errors of an unfinished file, or of none, name what it is to replace."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from None


def _new_beside(target: Path, mode: int) -> tuple[int, Path]:
    """Make a file beside another: under a name that is always the same, or in use, or any other.

    SIGKILL leaves it there, and whoever writes next removes it. Who writes holds its lock, so
    none is removed that somebody is writing.
    """
    # Names may have 255 bytes; the end of one tells other programs what kind of file it is.
    tail = target.name[-30:]
    usual, other = (f".{start}.{tail}" for start in ("unfinished", os.urandom(4).hex()))
    _remove_left(target.with_name(usual))
    for unfinished in target.with_name(usual), target.with_name(other):
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            number = os.open(unfinished, flags, mode)
        except FileExistsError:
            continue
        except OSError as error:
            at_fault = target if target.parent.is_dir() else target.parent
            raise OSError(error.errno, error.strerror, str(at_fault)) from None
        if _locks(number) is not False and _is_at(unfinished, number):
            return number, unfinished
        os.close(number)  # somebody has taken it for one that was left
    raise OSError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _remove_left(path: Path) -> None:
    """Remove a file that nobody is writing any more."""
    with suppress(OSError, ValueError):
        check_regular(path, path.lstat())
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if _locks(number) and _is_at(path, number):
                path.unlink()
        finally:
            os.close(number)


def _locks(number: int) -> bool | None:
    """Lock an open file; return whether nobody else has, or None where there are no locks."""
    import fcntl

    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(path: Path, number: int) -> bool:
    """Whether an open file has a name."""
    try:
        return os.path.samestat(os.fstat(number), path.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def _beside(path: StrPath) -> Iterator[tuple[int, Path]]:
    target = Path(os.path.realpath(as_path("path", path)))
    before = _before(target)
    # What is to be read by few is never read by more.
    with unfinished_for(target, 0o666 if before is None else 0o600) as (number, unfinished):
        yield number, unfinished
        if before is not None:
            keep_access(number, target, before)
        os.fsync(number)
    flush_folder(target)


def flush_folder(path: Path) -> None:
    """Have the names in a file's folder on the disk."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _before(target: Path) -> os.stat_result | None:
    """Return what is known of a regular file that may be written; None where there is nothing."""
    try:
        before = target.lstat()
    except FileNotFoundError:
        return None
    check_regular(target, before)
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return before


def keep_access(number: int, target: Path, before: os.stat_result) -> None:
    """Let those and no others read and write a file who could before, as far as is allowed."""
    mode, keeps_group = before.st_mode & 0o777, True
    try:
        os.fchown(number, before.st_uid, before.st_gid)
    except OSError:
        try:
            os.fchown(number, -1, before.st_gid)
        except OSError:  # then our group may do what everybody may
            mode, keeps_group = mode & 0o707 | (mode & 0o007) << 3, False
    if sys.platform == "linux":
        with suppress(OSError):  # what the folder gives to new files
            os.removexattr(number, _ACCESS_LIST)
    os.fchmod(number, mode)
    if sys.platform == "linux" and keeps_group:
        _keep_attributes(number, target)


def _keep_attributes(number: int, target: Path) -> None:
    """Keep the access list and what users have noted of a file, on disks that know of them."""
    with suppress(OSError):
        for name in os.listxattr(target):
            if name == _ACCESS_LIST or name.startswith("user."):
                os.setxattr(number, name, os.getxattr(target, name))


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a FIFO waits for its other end
