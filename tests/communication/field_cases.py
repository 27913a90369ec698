# SPDX-License-Identifier: BSD-3-Clause
"""Fields on a grid that is divided, in drawn cases: prints what must not depend on the ranks.

``python -m tests.communication.field_cases <device> <seed> <cases>``; comm is given where a
launcher has started it.
"""

import hashlib
import os
import random
import sys
from itertools import combinations

import numpy as np
import particles as pt

from tests.communication.drawn_cuts import cuts_of, own_block

COMM = "world" if "PMI_SIZE" in os.environ else None


def said(value):
    """Return all bits of numbers."""
    return np.asarray(value, np.float64).tobytes().hex()


def digest(field):
    """Return that of all values, on rank 0."""
    values = field.gather()
    return None if values is None else hashlib.sha256(np.ascontiguousarray(values)).hexdigest()


def drawn(lot):
    ndim = lot.choice((1, 2, 2, 3, 3))
    shape = (lot.choice((4, 5, 7, 13, 37, 64, 1100 if ndim < 3 else 9)),)
    longest = 1100 if ndim == 2 and shape[0] < 100 else 40
    shape += tuple(lot.choice((1, 3, 8, 17, longest)) for _ in range(ndim - 1))
    boundary = [lot.choice(("periodic", "wall", ("inflow", "outflow"))) for _ in shape]
    grid = {"origin": lot.uniform(-2, 2), "extent": lot.uniform(0.1, 5), "boundary": boundary}
    return shape, grid, lot.choice((1, 2, 3)), lot.choice(("float32", "float64", "float16"))


def results(shape, grid, components, dtype, device):
    grid = pt.Grid(shape, **grid, comm=COMM, cuts=cuts_of(components, shape))
    x, y = places_in(grid)
    field = pt.Field(grid, components, dtype, device)
    field.component(0)[...] = over_plane(grid, lambda x, y: np.sin(9 * x) * y + x**2)
    yield digest(field)
    if components > 1:
        field.component(1)[...] = 1e3 * np.cos(7 * x) + y
    field *= 1.25
    other = field.copy()
    other.component(0).assign(lambda u, x: u * x + 1, field.component(0))
    field += other
    part = field.component(0)
    part[..., : max(1, shape[-1] // 2) if len(shape) > 1 else None] = lambda x: x
    yield digest(field)
    yield said([field.sum(), field.mean(), field.var(), field.std(), field.min(), field.max()])
    yield said([field.norm(), field.norm(1), field.norm(np.inf), field.count(0.25, 1.0)])
    yield said(field.integral())
    yield said(field.summary())
    yield said(np.sum(part))
    yield from of_wide_values(pt.Field(grid, components, dtype, device))
    yield from of_signs(pt.Field(grid, components, dtype, device))
    field.fill(2)
    assert field.sum() == 2 * components * np.prod(shape)
    assert part.mean() == 2
    rank = 0 if grid.ranks is None else grid.ranks.rank
    assert grid.whole == type(grid)(shape, **{**drawn_box(grid), "comm": "self"})
    last = None if grid.ranks is None else grid.ranks.size - 1
    gathered = field.gather(root=last or 0)
    assert (gathered is None) == (rank != (last or 0))


def along_axes(field):
    """What becomes of lines is one's own along the axes that are left, with the bits of the whole."""
    grid, first = field.grid, len(field.shape) - field.grid.ndim
    values = field.gather()
    if grid.ranks is not None:
        values = grid.ranks.told("all values", values)
    device = grid.devices[0] if grid.devices else field.device
    whole = pt.Field(grid.whole, field.components, field.dtype, device)
    whole[...] = values
    axes_of_all = range(len(field.shape))
    several = [some for n in axes_of_all[1:] for some in combinations(axes_of_all, n)]
    for axes in several:
        for keepdims in False, True:
            blocks = [*[slice(None)] * first, *own_block(grid)[1:]]
            kept = tuple(
                slice(None) if k in axes else one
                for k, one in enumerate(blocks)
                if keepdims or k not in axes
            )
            for name in "sum", "std", "max":
                choices = {"axis": axes, "keepdims": keepdims}
                found, expected = (getattr(one, name)(**choices) for one in (field, whole))
                assert np.array_equal(found, expected[kept], equal_nan=True), (grid, name, choices)


def places_in(grid):
    """Return coordinates along two axes; where there is one, y is a function of it."""
    x, *others = grid.coordinates()
    return x, others[0] if others else 0.3 - x


def over_plane(grid, formula):
    """Return the same of a formula."""
    return (lambda x: formula(x, 0.3 - x)) if grid.ndim == 1 else lambda x, y: formula(x, y)


def of_wide_values(field):
    """Whatever is added in another order, or rounded in between, has other bits."""
    for k in range(field.components):
        field.component(k)[...] = over_plane(
            field.grid,
            lambda x, y, k=k: np.sin(57 * x + 31 * y + k) * np.exp(8 * np.cos(91 * x * y - k)),
        )
    yield said([field.sum(), field.var(), field.norm(), field.norm(1)])
    yield said(field.integral())
    along_axes(field)


def of_signs(field):
    """Zeros, and NaN, of both signs, in another order on other ranks."""
    x, y = places_in(field.grid)
    is_positive = np.broadcast_to(np.sin(40 * x + 30 * y) > 0, field.shape)
    for number in 0.0, np.nan:
        field[...] = np.copysign(number, np.where(is_positive, 1, -1))
        yield said([field.min(), field.max(), field.norm(np.inf), field.sum(), field.norm()])
        yield said(field.summary())


def drawn_box(grid):
    return {"origin": grid.origin, "spacing": grid.spacing, "boundary": grid.boundary}


def main(device, seed, cases):
    lot = random.Random(int(seed))
    for _ in range(int(cases)):
        case = drawn(lot)
        for value in results(*case, int(device)):
            if value is not None and os.environ.get("PMI_RANK", "0") == "0":
                print(case[0], case[2:], value)
    assert ("mpi4py" in sys.modules) == (COMM is not None)


if __name__ == "__main__":
    main(*sys.argv[1:])
