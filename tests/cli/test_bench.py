# SPDX-License-Identifier: BSD-3-Clause
"""What is measured is what is said: the cases, their figures, the command."""

import json
import math
from itertools import product

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles._core import testing
from particles.cli import bench, machine
from particles.cli.bench import STEPS, Bandwidths, Case, CaseTiming, measure, prepare
from particles.cli.main import main

from tests.support.bandwidths import some_bandwidth

pytestmark = pytest.mark.one_device

SHAPES = [(640,), (160, 250), (60, 64, 70)]
KINDS = ("smooth", "formula", "rough", "wild")


def moves_in_cells(case):
    """How far every particle moves along each axis."""
    grid = pt.Grid(case.shape)
    moves = bench._moves(case, grid)(*grid.coordinates())
    return [np.broadcast_to(a / h, case.shape) for a, h in zip(moves, grid.spacing, strict=True)]


@pytest.mark.parametrize(
    ("shape", "cfl", "kind"),
    [*product(SHAPES, (2.0, 25.0), KINDS), ((64, 64, 64), 6.4, "vortex")],
)
def test_particles_move_as_far_as_is_said_and_are_not_strained(shape, cfl, kind):
    moves = moves_in_cells(Case(shape, cfl=cfl, velocity=kind))
    if kind != "wild" or len(shape) > 1:  # a single line has but one speed
        assert max(np.abs(move).max() for move in moves) == pytest.approx(cfl, rel=0.1)
    for axis, move in enumerate(moves):
        assert np.abs(np.roll(move, -1, axis) - move).max() < 0.5


def test_neighbouring_lines_of_a_wild_velocity_move_apart():
    moves = moves_in_cells(Case((16, 64), cfl=25.0, velocity="wild"))[0]
    assert np.median(np.abs(np.diff(moves, axis=1))) > 8


@pytest.mark.parametrize("kind", bench.VELOCITIES)
def test_a_velocity_is_that_of_its_kind(kind, device, monkeypatch):
    monkeypatch.setattr(bench, "_BLOCK", 1000)  # several parts are filled
    case = Case((12, 14, 16), velocity=kind)
    transport = prepare(case, device)
    velocity = transport.advection.velocity
    if "formula" in kind:
        assert isinstance(velocity, pt.Velocity)
        values = velocity(*velocity.grid.coordinates())
    else:
        values = np.asarray(velocity)
    for value, h, cells in zip(values, velocity.grid.spacing, moves_in_cells(case), strict=True):
        np.testing.assert_allclose(value / h, cells, atol=1e-5)
    carried = np.asarray(transport.remesh.fields[0])
    if "vortex" in kind:
        np.testing.assert_array_equal(carried, pt.levelset.ball(*velocity.grid.coordinates()))
    else:
        assert len(np.unique(carried)) > 0.99 * carried.size


def test_a_row_is_per_particle_sweep_and_component():
    case = Case((10, 10, 10), None, dtype="float64", components=2)
    row = CaseTiming(case, seconds=8e-6, processor_seconds=4e-6, sweeps=4).row(
        Bandwidths(24e9, 36e9)
    )
    assert row["ns"] == pytest.approx(1)
    assert row["processor_ns"] == pytest.approx(0.5)
    assert row["triads"] == pytest.approx(2)  # 12 bytes take 0.5 ns
    assert row["axpys"] == pytest.approx(3)
    # A velocity, two numbers read and two written, of 8 bytes each, in 2 ns.
    assert row["share"] == pytest.approx(5 * 8 / 2 / 36)


def test_a_formula_is_not_read():
    shares = [
        CaseTiming(Case((8, 8), 0, velocity=kind), 1.0, None, 1).row(Bandwidths(1.0, 1.0))["share"]
        for kind in ("smooth", "formula")
    ]
    assert shares[1] / shares[0] == pytest.approx(2 / 3)


def test_sweeps_of_a_run_are_counted_and_its_field_is_put_back(device, monkeypatch):
    some_bandwidth(monkeypatch)
    kept = []
    monkeypatch.setattr(bench, "prepare", lambda *a: kept.append(prepare(*a)) or kept[0])
    case = Case((12, 14, 16))
    before = prepare(case, device).remesh.fields[0].get()
    ((timing, bandwidths),) = measure([case], device, seconds=0)
    assert 4 * STEPS <= timing.sweeps <= 5 * STEPS
    assert timing.seconds > 0 < min(bandwidths)
    assert kept[0].time >= STEPS
    np.testing.assert_array_equal(kept[0].remesh.fields[0].get(), before)


@pytest.mark.filterwarnings("error::particles.LCFLWarning")
def test_the_command(device, capsys, monkeypatch):
    some_bandwidth(monkeypatch)
    options = ["--quick", "--shape", "12", "16", "--cfl", "2", "--device", str(device.index)]
    assert main(["bench", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert device.name in lines[0]
    assert [line.split(",")[1].strip() for line in lines[-3:]] == ["axis 0", "axis 1", "Strang run"]
    assert main(["bench", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["axis"] for row in found["cases"]] == [0, 1, None]
    assert found["device"]["driver"] == device.driver
    assert found["particles"] == pt.__version__
    assert found["triad"] > 0 < found["axpy"]


@pytest.mark.sampled
def test_chosen_cases(capsys, monkeypatch):
    some_bandwidth(monkeypatch)
    options = ["--axis", "1", "--kernel", "M'4", "--components", "3", "--velocity", "formula"]
    assert main(["bench", "--quick", "--shape", "8", "8", "8", "--cfl", "3", *options]) == 0
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("8 x 8 x 8, axis 1, CFL 3, M'4, float32 x 3, formula")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--axis", "3"], "axis must be from 0 to 2, not 3"),
        (["--shape", "0"], "shape must"),
        (["--shape", "8", "8", "--velocity", "vortex"], "needs three dimensions, not 2"),
        (["--kernel", "M'5"], 'kernel must be "M\'4"'),
        (["--device", "no such device"], "device 'no such device' is none of"),
    ],
)
def test_what_cannot_be_measured(options, words, capsys):
    assert main(["bench", "--quick", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_device_that_does_not_compute_on_the_host_has_no_processor_time():
    row = CaseTiming(Case((8,), 0), 1.0, None, 1).row(Bandwidths(1e9, 2e9))
    assert row["processor_ns"] is None
    facts = {"device": {"name": "a", "platform": "b", "driver": "c"}, "triad": 1e9, "axpy": 2e9}
    assert "8, axis 0" in bench.table({**facts, "cases": [row]})


def test_the_machine_is_described(device, monkeypatch):
    facts = machine.facts(device)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["machine"]["processor"]
    monkeypatch.setattr(machine, "_lines", lambda path: [])  # as where there is no /proc
    assert machine.facts(device)["machine"]["memory"] is None
    assert machine.free_memory() is None


def test_a_measured_bandwidth_gives_its_memory_back(device):
    info = testing.with_largest_allocation(device.core.device, 2**20)
    core = _core.Context.open(info, "")
    assert 0 < core.measure_triad() < math.inf
    assert 0 < core.measure_axpy() < math.inf
    assert core.bytes_held == 0
