# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of problems that end as they began."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from particles import plot
from particles.levelset.pictures import VIEW, draw_return, draw_surface, new_figure
from particles.plot.drawing import save
from particles.problems.result import ProblemResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def write_rotation(result: ProblemResult, folder: Path) -> list[Path]:
    """Write a picture of the disk before and after, and return its path."""
    times = (min(result.snapshots), max(result.snapshots))
    titles = ("before", "after one revolution")
    return _write(_planes(result, times, titles), folder / "zalesak.png")


def write_vortex(result: ProblemResult, folder: Path) -> list[Path]:
    """Write a picture of the body drawn out and brought back, and return its path."""
    dim = len(result.shape)
    _, half, end = result.snapshots
    titles = (f"t = {half:g}", f"back at t = {end:g}")
    if dim == 2:
        figure = _planes(result, (half, end), titles)
    else:
        figure = new_figure((11.5, 4.2))
        for place, (time, title) in enumerate(zip((half, end), titles, strict=True), 1):
            axes: Any = figure.add_subplot(1, 3, place, projection="3d", **VIEW)
            draw_surface(axes, result.snapshots[time])
            axes.set_title(title)
        draw_return(figure.add_subplot(1, 3, 3), result.snapshots[end], end)
    return _write(figure, folder / f"vortex-box-{dim}d.png")


def _planes(result: ProblemResult, times: tuple[float, ...], titles: tuple[str, ...]) -> Figure:
    """Return images with the contour at level 0.5 of the initial field on the last one."""
    figure = new_figure((4.2 * len(times), 4.2))
    axes: Any = None
    for place, (time, title) in enumerate(zip(times, titles, strict=True), 1):
        axes = figure.add_subplot(1, len(times), place)
        # Over- and undershoots show.
        plot.slice(result.snapshots[time], ax=axes, vmin=-0.2, vmax=1.2)
        axes.set_title(title)
    figure.colorbar(axes.images[0], ax=figure.axes, shrink=0.85, label="u", extend="both")
    _outline(axes, result.snapshots[0.0])
    return figure


def _outline(axes: Axes, initial: npt.NDArray[Any]) -> None:
    extent = axes.images[0].get_extent()
    axes.contour(initial.T, [0.5], colors="black", linewidths=0.8, extent=extent)


def _write(figure: Figure, path: Path) -> list[Path]:
    save(figure, path)
    return [path]
