# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a level-set test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import plot
from particles._drawing import PLAIN, import_optional, save
from particles._levelset_problem import CENTRE, RADIUS
from particles._levelset_result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

VIEW = {"elev": 25, "azim": 120}  # the ball is drawn out towards the viewer


def write(result: Result, folder: Path) -> list[Path]:
    """Write the pictures into a folder and return their paths.

    They are drawn without a display, whatever Matplotlib's backend.
    """
    paths = [folder / "levelset.png", folder / "profile.png"]
    for path, figure in zip(paths, (levelset_figure(result), profile_figure(result)), strict=True):
        save(figure, path)
    return paths


def levelset_figure(result: Result) -> Figure:
    """Return the surface at level 0.5 at each time, and a slice after the way back."""
    has_returned = max(result.snapshots) > result.until
    panels = len(result.snapshots) + has_returned
    rows = 1 if panels <= 3 else 2
    columns = -(-panels // rows)
    figure = new_figure((3.4 * columns, 3.5 * rows))
    for place, (time, values) in enumerate(result.snapshots.items(), 1):
        axes = figure.add_subplot(rows, columns, place, projection="3d", **VIEW)
        reversed_flow = ", flow reversed" if time > result.until else ""
        draw_surface(axes, values, f"T = {time:.3g}{reversed_flow}")
    if has_returned:
        end = max(result.snapshots)
        draw_return(figure.add_subplot(rows, columns, panels), result.snapshots[end], end)
    return figure


def draw_surface(axes: Axes3D, values: npt.NDArray[Any], title: str) -> None:
    """Draw the surface at level 0.5."""
    plot.isosurface(values, ax=axes)
    axes.set_title(title)
    for axis, distance in ((axes.xaxis, -4), (axes.yaxis, -4), (axes.zaxis, -6)):
        axis.set_ticks((0, 0.5, 1), ("0", "0.5", "1"))  # short: axes meet at their ends
        axis.set_tick_params(pad=-1)
        axis.labelpad = distance
    axes.set_box_aspect((1, 1, 1), zoom=1.08)


def draw_return(axes: Axes, values: npt.NDArray[Any], time: float) -> None:
    """Draw a slice through the middle of the ball after the way back, and where it was."""
    plot.slice(values, index=round(CENTRE * values.shape[2]), ax=axes, cmap="Blues", vmin=0, vmax=1)
    angles = np.linspace(0, 2 * np.pi, 200)
    circle = CENTRE + RADIUS * np.array([np.cos(angles), np.sin(angles)])
    axes.plot(*circle, color="tab:red", label="initial ball")
    axes.set(xlim=(0.1, 0.6), ylim=(0.1, 0.6), xticks=(0.2, 0.5), yticks=(0.2, 0.5))
    axes.set_title(f"T = {time:.3g}, z = {CENTRE}")
    axes.legend(loc="lower right")


def profile_figure(result: Result) -> Figure:
    """Return where the time went."""
    times = result.times
    figure = new_figure((7, 1.5 + 0.4 * len(times)))
    axes = plot.profile(times, figure.add_subplot())
    points = " x ".join(map(str, result.shape))
    axes.set_title(f"{points}, {result.steps} steps\n{result.device}", fontsize="medium", **PLAIN)
    return figure


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a figure that needs no display."""
    figure: Figure = import_optional("matplotlib.figure").Figure(size, layout="constrained")
    return figure
