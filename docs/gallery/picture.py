# SPDX-License-Identifier: BSD-3-Clause
"""
A level set from a picture
==========================

Any black-and-white picture can become a level set: the distance from its edge, negative inside. The edge is where the
field is 0. The flow bends the edge, and the reversed flow brings it back.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt
from matplotlib.path import Path
from matplotlib.textpath import TextPath

grid = pt.Grid((256, 256))
x, y = grid.coordinates()

# %%
# Here the picture is a letter. To read a file, use ``inside = plt.imread("picture.png")[::-1, :, 0].T < 0.5``,
# with one grid point for each pixel. For a closed mesh of triangles, compute which grid points are inside,
# for example with ``contains`` of ``trimesh``.

letter = TextPath((0, 0), "p", size=1)
points = np.stack(np.broadcast_arrays(x, y), axis=-1).reshape(-1, 2)
box = letter.get_extents()
places = (points - (0.5, 0.7)) / 0.55 + (box.p0 + box.p1) / 2
outline = [Path(polygon).contains_points(places) for polygon in letter.to_polygons()]
inside = np.logical_xor.reduce(outline).reshape(grid.shape)


def distance_to(shape):
    """Return the distance from the nearest point of a shape in cells: along one axis, then the other."""
    n = np.arange(len(shape), dtype=np.float32)
    apart = (n[:, None, None] - n[None, :, None]) ** 2
    squares = np.where(shape, 0, np.float32(1e9))
    for _ in range(2):
        squares = (apart + squares).min(axis=1).T
    return np.sqrt(squares)


phi = pt.Field(grid, name="distance")
phi[...] = (distance_to(inside) - distance_to(~inside)) / len(inside)

# %%
# A distance is a value, not a density: ``conservative=False`` carries it unchanged.


def vortex(sign):
    """Return a vortex in the middle of the box, or the same turning back."""
    return pt.Velocity(
        grid,
        lambda x, y: (
            sign * np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y),
            -sign * np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2,
        ),
    )


remesh = pt.RemeshOp(phi, "M'6", conservative=False)
figure, panels = plt.subplots(1, 3, figsize=(7, 2.7), sharey=True, layout="constrained")
for axes, (title, sign) in zip(panels, {"start": 0, "t = 1": 1, "back": -1}.items()):
    if sign:
        pt.Splitting(pt.AdvectionOp(vortex(sign)), remesh).run(until=1.0, lcfl=0.2)
    pt.plot.slice(phi, ax=axes)
    axes.contour(x.ravel(), y.ravel(), phi.get().T, [0], colors="black")
    axes.set(title=title, xticks=(0, 0.5), yticks=(0, 0.5), ylabel="")
print(f"area {(phi.get() < 0).sum() / inside.sum() - 1:+.2%}")
plt.show()

# %%
# Change the letter, or use your own flow.
