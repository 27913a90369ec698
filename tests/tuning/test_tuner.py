# SPDX-License-Identifier: BSD-3-Clause
"""The form of sweeps is chosen by measurement, once, and remembered."""

import json
import math
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles.cli.main import main
from particles.runtime import cache, drivers, environment
from particles.tuning import tuner
from particles.tuning.race import Timing

from tests.support import child
from tests.support.races import SHAPE

pytestmark = pytest.mark.one_device

A, B = pt.Form(tiles=4), pt.Form(tiles=16)


@pytest.fixture
def tuning(monkeypatch, tmp_path):
    """A new process with an empty cache, where A wins every race; lists the races."""
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARTICLES_TUNE", raising=False)
    monkeypatch.setattr(tuner, "_chosen", {})
    monkeypatch.setattr(tuner, "candidates", lambda task, axis, thorough: [A, B])
    races = []

    def race(task, axes, thorough, seconds):
        races.append((task.grid.shape, axes, thorough, seconds))
        times = [Timing(pt.Form(), 2.0, 1.0), Timing(pt.Form(tiles=4), 1.0, 0.5)]
        return dict.fromkeys(axes, times)

    monkeypatch.setattr(tuner, "race", race)
    return races


def new_process(monkeypatch):
    monkeypatch.setattr(tuner, "_chosen", {})


def operators(
    device,
    shape=SHAPE,
    dtype="float32",
    components=1,
    kernel="M'6",
    form=None,
    boundary="periodic",
):
    grid = pt.Grid(shape, boundary=boundary)
    velocity = pt.Velocity(grid, list("xyz"[: grid.ndim]))
    u = pt.Field(grid, components, dtype, device)
    return pt.AdvectionOp(velocity), pt.RemeshOp(u, kernel, form=form)


def forms(device, *args, **options):
    return tuner.forms_for(*operators(device, *args, **options), time=0.0, steps=math.inf)


def test_a_choice_is_made_once_and_remembered(tuning, device, monkeypatch):
    assert forms(device) == [A, A, A]
    assert forms(device) == [A, A, A]
    new_process(monkeypatch)
    assert forms(device) == [A, A, A]
    assert tuning == [(SHAPE, [0, 1, 2], False, tuner.SECONDS)]
    assert tuner.remembered() == 3


@pytest.mark.parametrize(
    "other",
    [
        {"shape": (128, 64, 64)},
        {"shape": (1024, 1024)},
        {"shape": (64, 128, 32)},
        {"components": 3},
        {"kernel": "M'4"},
        {"dtype": "float64"},
    ],
    ids=str,
)
def test_another_kind_of_problem_is_measured_anew(tuning, device, other):
    if np.dtype(other.get("dtype", "float32")) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    forms(device)
    forms(device, **other)
    assert len(tuning) == 2


def test_longer_lines_are_measured_anew(tuning, device):
    forms(device, (64, 64, 64))
    forms(device, (64, 128, 32))  # along the first axis as many as long as before
    forms(device, (64, 128, 64))
    assert [axes for _, axes, *_ in tuning] == [[0, 1, 2], [1, 2], [0, 1, 2]]


def test_lines_with_ends_are_measured_anew(tuning, device):
    forms(device, (64, 64, 64))
    forms(device, (64, 64, 64), boundary=["periodic", "outflow", "periodic"])
    assert [axes for _, axes, *_ in tuning] == [[0, 1, 2], [1]]


def test_nearly_the_same_problem_is_not_measured_anew(tuning, device):
    forms(device, (64, 64, 65))
    forms(device, (60, 64, 70))
    assert len(tuning) == 1


@pytest.mark.parametrize("changed", ["version", "kernels", "processor"])
def test_what_decides_makes_it_measured_anew(tuning, device, changed, monkeypatch):
    forms(device)
    new_process(monkeypatch)
    monkeypatch.setattr(drivers, "machine", lambda: [changed])
    forms(device)
    assert len(tuning) == 2


@pytest.mark.parametrize(
    "content",
    ["", '{"form": ', "[]", '{"form": 3}', '{"form": "Form(tiles=5)"}', "{}", "\udcff"],
)
def test_a_damaged_file_makes_it_measured_anew(tuning, device, content, monkeypatch):
    forms(device)
    new_process(monkeypatch)
    for path in Path(cache.cache_folder()).glob("form-*"):
        path.write_text(content, errors="surrogateescape")
    assert forms(device) == [A, A, A]
    assert len(tuning) == 2
    new_process(monkeypatch)
    forms(device)
    assert len(tuning) == 2


