# SPDX-License-Identifier: BSD-3-Clause
"""Steps made of sweeps: their schedule, times, limits and orders."""

import warnings

import numpy as np
import particles as pt
import pytest
import reference
from particles.splitting import LCFLWarning, Stage
from problems import SWIRL, relative_l1, swirl_velocity
from sweeps import FLOWS, box, components, field, noise, wave


def transport_of(u, velocity, order=2, **options):
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), order, **options)


def epsilon(dtype):
    return float(np.finfo(dtype).eps)


def strained(strains, grid, dtype, device, velocity=None):
    """A velocity whose components strain their own axes that much."""
    if velocity is None:
        velocity = pt.Field(grid, grid.ndim, dtype, device)
    for axis, strain in enumerate(strains):
        across = [1] * grid.ndim
        across[axis] = -1
        saw = (np.arange(grid.shape[axis]) % 2) * strain * grid.spacing[axis]
        velocity.component(axis)[...] = np.broadcast_to(saw.reshape(across), grid.shape)
    return velocity


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
    transport_of(u, velocity, order).run(0.3, 0.1)
    expected = reference.run(start, a, 0.1, 3, grid, "M'6", order)
    assert np.abs(components(u)[0] - expected).max() <= 200 * epsilon(dtype)


@pytest.mark.parametrize("order", [1, 2])
def test_sweeps_see_a_formula_at_their_own_time(device, dtype, order):
    """Every sweep evaluates the formula in the middle of its share of the step."""
    grid = box(24, 35)

    def flow(x, y, t):
        return [0.2 * a for a in FLOWS[2](x, y, 3 * t)]

    u = field(wave(grid, 9), grid, dtype, device)
    (start,) = components(u)
    transport = transport_of(u, pt.Velocity(grid, flow), order, time=0.7)
    transport.run(1.0, 0.1)
    expected = start
    for step in range(3):
        for axis, begin, length in transport.schedule:
            time = 0.7 + 0.1 * (step + begin)
            expected = reference.sweep(expected, flow, axis, 0.1 * length, grid, "M'6", time)
    assert np.abs(components(u)[0] - expected).max() <= 3000 * epsilon(dtype)
    assert transport.time == 1.0


def swirl(n, dtype, device, scale=1.0):
    grid = pt.Grid((n, n))
    a = [scale * component for component in swirl_velocity(*grid.coordinates())]
    return field(a, grid, dtype, device)


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
    [(1.0, 0.25, 12), (1.0, 0.3, 12), (0.9, 0.3, 9), (0.2, 0.3, 3), (0.3, 0.1, 9), (0.0, 0.1, 0)],
)
def test_a_run_ends_when_it_should(device, until, dt, sweeps):
    """By whole steps, which rounding does not add to, and a shorter one if need be."""
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


def test_lcfl_is_that_of_numpy(device, dtype):
    for velocity in (
        swirl(24, dtype, device),
        strained((1.0, 3.0, 2.0), box(8, 6, 4), dtype, device),
    ):
        grid = velocity.grid
        for splitting in (1, 2):
            transport = transport_of(pt.Field(grid, 1, dtype, device), velocity, splitting)
            exact = reference.lcfl(components(velocity), 0.1, grid, splitting)
            assert transport.lcfl(0.1) == pytest.approx(exact, rel=4 * epsilon(dtype))


def test_lcfl_of_a_formula_in_time_is_the_greater_of_both_ends(device, dtype):
    grid = box(33)
    velocity = pt.Velocity(grid, lambda x, t: ((1 + t) * np.sin(np.pi * x),))
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity, time=1.0)
    exact = 0.1 * reference.strain(lambda x, t: ((1 + t) * np.sin(np.pi * x),), 0, grid, 1.1)
    assert transport.lcfl(0.1) == pytest.approx(exact, rel=300 * epsilon(dtype))


@pytest.fixture
def at_the_limit(device, dtype):
    """A transport whose sweep along axis 1 is strained by dt, that along axis 0 by dt / 4."""
    grid = box(8, 6)
    velocity = strained((0.5, 1.0), grid, dtype, device)
    u = field(noise(grid, 0), grid, dtype, device)
    transport = transport_of(u, velocity, order=1)
    return transport, velocity, u


def test_no_warning_up_to_one_half(at_the_limit):
    transport, _, _ = at_the_limit
    transport.step(0.499)
    transport.run(2.4, 0.499)


@pytest.mark.parametrize("advance", ["step", "run", "sweep"])
def test_one_warning_above_one_half(at_the_limit, advance):
    transport, _, u = at_the_limit
    before = u.get()
    call = {
        "step": lambda: transport.step(0.6),
        "run": lambda: transport.run(6.0, 0.6),
        "sweep": lambda: transport.sweep(1, 0.6),
    }[advance]
    words = (
        r"^dt = 0\.6 is large: the strain of a sweep along axis 1 is 0\.6, above 0\.5 accuracy is "
        r"lost; 0\.5 would keep it, 0\.9 is the limit$"
    )
    with pytest.warns(LCFLWarning, match=words) as warned:
        call()
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert (u.get() != before).any()


