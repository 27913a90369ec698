# SPDX-License-Identifier: BSD-3-Clause
"""One word for a kernel, a scheme, an interpolation and a limiter that go well together."""

import numpy as np
import particles as pt
import pytest

from tests.support.problems import SWIRL, relative_l1
from tests.support.refusals import refused, scalar, vector
from tests.support.sweeps import box, field, noise, wave
from tests.support.transports import swirl

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

PARTS = {
    "default": ("M'6", "rk2", "linear", None),
    "accurate": ("L6_4", "rk4", "cubic", None),
    "positive": ("M'6", "rk2", "linear", "positive"),
}


@pytest.mark.parametrize("preset", PARTS)
@pytest.mark.parametrize("kind", ["grid", "formula"])
def test_a_preset_is_its_parts(device, preset, kind):
    grid, dtype = box(33, 24), "float32"
    kernel, scheme, interpolation, limiter = PARTS[preset]
    if kind == "grid":
        velocity = field([0.2 * wave(grid, k) for k in range(2)], grid, dtype, device)
    else:
        velocity, interpolation = pt.Velocity(grid, ["0.2*sin(6.25*x)", "0.3*cos(6.25*y)"]), None
    fields = [field(noise(grid, 1), grid, dtype, device) for _ in range(2)]
    chosen = pt.Splitting.from_preset(preset, velocity, fields[0], time=1.0)
    advection = pt.AdvectionOp(velocity, scheme, interpolation=interpolation)
    built = pt.Splitting(advection, pt.RemeshOp(fields[1], kernel, limiter=limiter), time=1.0)
    assert repr(chosen) == repr(built)
    for transport in (chosen, built):
        transport.run(1.3, lcfl=0.25)
    np.testing.assert_array_equal(fields[0].get(), fields[1].get())


@pytest.mark.parametrize(
    ("preset", "change"),
    [
        ("default", {"kernel": "L8_4"}),
        ("accurate", {"scheme": "rk3"}),
        ("accurate", {"interpolation": "linear"}),
        ("default", {"limiter": "monotone"}),
        ("positive", {"order": 1}),
        ("positive", {"kernel": "M'4", "scheme": "euler"}),
    ],
    ids=str,
)
def test_one_choice_is_changed_and_the_others_stay(device, preset, change):
    grid = box(33, 24)
    velocity = field([0.2 * wave(grid, k) for k in range(2)], grid, "float32", device)
    names = ("kernel", "scheme", "interpolation", "limiter", "order")
    u = pt.Field(grid, device=device)
    kept = dict(zip(names, (*PARTS[preset], 2), strict=True)) | change
    made = pt.Splitting.from_preset(preset, velocity, u, **change)
    advection = pt.AdvectionOp(velocity, kept["scheme"], interpolation=kept["interpolation"])
    remesh = pt.RemeshOp(u, kept["kernel"], limiter=kept["limiter"])
    assert repr(made) == repr(pt.Splitting(advection, remesh, kept["order"]))


def test_a_formula_has_no_interpolation_to_change(device):
    wind, u = pt.Velocity(pt.Grid(8), ["1"]), pt.Field(pt.Grid(8), device=device)
    with pytest.raises(ValueError, match="interpolation must not be given with a formula"):
        pt.Splitting.from_preset("accurate", wind, u, interpolation="linear")
    made = pt.Splitting.from_preset("accurate", wind, u, kernel="M'4", scheme="rk3")
    assert (made.remesh.kernel.name, made.advection.scheme) == ("M'4", "rk3")
    assert made.advection.interpolation is None


def test_fields_are_what_is_carried(device):
    grid = box(16)
    fields = [pt.Field(grid, device=device) for _ in range(2)]
    made = pt.Splitting.from_preset("default", pt.Velocity(grid, ["1"]), fields)
    alone = pt.Unsplit(made.advection, pt.RemeshOp(fields[1]))
    assert made.fields == tuple(fields)
    assert alone.fields == (fields[1],)


def error_of(preset, velocity, dtype, device):
    x = velocity.grid.coordinates()
    u = field(SWIRL.initial(*x), velocity.grid, dtype, device)
    pt.Splitting.from_preset(preset, velocity, u).run(0.25, lcfl=0.05)
    return relative_l1(u.get(), SWIRL.exact(x, 0.25))


@pytest.mark.sampled
def test_accurate_is_more_accurate(device):
    velocity = swirl(64, "float32", device)
    assert error_of("accurate", velocity, "float32", device) < 0.5 * error_of(
        "default", velocity, "float32", device
    )


@pytest.mark.sampled
def test_positive_is_positive(device):
    """A disk in a shear stays so, but for rounding; other presets undershoot."""
    grid = pt.Grid((64, 64))
    x, y = grid.coordinates()
    disk = ((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.04).astype(float)
    shear = pt.Velocity(grid, ["sin(2*M_PI*y)", "sin(2*M_PI*x)"])
    least = {}
    for preset in PARTS:
        u = field(disk, grid, "float32", device)
        pt.Splitting.from_preset(preset, shear, u).run(0.3, 0.05)
        least[preset] = u.min()
    assert least["positive"] >= -np.finfo(np.float32).eps
    assert least["default"] < -0.01
    assert least["accurate"] < -0.01


def test_options_reach_the_operators(device):
    """A constant value stays where a velocity compresses, and decays by its source."""
    grid = box(40)
    u = field(np.ones(40), grid, "float32", device)
    velocity = field(0.1 * wave(grid, 1), grid, "float32", device)
    source = pt.SourceOp(u, "-u")
    transport = pt.Splitting.from_preset("default", velocity, u, conservative=False, source=source)
    transport.run(0.5, 0.1)
    np.testing.assert_allclose(u.get(), np.exp(-0.5), rtol=1e-5)


def test_inflow_reaches_the_operators(device):
    grid = pt.Grid(40, boundary=[("inflow", "outflow")])
    u = field(np.zeros(40), grid, "float32", device)
    wind = pt.Velocity(grid, ["1"])
    pt.Splitting.from_preset("default", wind, u, inflow=2.0).step(0.5)
    np.testing.assert_allclose(u.get(), np.repeat([2.0, 0.0], 20), atol=1e-6)


def test_a_coarser_velocity(device):
    velocity = swirl(16, "float32", device)
    grid = pt.Grid((64, 32))
    u = field(noise(grid, 1), grid, "float32", device)
    transport = pt.Splitting.from_preset("accurate", velocity, u)
    assert transport.advection.grid == grid
    transport.step(0.05)


def test_unknown_presets():
    for preset in ("best", None, 3):
        words = f"preset must be one of default, accurate, positive, not {preset!r}"
        refused(ValueError, words, pt.Splitting.from_preset, preset, vector(), scalar())
