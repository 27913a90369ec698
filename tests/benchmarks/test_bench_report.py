# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/performance.md are made of what was measured."""

import re
from dataclasses import replace
from types import SimpleNamespace

import particles as pt
import pytest
from particles.cli import bench, machine

from tests.support import words
from tests.support.bandwidths import some_bandwidth

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks import fields as field_operations
from benchmarks import gyre, json_lines, report, scaling, schemes, sweep, tables, units
from benchmarks.peers import comparison

FIRST_STEP = {"seconds": 3.0, "processors": 5.0, "parts": {"imports": 0.1, "first field": 2.5}}


def unsplit_rows():
    """Two rows of the comparison with steps that are not split."""
    row = {"flow": "swirl", "rule": "default", "points": 8, "steps": 2, "cfl": 4.0, "lcfl": 0.5}
    row |= {"l1": 0.01, "volume": -0.02, "ns": 9.0}
    ways = {"Strang": 1.0, "unsplit": None}
    return [{**row, "splitting": way, "times_strang": times} for way, times in ways.items()]


@pytest.fixture(scope="module")
def found():
    """Everything that is measured, on a few points and for a moment."""
    with pytest.MonkeyPatch.context() as patch:
        some_bandwidth(patch)
        patch.setattr(bench, "QUICK_SECONDS", 0.01)
        for module in (field_operations, comparison, scaling):
            patch.setattr(module, "SECONDS", 0.01)
        return measured()


def measured():
    device = pt.default_device()
    shape = (16, 18, 20)
    cases = [*sweep.along_all_axes(shape), *sweep.along_all_axes((24, 24), cfl=3.0)]
    result = {
        **machine.facts(device),
        **bench.measurements([*cases, bench.Case(shape, cfl=1.0)], device, quick=True),
        "fields": field_operations.measure(device, shape, "float32"),
        "peers": {"rows": [*comparison.ours((16, 16, 16), 2.0, device)]},
        "scaling": {
            "rows": list(scaling.against_particles(device, 22**3)),
            "slopes": dict.fromkeys(scaling.VELOCITIES, 1.0),
        },
        "overhead": {"rows": [{"points": 16, "run": 1.5}]},
        "paper": {"ladder": [{"name": "first", "ns": [3.0, 2.0, 4.0]}]},
        "schemes": {"schemes": list(schemes.measure((16, 16), device, schemes.CHOICES[:1]))},
        "first_minute": {"cases": {"README": {"cold": FIRST_STEP, "warm": FIRST_STEP}}},
        "unsplit": {"rows": unsplit_rows()},
        "gyre": gyre_rows(device),
        "gpu_model": {"rows": gpu_rows()},
        "interpolation": {
            **machine.facts(device),
            "bandwidth": 1e10,
            "peak": {"float32": 2e11, "float64": 1e11},
            "results": interpolation_rows(),
            "sizes": [{**interpolation_rows()[0], "shape": [2, n]} for n in (4, 8)],
        },
    }
    rows = [{"units": n, "triad": n * 1e9, "cases": result["cases"][:3]} for n in (1, 2)]
    return {**result, "units": {"rows": rows}}


def gpu_rows():
    """A kernel, and all kernels of a sweep together."""
    counts = {"needed": 2**20, "moved": 2**21, "uncached": 2**22, "times": 2.0, "passes": None}
    row = {"case": "axis 0", "launches": 1, "busy": 0.5, "goal": 1.1, **counts}
    taken = {"group": 64, "local_bytes": 1024, "registers": 45, "scratch": 8, "filled": [1.0] * 3}
    return [{**row, "kernel": "sweep", **taken, "occupancy": [0.1] * 3}, {**row, "kernel": "all"}]


