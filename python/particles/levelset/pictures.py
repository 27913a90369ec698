# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a level-set test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import plot
from particles.levelset.problem import CENTRE, RADIUS
from particles.levelset.result import LevelSetResult
from particles.plot.drawing import PLAIN, import_optional, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

VIEW = {"elev": 25, "azim": 120}  # the ball is drawn out towards the viewer


def write(result: LevelSetResult, folder: Path) -> list[Path]:
    """Write the pictures into a folder and return their paths.

    They are drawn without a display, whatever Matplotlib's backend.
    """
    figures = {"levelset.png": levelset_figure(result), "profile.png": profile_figure(result)}
    if has_returned(result):
        figures["return.png"] = return_figure(result)
    for name, figure in figures.items():
        save(figure, folder / name, dpi=130 if name == "levelset.png" else 100)
    return [folder / name for name in figures]


def has_returned(result: LevelSetResult) -> bool:
    """Whether the flow was reversed."""
    return max(result.snapshots) > result.until


def levelset_figure(result: LevelSetResult) -> Figure:
    """Return a row of the surface at level 0.5: before, on the way, drawn out, and brought back."""
    halfway = min(result.snapshots, key=lambda time: abs(time - result.until / 2))
    titles = {0.0: "t = 0", halfway: f"t = {halfway:.3g}", result.until: f"t = {result.until:.3g}"}
    if has_returned(result):
        end = max(result.snapshots)
        titles[end] = f"back at t = {end:.3g}"
    drawn = [(titles[time], values) for time, values in result.snapshots.items() if time in titles]
    figure: Figure = import_optional("matplotlib.figure").Figure((2.4 * len(drawn), 2.85))
    for place, (title, values) in enumerate(drawn):
        box = (place / len(drawn), 0, 1 / len(drawn), 0.87)
        axes: Any = figure.add_axes(box, projection="3d", **VIEW)  # type: ignore[call-overload]
        draw_surface(axes, values)
        figure.text((place + 0.5) / len(drawn), 0.89, title, ha="center", fontsize=18)
    return figure


def draw_surface(axes: Axes3D, values: npt.NDArray[Any]) -> None:
    """Draw the surface at level 0.5 in a bare box."""
    plot.isosurface(values, ax=axes)
    axes.set(xlabel="", ylabel="", zlabel="", xticks=(), yticks=(), zticks=())
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.line.set_color("lightgray")
    axes.set_box_aspect((1, 1, 1), zoom=1.1)


def return_figure(result: LevelSetResult) -> Figure:
    """Return a slice through the ball that was brought back."""
    figure, end = new_figure((4.5, 4.2)), max(result.snapshots)
    draw_return(figure.add_subplot(), result.snapshots[end], end)
    return figure


def draw_return(axes: Axes, values: npt.NDArray[Any], time: float) -> None:
    """Draw a slice through the middle of the ball after the way back, and where it was."""
    plot.slice(values, index=round(CENTRE * values.shape[2]), ax=axes, vmin=-0.2, vmax=1.2)
    angles = np.linspace(0, 2 * np.pi, 200)
    circle = CENTRE + RADIUS * np.array([np.cos(angles), np.sin(angles)])
    axes.plot(*circle, color="black", linewidth=1, label="initial ball")
    axes.set(xlim=(0.1, 0.6), ylim=(0.1, 0.6), xticks=(0.2, 0.5), yticks=(0.2, 0.5))
    axes.set_title(f"t = {time:.3g}, z = {CENTRE}")
    axes.legend(loc="lower right")
    axes.get_figure(root=True).colorbar(axes.images[0], ax=axes, label="u")  # type: ignore[union-attr]


def profile_figure(result: LevelSetResult) -> Figure:
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
