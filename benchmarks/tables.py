# SPDX-License-Identifier: BSD-3-Clause
"""Tables of docs/performance.md and of costs in docs/accuracy.md, made of what has been measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from particles.cli.bench import ELEMENT_BYTES, STEPS, Case

Found = dict[str, Any]
Row = dict[str, Any]
DEFAULTS = Case(())
WHERE = {"vortex": "on the grid", "vortex formula": "by a formula"}
POWERS = {1: " in a line", 2: "²", 3: "³"}


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table of Markdown: text to the left, numbers to the right."""
    rule = ["---:" if any(map(is_number, column)) else "---" for column in zip(*rows, strict=True)]
    cells = [[text(value) for value in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *cells])


def is_number(value: object) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float)


def text(value: object) -> str:
    """Return a number with about three significant digits, anything else as it is."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ") if value >= 1e4 else str(value)
    if not isinstance(value, float):
        return str(value)
    if not 1e-3 <= abs(value) < 1e5:
        return f"{value:.1e}"
    return f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else 1}f}"


def label(row: Row) -> str:
    """Return what is special about a case."""
    shape = row["shape"]
    same = len(set(shape)) == 1
    names = [text(shape[0]) + POWERS[len(shape)] if same else " x ".join(map(text, shape))]
    names += [str(row[key]) for key in ("kernel", "dtype") if row[key] != getattr(DEFAULTS, key)]
    if row["components"] > 1:
        names.append(f"{row['components']} components")
    if row["cfl"] != DEFAULTS.cfl:
        names.append(f"CFL {row['cfl']:g}")
    if row["velocity"] != DEFAULTS.velocity:
        names.append(f"{row['velocity']} velocity")
    return ", ".join(names)


def sweeps_by_label(found: Found) -> list[tuple[str, list[Row]]]:
    """Return the sweeps of each kind of case, in the order of their axes."""
    sweeps = [row for row in found["cases"] if row["axis"] is not None]
    ordered = list(dict.fromkeys(map(label, sweeps)))
    return [(name, [row for row in sweeps if label(row) == name]) for name in ordered]


def mean(values: Iterable[float]) -> float:
    """Return the mean of some numbers."""
    kept = list(values)
    return sum(kept) / len(kept)


def where(found: Found) -> str:
    """Where something was measured, and when."""
    of, device = found["machine"], found["device"]
    memory = "" if of["memory"] is None else f", {of['memory'] / 2**30:.0f} GiB"
    return (
        f"Measured on {found['date'][:10]} with particles {found['particles']}: {of['processor']}, "
        f"{of['cores']} cores{memory}; {device['name']} ({device['platform']} {device['driver']}, "
        f"{device['compute_units']} compute units)."
    )


def machine(found: Found) -> str:
    """Where everything was measured, and how fast its memory is."""
    reached = " and ".join(
        f"{rate / 1e9:.1f} GB/s by the {name}, {ELEMENT_BYTES / rate * 1e9:.3f} ns for an element of "
        f"{ELEMENT_BYTES} bytes"
        for name, rate in bandwidths(found).items()
    )
    alone = "" if "axpy" in found else ", of which shares are here"
    return f"{where(found)} The memory reached {reached}{alone}."


def bandwidths(found: Found) -> dict[str, float]:
    """Bytes per second of a triad and, where that was measured as well, of an axpy."""
    return {name: found[name] for name in ("triad", "axpy") if name in found}


def sweeps(found: Found) -> str:
    """A row for each kind of case, a column for each axis."""
    rows = []
    for name, cases in sweeps_by_label(found):
        times = [row["ns"] for row in cases]
        busy = [row["processor_ns"] for row in cases if row["processor_ns"] is not None]
        rows.append([name, *times, *[None] * (3 - len(times))])
        rows[-1] += [mean(busy) if busy else None]
        rows[-1] += [mean(row[unit] for row in cases) for unit in units_of(found)]
        rows[-1] += [f"{mean(row['share'] for row in cases):.0%}"]
    head = ["", "axis 0", "axis 1", "axis 2", "processors", *units_of(found), "of bandwidth"]
    return table(head, rows)


def units_of(found: Found) -> list[str]:
    """What times are compared with."""
    return [f"{name}s" for name in bandwidths(found)]


def runs(found: Found) -> str:
    """A row for each whole run."""
    rows = [
        [
            *(label(row), row["seconds"], row["seconds"] / STEPS * 1e3, row["ns"]),
            *(row[unit] for unit in units_of(found)),
        ]
        for row in found["cases"]
        if row["axis"] is None
    ]
    return table(["", f"s for {STEPS} steps", "ms a step", "ns", *units_of(found)], rows)


def devices(every: Sequence[Found]) -> str:
    """A row for each device that has been measured."""
    rows = []
    for found in every:
        device = found["device"]
        kinds = sweeps_by_label(found)[:2]
        times = [" / ".join(text(row["ns"]) for row in cases) for _, cases in kinds]
        name = f"{device['name']}, {device['platform']} {device['driver']}"
        axpy = found["axpy"] / 1e9 if "axpy" in found else ""
        rows.append([name, found["triad"] / 1e9, axpy, *times, found["date"][:10]])
    names = [name for name, _ in sweeps_by_label(every[0])[:2]]
    return table(["device", "triad, GB/s", "axpy, GB/s", *names, "measured"], rows)


def fields(found: Found) -> str:
    """A row for each operation on a field."""
    rows = []
    for row in found["fields"]:
        rate = row["bytes"] / row["seconds"] / 1e9
        rows.append([row["operation"], row["seconds"] * 1e3, rate, f"{row['share']:.0%}"])
    return table(["operation", "ms", "GB/s", "of bandwidth"], rows)


def peers(found: Found) -> str:
    """A row for each library and kind of work."""
    keys = ("cfl", "ns", "processor_ns", "times_ours", "error", "version")
    rows = [[row["name"], work(row), *(row[key] for key in keys)] for row in found["peers"]["rows"]]
    header = [
        "",
        "work",
        "CFL",
        "ns a particle",
        "processors",
        "times ours",
        "difference",
        "version",
    ]
    return table(header, rows)


def work(row: Row) -> str:
    """What a peer does."""
    return "a whole step" if row["axis"] is None else f"a sweep, axis {row['axis']}"


def scaling(found: Found) -> str:
    """A row for each number of particles, and how the time grows."""
    rows, slopes = found["scaling"]["rows"], found["scaling"]["slopes"]
    times = {(row["particles"], row["velocity"]): row["seconds"] * 1e3 for row in rows}
    sizes = sorted({row["particles"] for row in rows})
    by_size = [[size, *(times.get((size, kind)) for kind in slopes)] for size in sizes]
    header = ["particles", *(f"ms a step, velocity {WHERE[kind]}" for kind in slopes)]
    exponents = ", ".join(
        f"{text(slope)} ({WHERE[kind]})" for kind, slope in slopes.items() if slope
    )
    sentence = f"\n\nExponent from a million particles on: {exponents}." if exponents else ""
    return table(header, by_size) + sentence


def units(found: Found) -> str:
    """A row for each number of compute units."""
    rows = [
        [row["units"], *(rate / 1e9 for rate in bandwidths(row).values())]
        + [case["ns"] for case in row["cases"]]
        for row in found["units"]["rows"]
    ]
    memory = [f"{name}, GB/s" for name in bandwidths(found["units"]["rows"][0])]
    cases = found["units"]["rows"][0]["cases"]
    work = ["run" if case["axis"] is None else f"axis {case['axis']}" for case in cases]
    return table(["compute units", *memory, *(f"{name}, ns" for name in work)], rows)


def overhead(found: Found) -> str:
    """A row for each number of points along an axis."""
    rows = found["overhead"]["rows"]
    return table(list(rows[0]), [list(row.values()) for row in rows])


def paper(found: Found) -> str:
    """A row for each step from the publication's kernels to ours."""
    rows = found["paper"]["ladder"]
    first = mean(rows[0]["ns"])
    made = [[row["name"], *row["ns"], mean(row["ns"]), first / mean(row["ns"])] for row in rows]
    return table(["", "axis 0", "axis 1", "axis 2", "mean", "times faster"], made)


