# SPDX-License-Identifier: BSD-3-Clause
"""Masses that must stay within a range: which steps they bear, who is warned, what is reported."""

import json
import math
import re
import warnings

import numpy as np
import particles as pt
import pytest
from particles import levelset, problems
from particles.kernels import ripple
from particles.stepping import report

from tests.support.sweeps import box, field, noise
from tests.support.transports import swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

SHARES = (0.01, 0.02, 0.03)


def hills(grid):
    """A smooth field from nearly 0 to 1."""
    values = [np.exp(4 * (np.cos(2 * np.pi * (c - 0.3)) - 1)) for c in grid.coordinates()]
    return np.prod(np.broadcast_arrays(*values), axis=0)


def vortices(grid, strength=lambda t: 1 + 0 * t):
    """Four vortices, between which the flow strains: by 2 pi in unit time."""
    return pt.Velocity(
        grid,
        lambda x, y, t: (
            strength(t) * np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
            -strength(t) * np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
        ),
    )


def carrying(values, device, kernel="M'6", **options):
    """A transport of these values by vortices."""
    grid = pt.Grid((32, 32))
    u = field(values(grid) if callable(values) else values, grid, "float32", device, "u")
    remesh = pt.RemeshOp(u, kernel, **options)
    return pt.Splitting(pt.AdvectionOp(vortices(grid)), remesh)


