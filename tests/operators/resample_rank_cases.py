# SPDX-License-Identifier: BSD-3-Clause
"""Resampling on divided grids, in drawn cases: prints what must not depend on the ranks.

``python -m tests.operators.resample_rank_cases <device> <seed> <cases>``; comm is given where a
launcher has started it.
"""

import hashlib
import os
import random
import sys

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of, own_block

COMM = "world" if "PMI_SIZE" in os.environ else None


def drawn(lot):
    few = [lot.choice((4, 7, 13, 40))] + [
        lot.choice((1, 3, 8)) for _ in range(lot.choice((0, 1, 2)))
    ]
    up = [lot.choice((1, 2, 3)) for _ in few]
    down = [lot.choice((1, 2, 5)) if one == 1 else 1 for one in up]
    return {
        "shapes": [[n * by for n, by in zip(few, all_by, strict=True)] for all_by in (up, down)],
        "boundary": [lot.choice(("periodic", "wall", ("wall", "outflow"))) for _ in few],
        "origin": lot.choice((0, -0.3)),
        "kernel": lot.choice(("M'4", "M'6", "L6_4")),
        "dtype": lot.choice(("float32", "float64", "float16")),
        "components": lot.choice((1, 2)),
    }


def result(case, device):
    box = {"boundary": case["boundary"], "origin": case["origin"], "extent": 3.7}
    given, wanted = (
        pt.Grid(shape, **box, comm=COMM, cuts=cuts_of(case["kernel"], shape))
        for shape in case["shapes"]
    )
    field = pt.Field(given, case["components"], case["dtype"], device)
    values = np.random.default_rng(1).random((case["components"], *given.whole.shape))
    own = values[own_block(given)]
    field[...] = own if case["components"] > 1 else own[0]
    return pt.resample(field, wanted, case["kernel"]).gather()


def main(device, seed, cases):
    lot = random.Random(int(seed))
    for _ in range(int(cases)):
        case = drawn(lot)
        values = result(case, int(device))
        if values is not None:
            print(case, hashlib.sha256(np.ascontiguousarray(values)).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
