# SPDX-License-Identifier: BSD-3-Clause
"""Pictures, movies and arrays of xarray of a divided grid: prints what must not depend on the ranks.

``python -m tests.communication.picture_cases <device> <folder>``
"""

import contextlib
import hashlib
import io
import os
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import particles as pt

mpl.use("agg")
COMM = "world" if "PMI_SIZE" in os.environ else None
IS_FIRST = os.environ.get("PMI_RANK", "0") == "0"


def show(what, axes):
    """Print a sum of what is drawn; only the first rank has drawn anything."""
    assert (axes is not None) == IS_FIRST
    if IS_FIRST:
        axes.figure.canvas.draw()
        picture = np.asarray(axes.figure.canvas.buffer_rgba())
        print(what, hashlib.sha256(picture.tobytes()).hexdigest(), axes.get_title())


def made(shape, device):
    grid = pt.Grid(shape, boundary=["wall", *["periodic"] * (len(shape) - 1)], comm=COMM)
    u = pt.Field(grid, device=device, name="u")
    u[...] = sum(np.cos((3 + axis) * x) for axis, x in enumerate(grid.coordinates()))
    return u


def spaces(u):
    """What is seen is all that travels."""
    for axis in range(3):
        show(f"slice {axis}", pt.plot.slice(u, axis=axis))
    if u.grid.ranks is not None:
        asked = []
        gather = type(u.grid.ranks).gather
        u.grid.ranks.gather = lambda what, root, own, shapes: (
            asked.append(own.size) or gather(u.grid.ranks, what, root, own, shapes)
        )
        pt.plot.slice(u, axis=2, index=3)
        assert asked == [u.grid.shape[0] * u.grid.shape[1]]
        del u.grid.ranks.gather
    show("isosurface", pt.plot.isosurface(u, 1.0))
    show("volume", pt.plot.volume(u, cmap="gray"))


def movies(u, folder):
    wind = pt.Velocity(u.grid, ["0", "1"])
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    words = io.StringIO()
    with contextlib.redirect_stderr(words):
        pt.plot.movie(folder / "u.gif", transport, 0.2, dt=0.05, frames=3, progress=True)
        transport.run(until=0.4, dt=0.05, progress=True)
        transport.run(until=0.6, dt=0.1, lcfl=0.5, progress=True)
    assert bool(words.getvalue()) == IS_FIRST
    drawn = []

    def draw(axes):
        drawn.append(pt.plot.slice(u, ax=axes).get_xlabel())

    pt.plot.movie(folder / "own.gif", transport, 0.8, dt=0.05, frames=2, draw=draw)
    assert len(drawn) == 2
    if IS_FIRST:
        for name in "u.gif", "own.gif":
            print(name, hashlib.sha256((folder / name).read_bytes()).hexdigest())


def swarms(u):
    """The first rank draws the particles of all, in the colours of an attribute."""
    mass = np.arange(50, dtype="float32")
    swarm = pt.ParticleSet.random(u.grid, 50, seed=1, device=u.device, mass=mass)
    axes = pt.plot.particles(swarm, color="mass")
    assert (axes is not None) == IS_FIRST
    if IS_FIRST:
        marks = axes.collections[0]
        drawn = [np.asarray(one).tobytes() for one in (marks.get_offsets(), marks.get_array())]
        print("particles", hashlib.sha256(b"".join(drawn)).hexdigest())


def arrays(u):
    """One's own block goes out with the coordinates of its points; what comes in is the whole."""
    array = u.to_xarray(time=0.5)
    for axis, points in zip("xyz", u.grid.coordinates(), strict=True):
        np.testing.assert_array_equal(array[axis], points.ravel())
        assert array[axis].extent == 1.0
    twin = pt.Field(u.grid)
    twin[...] = array.transpose("z", "x", "y")
    np.testing.assert_array_equal(twin.get(), u.get())
    whole = made(u.grid.whole.shape, u.device) if COMM is None else made_alone(u)
    turned, cuts = (
        whole.to_xarray().transpose("y", "x", "z")[:, ::-1],
        u.grid.cuts if COMM else None,
    )
    again = pt.Field.from_xarray(turned, comm=COMM, cuts=cuts)
    assert again.grid == u.grid
    np.testing.assert_array_equal(again.get(), u.get())


def made_alone(u):
    """Return the whole of a field on each rank."""
    values = u.grid.ranks.told("the whole", u.gather())
    whole = pt.Field(u.grid.whole)
    whole[...] = values
    return whole


def main(device, folder):
    u = made((9, 8, 7), int(device))
    spaces(u)
    arrays(u)
    swarms(made((12, 10), int(device)))
    movies(made((12, 10), int(device)), Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
