# SPDX-License-Identifier: BSD-3-Clause
"""A formula in time: measured once where it can be, and no sweep waits for how far it moves."""

import math

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles.formulas.expressions import EVALUATE, expression, variable
from particles.operators.amplitudes import amplitude_of
from particles.operators.speed_bounds import SpeedBounds

from tests.support.sweeps import noise

X, Y, T = (variable(name) for name in "xyt")
F, G = np.cos(3 * T), 1 + T * T


@pytest.mark.parametrize(
    ("component", "amplitude"),
    [
        (np.sin(X) * Y, expression(1.0)),
        (F, F),
        (np.sin(X) * F, F),
        (-(F * X) * G, F * G),
        (X / G, 1 / G),
        (X * F + Y * F, F),
        (np.where(X < Y, X * F, F), F),
        (np.sin(X) * F + 0 * Y, F),
        (X * F + Y, None),
        (X * F - Y * G, None),
        (np.sin(X - T), None),
        (np.where(X < T, X * F, Y * F), None),
        (X * F / np.sqrt(Y * G), None),
    ],
)
def test_amplitudes_are_found(component, amplitude):
    assert amplitude_of(component) is amplitude


@pytest.mark.parametrize("operation", EVALUATE)
def test_the_core_computes_what_numpy_does(operation):
    """Numbers of both signs, zeros, whole ones, and what is not finite."""
    count = EVALUATE[operation].nin if isinstance(EVALUATE[operation], np.ufunc) else 3
    lot = np.random.default_rng(0)
    special = [0.0, -0.0, 1.0, -2.0, 3.0, np.inf, -np.inf, np.nan]
    for _ in range(200):
        given = [
            float(lot.choice(special) if lot.random() < 0.4 else lot.normal(scale=3))
            for _ in range(count)
        ]
        nodes = [("constant", [], number) for number in given]
        with np.errstate(all="ignore"):
            masks = operation in ("&", "|", "^", "!", "select")
            known = [bool(given[0]), *given[1:]] if masks else given
            expected = float(EVALUATE[operation](*known))
        found = _core.testing.time_formula_at([*nodes, (operation, [*range(count)], 0.0)], 0.0, [])
        np.testing.assert_allclose(found, expected, rtol=1e-14, err_msg=f"{operation} {given}")


def test_much_that_is_used_twice_takes_no_time():
    power = X * F
    for _ in range(60):
        power = power * power
    assert amplitude_of(power) is not None


def swirl(x, y, t):
    rate = np.cos(np.pi * t / 3) * np.exp(-t / 10)
    along_x = np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y)
    return along_x * rate, -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2 * rate


def wave(x, y, t):
    return 0.7 * np.sin(np.pi * (x - t)) * np.sin(np.pi * x), np.sin(np.pi * y) * (x + t)


@pytest.mark.parametrize("time", [0.0, 0.7, 1.4999, 1.5, 2.0, 3.0, -4.0, 1000.0])
def test_what_is_known_is_what_would_be_measured(device, dtype, time):
    velocity = pt.Velocity(pt.Grid((32, 24)), swirl)
    core = pt.AdvectionOp(velocity).core_for(device, dtype)
    at = _core.testing.extremes_at
    at(core, [0], [0.1])
    greatest = at(core, [0], [-4.0])[0]
    known, measured = at(core, [0], [time])[0], core.measure([0], [time])[0]
    rounding = 30 * np.finfo(dtype).eps * (1 + abs(time))
    np.testing.assert_allclose(known, measured, rtol=rounding, atol=rounding * greatest[1])


def test_each_component_has_an_amplitude_of_its_own(device):
    velocity = pt.Velocity(
        pt.Grid((8, 12)), lambda x, y, t: (np.sin(np.pi * y), np.sin(np.pi * x) * (1 + t * t))
    )
    core = pt.AdvectionOp(velocity).core_for(device, np.dtype("float32"))
    for axis in range(2):
        for time in (0.0, 2.0, 0.5):
            known = _core.testing.extremes_at(core, [axis], [time])[0]
            measured = core.measure([axis], [time])[0]
            np.testing.assert_allclose(known, measured, rtol=1e-5)


def transport_of(formula, boundary, dtype, device, form, shape=(40, 33)):
    grid = pt.Grid(shape, boundary=boundary)
    u = pt.Field(grid, dtype=dtype, device=device)
    u[...] = noise(grid, 3)
    advection = pt.AdvectionOp(pt.Velocity(grid, formula))
    return u, pt.Splitting(advection, pt.RemeshOp(u, form=form))


@pytest.mark.sampled
@pytest.mark.parametrize("formula", [swirl, wave], ids=["swirl", "wave"])
@pytest.mark.parametrize("boundary", ["periodic", "wall", "outflow"])
@pytest.mark.parametrize("form", [None, "local"])
@pytest.mark.parametrize("cells", [0.8, 5.5])
def test_bounds_change_no_bit(device, dtype, formula, boundary, form, cells, monkeypatch):
    results = []
    for _ in range(2):
        u, transport = transport_of(formula, boundary, dtype, device, form)
        for _ in range(3):
            transport.step(cells / 40)
        results.append((u.get(), transport.outflow))
        monkeypatch.setattr(SpeedBounds, "tell", lambda *_: math.inf)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bounds_change_no_bit_of_long_lines(device, monkeypatch):
    results = []
    for _ in range(2):
        grid = pt.Grid(200_000)
        u = pt.Field(grid, device=device)
        u[...] = noise(grid, 3)
        velocity = pt.Velocity(grid, lambda x, t: np.sin(2 * np.pi * (x - t)))
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        for _ in range(3):
            transport.step(30 / 200_000)
        results.append(u.get())
        monkeypatch.setattr(SpeedBounds, "tell", lambda *_: math.inf)
    np.testing.assert_array_equal(*results)


def test_bounds_of_a_shorter_step_bound_no_longer_one(device):
    """Of two transports that share a velocity; the longer step moves by more than those bounds."""
    grid = pt.Grid(64, boundary="outflow")
    wind = pt.AdvectionOp(pt.Velocity(grid, lambda x, t: 0 * x + 24 / 64 * t))
    fields = [pt.Field(grid, device=device) for _ in range(2)]
    for u in fields:
        u.fill(1.0)
    one, other = (pt.Splitting(wind, pt.RemeshOp(u)) for u in fields)
    assert one.lcfl(1.0) == 0
    assert other.lcfl(0.1) == 0
    one.step(1.0)
    np.testing.assert_allclose(fields[0].get(), 1.0, rtol=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("formula", "measured"), [(swirl, 0), (wave, 3 * 4)], ids=["swirl", "wave"]
)
def test_what_is_known_is_not_measured(device, formula, measured):
    _, transport = transport_of(formula, "wall", "float32", device, None)
    transport.step(0.02)
    with pt.profile(device) as profile:
        for _ in range(3):
            transport.step(0.02)
    launches = {name: time.launches for name, time in profile.kernels.items()}
    assert launches["sweep_chain"] == 3
    assert launches.get("strain", 0) == measured
