# SPDX-License-Identifier: BSD-3-Clause
"""The commands: what they print, and their exit codes."""

import argparse
import json
import os

import particles as pt
import pytest
from particles import problems
from particles.cli.main import COMMANDS, main
from particles.problems import pictures, runner

from tests.support import child

pytestmark = pytest.mark.one_device

COMMAND = "import sys; from particles.cli.main import main; sys.exit(main(sys.argv[1:]))"
PNG = b"\x89PNG\r\n\x1a\n"


def run(capsys, *arguments):
    """Run a command in this process; return its exit code, output and errors."""
    code = main(list(map(str, arguments)))
    return (code, *capsys.readouterr())


@pytest.mark.sampled
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


@pytest.mark.sampled
def test_json_is_all_there_is_on_the_output(tmp_path):
    output = child.check(
        COMMAND + "\nassert 'matplotlib.pyplot' not in sys.modules",
        *("vortex-box", "--shape", 32, "--out", tmp_path, "--json"),
    )
    facts = json.loads(output)
    assert (facts["shape"], facts["steps"]) == ([32, 32], 64)
    assert list(facts["parts"]) == ["set-up", "steps", "comparison", "pictures"]
    assert facts["parts"]["steps"] == facts["seconds"]


@pytest.mark.sampled
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


@pytest.mark.sampled
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