def interpolation_rows():
    """Particles in rows with both peers, a blob without, and a sort."""
    row = {"shape": [8, 8, 8], "direction": "particles to grid", "ns": 2.0}
    usual = {**row, "kernel": "M'4", "flop": 180, "gbytes": 9.0, "gflops": 90.0, "efficiency": 0.5}
    peers = {"numba_ns": 8.0, "finufft_ns": 12.0}
    sort = {**row, "direction": "sort, shuffled", "numpy_ns": 24.0, "memory": 36.0}
    return [
        {**usual, **peers, "case": "in rows, float32 x 1"},
        {**usual, "case": "one blob, float32 x 1", "ns": 3.0},
        sort,
    ]


def gyre_rows(device):
    flow = replace(gyre.GYRE, points=16, duration=0.5)
    grid = flow.grid(quick=False)
    row = gyre.errors(gyre.Way().carry(flow, grid, 0.2, device), flow.solution(grid))
    about = {"flow": flow.name, "shape": grid.shape, "carries": "masses", "way": "default"}
    kernel = {"kernel": "M'6", "kept": [0.16, 0.22], "ripples": [0.1] * 4, "runs": [row] * 3}
    cells = {"way": "M'6", "ones": [row] * 3, "hill": row}
    return {"steps": [about | row], "kernels": [kernel], "cells": [cells]}