def schemes(found: Found) -> str:
    """A row for each choice of the method, and what it costs."""
    header, rows = ["choice"], []
    for row in found["schemes"]["schemes"]:
        beside = zip(row["ns"], row["default_ns"], strict=True)
        rows.append([row["name"], *(f"{a:.2f} / {b:.2f}" for a, b in beside), row["times_default"]])
    header += [f"axis {axis}" for axis in range(len(rows[0]) - 2)]
    return table([*header, "times default"], rows)


def first_minute(found: Found) -> str:
    """A row for each script, with nothing kept and with everything, and what it waits for."""
    rows = [
        [f"{case}, {state}", row["seconds"], row["processors"], *row["parts"].values()]
        for case, states in found["first_minute"]["cases"].items()
        for state, row in states.items()
    ]
    parts = next(iter(found["first_minute"]["cases"].values()))["cold"]["parts"]
    return table(["", "s to the end of the first step", "processors", *parts], rows)


def unsplit(found: Found) -> str:
    """A row for each way of moving particles along several axes."""
    header = ["flow", "rule", "splitting", "points", "steps", "CFL", "LCFL", "L1", "volume"]
    header += ["ns a particle and step", "times Strang"]
    rows = [
        [
            *(row[name] for name in ("flow", "rule", "splitting", "points", "steps")),
            *(f"{row[name]:.3g}" for name in ("cfl", "lcfl")),
            f"{row['l1']:.2e}",
            f"{row['volume']:+.2%}",
            row["ns"],
            row["times_strang"],
        ]
        for row in found["unsplit"]["rows"]
    ]
    return table(header, rows)


