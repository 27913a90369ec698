# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion as a part of a step: order in time, balance, bits, what is kept."""

import numpy as np
import particles as pt
import pytest

from tests.reference.reference_stepping import observed_order, rk4
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import components, field, noise
from tests.support.transports import swirl

pytestmark = pytest.mark.one_device

N, VISCOSITY, DURATION = 48, 0.02, 0.5


def swirl_formula(x, y):
    return np.sin(2 * np.pi * y), np.sin(2 * np.pi * x)


def carried_and_diffused(u, grid, duration, steps=400):
    """Fourier's derivatives of the fluxes, the three-point second difference, small steps."""
    k = 2 * np.pi * np.fft.fftfreq(N, 1 / N)
    fading = sum(np.meshgrid(*[-4 * VISCOSITY * N**2 * np.sin(k / 2 / N) ** 2] * 2, indexing="ij"))
    waves = np.meshgrid(k, k, indexing="ij")
    velocity = swirl_formula(*grid.coordinates())

    def rate(v, _):
        spectrum = fading * np.fft.fft2(v)
        for wave, a in zip(waves, velocity, strict=True):
            spectrum -= 1j * wave * np.fft.fft2(a * v)
        return np.fft.ifft2(spectrum).real

    for _ in range(steps):
        u = rk4(u, rate, 0.0, duration / steps)
    return u


@pytest.mark.sampled
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("conservative", [True, False])
def test_order_in_time(device, order, conservative):
    """The swirl has no divergence, so masses and values are the same; both parts matter."""
    grid = pt.Grid((N, N))
    x, y = grid.coordinates()
    start = 1 + 0.5 * np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y)
    expected = carried_and_diffused(start, grid, DURATION)
    counts, errors = [4, 8, 16], []
    for count in counts:
        u = field(start, grid, "float64", device)
        transport = pt.Splitting(
            pt.AdvectionOp(pt.Velocity(grid, swirl_formula), "rk4"),
            pt.RemeshOp(u, "L8_4", conservative=conservative),
            order,
            diffusion=pt.Diffusion(u, VISCOSITY),
        )
        for _ in range(count):
            transport.step(DURATION / count)
        errors.append(np.abs(u.get() - expected).max())
    assert observed_order(counts, errors) > order - 0.2


def brusselator(u, v):
    return 1 + u * u * v - 4 * u, 3 * u - u * u * v


def reacted(device, steps, dtype="float64", **options):
    """Reaction and diffusion, nothing moves."""
    grid = pt.Grid((16, 20), boundary=["wall", "periodic"])
    u = field([1 + 0.2 * noise(grid, 1), 3 + 0.2 * noise(grid, 2)], grid, dtype, device)
    transport = pt.Splitting(
        source=pt.SourceOp(u, lambda u, v, x, y: brusselator(u, v)),
        diffusion=pt.Diffusion(u, [1e-2, 2e-2]),
        **options,
    )
    transport.run(until=0.5, dt=0.5 / steps)
    return np.stack(components(u))


def test_reaction_and_diffusion_without_a_velocity(device):
    exact = reacted(device, 256)
    counts = [8, 16, 32]
    errors = [np.abs(reacted(device, count) - exact).max() for count in counts]
    assert observed_order(counts, errors) > 1.8
    assert observed_order(
        counts, [np.abs(reacted(device, count, order=1) - exact).max() for count in counts]
    ) == pytest.approx(1, abs=0.2)


def channel(device, dtype="float32", order=2, diffusions=1):
    """What comes in varies, what goes out is free; walls on the other axis."""
    grid = pt.Grid((20, 16), boundary=[("inflow", "outflow"), "wall"])
    u, v = (field(1 + noise(grid, k), grid, dtype, device) for k in (1, 2))
    wind = pt.Velocity(grid, lambda x, y: (0.3 + 0.1 * y, 0.1 * np.sin(np.pi * y)))
    both = [pt.Diffusion(v, 0.02), pt.Diffusion(u, 0.01)]
    transport = pt.Splitting(
        pt.AdvectionOp(wind),
        pt.RemeshOp([u, v], inflow=[lambda t: 1 + t, 2.0]),
        order,
        diffusion=both[:diffusions],
    )
    return transport, u, v


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float32", "float64"], indirect=True)
def test_what_is_inside_and_what_has_left_add_up(device, dtype):
    transport, u, v = channel(device, dtype, diffusions=2)
    before = np.array([u.sum(), v.sum()])
    transport.run(until=1.0, dt=0.1)
    left = transport.outflow
    assert (left[:, 1] == 0).all()  # walls
    after = np.array([u.sum(), v.sum()])
    rounded = 40 * np.finfo(dtype).eps
    np.testing.assert_allclose(after + left.sum(axis=(1, 2)), before, rtol=rounded)


@pytest.mark.parametrize("steps", [1, 2])
def test_what_diffuses_in_is_counted_without_the_padding_of_rows(device, steps):
    """Steps so large that a line is refilled, along rows that are no whole vectors."""
    grid = pt.Grid((3, 100), extent=(3.0, 100.0), boundary=["wall", ("inflow", "wall")])
    u = field(1 + noise(grid, 1), grid, "float64", device)
    before = u.sum()
    transport = pt.Splitting(
        None, pt.RemeshOp(u, inflow=3.0), diffusion=pt.Diffusion(u, 200.0), order=1
    )
    transport.run(until=float(steps), dt=1.0)
    assert u.sum() > before + 10
    np.testing.assert_allclose(-transport.outflow.sum(), u.sum() - before, rtol=1e-12)


