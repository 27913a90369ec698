# SPDX-License-Identifier: BSD-3-Clause
"""Ends in the way that is asked for on one rank, while the others go on.

``python -m tests.communication.ends <way> <rank> [<folder of its marks>]``

Launchers may mix what ranks print within a line: the time of the end and each rank's readiness are marked in files.
They may end the others at once, too: none ends before all are ready.
"""

import os
import signal
import sys
import time
from pathlib import Path
from threading import Timer

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of

SHAPE = (8, 3, 4)


def mark(name):
    if folder is not None:
        (folder / name).touch()


def end(way):
    mark("ends")
    if way == "raise":
        raise ArithmeticError("the first cause")
    if way in ("exit", "alone"):
        sys.exit(3)
    if way == "finalize":
        sys.modules["mpi4py.MPI"].Finalize()
    if way == "leave":
        sys.exit()
    if way == "abort":
        os.abort()
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "interrupt":
        raise KeyboardInterrupt
    if way == "other":
        field.norm()
    if way == "argument":
        field.norm(3)
    if way == "bounds":
        field.count(0.25)
    if way == "dtype":
        pt.Field(grid, dtype="float64").gather()
    if way == "name":
        pt.Field(grid, name="other").sum()
    if way == "communicator":  # which is not another one
        pt.Field(copy, 2).sum()
    if way == "signal":  # while it waits for the other
        Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        field.sum()
    if way == "hidden":
        os._exit(0)


way, rank, *folders = sys.argv[1:]
folder = Path(folders[0]) if folders else None
is_chosen = rank in (os.environ["PMI_RANK"], "-1")
if is_chosen and way in ("early", "status", "shape"):
    mark("ends")
    if way == "early":
        raise ArithmeticError("before the first grid")
    if way == "status":
        sys.exit(4)
    pt.Grid((0, 4), comm="world")
cuts = cuts_of(way, SHAPE)
grid = pt.Grid(SHAPE, comm="world", cuts=cuts)
field = pt.Field(grid)
field[...] = np.ones((1, 1, 4))
assert field.sum() == 96
copy = pt.Grid(SHAPE, comm=sys.modules["mpi4py.MPI"].COMM_WORLD.Dup(), cuts=cuts)
mark(f"ready.{os.environ['PMI_RANK']}")
if way == "over":
    if os.fork() == 0:
        sys.exit()
    os.wait()
    assert field.sum() == 96
    sys.modules["mpi4py.MPI"].Finalize()
    sys.exit()
if is_chosen:
    while folder is not None and len([*folder.glob("ready.*")]) < grid.ranks.size:
        time.sleep(0.01)
    end(way)
if way in ("alone", "signal"):
    time.sleep(600)
while True:
    field.gather() if way == "dtype" else field.count(0.5) if way == "bounds" else field.sum()
