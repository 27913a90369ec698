# SPDX-License-Identifier: BSD-3-Clause
"""A disk that notes all that is done to some files, and what of it a cut would leave.

A process that is killed leaves all that it has done, and perhaps a part of its last write. A power
cut leaves, of what has not been flushed, anything: writes in any order, each by sectors, and names
that were made, changed or removed up to any one of them.
"""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512


@dataclass
class File:
    """A file by what is on the disk, and what has been done to it since."""

    content: bytes = b""
    pending: list = field(default_factory=list)

    def after(self, pending):
        content = bytearray(self.content)
        for operation, place, view in pending:
            if operation == "truncate":
                content = content[:place].ljust(place, b"\0")
            else:
                content = content.ljust(place, b"\0")
                content[place : place + len(view)] = view
        return bytes(content)


class Disk:
    """Notes what is done to files of some names in a folder, while that is entered."""

    def __init__(self, folder, names):
        self.folder, self.names = folder, names
        self.log = []
        self.before = {name: (folder / name).read_bytes() for name in self.there()}

    def there(self):
        return [name for name in self.names if (self.folder / name).exists()]

    def numbers(self):
        return {name: (self.folder / name).stat().st_ino for name in self.there()}

    @contextlib.contextmanager
    def noted(self):
        """Note what `os` is told to do."""
        self.first = dict(self.numbers())
        usual = {
            name: getattr(os, name)
            for name in ("pwrite", "ftruncate", "fsync", "open", "rename", "replace", "unlink")
        }
        folder = self.folder.stat().st_ino

        def pwrite(number, view, place):
            written = usual["pwrite"](number, view, place)
            self.log.append(("write", os.fstat(number).st_ino, place, bytes(view[:written])))
            return written

        def ftruncate(number, end):
            usual["ftruncate"](number, end)
            self.log.append(("truncate", os.fstat(number).st_ino, end, b""))

        def fsync(number):
            usual["fsync"](number)
            which = os.fstat(number).st_ino
            self.log.append(("flush folder",) if which == folder else ("flush", which))

        def open_(path, flags, *mode, **options):
            was = os.path.lexists(path)
            number = usual["open"](path, flags, *mode, **options)
            name = Path(path).name
            if not was and name in self.names:
                self.log.append(("name", name, os.fstat(number).st_ino))
            return number

        def rename(old, new, **options):
            which = Path(old).stat().st_ino
            usual["rename"](old, new, **options)
            if Path(new).name in self.names:
                self.log.append(("rename", Path(old).name, Path(new).name, which))

        def unlink(path, **options):
            usual["unlink"](path, **options)
            if Path(path).name in self.names:
                self.log.append(("remove", Path(path).name))

        mine = {"pwrite": pwrite, "ftruncate": ftruncate, "fsync": fsync, "open": open_}
        mine |= {"rename": rename, "replace": rename, "unlink": unlink}
        for name, function in mine.items():
            setattr(os, name, function)
        try:
            yield self
        finally:
            for name, function in usual.items():
                setattr(os, name, function)
        # Nothing has gone another way.
        now = {name: (self.folder / name).read_bytes() for name in self.there()}
        assert self.killed(len(self.log)) == now

    def replayed(self, count):
        """Return files by their numbers, names on the disk, and names changed since."""
        files = {which: File(self.before[name]) for name, which in self.first.items()}
        names, pending = dict(self.first), []
        for operation, *rest in self.log[:count]:
            if operation == "flush":
                found = files.get(rest[0])
                if found is not None:
                    files[rest[0]] = File(found.after(found.pending))
            elif operation == "flush folder":
                names, pending = named(names, pending), []
            elif operation in ("write", "truncate"):
                files.setdefault(rest[0], File()).pending.append((operation, *rest[1:]))
            else:
                if operation == "name":
                    files[rest[1]] = File()
                pending.append((operation, *rest))
        return files, names, pending

    def killed(self, count, part=None):
        """Return contents by name after some operations, and perhaps a part of the next one."""
        files, names, pending = self.replayed(count)
        if part is not None and count < len(self.log) and self.log[count][0] == "write":
            _, which, place, view = self.log[count]
            torn = view[: int(part * len(view))]
            files.setdefault(which, File()).pending.append(("write", place, torn))
        return {
            name: files[which].after(files[which].pending)
            for name, which in named(names, pending).items()
        }

    def without_power(self, count, random):
        """Return contents by name that may be on the disk after some operations."""
        files, names, pending = self.replayed(count)
        kept = pending[: random.integers(len(pending) + 1)]
        share = random.choice([0.0, 0.5, 0.9, 1.0])
        return {
            name: files[which].after(list(some(files[which].pending, share, random)))
            for name, which in named(names, kept).items()
        }


def named(names, changes):
    names = dict(names)
    for operation, *rest in changes:
        if operation == "name":
            names[rest[0]] = rest[1]
        elif operation == "rename":
            names.pop(rest[0], None)
            names[rest[1]] = rest[2]
        else:
            names.pop(rest[0], None)
    return names


def some(pending, share, random):
    """Give some of what was not flushed: sectors of writes, and ends of files."""
    for operation, place, view in pending:
        if operation == "truncate":
            if random.random() < share:
                yield operation, place, view
            continue
        is_torn = random.random() < 0.5
        whole = random.random() < share
        first = place
        while first < place + len(view):
            last = min((first // SECTOR + 1) * SECTOR, place + len(view))
            if random.random() < share if is_torn else whole:
                yield operation, first, view[first - place : last - place]
            first = last


def put(folder, contents):
    """Make the files of a folder those, and no others."""
    for path in folder.iterdir():
        path.unlink()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
