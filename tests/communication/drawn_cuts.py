# SPDX-License-Identifier: BSD-3-Clause
"""How the grid of a drawn case is cut among ranks, and what a rank has of it."""

import os
import random

COMM = "world" if "PMI_SIZE" in os.environ else None


def cuts_of(seed, *shapes, size=None):
    """Return cuts that grids of these shapes may all have, which the seed decides; None for one axis."""
    size = int(os.environ.get("PMI_SIZE", "1")) if size is None else size
    if COMM is None or len(shapes[0]) < 3:
        return None
    most = min(shape[1] for shape in shapes)
    lengths = [n for n in range(1, size + 1) if size % n == 0 and n <= most]
    rows = random.Random(f"{seed} {size} {shapes}").choice(lengths)
    return size // rows, rows, 1


def own_block(grid):
    """Return the index of one's own block in an array of the whole."""
    ends = zip(grid.begin, grid.shape, strict=True)
    return (..., *(slice(begin, begin + n) for begin, n in ends))
