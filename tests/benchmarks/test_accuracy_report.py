# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmark of accuracy measures, on a few points, and the page made of it."""

import re
from dataclasses import replace

import numpy as np
import particles as pt
import pytest

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from particles.cli.machine import facts

from benchmarks import flows, gyre, report
from benchmarks.accuracy import inflow, orders, rest, runs, tables


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_the_uneven_flow_is_solved_exactly(ndim):
    """Along the path of a particle, found by small steps, and by the law of conservation."""
    flow = flows.uneven(ndim)
    start = [np.array([0.13, 0.5, 0.77])] * ndim
    x, time, steps = start, 0.3, 3000
    growth = np.ones(3)
    for _ in range(steps):
        middle = [c + time / steps / 2 * a for c, a in zip(x, flow.velocity(*x), strict=True)]
        slopes = sum(np.pi * np.cos(2 * np.pi * c) for c in middle)
        x = [c + time / steps * a for c, a in zip(x, flow.velocity(*middle), strict=True)]
        growth = growth * np.exp(-slopes * time / steps)
    expected = flow.solution(start, 0.0) * growth
    np.testing.assert_allclose(flow.solution(x, time), expected, rtol=1e-6)
    np.testing.assert_allclose(
        np.mod(start[0] + flows.uneven_move(start[0], time), 1), np.mod(x[0], 1), atol=1e-7
    )


@pytest.mark.parametrize("place", rest.PLACES, ids=lambda place: place.name)
def test_a_flow_that_stands_still_is_solved_exactly(place):
    """The move solves dx/dt = a, and the solution is the start carried along with its mass."""
    x = np.linspace(0.02, 0.98, 49)
    flow, waves = place.flow, place.waves
    step = 1e-4
    slope = (flows.resting_move(x, waves, step) - flows.resting_move(x, waves, -step)) / (2 * step)
    np.testing.assert_allclose(slope, flow.velocity(x)[0], atol=1e-6)
    half = flows.resting_move(x, waves, 0.1)
    other_half = flows.resting_move(x + half, waves, 0.2)
    np.testing.assert_allclose(half + other_half, flows.resting_move(x, waves, 0.3), atol=1e-13)
    ends = [x + flows.resting_move(x, waves, 0.2) + shift for shift in (-1e-6, 1e-6)]
    starts = [end + flows.resting_move(end, waves, -0.2) for end in ends]
    density = (starts[1] - starts[0]) / 2e-6
    found = flow.solution([x + flows.resting_move(x, waves, 0.2)], 0.2)
    np.testing.assert_allclose(found, flow.solution([x], 0.0) * density, rtol=1e-7)


def test_the_swirl_is_followed_back_along_its_paths():
    x = pt.Grid((64, 64)).coordinates()
    coarse = flows.followed_back(flows.swirl_velocity, flows.hill, 64, 0.5, 50)
    np.testing.assert_allclose(flows.SWIRL.solution(x, 0.5), coarse, atol=1e-6)
    # A velocity without divergence mixes values but makes none.
    assert coarse.max() == pytest.approx(1, abs=0.05)


@pytest.mark.sampled
@pytest.mark.parametrize("flow", [gyre.GYRE, gyre.DEFORMATION], ids=lambda flow: flow.name)
def test_tracers_are_followed_back_in_flows_without_divergence(flow):
    """What goes back along a path comes forth again, and areas stay what they are."""
    short = replace(flow, duration=0.5, points=16)
    grid = short.grid(quick=False)
    ends = np.stack(np.broadcast_arrays(*grid.coordinates()))
    turned = replace(short, velocity=lambda *x: [-a for a in flow.velocity(*x[:-1], 0.5 - x[-1])])
    starts = short._back(ends, 100)
    np.testing.assert_allclose(turned._back(starts, 100), ends, atol=1e-6)
    shift = 1e-4
    stretched = [
        (short._back(ends + step, 100) - short._back(ends - step, 100)) / (2 * shift)
        for step in shift * np.eye(grid.ndim).reshape(grid.ndim, grid.ndim, *[1] * grid.ndim)
    ]
    volumes = np.linalg.det(np.moveaxis(np.array(stretched), (0, 1), (-1, -2)))
    np.testing.assert_allclose(volumes, 1, atol=1e-3)


