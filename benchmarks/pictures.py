# SPDX-License-Identifier: BSD-3-Clause
"""Plots of docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from particles.plot.drawing import label_ends, save

from benchmarks.scaling import LINEAR_FROM
from benchmarks.tables import ELEMENT_BYTES, WHERE, Found, Row, bandwidths, mean, sweeps_by_label

OURS, OTHERS, GUIDE = "#2a6f97", "#c26a1b", "#6f6f6f"
WIDTH, DPI = 6.0, 150
"""Inches: narrow, so that letters are still large enough where a page is as wide as a telephone."""
plt.rcParams["font.size"] = 11


def write(found: Found, folder: Path) -> None:
    """Write every plot into a folder."""
    drawings: dict[str, Callable[[Found], Figure]] = {
        "cases": cases,
        "scaling": scaling,
        "units": units,
        "peers": peers,
    }
    for name, draw in drawings.items():
        if not found.get(name):
            continue
        figure = draw(found)
        save(figure, folder / f"performance-{name}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)


def cases(found: Found) -> Figure:
    """A bar for each kind of sweep, a dot for each axis, lines where triad and axpy are."""
    kinds = sweeps_by_label(found)
    figure, axes = plt.subplots(figsize=(WIDTH, 0.34 * len(kinds) + 1.2), layout="constrained")
    for place, (_, rows) in enumerate(kinds):
        times = [row["ns"] for row in rows]
        axes.barh(place, mean(times), height=0.62, color=OURS, alpha=0.85)
        axes.plot(times, [place] * len(times), "o", color="black", ms=3)
    for line, (name, rate) in enumerate(bandwidths(found).items()):
        least = ELEMENT_BYTES / rate * 1e9
        axes.axvline(least, color=OTHERS, ls="--")
        axes.annotate(
            f"{name} {least:.2f} ns",
            (least, 1),
            xycoords=("data", "axes fraction"),
            color=OTHERS,
            xytext=(3, 3 + 14 * line),
            textcoords="offset points",
            va="bottom",
        )
    names = [name.replace("10 000 000 in a line", "line of 10 million") for name, _ in kinds]
    axes.set_yticks(range(len(kinds)), names)
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.set(xlabel="ns a particle, sweep and component\nbar: mean of the axes, dots: each axis")
    return finished(figure, axes)


def scaling(found: Found) -> Figure:
    """The time of a step against the number of particles."""
    figure, axes = plt.subplots(figsize=(WIDTH, 4.2), layout="constrained")
    rows = found["scaling"]["rows"]
    for kind, style in zip(found["scaling"]["slopes"], ("o-", "s--"), strict=True):
        points = [(row["particles"], row["seconds"]) for row in rows if row["velocity"] == kind]
        color = OURS if style == "o-" else OTHERS
        name = f"velocity {WHERE[kind]}"
        axes.loglog(*zip(*points, strict=True), style, color=color, ms=5, label=name)
    most = max(rows, key=lambda row: row["particles"])
    ends = [LINEAR_FROM / 10, most["particles"]]
    line = [0.4 * most["seconds"] * count / most["particles"] for count in ends]
    axes.loglog(ends, line, ":", color=GUIDE, label="slope 1: linear")
    axes.set(xlabel="particles", ylabel="seconds a step")
    axes.legend(frameon=False)
    return finished(figure, axes)


def units(found: Found) -> Figure:
    """How many times faster more compute units are."""
    figure, axes = plt.subplots(figsize=(WIDTH, 4.2), layout="constrained")
    rows = found["units"]["rows"]
    counts = [row["units"] for row in rows]
    axes.plot(counts, counts, ":", color=GUIDE)
    labels: list[tuple[float, float, str, str]] = [(counts[-1], counts[-1], "ideal", GUIDE)]

    def draw(values: list[float], name: str, style: str, color: str) -> None:
        axes.plot(counts, values, style, color=color, ms=6)
        labels.append((counts[-1], values[-1], name, color))

    for place, case in enumerate(rows[0]["cases"]):
        gains = [case["ns"] / row["cases"][place]["ns"] for row in rows]
        if case["axis"] is None:
            draw(gains, "whole run", "s-", OURS)
        else:
            draw(gains, f"sweep, axis {case['axis']}", "o^v"[place] + "--", OURS)
    draw([row["triad"] / rows[0]["triad"] for row in rows], "triad: memory alone", "D-", OTHERS)
    axes.set(xlabel="compute units", ylabel="times faster than one", xticks=counts, ylim=0)
    label_ends(axes, labels)
    return finished(figure, axes)


def peers(found: Found) -> Figure:
    """A dot for the time of every library, for sweeps and for whole steps."""
    rows = found["peers"]["rows"]
    parts = {
        f"{work}, CFL {cfl:g}": [
            row for row in rows if row["cfl"] == cfl and (row["axis"] is None) == is_step
        ]
        for work, is_step in (("a sweep", False), ("a whole step", True))
        for cfl in dict.fromkeys(row["cfl"] for row in rows)
    }
    heights = [len(part) for part in parts.values()]
    figure, every = plt.subplots(
        len(parts),
        figsize=(WIDTH, 0.38 * sum(heights) + 1.6),
        height_ratios=heights,
        sharex=True,
        layout="constrained",
    )
    for axes, (work, part) in zip(every, parts.items(), strict=True):
        for place, row in enumerate(part):
            style, color = ("o", OURS) if row["name"] == "particles" else ("s", OTHERS)
            axes.plot(row["ns"], place, style, color=color, ms=8)
            axes.annotate(
                f"{row['ns']:.3g}",
                (row["ns"], place),
                xytext=(9, 0),
                textcoords="offset points",
                va="center",
            )
        names = [axis_named(row) for row in part]
        axes.set_yticks(range(len(part)), names)
        axes.grid(axis="y", color=GUIDE, alpha=0.3)
        axes.set(xscale="log", title=work, ylim=(len(part) - 0.5, -0.5))
        axes.margins(x=0.18)
    every[-1].set_xlabel("ns a particle")
    return finished(figure, *every)


def axis_named(row: Row) -> str:
    """Return the name of a peer, with the axis of its sweep."""
    return row["name"] if row["axis"] is None else f"{row['name']}, axis {row['axis']}"


def finished(figure: Figure, *every: Axes) -> Figure:
    """Return a figure without frames around its axes."""
    for axes in every:
        axes.spines[["top", "right"]].set_visible(False)
    return figure