def test_without_a_cache_folder_a_process_measures_once(tuning, device, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", "/proc/particles")
    assert forms(device) == forms(device) == [A, A, A]
    assert len(tuning) == 1
    assert tuner.remembered() == 0


def test_a_process_keeps_its_choice_whatever_another_one_finds(tuning, device):
    forms(device)
    for path in Path(cache.cache_folder()).glob("form-*"):
        path.write_text(json.dumps({"form": "Form(tiles=16)", "thorough": True}))
    assert forms(device) == [A, A, A]


def test_of_two_processes_that_measure_at_once_the_first_decides(tuning, device, monkeypatch):
    forms(device)
    files = list(Path(cache.cache_folder()).glob("form-*"))
    for path in files:
        path.unlink()
    new_process(monkeypatch)
    slow_race = tuner.race

    def race(task, axes, thorough, seconds):
        for path in files:
            path.write_text(json.dumps({"form": "Form(tiles=16)", "thorough": False}))
        return slow_race(task, axes, thorough, seconds)

    monkeypatch.setattr(tuner, "race", race)
    assert forms(device) == [B, B, B]


def test_nothing_is_measured_or_looked_up_where_the_user_says_so(tuning, device, monkeypatch):
    forms(device)
    monkeypatch.setenv("PARTICLES_TUNE", "off")
    assert forms(device) == [pt.Form()] * 3
    assert len(tuning) == 1


def test_a_form_of_the_user_stays(tuning, device):
    chosen = pt.Form("private")
    assert forms(device, form=chosen) == [chosen] * 3
    assert tuning == []


def test_few_particles_are_not_worth_it(tuning, device, monkeypatch):
    assert forms(device, (16, 16)) == [pt.Form()] * 2
    assert tuning == []
    monkeypatch.setenv("PARTICLES_TUNE", "full")
    assert forms(device, (16, 16)) == [A, A]


def test_full_measures_what_was_measured_quickly(tuning, device, monkeypatch):
    forms(device)
    for effort, count in (("full", 2), ("quick", 2), ("full", 2)):
        new_process(monkeypatch)
        monkeypatch.setenv("PARTICLES_TUNE", effort)
        assert forms(device) == [A, A, A]
        assert len(tuning) == count
    assert tuning[1] == (SHAPE, [0, 1, 2], True, math.inf)


def test_what_cannot_be_raced_keeps_the_default(tuning, device, monkeypatch):
    usual = tuner.race

    def race(task, axes, thorough, seconds):
        return usual(task, axes[1:], thorough, seconds)

    monkeypatch.setattr(tuner, "race", race)
    assert forms(device) == forms(device) == [pt.Form(), A, A]
    assert len(tuning) == 1


def test_too_little_memory_leaves_the_defaults(tuning, device, monkeypatch):
    def race(task, axes, thorough, seconds):
        tuning.append(axes)
        raise pt.OutOfMemoryError("none left")

    monkeypatch.setattr(tuner, "race", race)
    assert forms(device) == forms(device) == [pt.Form()] * 3
    assert len(tuning) == 1
    assert tuner.remembered() == 0


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(600, 500), (6000, 50)], ids=str)
def test_a_formula_is_raced_when_it_is_used(device, monkeypatch, tmp_path, shape):
    """One that is not finite at some other time races as any other; else nothing is remembered."""
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PARTICLES_TUNE", "quick")
    grid = pt.Grid(shape)
    push = pt.AdvectionOp(pt.Velocity(grid, lambda x, y, t: (0 * x + 1 / t, 0 * y)))
    remesh = pt.RemeshOp(pt.Field(grid, device=device))
    new_process(monkeypatch)
    assert tuner.forms_for(push, remesh, 0.0, math.inf) == [pt.Form(), pt.Form()]
    assert tuner.remembered() == 0
    new_process(monkeypatch)
    tuner.forms_for(push, remesh, 1.0, math.inf)
    assert tuner.remembered() == 2


@pytest.fixture
def transport(device):
    """Return a function that makes a transport, through one end of which mass leaves."""
    grid = pt.Grid((32, 32), boundary=["outflow", "periodic"])
    x, y = grid.coordinates()
    flow = pt.AdvectionOp(pt.Velocity(grid, lambda x, y: (1 - y + x / 2, x)))

    def make():
        u = pt.Field(grid, device=device)
        u[...] = np.exp(-x - y)
        return pt.Splitting(flow, pt.RemeshOp(u))

    return make


