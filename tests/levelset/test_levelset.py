# SPDX-License-Identifier: BSD-3-Clause
"""The level-set test gives the figures of an independent code, as a function and as a command."""

import json
import warnings
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import particles as pt
import pytest
from particles import _core, levelset
from particles.cli import problems as cli_problems
from particles.cli.main import main
from particles.levelset import pictures as levelset_pictures
from particles.levelset import problem as levelset_problem
from particles.levelset import runner as levelset_runner
from particles.stepping.splitting import LCFLWarning

from tests.support import child, problems, words
from tests.support.bandwidths import some_bandwidth
from tests.support.gpu_forms import as_gpu

pytestmark = pytest.mark.one_device

COMMAND = """
import sys
from tests.support.bandwidths import let_any_be_found
from particles.cli.main import main
let_any_be_found(setattr)
code = main(sys.argv[1:])
"""
END = "sys.exit(code)"
PNG = b"\x89PNG\r\n\x1a\n"


def strained(*arguments, **options):
    """Run a test whose step is known to be large."""
    with pytest.warns(LCFLWarning) as caught:
        result = levelset.run(*arguments, progress=False, **options)
    assert len(caught) == 1
    return result


def quick(shape=32, **options):
    """Run a test that takes a moment."""
    return levelset.run(shape, dt=0.1, progress=False, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [(32, 32, 32), (21, 40, 27)])
@pytest.mark.parametrize("together", [512, 64])  # 64: several parts, and one that is not full
def test_the_exact_solution_follows_characteristics(device, shape, together, monkeypatch):
    monkeypatch.setattr(levelset_problem, "_TOGETHER", together)
    grid = pt.Grid(shape)
    times = (0.1, 0.4, 1.0)
    for time, inside in zip(times, levelset.exact(grid, times, device), strict=True):
        expected = problems.LEVEL_SET.exact(grid.coordinates(), time, steps=100)
        np.testing.assert_array_equal(inside, expected > 0.5)


def test_a_device_without_float64_finds_all_but_what_lies_on_the_surface(device, monkeypatch):
    grid = pt.Grid((48, 48, 48))
    (fine,) = levelset.exact(grid, [1.0], device)
    monkeypatch.setattr(device, "dtypes", device.dtypes[:2])
    (coarse,) = levelset.exact(grid, [1.0], device)
    assert np.count_nonzero(fine != coarse) <= 1e-3 * fine.sum()


@pytest.mark.sampled
def test_what_is_not_followed_never_meets_the_ball():
    grid = pt.Grid((40, 40, 40))
    followed = levelset_problem._can_meet_ball(*grid.coordinates())
    assert 0.1 < followed.mean() < 0.3
    position = np.stack(np.broadcast_arrays(*grid.coordinates()))[:, ~followed]
    for _ in range(20):
        assert not problems.ball(*position).any()
        position = problems.LEVEL_SET.departure(position, 0.1, steps=5)


