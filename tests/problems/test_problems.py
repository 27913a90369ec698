# SPDX-License-Identifier: BSD-3-Clause
"""Test problems that end as they began: their figures, their steps, what they refuse."""

import numpy as np
import particles as pt
import pytest
from particles import problems
from particles.problems import flows, runner
from particles.stepping.splitting import LCFLWarning

from tests.reference import reference
from tests.support import problems as known

pytestmark = pytest.mark.one_device

MASS = {"float32": 3e-7, "float64": 1e-13}


@pytest.mark.parametrize(
    ("kernel", "figure"), [("M'4", 0.207), ("M'6", 0.159), ("L6_4", 0.150), ("L8_4", 0.145)]
)
def test_zalesak_gives_the_figures_of_an_independent_code(device, dtype, kernel, figure):
    result = problems.zalesak(kernel=kernel, dtype=dtype, device=device, progress=False)
    assert result.end.l1_error == pytest.approx(figure, rel=0.1)
    assert result.limits["l1_error"] == pytest.approx(1.1 * figure)
    assert (result.missed, result.steps, result.sweeps) == ([], 50, 150)


@pytest.mark.drawn(1)
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


@pytest.mark.sampled
def test_mass_is_conserved(device, dtype):
    for result in (
        problems.zalesak(dtype=dtype, device=device, progress=False),
        problems.vortex_box(64, dtype=dtype, device=device, progress=False),
        problems.vortex_box(32, dim=3, cfl=4, dtype=dtype, device=device, progress=False),
    ):
        assert abs(result.end.mass_change) <= MASS[dtype.name]
        assert result.missed == []


@pytest.mark.sampled
@pytest.mark.parametrize("dim", [2, 3])
def test_a_finer_grid_brings_back_more(device, dim):
    results = [
        problems.vortex_box(n, dim=dim, device=device, progress=False)
        for n in ((64, 128) if dim == 2 else (32, 64))
    ]
    assert results[1].end.l1_error < 0.8 * results[0].end.l1_error
    if dim == 2:  # as many as there are at least, and at a CFL number of 10
        assert [result.steps for result in results] == [64, 104]


@pytest.mark.sampled
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
