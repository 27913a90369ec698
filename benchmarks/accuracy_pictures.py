# SPDX-License-Identifier: BSD-3-Clause
"""Plots of docs/accuracy.md."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from particles import plot
from particles._drawing import save

from benchmarks.accuracy_tables import unique
from benchmarks.pictures import GUIDE, finished
from benchmarks.tables import Found

MARKERS = {"default": "o", "accurate": "s", "positive": "^"}


def write(found: Found, folder: Path) -> None:
    """Write every plot into a folder."""
    for name, draw in {"orders": orders, "work": work}.items():
        figure = draw(found)
        save(figure, folder / f"accuracy-{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


def orders(found: Found) -> Figure:
    """Errors of the kernels against the points along an axis, particles moved exactly."""
    figure, axes = plt.subplots(figsize=(6.5, 4.5), layout="constrained")
    rows = [
        row
        for row in found["space"]
        if row["scheme"] == "exact" and row["dtype"] == "float64" and row["ndim"] == 1
    ]
    if rows:
        errors = {row["kernel"]: row["errors"] for row in rows}
        plot.convergence(rows[0]["points"], errors, axes)
        axes.legend(title="observed order", loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set(xlabel="points", ylabel="relative L1 error")
    return figure


def work(found: Found) -> Figure:
    """Error against time: a line for each preset and grid, along which the CFL number grows."""
    figure, axes = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    presets = unique(found["work"], "choice")
    for color, preset in enumerate(presets):
        rows = [row for row in found["work"] if row["choice"] == preset]
        for points in unique(rows, "points"):
            line = [row for row in rows if row["points"] == points]
            times = [row["seconds"] for row in line]
            errors = [row["l1"] for row in line]
            first = points == rows[0]["points"]
            style = f"C{color}{MARKERS.get(str(preset), 'o')}-"
            axes.loglog(times, errors, style, markersize=4, label=preset if first else None)
            axes.annotate(f" {points}²", (times[0], errors[0]), color=GUIDE, fontsize="small")
    axes.set(xlabel="time of the run (s); along a line CFL 25 ... 1", ylabel="relative L1 error")
    axes.legend()
    return finished(figure, axes)