def gyre(found: Found) -> str:
    """A table for each flow: a row for each way to carry a tracer, a column for each step."""
    every = found["gyre"]["steps"]
    parts = []
    for flow in dict.fromkeys(row["flow"] for row in every):
        rows = [row for row in every if row["flow"] == flow]
        lcfls = list(dict.fromkeys(row["lcfl"] for row in rows))
        by_key = {(row["carries"], row["way"], row["lcfl"]): row for row in rows}
        body = [
            [carries, way, *(_tracer(by_key[carries, way, lcfl]) for lcfl in lcfls)]
            for carries, way in dict.fromkeys((row["carries"], row["way"]) for row in rows)
        ]
        head = ["carried as", "way"]
        for lcfl in lcfls:
            row = next(row for row in rows if row["lcfl"] == lcfl)
            head.append(f"LCFL {lcfl:g}, {row['steps']} steps, CFL {row['cfl']:.0f}")
        shape = " x ".join(map(str, rows[0]["shape"]))
        parts.append(f"**{flow}, {shape} points**\n\n{table(head, body)}")
    return "\n\n".join(parts)


def _tracer(row: Row) -> str:
    """Return L1 and L2, the extrema after any step, and by how much the mass is off."""
    extrema = f"{row['least'] + 0.0:.2f} … {row['greatest']:.3f}"
    mass = "" if row["carries"] == "masses" else f"; {row['mass']:+.1%}"
    return f"{row['l1']:.3f}, {row['l2']:.3f}; {extrema}{mass}"


def gyre_kernels(found: Found) -> str:
    """A row for each kernel: what a strained sweep makes of a constant and of the tracer."""
    header = ["kernel", *(f"strain {s:g}" for s in (0.1, 0.2, 0.4, 0.8))]
    header += ["1 % at", "2 % at", "gyre at the latter", "at 0.2", "at 0.4"]
    rows = [
        [
            row["kernel"],
            *(f"±{ripple:.1%}" for ripple in row["ripples"]),
            *(f"{strain:.2f}" for strain in row["kept"]),
            *(f"{run['l1']:.3f}, {run['greatest']:.2f}" for run in row["runs"]),
        ]
        for row in found["gyre"]["kernels"]
    ]
    return table(header, rows)


def gyre_cells(found: Found) -> str:
    """A row for each way to carry a constant, and the tracer, where a steady flow stands still."""
    every = found["gyre"]["cells"]
    header = ["masses with", *(f"one, LCFL {run['lcfl']:g}" for run in every[0]["ones"])]
    header += ["hill, LCFL 0.2: L1", "least … greatest"]
    rows = [
        [
            row["way"],
            *(_range_of(run) for run in row["ones"]),
            f"{row['hill']['l1']:.3f}",
            _range_of(row["hill"]),
        ]
        for row in every
    ]
    return table(header, rows)


def _range_of(row: Row) -> str:
    return f"{row['least'] + 0.0:.2f} … {row['greatest']:.2f}"


