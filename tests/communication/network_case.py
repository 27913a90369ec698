# SPDX-License-Identifier: BSD-3-Clause
"""A transport whose ranks have much to tell each other: prints a digest, and bytes that ranks sent.

``python -m tests.communication.network_case <device>``; comm is given where a launcher has started it.
"""

import hashlib
import os
import sys

import numpy as np
import particles as pt

COMM = "world" if "PMI_SIZE" in os.environ else None
grid = pt.Grid((48, 96, 96), comm=COMM)
velocity = pt.Field(grid, 3, "float32", int(sys.argv[1]))
for axis in range(3):
    velocity.component(axis)[...] = lambda x, y, z: (
        0.8 + 0.1 * np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y)
    )
u = pt.Field(grid, 2, "float32", int(sys.argv[1]))
u.component(0)[...] = lambda x, y, z: np.exp(-30 * ((x - 0.5) ** 2 + (y - 0.4) ** 2))
u.component(1)[...] = lambda x, y, z: np.sin(2 * np.pi * z) * x
transport = pt.Splitting.from_preset("default", velocity, u)
transport.run(until=0.25, dt=0.0625)
own = u.nbytes
values = u.gather()
sent = 0.0
if grid.ranks is not None:
    mine = np.array([float(grid.ranks.sent.nbytes + (own if values is None else 0))])
    sent = grid.ranks.sums("what is sent", mine)[0]
if values is not None:
    print(hashlib.sha256(np.ascontiguousarray(values)).hexdigest(), int(sent))
