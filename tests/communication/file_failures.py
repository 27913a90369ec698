# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong on one rank with a file of all: all raise it alike, and the old file stays.

``python -m tests.communication.file_failures <folder> <rank> [kill]``
"""

import contextlib
import os
import resource
import signal
import sys
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles.fields import parts_of_whole
from particles.io import checkpoints, leading, pieces

folder, chosen = Path(sys.argv[1]), int(sys.argv[2])
grid = pt.Grid((12, 40), comm="world")
rank = grid.ranks.rank
path = folder / "checkpoint"


def made():
    u = pt.Field(grid, name="u")
    u[...] = np.arange(40.0) + 100 * np.arange(12)[grid.begin[0] :][: grid.shape[0], None]
    return pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0"])), pt.RemeshOp(u))


def written():
    """Return what is in the file, when all have come here."""
    grid.ranks.meet("look at the file")
    content = path.read_bytes()
    assert [one.name for one in folder.iterdir()] == ["checkpoint"]
    grid.ranks.meet("have looked")
    return content


def raised(kind, words, call):
    """All raise it, and say of which rank it came, but for those that it came of."""
    with pytest.raises(kind, match=words) as caught:
        call()
    cause = caught.value.__cause__
    causes = grid.ranks.every("of whom it came", None if cause is None else str(cause))
    assert len({*causes} - {None}) <= 1, causes
    return causes


@contextlib.contextmanager
def disk_full_after(size):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    if rank == chosen:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextlib.contextmanager
def replaced(owner, name, value):
    kept = getattr(owner, name)
    if rank == chosen:
        setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def broken(*_):
    raise pt.DeviceError("the device is lost")


def dies(*_):
    os.kill(os.getpid(), signal.SIGKILL)


transport = made()
pt.io.checkpoint(path, transport)
old = written()
(folder.parent / f"ready.{rank}").touch()  # launchers may mix what ranks print within a line
transport.time = 1.0
if sys.argv[3:] == ["kill"]:
    with replaced(checkpoints, "fill", dies):
        pt.io.checkpoint(path, transport)
missing = folder / "missing" / "checkpoint"
raised(FileNotFoundError, "missing", lambda: pt.io.checkpoint(missing, transport))
raised(FileNotFoundError, "missing", lambda: pt.io.restore(missing, transport))
with disk_full_after(int(grid.begin[0] * 160 + 20)):
    causes = raised(OSError, "File too large", lambda: pt.io.checkpoint(path, transport))
    assert causes.count(f"rank {chosen} has raised it") == grid.ranks.size - 1, causes
assert written() == old
with replaced(checkpoints, "fill", broken):
    raised(pt.DeviceError, "the device is lost", lambda: pt.io.checkpoint(path, transport))
assert written() == old
if chosen:  # a folder of the same name on another machine
    with replaced(pieces.os, "pread", lambda *_: b"another file"):
        raised(FileNotFoundError, "must see the same", lambda: pt.io.checkpoint(path, transport))
    assert written() == old
raised(
    RuntimeError, "all ranks must do the same", lambda: pt.io.checkpoint(f"{path}{rank}", transport)
)
before = [field.get().tobytes() for field in transport.fields]
with replaced(checkpoints, "_read_head", broken):
    raised(pt.DeviceError, "the device is lost", lambda: pt.io.restore(path, transport))
with replaced(checkpoints, "_read_state", broken):
    raised(pt.DeviceError, "the device is lost", lambda: pt.io.restore(path, transport))
grid.ranks.meet("to damage the file")
if rank == 0:
    path.write_bytes(old[:-700] + b"x" + old[-699:])
grid.ranks.meet("the file is damaged")
raised(ValueError, "is damaged or cut short", lambda: pt.io.restore(path, transport))
assert [field.get().tobytes() for field in transport.fields] == before
assert transport.time == 1.0
pt.io.checkpoint(path, transport)
assert len(written()) > 0

u = transport.fields[0]
one_line = folder / "line.npz"
if rank == 0:
    pt.io.save(one_line, pt.Field(pt.Grid((1, 5), comm="self")))
archive, series = folder / "u.npz", pt.io.Series(folder / "u.h5")
pt.io.save(archive, u)
series.append(0.0, u)
with replaced(parts_of_whole, "_size", broken):
    raised(pt.DeviceError, "the device is lost", lambda: pt.io.save(archive, u, time=1.0))
    raised(pt.DeviceError, "the device is lost", lambda: series.append(1.0, u))
with replaced(leading, "Field", broken):
    raised(pt.DeviceError, "the device is lost", lambda: pt.io.load(archive, comm="world"))
assert series.times == (0.0,)
assert pt.io.load(archive, comm="world").time is None
raised(FileNotFoundError, "missing", lambda: pt.io.save(folder / "missing" / "u.npz", u))
raised(FileNotFoundError, "missing", lambda: pt.io.load(folder / "missing" / "u.npz", comm="world"))
raised(ValueError, "time must be after the last one", lambda: series.append(-1.0, u))
raised(RuntimeError, "all ranks must do the same", lambda: series.append(1.0 + rank, u))
raised(IndexError, "index must be from", lambda: series.load(3, comm="world"))
raised(ValueError, "shape must have at least", lambda: pt.io.load(one_line, comm="world"))
assert series.load(-1, comm="world").fields["u"].sum() == u.sum()
print("done", flush=True)