def test_a_field_spreads_once(device):
    u, v = (pt.Field(pt.Grid(8), device=device) for _ in range(2))
    for diffusion in [pt.Diffusion(u, 0.1)] * 2, [pt.Diffusion(u, 0.1), pt.Diffusion([v, u], 0.1)]:
        with pytest.raises(ValueError, match=r"^diffusion must spread each field once, but Field"):
            pt.Splitting(diffusion=diffusion)


def test_diffusion_alone_counts_what_comes_in(device):
    grid = pt.Grid((20, 16), boundary=[("inflow", "outflow"), "wall"])
    u = field(np.zeros(grid.shape), grid, "float64", device)
    transport = pt.Splitting(
        None, pt.RemeshOp(u, inflow=1.0), diffusion=pt.Diffusion(u, 0.01), order=1
    )
    transport.run(until=2.0, dt=0.5)
    assert u.sum() > 1
    assert u[0].min() > u[-1].max()
    np.testing.assert_allclose(transport.outflow, [[[-u.sum(), 0], [0, 0]]], rtol=1e-12, atol=1e-12)
    transport.run(until=1e4, dt=1e3)
    np.testing.assert_allclose(u, 1, atol=1e-9)


def test_all_axes_are_swept_in_halves_around_the_diffusion(device):
    transport, _, _ = channel(device)
    stages = [(stage.axis, stage.begin, stage.length) for stage in transport.schedule]
    outer, inner = stages[0][0], stages[1][0]
    assert {outer, inner} == {0, 1}
    assert stages == [
        (outer, 0, 0.5),
        (inner, 0, 0.5),
        ("diffusion", 0, 1),
        (inner, 0.5, 0.5),
        (outer, 0.5, 0.5),
    ]


def test_how_a_run_is_cut_changes_no_bit(device):
    """A joint is as long as a whole sweep; calls cut it."""
    results = []
    for every in (None, 2):
        velocity = swirl(24, "float32", device, scale=0.2)
        u = field(noise(velocity.grid, 1), velocity.grid, "float32", device)
        transport = pt.Splitting(
            pt.AdvectionOp(velocity), pt.RemeshOp(u), diffusion=pt.Diffusion(u, 1e-3)
        )
        assert transport.joined_schedule[0].axis == transport.joined_schedule[-1].axis
        if every is None:
            for begin in (0, 2, 4):
                transport.run(until=(begin + 2) * 0.1, dt=0.1)
        else:
            transport.run(until=0.6, dt=0.1, callback=lambda _: None, every=every)
        results.append(u.get())
    np.testing.assert_array_equal(*results)


def test_parts_of_a_step_of_ones_own(device):
    """Done one by one they are a step, bit by bit."""
    velocity = swirl(24, "float32", device, scale=0.2)
    results = []
    for is_step in (True, False):
        u = field(noise(velocity.grid, 1), velocity.grid, "float32", device)
        transport = pt.Splitting(
            pt.AdvectionOp(velocity), pt.RemeshOp(u), diffusion=pt.Diffusion(u, 1e-3)
        )
        if is_step:
            transport.step(0.1)
        else:
            for stage in transport.schedule:
                transport.sweep(stage.axis, 0.1 * stage.length)
        results.append(u.get())
    np.testing.assert_array_equal(*results)


@pytest.mark.sampled
def test_a_viscosity_may_change_between_two_steps(device):
    transport, u, _ = channel(device)
    other, w, _ = channel(device)
    for stepped in (transport, other):
        stepped.step(0.1)
    transport.diffusion[0].viscosity = 0.5
    for stepped in (transport, other):
        stepped.step(0.1)
    found = [stepped.remesh.fields[1].get() for stepped in (transport, other)]
    assert np.ptp(found[0]) < np.ptp(found[1])
    np.testing.assert_array_equal(u.get(), w.get())  # the other field


def test_a_checkpoint_keeps_the_viscosity(device, tmp_path):
    transport, u, _ = channel(device, diffusions=2)
    transport.run(until=0.2, dt=0.1)
    transport.diffusion[1].viscosity = 0.1
    pt.io.checkpoint(tmp_path / "c", transport)
    continued, w, _ = channel(device, diffusions=2)
    pt.io.restore(tmp_path / "c", continued)
    for stepped in (transport, continued):
        stepped.run(until=0.5, dt=0.1)
    assert continued.diffusion[1].viscosity == 0.1
    np.testing.assert_array_equal(w.get(), u.get())
    lacking, *_ = channel(device)
    with pytest.raises(ValueError, match=r"whose diffusion is \[\[1\], \[0\]\], not"):
        pt.io.restore(tmp_path / "c", lacking)


def test_memory_is_known_beforehand(device):
    """On GPUs rounds go to and fro between the field and a scratch of one component."""
    place = as_gpu(device)
    before = place.core.bytes_held
    u = pt.Field(pt.Grid((64, 64)), 3, device=place)
    transport = pt.Splitting(diffusion=pt.Diffusion(u, 0.1))
    transport.run(until=0.1, dt=0.1)
    assert "field scratch of diffusion" in transport.memory()
    assert place.core.bytes_held - before == transport.memory().total