def interpolation(found: Found) -> str:
    """What is hoped for between particles and grid beside what was found, all rows, and sorting."""
    part = found["interpolation"]
    goals = table(["", "goal", "found"], list(_goals(part["results"])))
    header = ["points", "kernel", "particles", "direction", "operations", "ns", "million a second"]
    header += ["GB/s", "GFLOP/s", "of the roof", "Numba", "FINUFFT"]
    rows = [
        [
            " x ".join(map(str, row["shape"])),
            row["kernel"],
            row["case"],
            row["direction"],
            row["flop"],
            row["ns"],
        ]
        + [f"{1e3 / row['ns']:.0f}", f"{row['gbytes']:.1f}", f"{row['gflops']:.1f}"]
        + [f"{row['efficiency']:.0%}"]
        + [f"{row[peer] / row['ns']:.1f}" if row.get(peer) else "" for peer in PEERS_NS]
        for row in part["results"]
        if "kernel" in row
    ]
    peak = part["peak"]["float32"] * 1e-9, part["peak"]["float64"] * 1e-9
    mover = "faster of the triad and the axpy" if "axpy" in part else "triad"
    roof = f"The roof is of {part['bandwidth'] * 1e-9:.1f} GB/s, as the {mover} moves, and of the peak: "
    roof += f"{peak[0]:.0f} GFLOP/s in float32, {peak[1]:.0f} in float64."
    sizes = [of_sizes(part["sizes"]), of_last_size(part["sizes"])]
    tables = [goals, table(header, rows), sorting(part["results"]), *sizes]
    return "\n\n".join([*tables, f"{where(part)} {roof}"])


def of_sizes(results: Sequence[Row]) -> str:
    """A row for each size of the publication, and what is carried there."""
    directions = list(dict.fromkeys(row["direction"] for row in results))
    cases = dict.fromkeys(row["case"] for row in results)
    shapes = dict.fromkeys(tuple(row["shape"]) for row in results)
    by_key = {(row["direction"], row["case"], tuple(row["shape"])): row for row in results}
    rows = [
        [
            case,
            " x ".join(map(str, shape)),
            *(_speed(by_key[way, case, shape]) for way in directions),
        ]
        for case, shape in product(cases, shapes)
    ]
    return table(["particles", "points", *(f"{way}, ns (GFLOP/s)" for way in directions)], rows)


def of_last_size(results: Sequence[Row]) -> str:
    """What the publication tells of its last size: bandwidth, speed, efficiency and acceleration."""
    shape = results[-1]["shape"]
    last = [row for row in results if row["shape"] == shape]
    header = [" x ".join(map(str, shape)), "ns", "GB/s", "GFLOP/s", "of the roof"]
    rows = [
        [
            f"{row['direction']}, {row['case']}",
            row["ns"],
            f"{row['gbytes']:.1f}",
            f"{row['gflops']:.1f}",
            f"{row['efficiency']:.0%}",
        ]
        for row in last
    ]
    if all(row.get("one_unit_ns") for row in last):
        header.append("faster than one unit")
        for row, cells in zip(last, rows, strict=True):
            cells.append(f"{row['one_unit_ns'] / row['ns']:.1f}")
    return table(header, rows)


def _speed(row: Row) -> str:
    return f"{row['ns']:.2f} ({row['gflops']:.1f})"


def sorting(results: Sequence[Row]) -> str:
    """A row for each set that was sorted."""
    rows = [
        [
            " x ".join(map(str, row["shape"])),
            row["direction"],
            *(row[name] for name in ("ns", "memory", "numpy_ns")),
            _times(row, "numpy"),
        ]
        for row in results
        if "kernel" not in row
    ]
    header = ["points", "", "ns a particle", "bytes a particle", "NumPy, ns", "NumPy, times"]
    return table(header, rows)


PEERS_NS = ("numba_ns", "finufft_ns")
TIMES_NUMBA = {
    (3, "M'4"): (4.5, 4.0),
    (3, "M'6"): (6.0, 6.0),
    (2, "M'4"): (3.5, 2.3),
}
TIMES_FINUFFT = {"M'4": 8.0, "M'6": 4.0}
TIMES_UNIFORM = {
    "in rows, float64 x 1": (2.0, 2.0),
    "64 blobs, float32 x 1": (1.4, 1.2),
    "one blob, float32 x 1": (2.0, 1.2),
}
SHUFFLED = "sort, shuffled"
TIMES_NUMPY = {SHUFFLED: 5.3, "sort, moved by 0.9 cells": 8.6}
"""Both beside NumPy's time for shuffled keys, which the goals were made of."""
DIRECTIONS = ("particles to grid", "grid to particles")