def test_the_problem_is_that_of_the_reference():
    points = pt.Grid((8, 9, 10)).coordinates()
    np.testing.assert_array_equal(levelset.ball(*points), problems.ball(*points))
    for component, expected in zip(
        levelset.flow(*points), problems.level_set_velocity(*points), strict=True
    ):
        np.testing.assert_allclose(component, expected, atol=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("velocity", ["grid", "formula"])
def test_figures_at_64(device, velocity):
    result = strained(64, dt=0.2, device=device, velocity=velocity)
    forth, back = result.rows[-2:]
    assert (forth.time, back.time, result.steps) == (1, 2, 5)
    assert -0.07 <= forth.volume_change <= -0.04
    assert -0.05 <= back.volume_change <= -0.03
    assert forth.l1_error <= 1.08
    assert back.l1_error <= 0.60
    assert abs(back.mass_change) <= 3e-7


@pytest.mark.parametrize("shape", [16, 64])
def test_the_usual_step_is_never_large(shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert levelset.run(shape, until=0.15, back=False, progress=False).dt == 0.15


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_figures_at_128(device, dtype):
    forth, back = levelset.run(128, dtype=dtype, device=device, progress=False).rows[-2:]
    assert abs(forth.volume_change) <= 0.005
    assert abs(back.volume_change) <= 0.006
    assert forth.l1_error <= 0.36
    assert back.l1_error <= 0.32
    assert -0.35 <= forth.minimum <= forth.maximum <= 1.6
    assert -0.20 <= back.minimum <= back.maximum <= 1.45


def test_mass_is_conserved_to_rounding(dtype, device):
    result = quick(dtype=dtype, device=device)
    bound = {"float32": 3e-7, "float64": 1e-13}[dtype.name]
    assert max(abs(row.mass_change) for row in result.rows) <= bound


@pytest.mark.sampled
def test_a_row_says_what_the_snapshot_holds(device):
    result = quick((24, 40, 32), device=device, until=0.4)
    grid = pt.Grid(result.shape)
    initial = result.snapshots[0]
    np.testing.assert_array_equal(initial, levelset.ball(*grid.coordinates()))
    for row in result.rows:
        values = result.snapshots[row.time].astype(np.float64)
        age = row.time if row.time <= 0.4 else 0.0
        exact = problems.LEVEL_SET.exact(grid.coordinates(), age, steps=50) > 0.5
        error = np.abs(values - exact).sum() / initial.sum()
        assert row.l1_error == pytest.approx(error, abs=1e-6)
        assert row.volume_change == problems.volume(values) / problems.volume(initial) - 1
        assert row.mass_change == pytest.approx(values.sum() / initial.sum() - 1, abs=1e-9)
        assert (row.minimum, row.maximum) == (values.min(), values.max())


def test_reruns_are_the_same_to_the_bit(device):
    first, second = quick(device=device), quick(device=device)
    assert first.rows == second.rows
    for time, values in first.snapshots.items():
        np.testing.assert_array_equal(values, second.snapshots[time])


def test_looks_are_at_the_ends_of_steps():
    result = quick(until=0.55, snapshots=[0.04, 0.32, 0.21, 0.54], back=False)
    assert list(result.snapshots) == [0, 0.2, 0.3, 0.5, 0.55]
    assert result.steps == 6
    assert [row.time for row in quick(until=0.5).rows] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 1]


def test_looking_changes_nothing():
    seldom, often = quick(snapshots=[]), quick()
    np.testing.assert_allclose(seldom.snapshots[2], often.snapshots[2], atol=1e-5)


def test_speed_counts_the_steps_alone(device):
    result = quick(device=device, back=False)
    (sweep,) = (time for name, time in result.profile.kernels.items() if name.startswith("sweep"))
    assert result.sweeps >= 3 * result.steps
    assert sweep.bytes == 12 * 32**3 * result.sweeps  # the field and the velocity in, the field out
    assert result.seconds >= sweep.seconds > 0
    assert result.nanoseconds == pytest.approx(1e9 * result.seconds / result.sweeps / 32**3)
    assert list(result.times)[-2:] == ["host", "set-up"]


def test_every_part_is_timed():
    begin = perf_counter()
    result = quick(until=0.2)
    wall = perf_counter() - begin
    parts = ["set-up", "exact solution", "comparison", "steps", "way back"]
    assert list(result.parts) == parts
    assert all(seconds > 0 for seconds in result.parts.values())
    assert sum(result.parts.values()) < wall
    assert (result.seconds, result.times["set-up"]) == (
        result.parts["steps"],
        result.parts["set-up"],
    )
    for part, seconds in result.parts.items():
        assert f"{part} {seconds:.2f} s" in str(result)
    assert json.loads(result.to_json())["parts"] == result.parts


def test_it_prints_as_a_table_and_as_json():
    result = quick(until=0.1)
    assert str(result).startswith(
        "Level-set test: 32 x 32 x 32 particles, float32, M'6, RK2, velocity on the grid, Strang, "
        "dt = 0.1\n"
    )
    assert str(result).count("\n 0.200  ") == 1
    facts = json.loads(result.to_json())
    assert facts["rows"][-1] == result.rows[-1]._asdict()
    assert facts["nanoseconds"] == result.nanoseconds


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": (8, 8)}, r"shape must be one number or three, not \(8, 8\)"),
        ({"shape": 4}, r"shape must have points inside the ball, but \(4, 4, 4\) has none"),
        ({"velocity": "array"}, "velocity must be one of grid, formula, not 'array'"),
        ({"snapshots": [0.5, 2]}, r"snapshots must be between 0 and 1.0, not at 2.0"),
        ({"shape": 16, "dt": 0.8}, "dt must be at most .* not 0.8: the strain of a sweep"),
        ({"until": 0}, "until must be positive, not 0.0"),
        ({"dt": -1}, "dt must be positive, not -1.0"),
    ],
)
def test_what_cannot_be_run_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        levelset.run(**options)


@pytest.mark.sampled
def test_the_command_prints_figures_and_draws_pictures(tmp_path):
    folder = tmp_path / "new" / "folder"
    arguments = ("levelset", "--shape", 32, "--dt", 0.1, "--out", folder)
    status, output, errors = child.run(COMMAND + END, *arguments)
    assert (status, errors) == (0, "")
    words = ("L1", "(flow reversed)", "10 steps in ", "ns per particle and sweep", "steps move ")
    for expected in (*words, "set-up ", "exact solution ", "pictures "):
        assert expected in output
    for name in ("levelset.png", "profile.png", "return.png"):
        assert f"picture {folder / name}\n" in output
        content = (folder / name).read_bytes()
        assert content.startswith(PNG)
        assert len(content) > 10_000


