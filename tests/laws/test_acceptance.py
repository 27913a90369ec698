# SPDX-License-Identifier: BSD-3-Clause
"""The figures that the method must reach, measured on every device."""

import numpy as np
import particles as pt
import pytest
from particles.operators.positions import Positions

from tests.reference.reference import half_width, kernel_value
from tests.support.carried import (
    FLOAT32_MASS,
    Flow,
    change_of_volume,
    check_mass,
    exact_swirl,
    level_set_error,
)
from tests.support.kernel_tables import PIECES
from tests.support.problems import (
    LEVEL_SET,
    SWIRL,
    TURNS,
    UNEVEN,
    ZALESAK,
    order,
    relative_l1,
    volume,
)

pytestmark = pytest.mark.one_device


@pytest.mark.drawn(3)
@pytest.mark.any_form
@pytest.mark.parametrize(("kernel", "least"), [("M'4", 1.8), ("M'6", 3.7), ("L4_4", 3.7)])
def test_order_in_one_dimension(device, dtype, kernel, least):
    errors = []
    for n in (128, 256):
        flow = Flow(UNEVEN, n, device, dtype, kernel)
        u = flow.run(UNEVEN.duration, int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8)))
        errors.append(relative_l1(u, flow.start))
    assert order(errors) >= least


@pytest.mark.any_form
@pytest.mark.parametrize(("kernel", "least"), [("L6_4", 5.6), ("L8_4", 7.4), ("M'8", 4.6)])
def test_order_of_remeshing_at_exact_positions(device, kernel, least):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (128, 256):
        grid = pt.Grid(n)
        (x,) = grid.coordinates()
        steps = int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8))
        moved = pt.Field(grid, dtype="float64", device=device)
        moved[...] = (UNEVEN.departure((x,), -UNEVEN.duration / steps, 4)[0] - x) * n
        u = pt.Field(grid, dtype="float64", device=device)
        u[...] = UNEVEN.initial(x)
        remesh = pt.RemeshOp(u, kernel)
        for _ in range(steps):
            remesh.apply(Positions(moved, axis=0))
        errors.append(relative_l1(np.asarray(u), UNEVEN.initial(x)))
    assert order(errors) >= least


@pytest.mark.any_form
@pytest.mark.parametrize("name", PIECES)
def test_single_precision_weights(device, name):
    """A particle of strength one leaves its weights on the nodes."""
    apart = 2 * half_width(name) + 1
    offsets = np.linspace(0, 1, 256, endpoint=False)
    grid = pt.Grid(apart * len(offsets))
    u, moved = pt.Field(grid, device=device), pt.Field(grid, device=device)
    particles = np.arange(len(offsets)) * apart + half_width(name)
    strengths, moves = np.zeros(grid.shape), np.zeros(grid.shape)
    strengths[particles], moves[particles] = 1, offsets
    u[...], moved[...] = strengths, moves
    pt.RemeshOp(u, name).apply(Positions(moved, axis=0))
    nodes = np.arange(1 - half_width(name), half_width(name) + 1)
    weights = np.asarray(u)[particles[:, None] + nodes]
    exact = kernel_value(name, offsets[:, None] - nodes)
    np.testing.assert_allclose(weights, exact, rtol=0, atol=5e-7)


