# SPDX-License-Identifier: BSD-3-Clause
"""The commands: their figures, what they print and their exit codes."""

import argparse
import json
import os

import numpy as np
import particles as pt
import pytest
from particles import problems
from particles.cli.main import COMMANDS, main
from particles.problems import flows, pictures, runner
from particles.stepping.splitting import LCFLWarning

from tests.reference import reference
from tests.support import child
from tests.support import problems as known

pytestmark = pytest.mark.one_device

COMMAND = "import sys; from particles.cli.main import main; sys.exit(main(sys.argv[1:]))"
PNG = b"\x89PNG\r\n\x1a\n"
MASS = {"float32": 3e-7, "float64": 1e-13}


def run(capsys, *arguments):
    """Run a command in this process; return its exit code, output and errors."""
    code = main(list(map(str, arguments)))
    return (code, *capsys.readouterr())


@pytest.mark.few
@pytest.mark.parametrize(
    ("kernel", "figure"), [("M'4", 0.207), ("M'6", 0.159), ("L6_4", 0.150), ("L8_4", 0.145)]
)
def test_zalesak_gives_the_figures_of_an_independent_code(device, dtype, kernel, figure):
    result = problems.zalesak(kernel=kernel, dtype=dtype, device=device, progress=False)
    assert result.end.l1_error == pytest.approx(figure, rel=0.1)
    assert result.limits["l1_error"] == pytest.approx(1.1 * figure)
    assert (result.missed, result.steps, result.sweeps) == ([], 50, 150)


@pytest.mark.parametrize(("kernel", "figure"), runner.ZALESAK_L1.items())
def test_the_figures_of_zalesak_are_those_of_numpy(kernel, figure):
    grid = pt.Grid((128, 128))
    start = known.slotted_disk(*grid.coordinates())
    moves = [128 * np.broadcast_to(a, grid.shape) for a in known.shears(*grid.coordinates())]
    u = start
    for _ in range(known.TURNS):
        for axis, part in ((0, 0.5), (1, 1.0), (0, 0.5)):
            u = reference.remesh(u, part * moves[axis], axis, kernel)
    assert known.relative_l1(u, start) == pytest.approx(figure, abs=6e-4)


def test_mass_is_conserved(device, dtype):
    for result in (
        problems.zalesak(dtype=dtype, device=device, progress=False),
        problems.vortex_box(64, dtype=dtype, device=device, progress=False),
        problems.vortex_box(32, dim=3, cfl=4, dtype=dtype, device=device, progress=False),
    ):
        assert abs(result.end.mass_change) <= MASS[dtype.name]
        assert result.missed == []


@pytest.mark.parametrize("dim", [2, 3])
def test_a_finer_grid_brings_back_more(device, dim):
    results = [
        problems.vortex_box(n, dim=dim, device=device, progress=False)
        for n in ((64, 128) if dim == 2 else (32, 64))
    ]
    assert results[1].end.l1_error < 0.8 * results[0].end.l1_error
    if dim == 2:  # as many as there are at least, and at a CFL number of 10
        assert [result.steps for result in results] == [64, 104]


def test_the_positive_preset_keeps_the_floor(device):
    for problem in (problems.zalesak, problems.vortex_box):
        result = problem(64, "positive", device=device, progress=False)
        assert result.limiter == "positive"
        assert result.limits["undershoot"] == 0
        assert result.missed == []
        assert result.end.minimum == 0


def test_the_end_says_what_the_snapshot_holds(device):
    result = problems.vortex_box((48, 40), device=device, progress=False)
    initial, half, end = (values.astype(np.float64) for values in result.snapshots.values())
    assert list(result.snapshots) == [0, 4, 8]
    x = pt.Grid((48, 40)).coordinates()
    np.testing.assert_array_equal(initial, (x[0] - 0.5) ** 2 + (x[1] - 0.75) ** 2 < 0.15**2)
    assert np.abs(half - initial).sum() > initial.sum()
    assert result.end.time == 8
    assert result.end.l1_error == pytest.approx(known.relative_l1(end, initial), rel=1e-6)
    assert result.end.volume_change == known.volume(end) / known.volume(initial) - 1
    assert result.end.mass_change == pytest.approx(end.sum() / initial.sum() - 1, abs=1e-9)
    assert (result.end.minimum, result.end.maximum) == (end.min(), end.max())


