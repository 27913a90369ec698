# SPDX-License-Identifier: BSD-3-Clause
"""Steps made of sweeps: their schedule, times and orders, and what they cost."""

import gc
import importlib
import warnings
from types import SimpleNamespace

import numpy as np
import particles as pt
import pytest
from particles._core import testing
from particles.stepping.splitting import LCFLWarning, Stage

from tests.reference import reference
from tests.support.problems import SWIRL, relative_l1
from tests.support.sweeps import FLOWS, box, components, field, formula_gradient, noise, wave
from tests.support.transports import followed, strained, swirl, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

STRAINS = [
    (1.0,),
    (1.0, 2.0),
    (2.0, 1.0),
    (1.0, 1.0),
    (1.0, 1.005),
    (1.0, 1.02),
    (1.0, 2.0, 3.0),
    (2.0, 1.0, 3.0),
    (3.0, 2.0, 1.0),
    (1.0, 1.0, 2.0),
    (1.0, 3.0, 1.0),
    (0.0, 0.0, 0.0),
]


@pytest.mark.parametrize("strains", STRAINS, ids=str)
@pytest.mark.parametrize("order", [1, 2])
def test_schedule_gives_the_full_sweep_to_the_least_strained_axis(device, dtype, order, strains):
    grid = box(8, 6, 4) if len(strains) == 3 else box(*(8, 6)[: len(strains)])
    velocity = strained(strains, grid, dtype, device)
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity, order)
    assert transport.schedule == tuple(reference.schedule(strains, order))
    assert all(isinstance(stage, Stage) for stage in transport.schedule)


def test_schedule_follows_a_velocity_that_is_rewritten(device, dtype):
    grid = box(8, 6, 4)
    velocity = strained((1.0, 2.0, 3.0), grid, dtype, device)
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity)
    for strains in ((1.0, 2.0, 3.0), (2.0, 3.0, 1.0), (3.0, 1.0, 2.0)):
        strained(strains, grid, dtype, device, velocity)
        assert transport.schedule == tuple(reference.schedule(strains, 2))
        strained(strains[::-1], grid, dtype, device, velocity)
        transport.step(0.01)
        assert transport.schedule == tuple(reference.schedule(strains[::-1], 2))


@pytest.mark.parametrize("order", [1, 2])
def test_steps_are_those_of_the_reference(device, dtype, order):
    grid = box(17, 24, 9)
    velocity = field([0.2 * wave(grid, axis) for axis in range(3)], grid, dtype, device)
    u = field(noise(grid, 9), grid, dtype, device)
    (start,), a = components(u), components(velocity)
    transport = transport_of(u, velocity, order)
    stages = [(axis, 0.0, length * 0.1) for axis, _, length in transport.schedule] * 3
    for _ in range(3):
        transport.step(0.1)
    expected, limit = followed(start, a, stages, grid, dtype)
    assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.sampled
@pytest.mark.parametrize("order", [1, 2])
def test_sweeps_see_a_formula_at_their_own_time(device, dtype, order):
    """Every sweep evaluates the formula in the middle of its share of the step.

    The full one goes to the axis that is strained least in the middle of the step.
    """
    grid = box(24, 35)

    def flow(x, y, t):
        return [0.2 * a for a in FLOWS[2](x, y, 3 * t)]

    def schedule_at(time):
        return reference.schedule([reference.strain(flow, k, grid, time) for k in (0, 1)], order)

    u = field(wave(grid, 9), grid, dtype, device)
    (start,) = components(u)
    transport = transport_of(u, pt.Velocity(grid, flow), order, time=0.7)
    transport.run(0.95, 0.1, callback=lambda _: None, every=1)  # so that no step is joined
    stages = [
        (axis, step_begin + begin * dt, length * dt)
        for step_begin, dt in ((0.7, 0.1), (0.8, 0.1), (0.9, 0.05))
        for axis, begin, length in schedule_at(step_begin + dt / 2)
    ]
    expected, limit = followed(start, flow, stages, grid, dtype, formula_gradient(grid, 3.0))
    assert np.abs(components(u)[0] - expected).max() <= limit
    assert transport.time == 0.95


