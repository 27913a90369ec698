# SPDX-License-Identifier: BSD-3-Clause
"""A surface of triangles in Matplotlib, drawn without an object for each of them.

Importing it imports Matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.artist import allow_rasterization
from matplotlib.backend_bases import MouseEvent, RendererBase
from matplotlib.collections import Collection
from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]


class Surface(Collection):
    """Triangles between points in space, each point of a colour: what is nearer hides the rest.

    A file of vectors holds it as an image: a gradient for every triangle would fill it.
    """

    def __init__(
        self, points: npt.NDArray[Any], faces: npt.NDArray[Any], colors: npt.NDArray[Any]
    ) -> None:
        super().__init__(rasterized=True)
        self.set_facecolor(colors)  # type: ignore[arg-type]
        self.set_in_layout(False)  # the axes say how large the picture is
        self.points, self.faces = points, faces
        self._flat = points[:, :2]
        self._drawn = faces

    def do_3d_projection(self) -> float:
        """Look from where the axes do; return how near the surface comes."""
        projection = self.axes.M  # type: ignore[union-attr]
        x, y, depth = map(np.asarray, proj3d.proj_transform(*self.points.T, projection))
        depths = depth[self.faces].sum(axis=1)
        self._flat = np.stack([x, y], axis=1)
        self._drawn = self.faces[np.argsort(-depths)]
        return float(depths.min()) / 3

    @allow_rasterization  # type: ignore[untyped-decorator]
    def draw(self, renderer: RendererBase) -> None:
        """Draw the triangles, the farthest first."""
        if not self.get_visible():
            return
        context = renderer.new_gc()
        context.set_clip_rectangle(self.get_clip_box())
        renderer.draw_gouraud_triangles(
            context,
            self._flat[self._drawn],
            np.asarray(self.get_facecolor())[self._drawn],
            self.get_transform(),
        )
        context.restore()
        self.stale = False

    def contains(self, mouseevent: MouseEvent) -> tuple[bool, dict[str, Any]]:
        """Return that nothing of it can be picked."""
        del mouseevent
        return False, {}