@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4"])
def test_a_sweep_makes_of_a_constant_what_is_foretold(device, kernel):
    """Euler's rule leaves a spacing of 1 + s and 1 - s where a sine stands still."""
    n = 8192
    grid = pt.Grid(n)
    u = field(np.ones(n), grid, "float64", device)
    flow = pt.Velocity(grid, lambda x: np.sin(2 * np.pi * x) / (2 * np.pi))
    transport = pt.Splitting(pt.AdvectionOp(flow, "euler"), pt.RemeshOp(u, kernel))
    for strain in (0.1931, 0.3873):  # of no few phases
        u.fill(1)
        transport.sweep(0, strain)
        density = u.get()
        for middle, spacing in (0, 1 + strain), (n // 2, 1 - strain):
            near = density.take(np.arange(middle - 40, middle + 40), mode="wrap") * spacing
            found, foretold = (
                np.abs(near - 1).max(),
                ripple.ripple(pt.kernels.get(kernel), spacing),
            )
            assert found == pytest.approx(foretold, rel=0.1, abs=1e-3)


@pytest.mark.parametrize("name", ["L1", "M'4", "M'6", "L4_4", "L6_4", "L8_4", "M'8"])
def test_up_to_which_strain_a_constant_is_kept(name):
    kernel = pt.kernels.get(name)
    kept = [ripple.strain_kept(kernel, share) for share in SHARES]
    assert kept == sorted(kept)
    for strain, share in zip(kept, SHARES, strict=True):
        for s in (strain, strain / 2):
            assert max(ripple.ripple(kernel, 1 - s), ripple.ripple(kernel, 1 + s)) <= share
        beyond = strain + 0.01
        assert max(ripple.ripple(kernel, 1 - beyond), ripple.ripple(kernel, 1 + beyond)) > share


def test_particles_that_are_not_strained_add_up_to_one():
    for name in ("L1", "M'6", "L8_4"):
        assert ripple.ripple(pt.kernels.get(name), 1.0) < 1e-14


ADVANCES = {
    "step": lambda transport, dt, _: transport.step(dt),
    "run by dt": lambda transport, dt, _: transport.run(transport.time + 2 * dt, dt),
    "run by lcfl": lambda transport, dt, lcfl: transport.run(transport.time + 2 * dt, lcfl=lcfl),
    "sweep": lambda transport, dt, _: transport.sweep(1, dt),
}


@pytest.mark.parametrize("name", ADVANCES)
@pytest.mark.parametrize("kernel", ["M'6", "M'4"])
def test_large_steps_of_smooth_masses_are_warned_of_once_and_the_advice_helps(device, kernel, name):
    transport = carrying(hills, device, kernel)
    dt = 0.4 / transport.lcfl(1.0)
    limit, advised = {"M'6": ("0.22", "0.2"), "M'4": ("0.13", "0.13")}[kernel]
    words = (
        rf"^dt = [\d.]+ is large: the strain of a sweep along axis \d is 0\.\d+, above {limit} "
        rf"masses over- and undershoot with {kernel}; take dt=(\S+) or run\(lcfl=({advised})\); "
        r"0\.\d+ is the limit$"
    )
    with pytest.warns(pt.LCFLWarning, match=words) as caught:
        ADVANCES[name](transport, dt, 0.4)
    assert [warning.filename for warning in caught] == [__file__]
    smaller, lcfl = re.match(words, str(caught[0].message)).groups()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ADVANCES[name](transport, float(smaller), float(lcfl))


@pytest.mark.sampled
def test_masses_whose_steps_grow_too_large_are_warned_of(device):
    """Though the first steps of the run are not."""
    grid = pt.Grid((32, 32))
    u = field(hills(grid), grid, "float32", device)
    transport = transport_of(u, vortices(grid, lambda t: t))
    with pytest.warns(pt.LCFLWarning, match="over- and undershoot") as caught:
        transport.run(1.0, 0.06)
    assert len(caught) == 1


def cells(grid):
    return pt.Velocity(
        grid,
        lambda x, y: (
            np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
            -np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
        ),
    )


def ones_in_cells(device, sign=1, shape=(64, 64), preset="default", **options):
    grid = pt.Grid(shape)
    u = field(sign * np.ones(grid.shape), grid, "float32", device, name="ones")
    return pt.Splitting.from_preset(preset, cells(grid), u, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("sign", [1, -1])
def test_masses_that_take_the_other_sign_where_a_flow_stands_still_are_warned_of_once(device, sign):
    """By steps within every limit, and though each of several runs is short."""
    transport = ones_in_cells(device, sign)
    minus, adjective = {1: ("-", "negative"), -1: ("", "positive")}[sign]
    look = lambda run: run.fields[0].get()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for until in np.arange(1, 11) / 10:
            transport.run(until, lcfl=0.2, callback=look, every=3)
    (warning,) = caught
    assert warning.category is pt.LCFLWarning
    assert re.match(
        rf"field 'ones' was {sign} and now reaches {minus}[\d.]+, though no flow "
        rf"makes masses {adjective}: .*; take kernel=\"M'8\", ",
        str(warning.message),
    )
    assert warning.filename == __file__
    transport.fields[0].fill(sign)
    with pytest.warns(pt.LCFLWarning, match="though no flow"):
        transport.run(2.0, lcfl=0.2)


def stripe(device, **options):
    grid = pt.Grid((64, 64))
    y = grid.coordinates()[1]
    u = field(1.0 * (abs(y - 0.5) < 0.2) + np.zeros(grid.shape), grid, "float32", device)
    return pt.Splitting.from_preset("default", cells(grid), u, **options)


@pytest.mark.sampled
@pytest.mark.parametrize("way", ["colour", "masses of both signs"])
def test_masses_that_no_flow_gathers_are_warned_of_where_they_grow(device, way):
    """Colours jump, and masses may have both signs: neither is asked for its sign."""
    transport = stripe(device)
    if way != "colour":
        transport.fields[0][...] = lambda x, y: np.cos(2 * np.pi * y)
    match = r"is now from .*, though the flow gathers masses to no more than 1 times as much: .*M'8"
    with pytest.warns(pt.LCFLWarning, match=match) as caught:
        transport.run(1.0, lcfl=0.2)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def gathering(kind, device):
    """Return velocities that gather masses by a factor of about 10, in various ways."""
    grid = pt.Grid(64, boundary="wall" if kind == "wall" else "periodic")
    if kind == "wall":
        return pt.Velocity(grid, lambda x: 0.25 + 0 * x)
    if kind == "in time":
        return pt.Velocity(
            grid, lambda x, t: 2 * np.sin(2 * np.pi * t) ** 2 * np.sin(2 * np.pi * x) / 2.7
        )
    wave = np.sin(2 * np.pi * np.arange(64) / 64) / 2.7
    if kind == "series":
        fields = [field(k * wave, grid, "float32", device) for k in (0, 2)]
        return pt.VelocitySeries(fields, [0, 1])
    return field(wave, grid, "float32", device)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["field", "in time", "series", "wall", "callback"])
def test_masses_may_grow_where_the_flow_gathers_them(device, kind):
    """Also by a velocity that a callback takes back. What goes through a wall is told of anyway."""
    velocity = gathering(kind, device)
    u = field(np.ones(64), velocity.grid, "float32", device)
    transport = pt.Splitting.from_preset("default", velocity, u)
    still = {"callback": lambda run: velocity.fill(0), "at": [1.0]} if kind == "callback" else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        transport.run(1.0, lcfl=0.2, **still)
    assert u.max() > 4
    assert not [one for one in caught if "the flow gathers" in str(one.message)]
    assert kind == "wall" or not caught


@pytest.mark.sampled
@pytest.mark.parametrize("where", ["across the period", "on few points", "at a wall"])
def test_flows_gather_at_ends_too(device, where):
    """A velocity through a wall may be too slow to be warned of."""
    shape = {"across the period": (64,), "on few points": (4,), "at a wall": (64, 16)}[where]
    grid = pt.Grid(shape, boundary=["wall", "periodic"] if where == "at a wall" else "periodic")
    numbers = {
        "across the period": np.where(np.arange(64) < 32, -0.3, 0.3),
        "on few points": -np.sin(2 * np.pi * np.arange(4) / 4),
        "at a wall": np.array([0.001, 1.0])[:, None, None] * np.ones((2, 64, 16)),
    }[where]
    u = field(np.ones(shape), grid, "float32", device)
    velocity = pt.Field(grid, len(shape), device=device)
    velocity[...] = numbers
    transport = pt.Splitting.from_preset("positive", velocity, u)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = {"dt": 0.5} if where == "at a wall" else {"lcfl": 0.2}
        transport.run(20.0 if where == "at a wall" else 0.3, **steps)
    assert u.max() > 2


@pytest.mark.sampled
def test_what_a_callback_writes_has_not_grown(device):
    transport = stripe(device)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(0.1, lcfl=0.2, callback=lambda run: run.fields[0].fill(9), at=[0.05])


ADVISED = {
    "kernel": {"kernel": "M'8"},
    "limiter": {"limiter": "positive"},
    "values": {"conservative": False},
}


@pytest.mark.sampled
@pytest.mark.parametrize("way", ADVISED)
def test_what_that_warning_advises_helps(device, way):
    transport = ones_in_cells(device, **ADVISED[way])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(1.0, lcfl=0.2)
    u = transport.fields[0]
    assert u.min() >= 0
    assert u.max() < 1.5


@pytest.mark.sampled
def test_others_than_the_flow_may_change_the_sign_of_masses(device):
    grid = pt.Grid((64, 64))

    def lower(run):
        u = run.fields[0]
        u -= 1.5

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ones_in_cells(device).run(0.1, lcfl=0.2, callback=lower, every=2)
        transport = ones_in_cells(device)
        transport.run(0.1, lcfl=0.2)
        lower(transport)
        transport.run(0.2, lcfl=0.2)
        u = field(np.ones(grid.shape), grid, "float32", device)
        source = pt.SourceOp(u, lambda u: -20.0 + 0 * u)
        pt.Splitting.from_preset("default", cells(grid), u, source=source).run(0.1, 0.03)
        channel = pt.Grid(32, boundary=[("inflow", "outflow")])
        u = field(np.ones(32), channel, "float32", device)
        wind = pt.Velocity(channel, ["1"])
        pt.Splitting.from_preset("default", wind, u, inflow=-1.0).run(0.7, 0.1)


@pytest.mark.sampled
def test_what_a_callback_writes_is_what_the_next_steps_start_from(device):
    transport = ones_in_cells(device)
    transport.run(0.1, lcfl=0.2, callback=lambda run: run.fields[0].fill(1), every=3)
    with pytest.warns(pt.LCFLWarning, match="though no flow"):
        transport.run(1.1, lcfl=0.2)


@pytest.mark.sampled
def test_memory_that_others_write_starts_anew(device):
    """What they write into shared memory is no result of steps."""
    cl = pytest.importorskip("pyopencl")
    transport = ones_in_cells(device)
    u = transport.fields[0]
    view = u.to_pyopencl()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(0.1, lcfl=0.2)
        low = np.float32(-1)
        cl.enqueue_fill_buffer(device.queue, view.base_data, low, 0, view.base_data.size).wait()
        transport.run(0.2, lcfl=0.2)
    assert u.max() < 0


@pytest.mark.sampled
def test_one_of_several_fields_is_told_of(device):
    """By its name, whatever is done to another one, and not where nobody looks at the end."""
    grid = pt.Grid((64, 64))
    names = "ones", "changed"
    pair = [field(np.ones(grid.shape), grid, "float32", device, name=name) for name in names]
    transport = pt.Splitting.from_preset("default", cells(grid), pair)
    change = lambda run: run.fields[1].fill(-1)
    with pytest.warns(pt.LCFLWarning) as caught:
        transport.run(1.0, lcfl=0.2, callback=change, every=2)
    assert [str(warning.message).split(" was")[0] for warning in caught] == ["field 'ones'"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ones_in_cells(device).run(1.0, lcfl=0.2, check=None)


@pytest.mark.sampled
def test_errors_are_relative_to_what_a_sink_gathers(device):
    grid = pt.Grid(64)
    u = field(np.ones(64), grid, "float32", device)
    sink = pt.Velocity(grid, lambda x: 0.5 * np.sin(2 * np.pi * (x - 0.25 / 64)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.Splitting.from_preset("default", sink, u).run(3.0, lcfl=0.2)
    assert u.min() < -1


QUIET = {
    "a colour": (lambda grid: (hills(grid) > 0.3).astype(float), {}),
    "a colour with soft edges": (lambda grid: np.clip(80 * (hills(grid) - 0.3), 0, 1), {}),
    "nothing": (lambda grid: np.zeros(grid.shape), {}),
    "values": (hills, {"conservative": False}),
}


@pytest.mark.parametrize("name", QUIET)
def test_who_is_not_warned(device, name):
    """A colour over- and undershoots by any step; values are kept by steps of any strain."""
    values, options = QUIET[name]
    transport = carrying(values, device, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(0.3, lcfl=0.5)
        transport.step(0.45 / transport.lcfl(1.0))


@pytest.mark.parametrize("unit", [1e30, 1e20, 1e-25, 1e-38])
def test_a_colour_is_told_from_a_hill_in_any_unit(device, unit):
    """Where squares of float32 are infinite or 0, too; what is told has that unit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        carrying(lambda grid: unit * (hills(grid) > 0.3), device).run(0.3, lcfl=0.4)
    transport = carrying(lambda grid: unit * hills(grid), device)
    greatest = transport.remesh.fields[0].max()
    with pytest.warns(pt.LCFLWarning, match="over- and undershoot"):
        transport.run(0.3, lcfl=0.4)
    assert transport.report().carried[0].begin.greatest == greatest


def test_a_colour_stays_one_on_its_way_back(device):
    """By the same transport, and by another one with the same RemeshOp."""
    transport = carrying(lambda grid: (hills(grid) > 0.3).astype(float), device)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(0.3, lcfl=0.4)
        transport.time = 0
        transport.run(0.3, lcfl=0.4)
        pt.Splitting(transport.advection, transport.remesh).run(0.3, lcfl=0.4)


def test_a_warm_up_with_nothing_makes_no_colour(device):
    transport = carrying(lambda grid: np.zeros(grid.shape), device)
    transport.step(0.01)
    transport.remesh.fields[0][...] = hills(transport.remesh.grid)
    transport.time = 0
    with pytest.warns(pt.LCFLWarning, match="over- and undershoot"):
        transport.run(0.3, lcfl=0.4)


def test_masses_that_nothing_strains_bear_any_step(device):
    grid = pt.Grid((32, 32))
    u = field(hills(grid), grid, "float32", device)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "steps of 3 take points")  # which shear
        transport_of(u, pt.Velocity(grid, ["2.5", "sin(2*M_PI*x)"])).run(3.0, 3.0, lcfl=0.9)


def test_one_smooth_field_among_colours_counts(device):
    grid = pt.Grid((32, 32))
    fields = [
        field(values, grid, "float32", device)
        for values in ([np.ones(grid.shape), hills(grid) > 0.3], hills(grid))
    ]
    transport = transport_of(fields[:1], vortices(grid))
    with pytest.warns(pt.LCFLWarning, match="over- and undershoot"):  # ones will be none
        transport.step(0.4 / transport.lcfl(1.0))
    transport = transport_of(fields, vortices(grid))
    with pytest.warns(pt.LCFLWarning, match="over- and undershoot"):
        transport.step(0.4 / transport.lcfl(1.0))


@pytest.mark.sampled
def test_the_problems_of_this_package_are_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        levelset.run(48, kernel="M'4", progress=False)
        problems.zalesak(64, progress=False)
        problems.vortex_box(64, progress=False)


def gyre(x, y, t):
    """Two vortices whose boundary swings."""
    s = 0.25 * np.sin(np.pi / 5 * t)
    f, slope = s * x * x + (1 - 2 * s) * x, 2 * s * x + 1 - 2 * s
    return (
        -0.1 * np.pi * np.sin(np.pi * f) * np.cos(np.pi * y),
        0.1 * np.pi * np.cos(np.pi * f) * np.sin(np.pi * y) * slope,
    )


@pytest.mark.sampled
def test_recommended_steps_keep_a_tracer_within_its_range(device):
    """A hill of height one in the double gyre keeps to 0 … 1.1, and by larger steps does not."""
    grid = pt.Grid((128, 64), extent=(2, 1), boundary="wall")
    x, y = grid.coordinates()
    greatest = {}
    for lcfl in (0.2, 0.4):
        u = pt.Field(grid, device=device)
        u[...] = np.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / 0.15**2)
        transport = pt.Splitting.from_preset("positive", pt.Velocity(grid, gyre), u)
        seen = []
        transport.run(
            12.0, lcfl=lcfl, callback=lambda run, u=u, seen=seen: seen.append(u.max()), every=1
        )
        report = transport.report()
        assert report.lcfl <= lcfl * (1 + 1e-6)
        assert report.carried[0].end.least >= 0
        assert report.carried[0].change == pytest.approx(0, abs=1e-6)
        greatest[lcfl] = max(seen)
    assert greatest[0.2] <= 1.1
    assert greatest[0.4] > 1.15


# --- the report


def test_a_report_tells_what_numpy_finds(device):
    grid = box(24, 20)
    u = field(noise(grid, 1), grid, "float32", device, "u")
    v = field([noise(grid, 2), noise(grid, 3)], grid, "float32", device)
    velocity = field([0.3 * noise(grid, 4), 0.2 * noise(grid, 5)], grid, "float32", device)
    transport = transport_of([u, v], velocity, time=1.0)
    before = [u.get(), *v.get()]
    dt = 0.1 / transport.lcfl(1.0)
    transport.run(1 + 2.5 * dt, dt)
    report = transport.report()
    assert [row.name for row in report.carried] == ["u", "field 1[0]", "field 1[1]"]
    for row, start, end in zip(report.carried, before, [u.get(), *v.get()], strict=True):
        for extent, values in (row.begin, start), (row.end, end):
            assert extent[:2] == (values.min(), values.max())
            total = math.fsum(values.ravel().tolist())
            assert extent.sum == pytest.approx(total, rel=1e-9)
            assert extent.integral == pytest.approx(total * math.prod(grid.spacing), rel=1e-9)
        assert row.left == 0
        assert row.change == (row.end.sum - row.begin.sum) / row.begin.magnitude
    assert report.time == (1.0, transport.time)
    assert report.steps == 3
    assert report.dt == pytest.approx((dt / 2, dt))
    strains = [
        np.abs(a - np.roll(a, 1, axis)).max() * dt / grid.spacing[axis]
        for axis, a in enumerate(velocity.get())
    ]
    by_joints = strains[transport.joined_schedule[0].axis]
    assert report.lcfl == pytest.approx(max(0.1, by_joints), rel=1e-5)
    moves = np.abs(velocity.get()).max(axis=(1, 2)) * dt / np.array(grid.spacing)
    assert report.cfl == pytest.approx(moves.max(), rel=1e-5)


def test_a_change_is_small_also_where_the_sum_is_nothing(device):
    grid = pt.Grid((32, 32))
    x, _ = grid.coordinates()
    for height in 1, 1e-30:  # of which squares are none
        wave = height * np.sin(2 * np.pi * x)
        u = pt.Field(grid, device=device)
        u[...] = wave
        transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ("1", "0.5"))), pt.RemeshOp(u))
        transport.step(0.1)
        (row,) = transport.report().carried
        assert abs(row.change) < 1e-6
        assert 1 <= row.begin.magnitude / (32 * np.abs(wave).sum()) < 4
    u.fill(0)
    transport.time = 0.0
    transport.step(0.1)
    assert transport.report().carried[0].change is None


def test_what_has_left_is_told_however_outflow_was_set(device):
    grid = pt.Grid(20, boundary=[("inflow", "outflow")])
    u = field(np.linspace(1, 2, 20), grid, "float64", device)
    wind = pt.AdvectionOp(pt.Velocity(grid, ["1"]))
    transport = pt.Splitting(wind, pt.RemeshOp(u, inflow=3.0))
    transport.step(0.25)
    transport.outflow = 100.0
    transport.time = 0.0
    transport.run(0.5, 0.1)
    transport.outflow = 7.0
    (row,) = transport.report().carried
    assert row.left == pytest.approx(row.begin.sum - row.end.sum, abs=1e-12)
    assert row.left != 0
    assert row.change == pytest.approx(0, abs=1e-14)


def test_a_change_of_what_was_empty_is_relative_to_what_there_is_now(device):
    grid = pt.Grid(20, boundary=[("inflow", "outflow")])
    u = pt.Field(grid, dtype="float64", device=device)
    wind = pt.AdvectionOp(pt.Velocity(grid, ["1"]))
    transport = pt.Splitting(wind, pt.RemeshOp(u, inflow=3.0))
    transport.run(0.5, 0.1)
    (row,) = transport.report().carried
    assert row.change == pytest.approx(0, abs=1e-14)
    u *= 2
    (row,) = transport.report().carried
    assert row.change == pytest.approx(0.5)


def test_values_leave_nothing_that_is_counted(device):
    (row,) = carrying(hills, device, conservative=False).report().carried
    assert row.left is None


def test_a_report_begins_with_the_first_step_after_the_time_was_set(device, tmp_path):
    transport = carrying(hills, device)
    (u,) = transport.remesh.fields
    u.fill(3)
    assert transport.report().carried[0].begin == transport.report().carried[0].end
    assert (transport.report().steps, transport.report().dt) == (0, None)
    transport.step(0.01)
    u.fill(5)  # by the user, on the way
    assert transport.report().carried[0][1:3] == (
        (3, 3, 3 * 1024, 3, 3 * 1024),
        (5, 5, 5 * 1024, 5, 5 * 1024),
    )
    pt.io.checkpoint(tmp_path / "kept", transport)
    transport.time = 0
    u.fill(7)
    transport.run(0.02, 0.01)
    report = transport.report()
    assert (report.carried[0].begin.greatest, report.steps, report.time) == (7, 2, (0, 0.02))
    pt.io.restore(tmp_path / "kept", transport)
    assert transport.report().carried[0].begin.greatest == 5
    assert transport.report().steps == 0


def test_a_step_that_is_refused_opens_nothing(device):
    transport = carrying(hills, device)
    with pytest.raises(ValueError, match="dt must be at most"):
        transport.step(10.0)
    transport.remesh.fields[0].fill(2)
    transport.step(0.01)
    assert transport.report().carried[0].begin.greatest == 2


def test_the_first_step_alone_looks_at_the_fields(device):
    transport = carrying(hills, device)
    launches = []
    for _ in range(3):
        with pt.profile(device) as profile:
            transport.step(0.01)
        launches.append("summary" in profile.kernels)
    assert launches == [True, False, False]


def test_a_report_may_be_asked_for_on_the_way(device):
    transport = carrying(hills, device)
    told = []
    transport.run(0.1, 0.02, callback=lambda run: told.append(run.report()), every=2)
    assert [report.steps for report in told] == [2, 4]
    assert told[0].carried[0].begin == told[1].carried[0].begin


def test_joined_sweeps_count_with_their_strain(device):
    """Halves of two steps done as one strain twice as much as each."""
    grid = pt.Grid((32, 32))
    flow = pt.Velocity(grid, ["0.1*sin(2*M_PI*x)/(2*M_PI)", "0.1*sin(2*M_PI*y)/(2*M_PI) + 0*x"])
    transport = transport_of(field(hills(grid), grid, "float32", device), flow)
    transport.step(1.0)
    alone = transport.report().lcfl
    transport.run(4.0, 1.0)
    assert transport.report().lcfl == pytest.approx(alone, rel=0.1)


def test_a_report_of_all_axes_at_once(device):
    velocity = swirl(16, "float32", device, 0.1)
    u = field(noise(velocity.grid, 1), velocity.grid, "float32", device)
    transport = pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    transport.step(0.1)
    report = transport.report()
    assert report.method["splitting"] == "none"
    assert report.lcfl == pytest.approx(transport.lcfl(0.1))
    assert report.cfl == pytest.approx(0.1 * 16 * np.abs(velocity.get()).max(), rel=1e-6)
    assert report.carried[0].change == pytest.approx(0, abs=1e-4)


def test_fields_that_are_not_finite_are_told_of(device):
    transport = carrying(hills, device)
    transport.step(0.01)
    transport.remesh.fields[0].fill(np.nan)
    (row,) = transport.report().carried
    assert all(map(math.isnan, row.end))
    assert "nan" in str(transport.report())


def test_a_report_is_a_text_a_table_and_what_json_holds(device):
    transport = carrying(hills, device, limiter="positive")
    transport.run(0.1, lcfl=0.2)
    report = transport.report()
    text, html = str(report), report._repr_html_()
    for words in ("Strang", "M'6", "positive", "masses", "32 x 32", "LCFL", "greatest", "change"):
        assert words in text
        assert words.replace("'", "&#x27;") in html
    assert all(len(line) < 100 for line in text.splitlines())
    told = json.loads(json.dumps(report.as_dict()))
    assert told["carried"][0]["end"] == report.carried[0].end._asdict()
    assert told["lcfl"] == report.lcfl
    assert told["method"] == report.method


def test_kinds_of_velocity_in_a_report(device):
    grid = pt.Grid(16)
    still = field(np.ones(16), grid, "float32", device)
    coarse = field(np.ones(8), pt.Grid(8), "float32", device)
    kinds = {
        "on 16 points, linear": pt.AdvectionOp(still),
        "on 8 points, cubic": pt.AdvectionOp(coarse, interpolation="cubic", grid=grid),
        "at 2 times, on 16 points, linear": pt.AdvectionOp(
            pt.VelocitySeries([still, pt.Field(grid, device=device)], [0.0, 1.0])
        ),
        "a formula": pt.AdvectionOp(pt.Velocity(grid, "1")),
    }
    for words, advection in kinds.items():
        remesh = pt.RemeshOp(pt.Field(grid, device=device))
        assert pt.Splitting(advection, remesh).report().method["velocity"] == words


def test_the_progress_bar_tells_extrema(device, capsys):
    transport = carrying(hills, device)
    transport.run(0.1, 0.01, progress=True)
    assert re.search(r"u [\d.e-]+ to \d", capsys.readouterr().err)


def test_extents_of_one_point_and_of_huge_numbers(device):
    for values in ([2.0], [3e38, -3e38], [1e-45, 0.0]):
        u = field(np.array(values), pt.Grid(len(values)), "float32", device)
        extent, _ = report.look_at(u)
        assert extent[:2] == (u.min(), u.max())