@pytest.mark.sampled
@pytest.mark.parametrize(("splitting", "least", "most"), [(1, 0.85, 1.1), (2, 1.85, 2.2)])
def test_order_in_time(device, splitting, least, most):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    velocity = swirl(96, "float64", device)
    x = velocity.grid.coordinates()
    exact = SWIRL.exact(x, 0.5)
    counts = np.array([4, 8, 16])
    errors = []
    for steps in counts:
        u = field(SWIRL.initial(*x), velocity.grid, "float64", device)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, "L8_4"), splitting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LCFLWarning)
            transport.run(0.5, 0.5 / steps)
        errors.append(relative_l1(components(u)[0], exact))
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert least <= slope <= most, errors


@pytest.mark.parametrize(
    ("until", "dt", "sweeps"),
    [(1.0, 0.25, 9), (1.0, 0.3, 10), (0.9, 0.3, 7), (0.2, 0.3, 3), (0.3, 0.1, 7), (0.0, 0.1, 0)],
)
def test_a_run_ends_when_it_should(device, until, dt, sweeps):
    """By whole steps, joined, which rounding does not add to, and a shorter one if need be."""
    velocity = swirl(16, "float32", device, 0.1)
    transport = transport_of(
        field(noise(velocity.grid, 0), velocity.grid, "float32", device), velocity
    )
    with pt.profile(device) as profile:
        transport.run(until, dt)
    assert transport.time == until
    assert sum(time.launches for name, time in profile.kernels.items() if name == "sweep") == sweeps
    transport.run(until, dt)
    assert transport.time == until


def test_the_last_step_is_as_short_as_it_must_be(device, dtype):
    velocity = swirl(16, dtype, device, 0.1)
    u = field(noise(velocity.grid, 0), velocity.grid, dtype, device)
    copy = u.copy()
    transport_of(u, velocity).run(0.75, 0.5)
    transport = transport_of(copy, velocity)
    transport.step(0.5)
    transport.step(0.25)
    assert transport.time == 0.75
    np.testing.assert_array_equal(copy.get(), u.get())


def test_time_is_kept(device):
    velocity = swirl(16, "float32", device, 0.1)
    u = pt.Field(velocity.grid, device=device)
    transport = transport_of(u, velocity, time=-2)
    transport.step(0.5)
    assert transport.time == -1.5
    transport.run(3, 0.5)
    assert transport.time == 3.0
    transport.sweep(0, 0.5)
    assert transport.time == 3.0


def test_a_single_sweep(device, dtype):
    velocity = swirl(24, dtype, device)
    u = field(noise(velocity.grid, 0), velocity.grid, dtype, device)
    copy = u.copy()
    transport = transport_of(u, velocity)
    for stage in transport.schedule:
        transport.sweep(stage.axis, 0.1 * stage.length)
    transport_of(copy, velocity).step(0.1)
    np.testing.assert_array_equal(u.get(), copy.get())


def test_progress_is_shown_when_asked(device, capsys):
    importlib.import_module("ipykernel")  # what is imported is not what is running
    velocity = swirl(16, "float32", device, 0.1)
    transport = transport_of(pt.Field(velocity.grid, device=device), velocity)
    transport.run(1.0, 0.1, progress=True)
    assert "10/10" in capsys.readouterr().err
    transport.run(2.0, 0.1, progress=False)
    transport.run(3.0, 0.1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("shell", "shown"), [("kernel", True), ("console", False), ("none", False)]
)
def test_a_bar_belongs_to_a_running_kernel(shell, shown, device, capsys, monkeypatch):
    shells = {
        "kernel": SimpleNamespace(kernel=object()),
        "console": SimpleNamespace(),
        "none": None,
    }
    ipython = importlib.import_module("IPython")
    monkeypatch.setattr(ipython, "get_ipython", lambda: shells[shell])
    velocity = swirl(16, "float32", device, 0.1)
    transport_of(pt.Field(velocity.grid, device=device), velocity).run(1.0, 0.1)
    assert any(capsys.readouterr()) == shown


