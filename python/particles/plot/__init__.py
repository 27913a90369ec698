# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with Matplotlib; the extra ``plot``.

============= ==============================================================
`slice`       a field, or a plane of it
`isosurface`  where a field of three dimensions has a value
`volume`      a field of three dimensions as a cloud
`particles`   a set of particles
`movie`       a field while it is carried, as GIF or MP4
`kernel`      remeshing kernels over the distance from a node
`convergence` errors over the number of points, with the observed orders
`profile`     the time of each kernel
`roofline`    the speed of kernels, and the limits of the device
============= ==============================================================

Every function but `movie` draws into `ax`, or into axes of a new figure, and returns the axes. Only
`isosurface` needs scikit-image, and only MP4 needs the program ffmpeg.

Examples
--------
>>> import numpy as np
>>> import particles as pt
>>> grid = pt.Grid((64, 64))
>>> x, y = grid.coordinates()
>>> u = pt.Field(grid, name="u")
>>> u[...] = np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y)
>>> axes = pt.plot.slice(u)
>>> axes.figure.savefig("u.png")
"""

from typing import TYPE_CHECKING, NoReturn

from particles.base.guards import absent
from particles.plot.charts import convergence, kernel, profile, roofline
from particles.plot.movies import movie
from particles.plot.planes import isosurface, slice
from particles.plot.swarms import particles
from particles.plot.volumes import volume

__all__ = [
    "convergence",
    "isosurface",
    "kernel",
    "movie",
    "particles",
    "profile",
    "roofline",
    "slice",
    "volume",
]

_WAYS = {
    **dict.fromkeys(
        ("image", "imshow", "pcolormesh", "contour", "contourf", "plot", "show", "plane"),
        "slice(field)",
    ),
    **dict.fromkeys(("animate", "animation", "video", "gif", "save"), "movie"),
    **dict.fromkeys(("surface", "contour3d"), "isosurface(field, value)"),
    **dict.fromkeys(("cloud", "render"), "volume(field)"),
    **dict.fromkeys(("scatter", "swarm"), "particles(swarm)"),
}


if not TYPE_CHECKING:  # to which every attribute would be there

    def __getattr__(name: str) -> NoReturn:
        raise absent("particles.plot", name, __all__, _WAYS)


def __dir__() -> list[str]:
    return sorted(__all__)