def test_the_flows_are_those_of_the_reference():
    x, y = pt.Grid((24, 20)).coordinates()
    disk = flows.slotted_disk(x, y)
    np.testing.assert_array_equal(disk, known.slotted_disk(x, y))
    turning = flows.shears(known.TURNS)(x, y)
    for component, expected in zip(turning, known.shears(x, y), strict=True):
        np.testing.assert_allclose(component, known.TURNS * expected, atol=1e-13)
    for time, factor in ((0.0, 1), (4.0, 0), (8.0, -1)):
        swirl = flows.swirl(x, y, time)
        for component, expected in zip(swirl, known.swirl_velocity(x, y), strict=True):
            np.testing.assert_allclose(component, factor * expected, atol=1e-15)
    points = pt.Grid((8, 9, 10)).coordinates()
    back = flows.deformation(*points, 3.0)
    for component, expected in zip(back, known.level_set_velocity(*points), strict=True):
        np.testing.assert_allclose(component, -expected, atol=1e-15)


@pytest.mark.parametrize(
    ("problem", "options", "steps"),
    [
        (problems.zalesak, {"dt": 0.1}, 10),
        (problems.zalesak, {"dt": 0.03}, 34),
        (problems.zalesak, {"cfl": 10.0}, 22),  # 64 pi / 10 = 20.1
        (problems.vortex_box, {"cfl": 16.0}, 32),  # 8 x 64 / 16
        (problems.vortex_box, {"dt": 0.25}, 32),
    ],
)
@pytest.mark.filterwarnings("ignore::particles.LCFLWarning")
def test_steps_are_even_and_no_longer_than_wanted(problem, options, steps):
    result = problem(64, progress=False, **options)
    assert result.steps == steps
    assert result.dt == result.end.time / steps
    assert result.cfl <= options.get("cfl", np.inf)


def test_a_large_step_is_warned_of_once():
    with pytest.warns(LCFLWarning) as caught:
        problems.vortex_box(32, dt=0.2, progress=False)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("problem", "options", "words"),
    [
        ("zalesak", {"shape": (8, 8, 8)}, r"shape must be one number or two, not \(8, 8, 8\)"),
        ("zalesak", {"shape": 2}, "shape must have points inside the disk"),
        (
            "zalesak",
            {"dt": 0.2},
            r"dt must be at most 0\.125, not 0\.2: a step must be at most 0\.125 of a revolution",
        ),
        ("zalesak", {"preset": "best"}, "preset must be one of default, accurate, positive"),
        ("vortex_box", {"dim": 1}, "dim must be 2 or 3, not 1"),
        ("vortex_box", {"dim": 3, "shape": 4}, "shape must have points inside the ball"),
        ("vortex_box", {"cfl": 0}, "cfl must be positive, not 0.0"),
        ("vortex_box", {"dt": -1}, "dt must be positive, not -1.0"),
    ],
)
def test_what_cannot_be_run_is_refused(problem, options, words):
    with pytest.raises(ValueError, match=words):
        getattr(problems, problem)(progress=False, **options)


def test_one_length_of_a_step_is_enough():
    with pytest.raises(TypeError, match=r"one of dt and cfl must be given, not dt=0\.1 and cfl=2"):
        problems.zalesak(dt=0.1, cfl=2)


@pytest.mark.parametrize(
    ("arguments", "picture"),
    [
        (["zalesak", "--shape", "48", "--kernel", "M'4", "--cfl", "4"], "zalesak.png"),
        (["vortex-box", "--shape", "32", "48", "--dt", "0.1"], "vortex-box-2d.png"),
        (
            ["vortex-box", "--dim", "3", "--shape", "24", "--preset", "positive"],
            "vortex-box-3d.png",
        ),
    ],
)
def test_a_problem_is_printed_and_drawn(arguments, picture, capsys, tmp_path):
    folder = tmp_path / "new"
    code, output, errors = run(capsys, *arguments, "--out", folder)
    assert (code, errors) == (0, "")
    words = ("L1", " steps in ", "ns per particle and sweep", "set-up ", "pictures ")
    for expected in (*words, f"picture {folder / picture}\n"):
        assert expected in output
    content = (folder / picture).read_bytes()
    assert content.startswith(PNG)
    assert len(content) > 10_000


