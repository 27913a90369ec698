# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figure 3 and the roofline, of this device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from particles import plot
from particles.plot.drawing import save

from benchmarks.paper.intensity import Work
from benchmarks.paper.shares import HOST, INITIALISATION
from benchmarks.pictures import DPI, GUIDE, OTHERS, OURS, WIDTH
from benchmarks.tables import bandwidths

COLORS = {
    "advect": OTHERS,
    "sweep": OURS,
    "other kernels": "#6a9f58",
    HOST: "#c5c5c5",
    INITIALISATION: "#5c5c5c",
}
HATCHES = {"advect": "//", HOST: ".."}
LABELS = {"advect": "push", "sweep": "remesh, or push and remesh"}
PAPERS_INTENSITIES = {"paper: push": 2.25, "paper: remesh": 9.5}


def write(found: dict[str, Any], works: tuple[Work, ...], folder: Path) -> list[Path]:
    """Write both plots; return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"shares": shares(found), "roofline": roofline(found, works)}
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"paper-{name}.png")
        save(figure, paths[-1], dpi=DPI, metadata={"Software": None})
        plt.close(figure)
    return paths


def shares(found: dict[str, Any]) -> Figure:
    """Bars of the share of every part against the number of points, one panel for each form."""
    rows = found["shares"]
    forms = list(dict.fromkeys(row["form"] for row in rows))
    figure, panels = plt.subplots(
        1, len(forms), figsize=(WIDTH, 4), sharey=True, layout="constrained"
    )
    for panel, form in zip(panels, forms, strict=True):
        stack(panel, [row for row in rows if row["form"] == form])
        panel.set_title(form)
    panels[0].set_ylabel("share of the time of a run, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


def stack(axes: Axes, rows: list[dict[str, Any]]) -> None:
    """Stack the parts of each run, and write its time above."""
    places = np.arange(len(rows))
    totals = np.array([sum(row["seconds"].values()) for row in rows])
    base = np.zeros(len(rows))
    for part, color in COLORS.items():
        share = 100 * np.array([seconds_of(part, row["seconds"]) for row in rows]) / totals
        axes.bar(
            places,
            share,
            0.8,
            base,
            color=color,
            hatch=HATCHES.get(part),
            edgecolor="white",
            linewidth=0.5,
            label=LABELS.get(part, part),
        )
        base += share
    for place, total in zip(places, totals, strict=True):
        axes.text(place, 101, f"{total:.2g} s", ha="center", va="bottom", fontsize="small")
    axes.set_xticks(places, [f"{row['points']}³" for row in rows])
    axes.set(xlabel="particles", ylim=(0, 108))
    axes.spines[["top", "right"]].set_visible(False)


def seconds_of(part: str, seconds: dict[str, float]) -> float:
    """Return the time of a part, of all kernels that belong to it."""
    return sum(time for name, time in seconds.items() if part_of(name) == part)


def part_of(name: str) -> str:
    """Return what a kernel belongs to: many sweeps in a launch are sweeps."""
    if name == "sweep_chain":
        return "sweep"
    return name if name in COLORS else "other kernels"


def roofline(found: dict[str, Any], works: tuple[Work, ...]) -> Figure:
    """Operations per second against operations per byte, below what the device can do."""
    figure, axes = plt.subplots(figsize=(WIDTH, 4.6), layout="constrained")
    reached = {
        work.name: (work.intensity, work.operations / found["kernel_ns"][work.name] * 1e9)
        for work in works
    }
    bandwidth = max(bandwidths(found).values())
    plot.roofline(reached, bandwidth, found["peak"], axes)
    bottom = axes.get_ylim()[0]
    for name, intensity in PAPERS_INTENSITIES.items():
        label = name.replace(": ", "\n")  # no longer than there is room below others
        roof = min(found["peak"], intensity * bandwidth) / 1e9
        axes.plot([intensity, intensity], [bottom, roof], "--", color=GUIDE, linewidth=1)
        axes.annotate(
            f"{label} {intensity}",
            (intensity, bottom),
            xytext=(-2, 4),
            textcoords="offset points",
            ha="right",
            va="bottom",
            rotation=90,
            color=GUIDE,
            fontsize="small",
        )
    return figure
