# SPDX-License-Identifier: BSD-3-Clause
"""Only forms that give the same bits race, and only what is faster most times wins."""

import math

import numpy as np
import particles as pt
import pytest
from particles.operators.form import KINDS
from particles.tuning import candidates, race, tuner
from particles.tuning.race import Timing

from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form
from tests.support.races import SHAPE, Clock, Course, task
from tests.support.stand_ins import stand_in


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(race, "clock", clock)
    return clock


A, B, C = pt.Form(tiles=4), pt.Form(tiles=16), pt.Form(tiles=64)


def test_the_fastest_wins(clock):
    timings = Course(clock, {A: 0.9, B: 0.5, C: 0.6}).race()
    assert race.winner(timings) == B
    assert timings == [
        Timing(pt.Form(), 1e9, 1.0),
        Timing(A, 0.9e9, 0.9),
        Timing(B, 0.5e9, 0.5),
        Timing(C, 0.6e9, 0.6),
    ]


def test_the_least_time_of_the_default_counts(clock, monkeypatch):
    monkeypatch.setattr(race, "_duel", lambda *_: [(0.5, 0.25), (2.0, 1.0)])
    timings = Course(clock, {A: 1.0}).race()
    assert timings == [Timing(pt.Form(), 0.5e9, 1.0), Timing(A, 0.25e9, 0.5)]


@pytest.mark.parametrize("time", [1.0, 0.98, [0.5, 1.0, 0.5, 1.0, 1.0]])
def test_what_is_not_faster_most_times_leaves_the_default(clock, time):
    assert race.winner(Course(clock, {A: time}).race()) == pt.Form()


def test_a_disturbed_round_or_two_do_not_decide(clock):
    assert race.winner(Course(clock, {A: [0.5, 9.0, 0.5, 9.0, 0.5]}).race()) == A


def test_only_what_gives_the_same_bits_takes_part(clock):
    course = Course(clock, {A: 0.1, B: 0.5})
    course.wrong = {A}
    timings = course.race()
    assert [timing.form for timing in timings] == [pt.Form(), B]
    assert A not in course.timed


@pytest.mark.parametrize("error", [pt.DeviceError, pt.BuildError, ValueError])
def test_what_the_device_cannot_do_is_left_out(clock, error):
    course = Course(clock, {A: 0.1, B: 0.5})
    course.failing = {A: error("not here")}
    assert race.winner(course.race()) == B


def test_other_failures_are_not_hidden(clock):
    course = Course(clock, {A: 0.1})
    course.failing = {A: ZeroDivisionError()}
    with pytest.raises(ZeroDivisionError):
        course.race()


def test_none_begins_for_which_there_is_no_time(clock):
    course = Course(clock, {A: 1.1, B: 1.1, C: 0.1})
    course.seconds_to_make = 3.0
    timings = course.race(end=25.0)  # 4 for the default, 3 + 3 * 2.1 for each of the others
    assert [timing.form for timing in timings] == [pt.Form(), A, B]
    assert clock.now == pytest.approx(4 + 2 * 9.3)


def test_what_is_not_done_in_time_does_not_count(clock):
    timings = Course(clock, {A: 0.5}).race(end=6.0)  # the fifth round would begin at 7
    assert [timing.form for timing in timings] == [pt.Form()]


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("is_cpu", [False, True])
def test_candidates_are_forms_of_their_own(is_cpu, thorough):
    place = stand_in(0, "A", kind="CPU" if is_cpu else "GPU")
    for axis in range(3):
        forms = candidates.candidates(task(place, (512,) * 3), axis, thorough)
        assert forms
        assert pt.Form() not in forms
        assert len(set(forms)) == len(forms)


def test_pieces_of_lines_and_whole_ones_race_on_gpus():
    """On an NVIDIA H100 pieces of 64 nodes are faster than those of 128 at small CFL numbers."""
    for axis, most in enumerate((512, 40, 2048)):
        place = task(stand_in(0, "A", kind="GPU"), (512, 40, 2048))
        found = {form.nodes for form in candidates.candidates(place, axis, thorough=False)}
        assert found == {None, most, *(few for few in (32, 64, 128, 256) if few < most)}


@pytest.mark.parametrize("axis", range(3))
def test_forms_that_are_there_for_comparison_race_where_all_do(axis):
    asked = task(stand_in(0, "A", kind="GPU"), (512,) * 3)
    likely, every = (
        {form.kind for form in candidates.candidates(asked, axis, thorough)}
        for thorough in (False, True)
    )
    assert likely == ({None, "registers"} if axis == 2 else {None})
    assert every == {None, *KINDS}