@pytest.mark.sampled
def test_the_command_passes_its_options_on(tmp_path):
    output = child.check(
        COMMAND + "assert 'matplotlib.pyplot' not in sys.modules\n" + END,
        *("levelset", "--json", "--no-back", "--out", tmp_path, "--until", 0.2, "--dt", 0.1),
        *("--shape", 16, 24, 32, "--kernel", "M'4", "--order", 4, "--dtype", "float64"),
        *("--velocity", "formula", "--device", 0),
    )
    facts = json.loads(output)
    assert facts["pictures"] == [str(tmp_path / "levelset.png"), str(tmp_path / "profile.png")]
    assert facts["shape"] == [16, 24, 32]
    assert [row["time"] for row in facts["rows"]] == [0, 0.1, 0.2]
    names = ("kernel", "order", "dtype", "velocity", "dt", "until", "steps")
    assert [facts[name] for name in names] == ["M'4", 4, "float64", "formula", 0.1, 0.2, 2]
    assert facts["device"].startswith(pt.devices()[0].name)
    assert facts["parts"]["pictures"] > 0
    moved, spent = (
        sum(time[what] for time in facts["profile"].values()) for what in ("bytes", "seconds")
    )
    assert facts["share_of_axpy"] == pytest.approx(moved / spent / facts["axpy"])


def test_the_command_ends_well_on_a_gpu(device, tmp_path, capsys, monkeypatch):
    """Whose kernels have other names."""
    some_bandwidth(monkeypatch)
    for module in (levelset_runner, cli_problems):
        monkeypatch.setattr(module, "as_device", lambda _: as_gpu(device))
    assert main(["levelset", "--shape", "16", "--dt", "0.1", "--out", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "steps move " in output
    assert "walk" in output


def test_a_large_step_is_noted(tmp_path, capsys, monkeypatch):
    some_bandwidth(monkeypatch)
    assert main(["levelset", "--shape", "32", "--dt", "0.2", "--out", str(tmp_path)]) == 0
    errors = capsys.readouterr().err
    assert errors.startswith("particles levelset: dt = 0.2 is large: the strain of a sweep")
    assert errors.count("\n") == 1


def test_the_picture_is_a_row_that_can_be_read_on_a_telephone(monkeypatch):
    values = np.pad(np.ones((2, 2, 2)), 3)
    times = {0.0: values, 0.4: values, 0.8: values, 1.0: values, 2.0: values}
    figure = levelset_pictures.levelset_figure(SimpleNamespace(snapshots=times, until=1.0))
    assert words.assert_apart(figure, monkeypatch) == 4
    titles = [text.get_text() for text in figure.texts]
    assert titles == ["t = 0", "t = 0.4", "t = 1", "back at t = 2"]
    points = figure.texts[0].get_fontsize() / 72 / figure.get_figwidth() * 380
    assert points > 9  # on a page of 380


@pytest.mark.sampled
@pytest.mark.parametrize("module", ["matplotlib", "skimage"])
def test_figures_come_without_what_draws(tmp_path, module):
    status, output, errors = child.run(
        f"import sys\nsys.modules[{module!r}] = None\n" + COMMAND + END,
        *("levelset", "--shape", 32, "--dt", 0.1, "--until", 0.1, "--out", tmp_path),
    )
    assert status == 0
    assert "1 steps in " in output
    assert "picture" not in output
    assert errors.startswith("particles levelset: no pictures: pictures need ")
    assert f"pip install {'scikit-image' if module == 'skimage' else module}" in errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shape", "0"], "shape must be at least 1, not 0"),
        (["--shape", "8", "8"], "shape must be one number or three, not (8, 8)"),
        (["--shape", "16", "--kernel", "M'5"], "M'5"),
        (["--dt", "2"], "dt must be at most"),
        (["--dt", "nan"], "dt must be finite, not nan"),
        (["--device", "no such device"], "device 'no such device' is none of"),
        (["--out", __file__], __file__),
    ],
)
def test_arguments_that_cannot_be_run(arguments, words, capsys, tmp_path, monkeypatch):
    """Without measuring the memory first, which may take seconds."""
    monkeypatch.delattr(_core.Context, "measure_axpy")
    assert main(["levelset", "--out", str(tmp_path), *arguments]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("particles levelset: ")
    assert words in errors


@pytest.mark.parametrize(
    "arguments", [["--shape", "many"], ["--velocity", "array"], ["--order", "3"], ["--frames", "2"]]
)
def test_options_that_are_none(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["levelset", *arguments])
    assert stopped.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_pictures_that_cannot_be_written(tmp_path, capsys, monkeypatch):
    some_bandwidth(monkeypatch)
    (tmp_path / "levelset.png").mkdir()
    arguments = ["--shape", "32", "--dt", "0.1", "--until", "0.1", "--out", str(tmp_path)]
    assert main(["levelset", *arguments]) == 1
    output, errors = capsys.readouterr()
    assert "1 steps in " in output
    assert "levelset.png" in errors