def _goals(results: Sequence[Row]) -> Iterator[list[object]]:
    """Yield what is compared, the goal and what was found."""
    usual = {
        (tuple(row["shape"]), row["kernel"], row["direction"]): row
        for row in results
        if row.get("case") == "in rows, float32 x 1"
    }
    of_shuffled = {
        tuple(row["shape"]): row["numpy_ns"] for row in results if row["direction"] == SHUFFLED
    }
    for row in results:
        what = f"{row['kernel']} {row['direction']}" if "kernel" in row else row["direction"]
        name = f"{' x '.join(map(str, row['shape']))}, {what}"
        if row["direction"] in TIMES_NUMPY:
            goal, known = TIMES_NUMPY[row["direction"]], of_shuffled[tuple(row["shape"])]
            yield [
                f"{name}: NumPy's stable argsort of shuffled keys takes",
                f"≥ {goal:g} times",
                f"{known / row['ns']:.1f}",
            ]
            if row["direction"] != SHUFFLED:
                yield [f"{name}: NumPy's of the same keys takes", "", _times(row, "numpy")]
            continue
        k, key = DIRECTIONS.index(row["direction"]), (len(row["shape"]), row["kernel"])
        usually = usual[tuple(row["shape"]), row["kernel"], row["direction"]]
        if row is usually:
            if key in TIMES_NUMBA and row.get("numba_ns"):
                goal = TIMES_NUMBA[key][k]
                yield [f"{name}: Numba takes", f"≥ {goal:g} times", _times(row, "numba")]
            if row.get("finufft_ns"):
                goal = TIMES_FINUFFT[row["kernel"]]
                yield [f"{name}: FINUFFT takes", f"≥ {goal:g} times", _times(row, "finufft")]
        elif row["case"] in TIMES_UNIFORM:
            goal, times = TIMES_UNIFORM[row["case"]][k], row["ns"] / usually["ns"]
            yield [f"{name}, {row['case']}, beside the usual one", f"≤ {goal:g}", f"{times:.2f}"]


def _times(row: Row, peer: str) -> str:
    return f"{row[f'{peer}_ns'] / row['ns']:.1f}"


def gpu_model(found: Found) -> str:
    """A row for each kernel of each kind of work, and what it asks of a GPU."""
    header = ["work", "kernel", "bytes needed", "moved", "times", "goal", "no cache"]
    header += ["bank passes", "lanes busy", "group", "local KiB", "registers"]
    header += ["48 KiB", "100 KiB", "228 KiB"]
    rows = []
    for row in found["gpu_model"]["rows"]:
        is_all = row["kernel"] == "all"
        times = row["times"]
        made = [row["case"], row["kernel"], *(f"{row[k] / 2**20:.2f}" for k in ("needed", "moved"))]
        made += ["" if times is None else f"{times:.2f}", row["goal"] and f"{row['goal']:.2f}"]
        made += [f"{row['uncached'] / 2**20:.2f}"]
        made += ["" if row["passes"] is None else f"{row['passes']:.1f}", f"{row['busy']:.0%}"]
        if is_all:
            rows.append([*made, *[""] * 6])
            continue
        spilled = f" + {row['scratch']} B" if row["scratch"] else ""
        made += [row["group"], f"{row['local_bytes'] / 1024:.1f}"]
        made += ["" if row["registers"] is None else f"{row['registers']}{spilled}"]
        shares = zip(row["occupancy"], row.get("filled", [None] * 3), strict=True)
        rows.append([*made, *(_held(*share) for share in shares)])
    return table(header, rows)


def _held(share: float, filled: float | None) -> str:
    """Return the share of sub-groups that fit, and how much of them the problem fills."""
    return f"{share:.0%}" if filled is None else f"{share:.0%}, filled {filled:.0%}"


SECTIONS: dict[str, tuple[str, Callable[[Found], str]]] = {
    "machine": ("machine", machine),
    "sweeps": ("cases", sweeps),
    "runs": ("cases", runs),
    "fields": ("fields", fields),
    "peers": ("peers", peers),
    "scaling": ("scaling", scaling),
    "units": ("units", units),
    "overhead": ("overhead", overhead),
    "paper": ("paper", paper),
    "schemes": ("schemes", schemes),
    "first_minute": ("first_minute", first_minute),
    "unsplit": ("unsplit", unsplit),
    "gyre": ("gyre", gyre),
    "gyre_kernels": ("gyre", gyre_kernels),
    "gyre_cells": ("gyre", gyre_cells),
    "interpolation": ("interpolation", interpolation),
    "gpu_model": ("gpu_model", gpu_model),
}
"""What each table is made of, and how."""


def section(name: str, found: Found) -> str:
    """Return a table, or that nothing was found for it."""
    part, make = SECTIONS[name]
    if not found.get(part):
        return "Not measured on this device."
    made = make(found)
    return made + elsewhere(found, found[part], made)


def elsewhere(found: Found, part: Any, made: str) -> str:
    """Say where a part was measured, if that was on another device than the rest and is not said yet."""
    if not isinstance(part, dict) or "machine" not in part or part["device"] == found["device"]:
        return ""
    return "" if where(part) in made else f"\n\n{where(part)}"