def test_lines_longer_than_any_piece_have_candidates_too():
    place = task(stand_in(0, "A", kind="GPU"), (2**20 + 64,))
    found = {form.nodes for form in candidates.candidates(place, 0, thorough=True)}
    assert found == {None, 32, 64, 128, 256, 2**20}


def test_one_line_is_not_transposed():
    for place in stand_in(0, "A"), stand_in(0, "A", kind="GPU"):
        forms = candidates.candidates(task(place, (2**20,)), 0, thorough=True)
        assert {form.transposed for form in forms} == {None}
    forms = candidates.candidates(task(stand_in(0, "A"), (512, 512)), 1, thorough=True)
    assert {form.transposed for form in forms} == {None, False, True}


def test_a_formula_keeps_its_lanes_on_cpus():
    swirl = pt.Velocity(pt.Grid(SHAPE), lambda x, y, z: (np.exp(y), z, x))
    place = stand_in(0, "A")
    for axis in range(3):
        forms = candidates.candidates(task(place, velocity=swirl), axis, thorough=True)
        assert {form.kind for form in forms} <= {None}
        assert {form.lanes for form in forms} <= {None}


def test_no_thread_is_left_without_work():
    forms = candidates.candidates(task(stand_in(0, "A"), (2048, 2048)), 0, thorough=False)
    assert pt.Form(tiles=256) not in forms


@pytest.mark.parametrize("axis", [1, 2])
def test_lines_stay_as_they_are_where_memory_is_short(device, axis):
    wanted = task(device, (100, 80, 60), components=2)
    grid = race.grid_of_race(wanted, axis, 2**20)
    assert grid.shape[1:] == wanted.grid.shape[1:]
    assert 2**19 < grid.size * 4 * (2 * 2 + 3) <= 2**20


def test_lines_that_would_come_nearer_do_not_race(device):
    assert race.grid_of_race(task(device, (100, 80, 60)), 0, 2**20) is None
    assert race.grid_of_race(task(device, (2, 800, 600)), 1, 2**20) is None


def test_a_single_line_is_shortened_where_memory_is_short(device):
    assert race.grid_of_race(task(device, (10**6,)), 0, 2**20).shape == (62500,)


CASES = [((24, 33), 2, "grid"), ((9001,), 1, "formula")]


@pytest.mark.slow
@pytest.mark.one_device
@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize(("shape", "components", "moved_by"), CASES, ids=str)
def test_no_form_that_wins_changes_a_bit(
    device, monkeypatch, tmp_path, shape, components, moved_by, kind
):
    """Each axis gets another of the forms that may win, and a run is the same to the bit.

    A form is built for every one: three are drawn along each axis.
    """
    device = in_form(device, kind)
    grid = pt.Grid(shape)
    formula = pt.Velocity(grid, [f"1 + sin(2*M_PI*({x} + 0.1))" for x in "xyz"[: grid.ndim]])
    velocity = formula
    if moved_by == "grid":
        velocity = pt.Field(grid, grid.ndim, device=device)
        for axis, part in enumerate(formula.on_grid()):
            velocity.component(axis)[...] = part
    u = pt.Field(grid, components, device=device)
    noise = np.random.default_rng(1).random(u.shape)

    def moved():
        u[...] = noise
        pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).run(0.1, 0.05)
        return u.get()

    expected = moved()
    asked = task(
        device, shape, components=components, velocity=formula if moved_by == "formula" else None
    )
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path))
    monkeypatch.setenv("PARTICLES_TUNE", "quick")
    monkeypatch.setattr(candidates, "JOBS_PER_UNIT", 0)
    monkeypatch.setattr(candidates, "TILES", (4, 16))
    monkeypatch.setattr(candidates, "GROUPS", (4, 16))  # as many stacks as a CPU's thread bears

    def drawn(asked, axis, thorough):
        forms = candidates.candidates(asked, axis, thorough)
        return lot.some(forms, min(3, len(forms)), f"{kind} along {axis}")

    monkeypatch.setattr(race, "candidates", drawn)
    monkeypatch.setattr(race, "ROUNDS", 1)
    monkeypatch.setattr(race, "LEAST_UPDATES", 1)
    timings = race.race(asked, range(grid.ndim), thorough=False, seconds=math.inf)
    for axis, times in timings.items():
        absent = {*drawn(asked, axis, thorough=False)} - {form for form, *_ in times}
        assert all(form.images for form in absent)  # which not every device has in this size
    for place in range(max(map(len, timings.values()))):
        monkeypatch.setattr(tuner, "_chosen", {})
        for axis, times in timings.items():
            chosen = times[(place + axis) % len(times)].form
            tuner.remember(asked, axis, chosen, thorough=False)
        np.testing.assert_array_equal(moved(), expected)