def test_a_second_construction_compiles_nothing(device, dtype):
    velocity = swirl(24, dtype, device)
    u = pt.Field(velocity.grid, 1, dtype, device)
    transport_of(u, velocity).step(0.1)
    pt.RemeshOp(u).apply(pt.AdvectionOp(velocity).apply(0.1, 0))
    built = testing.programs_compiled(device.core), testing.programs_loaded(device.core)
    other = swirl(31, dtype, device)
    v = pt.Field(other.grid, 1, dtype, device)
    transport_of(v, other).step(0.1)
    pt.RemeshOp(v).apply(pt.AdvectionOp(other).apply(0.1, 0))
    assert (testing.programs_compiled(device.core), testing.programs_loaded(device.core)) == built


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["lanes", "private", "local"])
@pytest.mark.parametrize("shape", [(33, 16), (6000, 3)], ids=str)
def test_steps_compile_and_allocate_nothing(device, form, shape):
    grid = box(*shape)
    velocity = field([0.1 * wave(grid, 0), 0.1 * wave(grid, 1)], grid, "float32", device)
    u = field(wave(grid, 2), grid, "float32", device)
    advection = pt.AdvectionOp(velocity, form=form)
    transport = pt.Splitting(advection, pt.RemeshOp(u, form=form))
    core = device.core

    def state():
        programs = testing.programs_compiled(core), testing.programs_loaded(core)
        return programs, testing.buffers_held(core), core.bytes_held

    velocity.fill(0.1)  # which compiles once
    gc.collect()  # what other tests have left
    before = state()
    transport.step(0.001)
    assert state() == before
    velocity.fill(0.01)
    transport.run(0.01, 0.001)
    assert state() == before


def test_steps_do_not_leave_the_device(device, dtype):
    velocity = swirl(24, dtype, device)
    u = field(noise(velocity.grid, 0), velocity.grid, dtype, device)
    moved = u.core.bytes_moved, velocity.core.bytes_moved
    transport_of(u, velocity).run(1.0, 0.1)
    assert (u.core.bytes_moved, velocity.core.bytes_moved) == moved


def test_a_profile_knows_the_sweeps(device):
    velocity = swirl(24, "float32", device)
    transport = transport_of(pt.Field(velocity.grid, device=device), velocity)
    transport.step(0.1)
    before = transport.sweeps
    with pt.profile(device) as profile:
        transport.run(1.1, 0.1)
    assert transport.sweeps - before == 30
    (swept,) = (time for name, time in profile.kernels.items() if name.startswith("sweep"))
    particles = 30 * 24 * 24
    assert swept.bytes == 3 * 4 * particles
    assert swept.seconds > 0


def test_repr_shows_the_schedule(device):
    velocity = swirl(16, "float32", device)
    u = pt.Field(velocity.grid, device=device)
    transport = transport_of(u, velocity)
    assert repr(transport) == (
        f"Splitting(Strang, sweeps 0[0,0.5] 1[0,1] 0[0.5,1]{forms_of(transport, device)}, time=0,\n"
        f"  {transport.advection!r},\n  {transport.remesh!r})"
    )
    assert repr(transport_of(u, velocity, 1)).startswith("Splitting(Lie, sweeps 0[0,1] 1[0,1], ")


def forms_of(transport, device):
    """Return what is told of forms, but on CPUs, where they go without saying."""
    along = [" and ".join(names) for names in transport._core.forms]
    return "" if device.is_cpu else f", forms {', '.join(along)}"


def test_a_formula_in_time_moves_long_lines_otherwise_each_time(device):
    """Though each push lasts as long, displacements are made anew: by 5 cells, then by 15."""
    grid = pt.Grid(8192)
    u = field(noise(grid, 0), grid, "float32", device)
    start = u.get()
    velocity = pt.Velocity(grid, lambda x, t: 10 / 8192 * t)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    for shift in (5, 20):
        transport.step(1.0)
        np.testing.assert_array_equal(u.get(), np.roll(start, shift))