def tables_of(text):
    """Every table as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|$\n?)+", text, re.MULTILINE)
    return [[line[1:-1].split("|") for line in block.splitlines()] for block in blocks]


def test_every_table_is_well_formed(found):
    text = "".join(
        f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in [*tables.SECTIONS, "devices"]
    )
    made = report.page(text, [found])
    every = tables_of(made)
    # The machine has none; the devices have one, and particles beside their goals four more.
    assert len(every) == len(tables.SECTIONS) + 4
    for rows in every:
        assert len(rows) >= 3
        assert len({len(row) for row in rows}) == 1
        assert all(re.fullmatch(r" -+:? ", cell) for cell in rows[1])
    assert report.page(made, [found]) == made


def test_goals_of_particles_stand_beside_what_is_found(found):
    goals, rows, sorts, sizes, last = tables_of(tables.section("interpolation", found))
    assert [row[-1].strip() for row in goals[2:]] == ["4.0", "6.0", "1.50", "12.0"]
    assert [row[-2].strip() for row in rows[2:]] == ["4.0", ""]
    operations = [cell.strip() for cell in rows[0]].index("operations")
    assert [row[operations].strip() for row in rows[2:]] == ["180", "180"]
    sort = ["8 x 8 x 8", "sort, shuffled", "2.00", "36.0", "24.0", "12.0"]
    assert [[cell.strip() for cell in row] for row in sorts[2:]] == [sort]
    of_sizes = [["in rows, float32 x 1", points, "2.00 (90.0)"] for points in ("2 x 4", "2 x 8")]
    assert [[cell.strip() for cell in row] for row in sizes[2:]] == of_sizes
    of_last = [["particles to grid, in rows, float32 x 1", "2.00", "9.0", "90.0", "50%"]]
    assert [[cell.strip() for cell in row] for row in last[2:]] == of_last
    for row in found["interpolation"]["sizes"]:
        row["one_unit_ns"] = 7.0
    *_, last = tables_of(tables.section("interpolation", found))
    assert [cell.strip() for cell in last[2]] == [*of_last[0], "3.5"]


def test_where_particles_and_grid_were_measured_is_said_once(found):
    part = {**found["interpolation"], "device": {**found["device"], "name": "another"}}
    made = tables.section("interpolation", {**found, "interpolation": part})
    assert made.count("Measured on") == made.count("; another (") == 1


def test_prose_is_kept(found):
    text = "Before\n<!-- begin machine -->\nold\n<!-- end machine -->\nafter\n"
    made = report.page(text, [found])
    assert made.startswith("Before\n<!-- begin machine -->\n\nMeasured on ")
    assert made.endswith("\n<!-- end machine -->\nafter\n")
    assert "old" not in made


def test_a_sweep_is_found_in_its_table(found):
    _, _, box, plane = tables_of(tables.sweeps(found))[0]
    times = [row["ns"] for row in found["cases"] if row["shape"] == (16, 18, 20)][:3]
    assert box[0].strip() == "16 x 18 x 20"
    assert [cell.strip() for cell in box[1:4]] == [tables.text(time) for time in times]
    assert plane[0].strip() == "24², CFL 3"
    assert plane[3].strip() == ""


@pytest.mark.parametrize("file", report.PAGES, ids=lambda file: file.name)
def test_the_page_is_made_of_the_results(file):
    made = report.page(file.read_text(encoding="utf-8"), report.newest(report.RESULTS))
    assert made == file.read_text(encoding="utf-8"), "run: python -m benchmarks.report"


def test_what_was_not_measured_is_said():
    assert tables.section("peers", {}) == "Not measured on this device."


def test_a_part_that_was_measured_later_elsewhere_says_so(found, tmp_path):
    there = {"device": {**found["device"], "name": "another"}, "date": "2999-01-01"}
    for name, part in {
        "2026-01-01-first/sweep": found,
        "2999-01-01-other/schemes": {**found, **found["schemes"], **there},
        "2026-01-02-older/overhead": {**found, **found["overhead"], "date": "2000-01-01"},
    }.items():
        json_lines.write(part, tmp_path / f"{name}.jsonl")
    (every,) = report.newest(tmp_path)
    assert "Measured on 2999-01-01" in (made := tables.section("schemes", every))
    assert "another" in made
    assert every["overhead"] == found["overhead"]
    assert "Measured" not in tables.section("overhead", every)


def test_the_latest_of_other_devices_stands_in_for_a_part_that_is_missing(found, tmp_path):
    sweeps = {name: part for name, part in found.items() if name in ("date", "device", "cases")}
    json_lines.write(sweeps, tmp_path / "2026-01-03-new" / "sweep.jsonl")
    for year, device in [(2001, "b"), (2002, "a"), (2000, "c")]:
        part = {**found["overhead"], "date": f"{year}-01-01", "device": {"name": device}}
        json_lines.write(part, tmp_path / f"{year}-01-01-{device}" / "overhead.jsonl")
    (every,) = report.newest(tmp_path)
    assert every["overhead"]["device"]["name"] == "a"


@pytest.mark.sampled
def test_a_part_that_was_measured_later_on_a_device_replaces_the_older_one(found, tmp_path):
    later = {**found, **found["overhead"], "date": "2999-01-01"}
    json_lines.write(found, tmp_path / "2026-01-01-one" / "sweep.jsonl")
    json_lines.write({**found, **found["overhead"]}, tmp_path / "2026-01-01-one" / "overhead.jsonl")
    json_lines.write({**found, **found["schemes"]}, tmp_path / "2026-01-01-one" / "schemes.jsonl")
    json_lines.write(later, tmp_path / "2999-01-01-one" / "overhead.jsonl")
    (every,) = report.newest(tmp_path)
    assert every["cases"]
    assert every["scaling"]
    assert every["overhead"]["date"] == "2999-01-01"
    assert every["schemes"]["date"] == found["date"]


def test_what_was_found_is_kept_with_a_record_a_line(tmp_path):
    kept = {"date": "today", "shape": [3, 4], "left_out": [], "cases": [{"a": 1}, {"a": 2}]}
    json_lines.write({**kept, "rows": [{"b": 3}]}, tmp_path / "new" / "file.jsonl")
    assert len((tmp_path / "new" / "file.jsonl").read_text().splitlines()) == 4
    assert json_lines.read(tmp_path / "new" / "file.jsonl") == {**kept, "rows": [{"b": 3}]}


def test_many_sweeps_in_a_launch_are_sweeps():
    from benchmarks.paper import pictures

    seconds = {"sweep_chain": 3.0, "sweep": 1.0, "copy": 0.5, "fill": 0.25, "advect": 2.0}
    found = {part: pictures.seconds_of(part, seconds) for part in pictures.COLORS}
    assert (found["sweep"], found["advect"], found["other kernels"]) == (4, 2, 0.75)
    assert sum(found.values()) == sum(seconds.values())


@pytest.mark.sampled
def test_plots_are_drawn(found, tmp_path):
    from benchmarks import pictures

    pictures.write(found, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"performance-{name}.png" for name in ("cases", "peers", "scaling", "units")]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["cases", "scaling", "units", "peers", "orders", "work", "shares", "roofline"]
)
def test_no_word_of_a_plot_hides_another(name, monkeypatch):
    """What is drawn of the kept results can be read, also where the page is 380 points wide."""
    from benchmarks import pictures
    from benchmarks.accuracy import pictures as accuracy_pictures
    from benchmarks.paper import intensity, ladder
    from benchmarks.paper import pictures as paper_pictures

    found = report.newest(report.RESULTS)[0]
    works = intensity.works(ladder.KERNEL)
    draw = {
        "orders": lambda: accuracy_pictures.orders(found["accuracy"]),
        "work": lambda: accuracy_pictures.work(found["accuracy"]),
        "shares": lambda: paper_pictures.shares(found["paper"]),
        "roofline": lambda: paper_pictures.roofline(found["paper"], works),
    }.get(name, lambda: getattr(pictures, name)(found))
    figure = draw()
    assert words.assert_apart(figure, monkeypatch) > 8
    assert 11 / 72 / figure.get_figwidth() * 380 > 9
    pictures.plt.close(figure)


def test_a_peer_that_is_wrong_is_not_timed(monkeypatch):
    device = pt.default_device()

    def module(shift):
        def rivals(problem):
            result = comparison.carried(problem, 0, device) + shift
            return [comparison.Peer("rival", 0, lambda: result, 1e-4)]

        return lambda name: type("Rivals", (), {"peers": staticmethod(rivals)})

    some_bandwidth(monkeypatch)
    monkeypatch.setattr(comparison, "LIBRARIES", ("numpy",))
    monkeypatch.setattr(comparison, "SECONDS", 0)
    monkeypatch.setattr(comparison, "import_module", module(shift=0))
    rows = comparison.compare(device, 16)["rows"]
    rivals = [row for row in rows if row["name"] == "rival"]
    assert [(row["cfl"], row["error"]) for row in rivals] == [(2.0, 0), (1.6, 0)]
    monkeypatch.setattr(comparison, "import_module", module(shift=1e-3))
    with pytest.raises(RuntimeError, match=r"rival is off by 0\.000\d+ > 0\.0001"):
        comparison.compare(device, 16)


def test_linear_growth_has_the_exponent_one():
    rows = [{"particles": n, "seconds": 1e-9 * n} for n in (10**6, 10**7, 10**8)]
    few = [{"particles": 10, "seconds": 1.0}]
    assert scaling.slope(few + rows) == pytest.approx(1)
    assert scaling.slope(few + rows[:1]) is None


def test_what_does_not_fit_is_left_out(monkeypatch):
    card = SimpleNamespace(memory=100, largest_allocation=60, is_cpu=False)
    assert scaling.fits(5, 3, card)  # 80 bytes
    assert not scaling.fits(6, 3, card)
    assert scaling.fits(15, 0, card)  # one allocation of 60 bytes
    assert not scaling.fits(16, 0, card)
    monkeypatch.setattr(scaling, "free_memory", lambda: 50)
    assert scaling.fits(15, 0, card)
    host = SimpleNamespace(memory=100, largest_allocation=60, is_cpu=True)
    assert scaling.fits(10, 0, host)
    assert not scaling.fits(11, 0, host)


@pytest.mark.parametrize(("units_there", "counts"), [(1, [1]), (4, [1, 2, 4]), (6, [1, 2, 4, 6])])
def test_all_compute_units_are_measured(units_there, counts):
    assert units.counts_of(units_there) == counts


def test_of_several_rounds_the_best_is_kept():
    first = {"units": 2, "triad": 3.0, "cases": [{"ns": 1.0}, {"ns": 5.0}]}
    second = {"units": 2, "triad": 2.0, "cases": [{"ns": 2.0}, {"ns": 4.0}]}
    assert units.best([first, second]) == {
        "units": 2,
        "triad": 3.0,
        "cases": [{"ns": 1.0}, {"ns": 4.0}],
    }