def test_json_is_all_there_is_on_the_output(tmp_path):
    output = child.check(
        COMMAND + "\nassert 'matplotlib.pyplot' not in sys.modules",
        *("vortex-box", "--shape", 32, "--out", tmp_path, "--json"),
    )
    facts = json.loads(output)
    assert (facts["shape"], facts["steps"]) == ([32, 32], 64)
    assert list(facts["parts"]) == ["set-up", "steps", "comparison", "pictures"]
    assert facts["parts"]["steps"] == facts["seconds"]


def test_json_holds_the_figures(capsys, tmp_path):
    options = ("--dtype", "float64", "--device", 0, "--preset", "accurate", "--kernel", "L4_4")
    code, output, _ = run(capsys, "zalesak", *options, "--out", tmp_path, "--json")
    facts = json.loads(output)
    assert code == 0
    result = problems.zalesak(128, "accurate", "L4_4", dtype="float64", device=0, progress=False)
    assert facts["end"] == result.end._asdict()
    assert facts["pictures"] == [str(tmp_path / "zalesak.png")]
    names = ("problem", "preset", "kernel", "dtype", "steps", "sweeps", "limits", "missed")
    assert {name: facts[name] for name in names} == {name: getattr(result, name) for name in names}


def test_a_figure_above_its_limit(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(runner.ZALESAK_L1, "M'6", 0.1)
    code, output, errors = run(capsys, "zalesak", "--out", tmp_path)
    assert code == 1
    assert "l1_error 0.159, limit 0.11: failed" in output
    assert errors == "particles zalesak: l1_error must be at most 0.11, not 0.159\n"


def test_a_picture_that_cannot_be_written(capsys, monkeypatch, tmp_path):
    (tmp_path / "zalesak.png").mkdir()
    code, output, errors = run(capsys, "zalesak", "--shape", 32, "--out", tmp_path)
    assert code == 1
    assert "50 steps in " in output
    assert errors.startswith("particles zalesak: no pictures: ")


def test_figures_come_without_what_draws(capsys, monkeypatch, tmp_path):
    def refuse(*_):
        raise ImportError("pictures need matplotlib")

    monkeypatch.setattr(pictures, "new_figure", refuse)
    folder = tmp_path / "new"
    code, output, errors = run(capsys, "zalesak", "--shape", 32, "--out", folder)
    assert code == 0
    assert not folder.exists()
    assert "picture" not in output
    assert errors == "particles zalesak: no pictures: pictures need matplotlib\n"


@pytest.mark.parametrize("command", ["zalesak", "vortex-box"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "0"], "shape must be at least 1, not 0"),
        (["--kernel", "M'5"], "M'5"),
        (["--dt", "nan"], "dt must be finite, not nan"),
        (["--dt", "1e-320"], "dt must be large enough to change the time"),
        (["--device", "no such device"], "device 'no such device' is none of"),
        (["--out", __file__], "out must be a folder"),
    ],
)
def test_arguments_that_cannot_be_run(command, arguments, words, capsys, tmp_path):
    code, output, errors = run(capsys, command, "--out", tmp_path / "new", *arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert not list(tmp_path.iterdir())
    assert errors.startswith(f"particles {command}: ")
    assert words in errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["zalesak", "--preset", "best"],
        ["zalesak", "--dt", "0.1", "--cfl", "2"],
        ["vortex-box", "--dim", "1"],
        ["cache"],
        ["cache", "empty"],
    ],
)
def test_options_that_are_none(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "failure", [pt.DeviceError, pt.OutOfMemoryError, MemoryError, PermissionError]
)
def test_a_failure_is_one_line(failure, capsys, monkeypatch, tmp_path):
    def fail(**_):
        raise failure("nothing works")

    monkeypatch.setattr(problems, "zalesak", fail)
    code, output, errors = run(capsys, "zalesak", "--out", tmp_path)
    assert (code, output, errors) == (1, "", "particles zalesak: nothing works\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("vortex-box --shape 32 --dt 5", "dt must be at most 0.407757, not 5: "),
        ("vortex-box --shape 32 --dt 0.45", "dt must be at most 0.289429, not 0.45: "),
        ("vortex-box --shape 32 --cfl 500", "cfl must be at most 13.0482, not 500: "),
        ("zalesak --shape 32 --dt 5", "dt must be at most 0.125, not 5: "),
        ("zalesak --shape 32 --cfl 99", "cfl must be at most 12.5664, not 99: "),
        ("levelset --shape 16 --dt 5", ", not 5: "),
    ],
)
def test_a_step_that_is_too_large_is_called_what_was_given(arguments, words, capsys, tmp_path):
    code, output, errors = run(capsys, *arguments.split(), "--out", tmp_path / "new")
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert words in errors