def test_a_race_waits_for_a_run_that_is_worth_it(tuning, transport, monkeypatch):
    monkeypatch.setattr(tuner, "WORTH_TUNING", 1)
    one = transport()
    one.run(0.25, dt=0.125)
    assert tuning == []
    monkeypatch.setattr(tuner, "LONG", 1)
    one.run(0.5, dt=0.125)  # it has begun in another form
    assert (tuning, one._forms) == ([], [pt.Form()] * 2)
    with_step, with_sweep = transport(), transport()
    with_step.step(0.25)
    with_sweep.sweep(0, 0.25)
    for begun in (with_step, with_sweep):
        begun.run(0.5, dt=0.125)
        assert tuning == []
    raced = transport()
    raced.outflow = 2.0
    raced.run(0.25, dt=0.125)
    raced.run(0.5, dt=0.125)
    assert (len(tuning), raced._forms) == (1, [A, A])
    np.testing.assert_array_equal(raced.remesh.fields[0], one.remesh.fields[0])
    np.testing.assert_array_equal(raced.outflow, one.outflow + 2)
    new = transport()  # it is known now
    assert new._forms == [A, A]


@pytest.mark.sampled
def test_a_run_by_strain_is_worth_a_race_too(tuning, transport, monkeypatch):
    monkeypatch.setattr(tuner, "WORTH_TUNING", 1)
    monkeypatch.setattr(tuner, "LONG", 1)
    one = transport()
    one.run(0.0, lcfl=0.1)
    assert tuning == []
    one.run(0.25, lcfl=0.1)
    assert (len(tuning), one._forms) == (1, [A, A])


def test_too_little_memory_for_other_forms_leaves_those_there_are(tuning, transport, monkeypatch):
    monkeypatch.setattr(tuner, "WORTH_TUNING", 1)
    monkeypatch.setattr(tuner, "LONG", 1)
    one, other = transport(), transport()

    def sweep_in(self, *args):
        raise pt.OutOfMemoryError("none left")

    monkeypatch.setattr(pt.Splitting, "_sweep_in", sweep_in)
    one.run(0.25, dt=0.125)
    assert one._forms == [pt.Form()] * 2
    monkeypatch.undo()
    other.run(0.25, dt=0.125)
    np.testing.assert_array_equal(one.remesh.fields[0], other.remesh.fields[0])


def test_an_unknown_effort_is_refused(monkeypatch):
    monkeypatch.setenv("PARTICLES_TUNE", "some")
    with pytest.raises(
        ValueError, match=r"^PARTICLES_TUNE must be one of off, quick, full, not 'some'$"
    ):
        environment.effort()


RUN = """
import numpy as np, particles as pt
from particles.tuning import tuner
tuner.LONG = 1
grid = pt.Grid((64, 64, 64))
u = pt.Field(grid)
u[...] = np.random.default_rng(0).random(grid.shape)
velocity = pt.Velocity(grid, lambda x, y, z: (np.sin(2 * np.pi * y), np.cos(2 * np.pi * z), x))
pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).run(0.1, 0.05)
print(tuner.remembered(), hash(u.get().tobytes()))
"""


@pytest.mark.sampled
def test_two_processes_at_once(device, tmp_path):
    index = str(device.index)
    common = {"PARTICLES_CACHE": str(tmp_path), "PARTICLES_DEVICE": index, "PYTHONHASHSEED": "0"}
    processes = [child.start(RUN, PARTICLES_TUNE="quick", **common) for _ in range(2)]
    outputs = [process.communicate(timeout=300) for process in processes]
    assert [errors for _, errors in outputs] == ["", ""]
    later = child.check(RUN, PARTICLES_TUNE="quick", **common)
    untuned = child.check(RUN, PARTICLES_TUNE="off", **common)
    assert {outputs[0][0], outputs[1][0], later, untuned} == {untuned}
    assert untuned.startswith("3 ")


@pytest.mark.sampled
def test_the_command_measures_and_remembers(device, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path))
    monkeypatch.setattr(tuner, "_chosen", {})
    command = ["tune", "--shape", "32", "48", "--device", str(device.index)]
    tune = "import sys; from particles.cli.main import main; sys.exit(main(sys.argv[1:]))"
    found = json.loads(child.check(tune, *command, "--json"))
    assert found["device"] == device.name
    assert [along["axis"] for along in found["axes"]] == [0, 1]
    for along in found["axes"]:
        assert along["forms"][0]["form"] == "Form()"
        assert sum(row["chosen"] for row in along["forms"]) == 1
        assert all(row["nanoseconds"] > 0 for row in along["forms"])
    lanes = [
        {row["form"] for row in along["forms"] if "lanes" in row["form"]} for along in found["axes"]
    ]
    assert lanes[0] == lanes[1]
    assert tuner.remembered() == 2
    assert main(command) == 0
    text = capsys.readouterr().out
    assert text.count("chosen") == 2
    assert f"remembered in {tmp_path}" in text


@pytest.mark.parametrize(
    "arguments",
    [["--shape", "0"], ["--kernel", "M'5"], ["--components", "0"], ["--shape", *"1234"]],
)
def test_the_command_refuses(arguments, capsys):
    assert main(["tune", *arguments]) == 2
    assert capsys.readouterr().err.startswith("particles tune: ")
