# SPDX-License-Identifier: BSD-3-Clause
"""Folders that nobody but their user can change."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from contextlib import suppress
from pathlib import Path


class NotOurs(Exception):
    """Somebody else can change what is in a folder; the message says where and why."""


def own_folder(wanted: Path) -> Path:
    """Return the real path of a folder of our own, which is made where it is missing.

    No link on the way may be somebody else's, who could lead it into any folder of ours. From the root
    down, each folder on the way must be ours or root's, and others must not be able to put another in
    the place of the next one. What has passed cannot be changed by them any more,
    so the path may be trusted by its name.

    Raises
    ------
    NotOurs
        Others can.
    OSError
        There cannot be such a folder.
    """
    for part in (*reversed(wanted.parents), wanted):
        if part.is_symlink():
            _check_owner(part, part.lstat(), {os.geteuid(), 0})
    folder = Path(os.path.realpath(wanted))
    for part in (*reversed(folder.parents), folder):
        _check(part, _made(part), is_last=part == folder)
    return folder


def is_ours_alone(found: os.stat_result) -> bool:
    """Whether something belongs to us, and nobody else may write it."""
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _made(part: Path) -> os.stat_result:
    with suppress(FileNotFoundError):
        return part.lstat()
    with suppress(FileExistsError):  # another process was first
        part.mkdir(mode=0o700)
    return part.lstat()


def _check(part: Path, found: os.stat_result, *, is_last: bool) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(part))
    _check_owner(part, found, {os.geteuid()} if is_last else {os.geteuid(), 0})
    if is_last:
        is_safe = is_ours_alone(found)
    else:
        # In a sticky folder nobody may rename what others have made.
        is_safe = bool(found.st_mode & stat.S_ISVTX) or not (
            found.st_mode & stat.S_IWOTH
            or (found.st_mode & stat.S_IWGRP and not _is_private_group(part, found.st_gid))
        )
    if not is_safe:
        raise NotOurs(f"others may write {part} (its mode is {stat.S_IMODE(found.st_mode):04o})")


def _check_owner(part: Path, found: os.stat_result, trusted: set[int]) -> None:
    if found.st_uid not in trusted:
        raise NotOurs(f"{part} belongs to {_user(found.st_uid)}, not to {_user(os.geteuid())}")


def _is_private_group(part: Path, group: int) -> bool:
    """Whether a group is the one that many systems make for each user alone."""
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            if "system.posix_acl_access" in os.listxattr(part):
                return False  # the group's bits stand for others in the list, too
    try:
        user, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = set(members.gr_mem) <= {user.pw_name}
    return user.pw_gid == group and members.gr_name == user.pw_name and alone


def _user(number: int) -> str:
    try:
        return f"{pwd.getpwuid(number).pw_name} (user {number})"
    except KeyError:
        return f"user {number}"