SWIRL_FIGURES = [
    # kernel, forward and reversed error at N = 128, order of the latter from there to 256
    ("M'4", 2.09e-2, 3.63e-2, 2.4),
    ("M'6", 7.64e-3, 7.71e-3, 4.1),
    ("L6_4", 5.72e-3, 2.79e-3, 5.0),
    ("L8_4", 5.15e-3, 1.50e-3, 4.6),
]


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.any_form
@pytest.mark.parametrize(("kernel", "forward", "back", "least"), SWIRL_FIGURES)
def test_swirl_forward_and_back(device, dtype, kernel, forward, back, least):
    forward_errors, back_errors = [], []
    for n in (128, 256):
        flow = Flow(SWIRL, n, device, dtype, kernel)
        forward_errors.append(relative_l1(flow.run(1.0, n // 4), exact_swirl(n)))
        back_errors.append(relative_l1(flow.run_back(1.0, n // 4), flow.start))
    assert forward_errors[0] <= 1.1 * forward
    assert back_errors[0] <= 1.1 * back
    assert order(back_errors) >= least


@pytest.mark.slow
@pytest.mark.any_form
@pytest.mark.parametrize(("splitting", "least", "most"), [(1, 0.85, 1.1), (2, 1.85, 2.2)])
def test_order_in_time(device, dtype, splitting, least, most):
    errors = []
    for steps in (16, 64):
        flow = Flow(SWIRL, 256, device, dtype, "L8_4", splitting)
        errors.append(relative_l1(flow.run(1.0, steps), exact_swirl(256)))
    assert least <= order(errors) / 2 <= most


def test_sweeps_keep_the_mass_in_single_precision(device):
    flow = Flow(SWIRL, 128, device, "float32")
    flow.run(1.0, 100)  # of three sweeps
    assert flow.mass_drift() <= 300 * 7e-10


def test_runs_give_the_same_bits(device, dtype):
    one, other = (Flow(SWIRL, 64, device, dtype).run(1.0, 20) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.sampled
@pytest.mark.drawn(1)
@pytest.mark.any_form
@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4", "L8_4"])
def test_400_steps_at_the_greatest_strain_are_stable(device, dtype, kernel):
    flow = Flow(SWIRL, 64, device, dtype, kernel)
    dt = 0.9 / flow.transport.lcfl(1.0)
    with pytest.warns(UserWarning, match=r"strain of a sweep along axis \d is 0\.9"):
        flow.transport.run(until=400 * dt, dt=dt)
    assert np.abs(flow.values()).max() <= 2 * flow.start.max()


@pytest.mark.drawn(1)
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("kernel", "figure"), [("M'4", 0.207), ("M'6", 0.159), ("L6_4", 0.150), ("L8_4", 0.145)]
)
def test_slotted_disk(device, dtype, kernel, figure):
    flow = Flow(ZALESAK, 128, device, dtype, kernel)
    error = relative_l1(flow.run(ZALESAK.duration, TURNS), flow.start)
    assert error == pytest.approx(figure, rel=0.1)


@pytest.mark.sampled
@pytest.mark.drawn(1)
def test_level_set_on_64(device, dtype):
    flow = Flow(LEVEL_SET, 64, device, dtype)
    with pytest.warns(UserWarning, match=r"strain of a sweep along axis \d is 0\.6"):
        u = flow.run(1.0, 5)
    assert [stage.axis for stage in flow.transport.schedule] == [0, 1, 2, 1, 0]
    assert -0.07 <= change_of_volume(u, flow) <= -0.04
    assert level_set_error(u, flow.start) <= 1.08
    with pytest.warns(UserWarning, match="strain"):
        u = flow.run_back(1.0, 5)
    assert -0.05 <= change_of_volume(u, flow) <= -0.03
    assert relative_l1(u, flow.start) <= 0.60
    check_mass(flow, dtype)


@pytest.mark.slow
def test_level_set_in_float32_is_that_in_float64(device):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    single = Flow(LEVEL_SET, 64, device, "float32")
    double = Flow(LEVEL_SET, 64, device, "float64")
    for run in (Flow.run, Flow.run_back):
        u32, u64 = run(single, 1.0, 10), run(double, 1.0, 10)
        assert np.abs(u32 - u64).max() <= 1e-4
        assert abs(volume(u32) - volume(u64)) <= 5


@pytest.mark.exhaustive
def test_level_set_on_256_with_the_formula(device):
    grid = pt.Grid((256, 256, 256))
    u = pt.Field(grid, device=device)
    start = LEVEL_SET.initial(*grid.coordinates())
    u[...] = start
    remesh = pt.RemeshOp(u, "M'6")
    forward = pt.Velocity(grid, LEVEL_SET.velocity)
    pt.Splitting(pt.AdvectionOp(forward), remesh).run(until=1.0, dt=0.05)
    values = np.asarray(u)
    assert abs(volume(values) / volume(start) - 1) <= 0.003
    assert level_set_error(values, start) <= 0.19
    back = pt.Velocity(grid, lambda x, y, z: [-a for a in LEVEL_SET.velocity(x, y, z)])
    pt.Splitting(pt.AdvectionOp(back), remesh).run(until=1.0, dt=0.05)
    values = np.asarray(u)
    assert abs(volume(values) / volume(start) - 1) <= 0.0035
    assert relative_l1(values, start) <= 0.20
    assert abs(values.sum(dtype=np.float64) / start.sum() - 1) <= FLOAT32_MASS