@pytest.mark.parametrize("advance", ["step", "run", "sweep"])
def test_refusal_above_nine_tenths_changes_nothing(at_the_limit, advance):
    transport, _, u = at_the_limit
    before = u.get()
    call = {
        "step": lambda: transport.step(1.1),
        "run": lambda: transport.run(11.0, 1.1),
        "sweep": lambda: transport.sweep(1, 1.1),
    }[advance]
    words = (
        r"^dt must be at most 0\.9, not 1\.1: the strain of a sweep along axis 1 is 1\.1, above 0\.9 "
        r"particles lose their order$"
    )
    with pytest.raises(ValueError, match=words):
        call()
    assert transport.time == 0
    np.testing.assert_array_equal(u.get(), before)


def test_the_largest_dt_that_is_named_is_allowed(at_the_limit):
    transport, _, _ = at_the_limit
    with pytest.warns(LCFLWarning):
        transport.step(0.9)


def test_half_sweeps_bear_twice_the_step(device, dtype):
    grid = box(8, 6)
    velocity = strained((1.0, 0.4), grid, dtype, device)
    transport = transport_of(pt.Field(grid, 1, dtype, device), velocity)
    assert transport.schedule[1].axis == 1
    assert transport.lcfl(1.0) == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(ValueError, match=r"^dt must be at most 1\.8, not 2: .* axis 0 is 1, above"):
        transport.step(2)


def test_limits_follow_a_velocity_that_is_rewritten(at_the_limit):
    transport, velocity, _ = at_the_limit
    transport.step(0.4)
    strained((6.0, 1.0), velocity.grid, velocity.dtype, velocity.device, velocity)
    with pytest.raises(
        ValueError, match=r"^dt must be at most 0\.15, not 0\.4: .* axis 0 is 2\.4,"
    ):
        transport.step(0.4)
    velocity.fill(3.0)
    transport.step(0.4)
    assert transport.lcfl(0.4) == 0


def test_limits_of_a_formula_are_watched_during_a_run(device):
    """A run stops before the first step that is too large."""
    grid = box(16)
    velocity = pt.Velocity(grid, lambda x, t: (np.sin(np.pi * x) * t / np.pi,))
    u = field(noise(grid, 0), grid, "float32", device)
    transport = transport_of(u, velocity)
    with pytest.warns(LCFLWarning), pytest.raises(ValueError, match="dt must be at most 0"):
        transport.run(3.0, 0.5)
    assert transport.time == 1.5


def test_the_last_short_step_is_watched_too(device):
    """Its formula may have grown since the step before."""
    grid = box(16)
    velocity = pt.Velocity(
        grid, lambda x, t: (np.where(t > 1.1, 10, 0.1) * np.sin(np.pi * x) / np.pi,)
    )
    u = field(noise(grid, 0), grid, "float32", device)
    transport = transport_of(u, velocity)
    with pytest.raises(ValueError, match=r"^dt must be at most 0\.0\d+, not 0\.2: "):
        transport.run(1.2, 0.5)
    assert transport.time == 1.0


def test_progress_is_shown_when_asked(device, capsys):
    velocity = swirl(16, "float32", device, 0.1)
    transport = transport_of(pt.Field(velocity.grid, device=device), velocity)
    transport.run(1.0, 0.1, progress=True)
    assert "10/10" in capsys.readouterr().err
    transport.run(2.0, 0.1, progress=False)
    transport.run(3.0, 0.1)
    assert capsys.readouterr().err == ""


def test_a_second_construction_compiles_nothing(device, dtype):
    velocity = swirl(24, dtype, device)
    u = pt.Field(velocity.grid, 1, dtype, device)
    transport_of(u, velocity).step(0.1)
    pt.RemeshOp(u).apply(pt.AdvectionOp(velocity).apply(0.1, 0))
    built = device.core.programs_compiled, device.core.programs_loaded
    other = swirl(31, dtype, device)
    v = pt.Field(other.grid, 1, dtype, device)
    transport_of(v, other).step(0.1)
    pt.RemeshOp(v).apply(pt.AdvectionOp(other).apply(0.1, 0))
    assert (device.core.programs_compiled, device.core.programs_loaded) == built


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
        return core.programs_compiled, core.programs_loaded, core.buffers_held, core.bytes_held

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
    with pt.profile(device) as profile:
        transport.run(1.1, 0.1)
    assert profile.kernels["sweep"].launches == 30
    particles = 30 * 24 * 24
    assert profile.kernels["sweep"].bytes == 3 * 4 * particles
    assert profile.kernels["sweep"].seconds > 0


def test_repr_shows_the_schedule(device):
    velocity = swirl(16, "float32", device)
    u = pt.Field(velocity.grid, device=device)
    transport = transport_of(u, velocity)
    assert repr(transport) == (
        "Splitting(Strang, sweeps 0[0,0.5] 1[0,1] 0[0.5,1], time=0,\n"
        f"  {transport.advection!r},\n  {transport.remesh!r})"
    )
    assert repr(transport_of(u, velocity, 1)).startswith("Splitting(Lie, sweeps 0[0,1] 1[0,1], ")
