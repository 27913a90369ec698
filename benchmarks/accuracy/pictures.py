# SPDX-License-Identifier: BSD-3-Clause
"""Plots of docs/accuracy.md."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from particles import plot
from particles.plot.drawing import save

from benchmarks.accuracy.tables import unique
from benchmarks.pictures import DPI, WIDTH, finished
from benchmarks.tables import Found

STYLES = ("o-", "s--", "^:")


def write(found: Found, folder: Path) -> None:
    """Write every plot into a folder."""
    for name, draw in {"orders": orders, "work": work}.items():
        figure = draw(found)
        save(figure, folder / f"accuracy-{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def orders(found: Found) -> Figure:
    """Errors of the kernels against the points along an axis, particles moved exactly."""
    figure, axes = plt.subplots(figsize=(WIDTH, 5), layout="constrained")
    rows = [
        row
        for row in found["space"]
        if row["scheme"] == "exact" and row["dtype"] == "float64" and row["ndim"] == 1
    ]
    if rows:
        errors = {row["kernel"]: row["errors"] for row in rows}
        plot.convergence(rows[0]["points"], errors, axes)
    axes.set(xlabel="points", ylabel="relative L1 error, and its order")
    return figure


def work(found: Found) -> Figure:
    """Error against time: a panel for each grid, a line for each preset, along which the CFL number grows."""
    grids, presets = unique(found["work"], "points"), unique(found["work"], "choice")
    rows = -(-len(grids) // 2)
    figure, every = plt.subplots(
        rows,
        2,
        figsize=(WIDTH, 2.6 * rows + 0.6),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for axes, points in zip(every.flat, grids, strict=False):
        for place, preset in enumerate(presets):
            line = [
                row for row in found["work"] if (row["points"], row["choice"]) == (points, preset)
            ]
            times, errors = ([row[key] for row in line] for key in ("seconds", "l1"))
            style = STYLES[place % len(STYLES)]
            axes.loglog(times, errors, style, color=f"C{place}", markersize=5, label=preset)
            for row in (line[0], line[-1]) if preset == presets[0] else ():
                axes.annotate(
                    f"CFL {row['cfl']:g}",
                    (row["seconds"], row["l1"]),
                    (4, 4),
                    textcoords="offset points",
                    fontsize="x-small",
                )
        axes.set_title(f"{points}² points", fontsize="medium")
    for axes in every.flat[len(grids) :]:
        axes.set_axis_off()
    figure.supxlabel("time of the run (s)", fontsize="medium")
    figure.supylabel("relative L1 error", fontsize="medium")
    handles, names = every.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), frameon=False)
    return finished(figure, *every.flat)
