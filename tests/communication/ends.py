# SPDX-License-Identifier: BSD-3-Clause
"""Ends in the way that is asked for on one rank, while the others go on.

``python -m tests.communication.ends <way> <rank>``
"""

import os
import signal
import sys

import numpy as np
import particles as pt


def end(way):
    if way == "raise":
        raise ArithmeticError("the first cause")
    if way == "exit":
        sys.exit(3)
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
    if way == "hidden":
        os._exit(0)


way, rank = sys.argv[1], int(sys.argv[2])
grid = pt.Grid((8, 4), comm="world")
field = pt.Field(grid)
field[...] = np.ones((1, 4))
assert field.sum() == 32
print("ready", flush=True)
if rank in (grid.ranks.rank, -1):
    end(way)
while True:
    field.sum()
