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
from particles._drawing import save

from benchmarks.scaling import LINEAR_FROM
from benchmarks.tables import TRIAD_BYTES, WHERE, Found, Row, mean, sweeps_by_label

OURS, OTHERS, GUIDE = "#2a6f97", "#e08e45", "#8a8a8a"


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
        save(figure, folder / f"performance-{name}.png", dpi=110, metadata={"Software": None})
        plt.close(figure)


def cases(found: Found) -> Figure:
    """A bar for each kind of sweep, a dot for each axis, a line where the triad is."""
    kinds = sweeps_by_label(found)
    figure, axes = plt.subplots(figsize=(8, 0.32 * len(kinds) + 1.2), layout="constrained")
    for place, (_, rows) in enumerate(kinds):
        times = [row["ns"] for row in rows]
        axes.barh(place, mean(times), height=0.62, color=OURS, alpha=0.85)
        axes.plot(times, [place] * len(times), "o", color="black", ms=3)
    triad = TRIAD_BYTES / found["triad"] * 1e9
    axes.axvline(triad, color=OTHERS, ls="--")
    axes.annotate(
        f"triad {triad:.2f} ns",
        (triad, 1),
        xycoords=("data", "axes fraction"),
        color=OTHERS,
        xytext=(3, 3),
        textcoords="offset points",
        va="bottom",
    )
    axes.set_yticks(range(len(kinds)), [name for name, _ in kinds])
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.set(xlabel="ns per particle, sweep and component; mean of the axes (bar), each axis (dot)")
    return finished(figure, axes)


def scaling(found: Found) -> Figure:
    """The time of a step against the number of particles."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    rows = found["scaling"]["rows"]
    for kind, color in zip(found["scaling"]["slopes"], (OURS, OTHERS), strict=True):
        points = [(row["particles"], row["seconds"]) for row in rows if row["velocity"] == kind]
        name = f"velocity {WHERE[kind]}"
        axes.loglog(*zip(*points, strict=True), "o-", color=color, ms=4, label=name)
    most = max(rows, key=lambda row: row["particles"])
    ends = [LINEAR_FROM / 10, most["particles"]]
    line = [0.6 * most["seconds"] * count / most["particles"] for count in ends]
    axes.loglog(ends, line, "--", color=GUIDE, label="linear")
    axes.set(xlabel="particles", ylabel="seconds a step")
    axes.legend(frameon=False)
    return finished(figure, axes)


def units(found: Found) -> Figure:
    """How many times faster more compute units are."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    rows = found["units"]
    counts = [row["units"] for row in rows]
    axes.plot(counts, counts, "--", color=GUIDE, label="ideal")
    for place, case in enumerate(rows[0]["cases"]):
        gains = [case["ns"] / row["cases"][place]["ns"] for row in rows]
        name, style = (
            ("run", "s-") if case["axis"] is None else (f"axis {case['axis']}", "o^v"[place] + ":")
        )
        color = OURS if case["axis"] is None else "black"
        axes.plot(counts, gains, style, color=color, ms=5, label=name)
    triads = [row["triad"] / rows[0]["triad"] for row in rows]
    axes.plot(counts, triads, "D-", color=OTHERS, ms=5, label="triad")
    axes.set(xlabel="compute units", ylabel="times faster than one", xticks=counts, ylim=0)
    axes.legend(frameon=False, loc="lower right")
    return finished(figure, axes)


def peers(found: Found) -> Figure:
    """A dot for the time of every library, for sweeps and for whole steps."""
    rows = found["peers"]["rows"]
    parts = {
        "a sweep": [row for row in rows if row["axis"] is not None],
        "a whole step": [row for row in rows if row["axis"] is None],
    }
    heights = [len(part) for part in parts.values()]
    figure, every = plt.subplots(
        len(parts),
        figsize=(8, 0.34 * sum(heights) + 1.6),
        height_ratios=heights,
        sharex=True,
        layout="constrained",
    )
    for axes, (work, part) in zip(every, parts.items(), strict=True):
        for place, row in enumerate(part):
            color = OURS if row["name"] == "particles" else OTHERS
            axes.plot(row["ns"], place, "o", color=color, ms=9)
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
        axes.margins(x=0.12)
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