WITHOUT_READER = """
import os, sys
from particles.cli.main import main
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, {stream})
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "stream", "code"),
    [
        (["cache", "show"], 1, 141),
        (["cache", "show", "--json"], 1, 141),
        (["levelset", "--help"], 1, None),  # argparse ends without a word, in some versions with 0
        (["--version"], 1, None),
        (["zalesak", "--dt", "-1"], 2, 141),
    ],
)
def test_a_closed_pipe_ends_a_command_quietly(arguments, stream, code):
    status, output, errors = child.run(WITHOUT_READER.format(stream=stream), *arguments)
    assert (output, errors) == ("", "")
    assert status == code or (code is None and status in (0, 141))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no disk that is always full")  # noqa: PTH110
def test_output_that_cannot_be_written_is_an_error():
    status, _, errors = child.run(
        f"import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n{COMMAND}", "cache", "show"
    )
    assert (status, errors.count("\n")) == (1, 1)
    assert errors.endswith(": No space left on device\n")


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PARTICLES_DEVICE", "99", "PARTICLES_DEVICE is '99', which is none of the devices"),
        ("PARTICLES_TUNE", "x", "PARTICLES_TUNE must be one of off, quick, full, not 'x'"),
        ("PARTICLES_REPAIR", "x", "PARTICLES_REPAIR must be on or off, not 'x'"),
    ],
)
def test_a_wrong_setting_has_one_code_everywhere(variable, value, words, capsys, monkeypatch):
    monkeypatch.setenv(variable, value)
    for command in ("bench", "info", "levelset", "tune", "vortex-box", "zalesak"):
        code, output, errors = run(capsys, command)
        assert code == 2, command
        assert words in errors + output


@pytest.mark.parametrize("command", ["bench", "levelset", "tune", "vortex-box", "zalesak"])
@pytest.mark.parametrize(
    "wrong", ["--device 99", "--shape 0", "--kernel M6", "--dtype int8", "--unknown"]
)
def test_a_wrong_option_has_one_code_everywhere(command, wrong, capsys):
    try:
        code = main([command, *wrong.split()])
    except SystemExit as stopped:
        code = stopped.code
    output, errors = capsys.readouterr()
    assert (code, output, errors.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_tells_of_every_option_and_its_default(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.partition("options:")[2].split())
    parser = argparse.ArgumentParser()
    COMMANDS[command].add_arguments(parser)
    for action in parser._actions:
        assert action.help
        if action.option_strings and action.nargs != 0:
            told = text.partition(f" {action.option_strings[-1]} ")[2].partition(" --")[0]
            assert "(default: " in told, action.option_strings


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: particles {command}" in text
    assert "--json" in text


def test_the_help_sums_up_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name, command in COMMANDS.items():
        assert f" {name} {command.help}" in text


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "info", COMMANDS["info"]._replace(run=interrupted))
    assert main(["info"]) == 130
    assert capsys.readouterr().err == "particles info: interrupted\n"
