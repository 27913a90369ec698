# SPDX-License-Identifier: BSD-3-Clause
"""Tables of docs/accuracy.md, made of what `benchmarks.accuracy` has found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.tables import Found, Row, table

DIMENSIONS = (1, 2, 3)


def unique(rows: Sequence[Row], key: str) -> list[object]:
    """Return the values that occur, in the order in which they do."""
    return list(dict.fromkeys(row[key] for row in rows))


def order_text(row: Row | None) -> str:
    """Return an observed order; in brackets the error where it is nothing but round-off."""
    if row is None:
        return ""
    return f"{row['order']:.2f}" if row["order"] is not None else f"({row['errors'][-1]:.0e})"


def measured(found: Found) -> str:
    """Where and when."""
    device = found["device"]
    return (
        f"Measured on {found['date'][:10]} with particles {found['particles']}: "
        f"{device['name']} ({device['platform']} {device['driver']})."
    )


def space(found: Found) -> str:
    """A table for each dtype and dimension: a row for each kernel, a column for each motion."""
    parts = []
    for dtype in unique(found["space"], "dtype"):
        for ndim in unique(found["space"], "ndim"):
            rows = [r for r in found["space"] if r["dtype"] == dtype and r["ndim"] == ndim]
            points = " / ".join(map(str, rows[0]["points"]))
            parts.append(f"**{dtype}, {ndim}-D, {points} points along an axis**\n\n{orders(rows)}")
    return "\n\n".join(parts)


def orders(rows: Sequence[Row]) -> str:
    """A row for each kernel, a column for each scheme and interpolation."""
    motions = list(dict.fromkeys((row["scheme"], row["interpolation"]) for row in rows))
    by_key = {(row["kernel"], row["scheme"], row["interpolation"]): row for row in rows}
    header = ["kernel", *(" ".join(dict.fromkeys(motion)) for motion in motions)]
    body = [
        [kernel, *(order_text(by_key.get((kernel, *motion))) for motion in motions)]
        for kernel in unique(rows, "kernel")
    ]
    return table(header, body)


def rest(found: Found) -> str:
    """A row for each kernel; for each place the orders of the mean and of the greatest error."""
    rows = {(row["place"], row["kernel"]): row for row in found["rest"]}
    places = unique(found["rest"], "place")
    header = ["kernel", *(f"{place}: {norm}" for place in places for norm in ("mean", "greatest"))]
    body = [
        [
            kernel,
            *(
                f"{order:.2f} ({expected})"
                for place in places
                for order, expected in zip(
                    rows[place, kernel]["orders"], rows[place, kernel]["expected"], strict=True
                )
            ),
        ]
        for kernel in unique(found["rest"], "kernel")
    ]
    return table(header, body)


def resting(found: Found) -> str:
    """A row for each flow and grid; for each kernel the mean and the greatest error."""
    rows = {(row["flow"], row["points"], row["choice"]): row for row in found["resting"]}
    choices = unique(found["resting"], "choice")
    runs = dict.fromkeys((row["flow"], row["points"]) for row in found["resting"])
    body = [
        [
            flow,
            points,
            *(f"{rows[flow, points, c][norm]:.1e}" for c in choices for norm in ("l1", "max")),
        ]
        for flow, points in runs
    ]
    header = ["flow", "points", *(f"{c}: {norm}" for c in choices for norm in ("L1", "greatest"))]
    return table(header, body)


def inflow(found: Found) -> str:
    """A row for each kernel and CFL number; for each kind of velocity the order, the last error."""
    rows = {(row["kernel"], row["cfl"], row["motion"]): row for row in found["inflow"]}
    motions = unique(found["inflow"], "motion")
    runs = dict.fromkeys((row["kernel"], row["cfl"]) for row in found["inflow"])
    body = [
        [
            kernel,
            f"{cfl:g}",
            *(
                f"{r['order']:.1f}, {r['errors'][-1]:.1e}"
                for r in (rows[kernel, cfl, m] for m in motions)
            ),
        ]
        for kernel, cfl in runs
    ]
    return table(["kernel", "CFL", *motions], body)


def diverging(found: Found) -> str:
    """A row for each splitting; for each CFL number the order, the last error."""
    rows = {(row["splitting"], row["cfl"]): row for row in found["diverging"]}
    cfls = unique(found["diverging"], "cfl")
    body = [
        [
            splitting,
            *(
                f"{r['order']:.1f}, {r['errors'][-1]:.1e}"
                for r in (rows[splitting, cfl] for cfl in cfls)
            ),
        ]
        for splitting in unique(found["diverging"], "splitting")
    ]
    return table(["splitting", *(f"CFL {cfl:g}" for cfl in cfls)], body)


def in_time(found: Found) -> str:
    """A row for each scheme, a column for each dimension."""
    rows = {(row["scheme"], row["ndim"]): row for row in found["time"]}
    expected = {row["scheme"]: row["expected"] for row in found["time"]}
    body = [
        [scheme, order, *(order_text(rows.get((scheme, ndim))) for ndim in DIMENSIONS)]
        for scheme, order in expected.items()
    ]
    return table(["scheme", "order", *(f"{ndim}-D" for ndim in DIMENSIONS)], body)


def splittings(found: Found) -> str:
    """A row for each splitting."""
    rows = found["splittings"]
    steps = [f"error, {count} steps" for count in rows[0]["steps"]]
    body = [[row["splitting"], *row["errors"], row["expected"], order_text(row)] for row in rows]
    return table(["splitting", *steps, "order", "observed"], body)


def errors(name: str, *, timed: bool = False) -> Callable[[Found], str]:
    """Return what makes a table of runs: a row for each."""

    def make(found: Found) -> str:
        header = ["flow", "choice", "points", "CFL", "L1", "volume", "mass", "least", "greatest"]
        body = [
            [
                row["flow"] + (", and back" if row.get("back") else ""),
                row["choice"],
                row["points"],
                f"{row['cfl']:.3g}",
                f"{row['l1']:.2e}",
                f"{row['volume']:+.2%}",
                f"{row['mass']:+.0e}",
                f"{row['least']:.3f}",
                f"{row['greatest']:.3f}",
                *([f"{row['seconds'] * 1e3:.3g}"] if timed else []),
            ]
            for row in found[name]
        ]
        return table(header + ["ms"] * timed, body)

    return make


def refused(found: Found) -> str:
    """A line for each combination that was refused."""
    lines = [f"- {line}" for line in found["left_out"]]
    return "\n".join(lines) if lines else "Nothing was refused."


SECTIONS: dict[str, tuple[str, Callable[[Found], str]]] = {
    "measured": ("device", measured),
    "orders_in_space": ("space", space),
    "orders_at_rest": ("rest", rest),
    "errors_at_rest": ("resting", resting),
    "orders_at_inflow": ("inflow", inflow),
    "orders_along_inflow": ("diverging", diverging),
    "orders_in_time": ("time", in_time),
    "orders_of_splittings": ("splittings", splittings),
    "kernel_errors": ("kernels", errors("kernels")),
    "reversing_flows": ("reversing", errors("reversing")),
    "work_precision": ("work", errors("work", timed=True)),
    "precisions": ("precisions", errors("precisions")),
    "resolutions": ("resolutions", errors("resolutions")),
    "refused": ("left_out", refused),
}
"""What each table is made of, and how."""


def section(name: str, found: Found) -> str:
    """Return a table, or that nothing was found for it."""
    part, make = SECTIONS[name]
    return (
        make(found)
        if part in found and (found[part] or part == "left_out")
        else "Not measured on this device."
    )
