# SPDX-License-Identifier: BSD-3-Clause
"""Files of a divided grid, in drawn cases: prints what must not depend on the ranks.

``python -m tests.communication.file_cases <device> <seed> <cases> <folder> <from>`` writes into a
folder, and reads what is in another one.
"""

import hashlib
import os
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import particles as pt
from particles.io import contents

from tests.communication.drawn_cuts import cuts_of, own_block

COMM = "world" if "PMI_SIZE" in os.environ else None
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"


def drawn(lot, cases):
    """Return cases that differ in what needs no other kernels, but for one choice of these."""
    ndim = lot.choice((2, 3))
    common = {
        "boundary": [lot.choice(("periodic", "wall")) for _ in range(ndim)],
        "dtype": lot.choice(("float32", "float64", "float16")),
        "components": lot.choice((1, 2, 3)),
        "velocity": lot.choice(("field", "formula")),
        "source": lot.random() < 0.5,
        "conservative": lot.random() < 0.7,
    }
    for _ in range(cases):
        shape = (lot.choice((4, 7, 13, 37, 1100 if ndim == 2 else 9)),)
        shape += tuple(lot.choice((1, 3, 8)) for _ in range(ndim - 1))
        yield {"shape": shape, **common, "seed": lot.randrange(10**6)}


def bytes_of_slabs(case):
    """Return a size of slabs of which there are several."""
    return 1 + 4 * int(np.prod(case["shape"])) // 3


def numbers(grid, components, seed):
    """Return the values of one's own block."""
    values = np.random.default_rng(seed).random((components, *grid.whole.shape)).astype(np.float32)
    own = values[own_block(grid)]
    return own if components > 1 else own[0]


def transport_of(case, device, seed):
    """Return operators with values that a seed decides."""
    extent = [2, 3, 4][: len(case["shape"])]
    shape, boundary, cuts = case["shape"], case["boundary"], cuts_of(case["seed"], case["shape"])
    grid = pt.Grid(shape, boundary=boundary, extent=extent, comm=COMM, cuts=cuts)
    u = pt.Field(grid, case["components"], case["dtype"], device, "u")
    u[...] = numbers(grid, case["components"], seed)
    slow = [0.1 * np.float32(entry == "periodic") for entry in case["boundary"]]
    if case["velocity"] == "formula":
        terms = [f"scale * {one}" for one in slow]
        velocity = pt.Velocity(grid, terms, scale=float(seed % 7))
    else:
        real = "float64" if case["dtype"] == "float64" else "float32"
        velocity = pt.Field(grid, grid.ndim, real, device)
        for axis, one in enumerate(slow):
            velocity.component(axis).fill(one * (1 + seed % 7))
    source = None
    if case["source"] and case["components"] == 1:
        given = pt.Field(grid, 1, case["dtype"], device)
        given[...] = numbers(grid, 1, seed + 1)
        source = pt.SourceOp(u, lambda u, g: g - u, given)
    remesh = pt.RemeshOp(u, conservative=case["conservative"])
    return pt.Splitting(pt.AdvectionOp(velocity), remesh, 1, source=source)


def digest(*fields):
    """Return that of all values, on rank 0."""
    every = [field.gather() for field in fields]
    if not IS_FIRST:
        return None
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(one).tobytes() for one in every)
    ).hexdigest()


def state(transport, scale):
    velocity = transport.advection.velocity
    fields = [*transport.fields]
    if isinstance(velocity, pt.Field):
        fields.append(velocity)
    else:
        assert velocity.parameters["scale"] == scale
    return digest(*fields, *(transport.source.given if transport.source else ())), transport.time


def checkpoints(case, device, path, other):
    scale = case["seed"] % 7
    transport = transport_of(case, device, case["seed"])
    transport.step(0.01)
    pt.io.checkpoint(path, transport)
    yield hashlib.sha256(path.read_bytes()).hexdigest()
    restored = transport_of(case, device, case["seed"] + 1)
    pt.io.restore(other, restored)
    yield state(restored, scale)
    transport.step(0.01)
    restored.step(0.01)
    yield state(restored, scale)
    assert state(restored, scale) == state(transport, scale)


def fields_in_files(case, device, folder, other, number):
    """The second moment is of other values."""
    transport = transport_of(case, device, case["seed"])
    u, velocity = transport.fields[0], transport.advection.velocity
    fields = {"u": u} | ({"w": velocity} if isinstance(velocity, pt.Field) else {})
    pt.io.save(folder / f"{number}.npz", fields, time=0.5)
    pt.io.write_vti(folder / f"{number}.vti", fields)
    yield [
        hashlib.sha256((folder / f"{number}.{end}").read_bytes()).hexdigest()
        for end in ("npz", "vti")
    ]
    series = pt.io.Series(folder / f"{number}.h5", mode="w")
    series.append(0.5, fields)
    u *= 2
    series.append(1.0, fields)
    assert series.times == (0.5, 1.0)
    yield (folder / f"{number}.xdmf").read_text()
    there = pt.io.Series(other / f"{number}.h5")
    where = {"comm": COMM, "cuts": u.grid.cuts if COMM else None}
    moments = [pt.io.load(other / f"{number}.npz", device, **where)]
    moments += [there.load(which, device, **where) for which in (0, 1)]
    for found, time in moments:
        assert all(found[name].grid.whole == field.grid.whole for name, field in fields.items())
        if COMM:
            assert {one.grid.cuts for one in found.values()} == {u.grid.cuts}
        yield [*found], [one.dtype for one in found.values()], digest(*found.values()), time
    assert digest(found["u"]) == digest(u)


def main(device, seed, cases, folder, other):
    warnings.simplefilter("ignore")
    lot = random.Random(int(seed))
    for number, case in enumerate(drawn(lot, int(cases))):
        places = Path(folder, f"{number}.checkpoint"), Path(other, f"{number}.checkpoint")
        told = checkpoints(case, int(device), *places)
        contents.SLAB_BYTES = bytes_of_slabs(case)
        written = fields_in_files(case, int(device), Path(folder), Path(other), number)
        for value in (*told, *written):
            if IS_FIRST:
                print(case, repr(value))


if __name__ == "__main__":
    main(*sys.argv[1:])
