# SPDX-License-Identifier: BSD-3-Clause
"""A velocity that depends on time is judged by what the stages of a push see of it."""

import numpy as np
import particles as pt
import pytest

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

SCHEMES = {  # when stages look, in shares of a push, and with what weight
    "euler": {0.0: 1.0},
    "rk2": {0.0: 0.0, 0.5: 1.0},
    "heun": {0.0: 0.5, 1.0: 0.5},
    "rk3": {0.0: 1 / 6, 0.5: 2 / 3, 1.0: 1 / 6},
    "rk4": {0.0: 1 / 6, 0.5: 2 / 3, 1.0: 1 / 6},
}
STEPPERS = [pt.Splitting, pt.Unsplit]
GRID = pt.Grid(64)
DT = 0.25


def transport(device, stepper, formula, scheme):
    u = pt.Field(GRID, device=device)
    u[20:30] = 1
    return stepper(pt.AdvectionOp(pt.Velocity(GRID, formula), scheme), pt.RemeshOp(u))


@pytest.mark.drawn(8)
@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("speed", "error", "words"),
    [
        ("1/(t - {})", pt.NotFiniteError, "component 0 is not: it is inf at .* at time {:g}$"),
        ("1e12*exp(-1e9*fabs(t - {}))", ValueError, r"less than 2\*\*.. cells, not 1\.6e\+13 "),
    ],
    ids=["infinite", "fast"],
)
def test_what_a_stage_sees_is_refused(device, stepper, share, scheme, speed, error, words):
    instant = share * DT
    run = transport(device, stepper, f"0.1*sin(6.28*x) + {speed.format(instant)}", scheme)
    before = run.remesh.fields[0].get()
    if share in SCHEMES[scheme]:
        with pytest.raises(error, match=words.format(instant)):
            run.step(DT)
        np.testing.assert_array_equal(run.remesh.fields[0].get(), before)
        assert (run.steps, run.time) == (0, 0.0)
    else:
        run.step(DT)
        assert run.remesh.fields[0].sum() == pytest.approx(before.sum(), rel=1e-6)


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "formula",
    ["sin(PI*x)*(1 + 20*t*t*t)", "sin(PI*x) + 20*t*t*t*sin(PI*x) + t"],
    ids=["factor", "sum"],
)
def test_the_strain_is_that_of_the_stages_weighted(device, stepper, scheme, formula):
    run = transport(device, stepper, formula.replace("PI", str(2 * np.pi)), scheme)
    run.time = 1.0
    wave = np.sin(2 * np.pi * np.arange(65) / 64)
    steepest = np.abs(np.diff(wave)).max() * 64
    amplitudes = sum(
        weight * (1 + 20 * (1 + share * DT) ** 3) for share, weight in SCHEMES[scheme].items()
    )
    assert run.lcfl(DT) / DT == pytest.approx(steepest * amplitudes, rel=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_push_alone_is_judged_alike(device, scheme):
    for share in SCHEMES[scheme]:
        velocity = pt.Velocity(GRID, f"x + 1/(t - {1 + share * DT})")
        push = pt.AdvectionOp(velocity, scheme, device=device)
        with pytest.raises(pt.NotFiniteError, match=f"at time {1 + share * DT:g}$"):
            push.apply(DT, 0, time=1.0)


def test_what_ends_a_sweep_and_begins_the_next_is_measured_once(device):
    run = transport(device, pt.Splitting, "sin(6.28*x + t*t) + 1/(t - 9.5)*0.01", "rk4")
    with pt.profile(device) as profile:
        run.run(3 * 0.01, 0.01)
    assert profile.kernels["strain"].launches == 7  # three steps: their ends and their middles