def test_an_order_is_the_slope_of_the_errors():
    sizes = (10, 20, 50)
    assert orders.slope(sizes, [7 * n**-3.0 for n in sizes]) == pytest.approx(3)


def test_what_is_refused_is_said(monkeypatch):
    monkeypatch.setattr(runs, "LEFT_OUT", [])
    with runs.left_out("a choice"):
        raise ValueError("cannot be")
    assert runs.LEFT_OUT == ["a choice: cannot be"]


@pytest.fixture(scope="module")
def found():
    """A little of everything that is measured."""
    device = pt.default_device()
    uneven = flows.uneven(1)
    errors = [
        orders.errors_on(uneven, n, "exact", "exact", "float32", device) for n in (16, 24, 36)
    ]
    space = [
        {
            "kernel": kernel,
            "scheme": "exact",
            "interpolation": "exact",
            "ndim": 1,
            "dtype": "float64",
            "points": (16, 24, 36),
            "errors": [of_grid[kernel] for of_grid in errors],
            "expected": 1,
            "order": orders.slope((16, 24, 36), [e[kernel] for e in errors]),
        }
        for kernel in ("L1", "M'4")
    ]
    choice = runs.Choice(interpolation="formula")
    in_time = list(orders.order_of(uneven, choice, 64, (8, 12, 18), 2, device))
    swirls = list(runs.rows(flows.SWIRL, {"default": choice}, (64,), (4.0, 8.0), device))
    turning = list(runs.rows(flows.HILL, {"default": choice}, (16,), (4.0,), device))
    place = rest.PLACES[0]
    errors_of_inflow = [inflow.error_of("M'4", "formula", 1.5, n, True, device) for n in (16, 32)]
    errors_along_face = [inflow.error_along_face("M'4", 1, 1.5, n, device) for n in (16, 32)]
    at_rest = [rest.errors_at(place, "M'4", n, device) for n in (16, 32)]
    return {
        **facts(device),
        "space": space,
        "rest": [
            {
                "place": place.name,
                "kernel": "M'4",
                "expected": place.expected(pt.kernels.get("M'4")),
                "orders": [orders.slope((16, 32), e) for e in zip(*at_rest, strict=True)],
            }
        ],
        "resting": swirls,
        "inflow": [
            {
                "kernel": "M'4",
                "cfl": 1.5,
                "motion": "formula",
                "errors": errors_of_inflow,
                "order": orders.slope((16, 32), errors_of_inflow),
            }
        ],
        "diverging": [
            {
                "splitting": "Lie",
                "cfl": 1.5,
                "errors": errors_along_face,
                "order": orders.slope((16, 32), errors_along_face),
            }
        ],
        "time": in_time,
        "splittings": in_time,
        "kernels": swirls,
        "reversing": turning,
        "work": swirls,
        "precisions": swirls,
        "resolutions": swirls,
        "left_out": [],
    }


@pytest.mark.sampled
def test_orders_are_observed(found):
    assert [round(row["order"]) for row in found["space"]] == [1, 2]
    assert found["time"][0]["order"] == pytest.approx(2, abs=0.2)


def test_errors_are_those_of_the_flow(found):
    fine, coarse = found["work"]
    assert fine["cfl"] < coarse["cfl"]
    assert 0 < fine["l1"] < 0.3
    assert abs(fine["mass"]) < 1e-6
    assert abs(found["reversing"][0]["mass"]) < 1e-6


@pytest.mark.sampled
def test_every_table_is_well_formed(found):
    blocks = [f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in tables.SECTIONS]
    made = report.page("".join(blocks), [{"accuracy": found}])
    made_tables = re.findall(r"(?:^\|.*\|$\n?)+", made, re.MULTILINE)
    assert len(made_tables) == len(tables.SECTIONS) - 2  # but of the machine and refusals
    for block in made_tables:
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert "Nothing was refused." in made


def test_what_was_not_measured_is_said():
    assert "Not measured" in tables.section("work_precision", {})


def test_plots_are_drawn(found, tmp_path):
    from benchmarks.accuracy import pictures

    pictures.write(found, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["accuracy-orders.png", "accuracy-work.png"]
