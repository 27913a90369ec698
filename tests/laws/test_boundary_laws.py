# SPDX-License-Identifier: BSD-3-Clause
"""Laws of axes with ends: mirrors, constants, pulses, what flows in, and what has left."""

import numpy as np
import particles as pt
import pytest

from tests.support.ends import boundary_along, noise, splitting_core
from tests.support.sweeps import field, in_single

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


@pytest.mark.sampled
@pytest.mark.parametrize("is_formula", [False, True])
@pytest.mark.parametrize("cells", [0.3, 4.2, 30.0])
def test_a_constant_field_stays_constant_in_uniform_flow(device, dtype, cells, is_formula):
    ends = [("inflow", "outflow"), ("outflow", "outflow")]
    grid = pt.Grid((20, 35), boundary=ends)
    u = field(np.full(grid.shape, 1.75), grid, dtype, device)
    velocity = (
        pt.Velocity(grid, lambda x, y: (1 + 0 * x, -0.5 + 0 * y))
        if is_formula
        else field([np.ones(grid.shape), np.full(grid.shape, -0.5)], grid, dtype, device)
    )
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=1.75))
    for _ in range(3):
        transport.step(cells / 20)
    np.testing.assert_allclose(u.get(), 1.75, rtol=100 * np.finfo(dtype).eps)


def test_a_pulse_leaves_in_shape(device, dtype):
    """As on a line so long that nothing leaves it."""
    results = []
    for length in (1, 3):
        points = 64 * length
        grid = pt.Grid(points, extent=length, boundary="outflow")
        (x,) = grid.coordinates()
        u = field(np.exp(-(((x - 0.6) / 0.1) ** 2)), grid, dtype, device)
        velocity = field([np.ones(points)], grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        transport.run(0.4, 3.2 / 64)
        results.append(u.get())
    assert results[0][-1] > 0.5
    assert np.abs(results[0] - results[1][:64]).max() <= 20 * np.finfo(dtype).eps


@pytest.mark.parametrize(("cells", "until"), [(3.3, 1.0), (0.4, 0.5)])
def test_what_flows_in_is_carried_at_the_order_of_the_kernel(device, cells, until):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    speed, errors = 0.7, []

    def exact(x, t):
        return np.sin(5 * (t - x / speed))

    for points in (48, 96):
        grid = pt.Grid(points, boundary=[("inflow", "outflow")])
        (x,) = grid.coordinates()
        u = field(exact(x, 0), grid, "float64", device)
        velocity = pt.Velocity(grid, lambda x: speed + 0 * x)
        remesh = pt.RemeshOp(u, inflow=lambda t: np.sin(5 * t))
        transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
        transport.run(until, cells / points / speed)
        seen = x < 0.6  # far from where a field that is not constant leaves
        errors.append(np.abs(u.get() - exact(x, until))[seen].max())
    assert np.log2(errors[0] / errors[1]) > 3.7


def test_going_back_what_has_come_in_goes_out(device):
    """Beyond the end is what comes in later: the steps back of order 4 keep the kernel's order."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    errors = []
    for points in (48, 96):
        grid = pt.Grid(points, boundary=[("inflow", "outflow")])
        (x,) = grid.coordinates()
        u = field(np.sin(-5 * x), grid, "float64", device)
        velocity = field([np.ones(points)], grid, "float64", device)
        core = splitting_core(velocity, u, lambda t: np.sin(5 * t))
        dt = 0.4 / points
        for step in range(points // 4):
            core.sweep(0, -step * dt, -dt)
        expected = np.sin(5 * (-(points // 4) * dt - x))
        errors.append(np.abs(u.get() - expected)[x < 0.6].max())
    assert np.log2(errors[0] / errors[1]) > 3.7


@pytest.mark.sampled
def test_each_side_and_component_has_its_own_inflow(device):
    grid = pt.Grid((6, 8), boundary="inflow")
    u = pt.Field(grid, 2, device=device)
    velocity = pt.Velocity(grid, lambda x, y: (np.where(x < 0.5, 1, -1) * 1e-3, 1 + 0 * y))
    inflow = {
        (0, "low"): 0,
        (0, "high"): 0,
        (1, "low"): [3, lambda t: 5 + 0 * t],
        (1, "high"): 7,
    }
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=inflow))
    transport.sweep(1, 0.5)
    np.testing.assert_allclose(u.get()[:, :, 0], [[3] * 6, [5] * 6], rtol=1e-5)
    np.testing.assert_array_equal(u.get()[:, :, -1], 0)


def test_nothing_comes_in_where_the_velocity_points_outwards_or_vanishes(device, dtype):
    for rates in ([-1, 0, 1], [0, 0, 0], [1e-30, 0, -1e-30], [-0.0, 0, 0.0]):
        grid = pt.Grid(3, boundary="inflow")
        velocity = field([np.array(rates, float) * 0.05], grid, dtype, device)
        u = field(np.array([1.0, 2.0, 3.0]), grid, dtype, device)
        remesh = pt.RemeshOp(u, inflow=lambda t: 1e6 + t)
        transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
        transport.step(1.0)
        assert np.abs(u.get()).max() < 4


@in_single
@pytest.mark.parametrize("is_formula", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_wall_is_a_mirror(device, dtype, axis, is_formula):
    """The same on a periodic box of twice the size, of even fields and odd velocities."""
    shape, size = (23, 17), 23 if axis == 0 else 17

    def flow(x, y, t):
        a = [np.cos(2 * np.pi * y) / 2, np.cos(2 * np.pi * x) / 3]
        normal = (x, y)[axis]
        a[axis] = a[axis] * np.sin(np.pi * normal) * (1 + t)
        return tuple(a)

    results = []
    for doubled in (False, True):
        factor = np.where(np.arange(2) == axis, 1 + doubled, 1)
        grid = pt.Grid(
            tuple(shape * factor),
            origin=np.where(doubled & (np.arange(2) == axis), 0.5 / size, 0.0),
            extent=factor * 1.0,
            boundary="periodic" if doubled else boundary_along(axis, 2, ("wall", "wall")),
        )
        x, y = grid.coordinates()
        start = np.exp(np.sin(2 * np.pi * y) if axis == 0 else np.sin(2 * np.pi * x))
        u = field(start * (1 + np.cos(np.pi * (x, y)[axis])), grid, dtype, device)
        velocity = pt.Velocity(grid, flow)
        if not is_formula:
            velocity = field(velocity.on_grid(), grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
        for _ in range(4):
            transport.step(0.2)
        results.append(np.moveaxis(u.get(), axis, 0)[:size])
        assert transport.outflow == pytest.approx(np.zeros((1, 2, 2)), abs=0)
    assert np.abs(results[0] - results[1]).max() <= 400 * np.finfo(dtype).eps


@pytest.mark.sampled
@in_single
def test_outflow_adds_up_over_steps_and_fields(device, dtype):
    grid = pt.Grid((40, 6), boundary=[("inflow", "outflow"), "wall"])
    u, v = field(np.ones(grid.shape), grid, dtype, device), pt.Field(grid, 2, dtype, device)
    velocity = pt.Velocity(grid, lambda x, y: (1 + x / 10, 0 * y))
    remesh = pt.RemeshOp([u, v], inflow=[1, 0.1, lambda t: 1 + np.sin(t)])
    transport = pt.Splitting(pt.AdvectionOp(velocity), remesh)
    transport.run(10, 0.25)
    assert transport.outflow.shape == (3, 2, 2)
    np.testing.assert_array_equal(transport.outflow[:, 1], 0)
    inside = [u.sum(), v.component(0).sum(), v.component(1).sum()]
    entered = -transport.outflow[:, 0, 0]
    assert (entered > 5 * np.array(inside)).all()
    balance = np.array(inside) + transport.outflow.sum(axis=(1, 2)) - [u.size, 0, 0]
    limit = 1e-13 if dtype == np.float64 else 5e-7
    assert (np.abs(balance) <= limit * entered).all()


def in_and_out(device, dtype, form=None, **options):
    """A channel with a strained flow and an uneven field; what has been and what has become."""
    grid = pt.Grid((37, 20), boundary=[("inflow", "outflow"), ("wall", "outflow")])
    start = 2 + noise(grid.shape, 3, dtype)
    u = field(start, grid, dtype, device)
    x, y = grid.coordinates()
    rates = [1 + np.sin(9 * x) / 12 + 0 * y, np.sin(2 * y) / 2 + 0 * x]
    velocity = field(rates, grid, dtype, device)
    advection = pt.AdvectionOp(velocity, "rk4", interpolation="cubic", form=form)
    remesh = pt.RemeshOp(u, inflow=lambda t: 2 + np.sin(9 * t), form=form, **options)
    transport = pt.Splitting(advection, remesh)
    for _ in range(3):
        transport.step(0.15)
    return start, u, transport


@pytest.mark.sampled
@in_single
def test_options_go_with_ends(device, dtype):
    results = []
    for form in ("lanes", "private"):
        start, u, transport = in_and_out(device, dtype, form, limiter="positive")
        results.append(u.get())
        np.testing.assert_array_equal(results[-1], results[0])
        left = transport.outflow
        balance = u.get().sum(dtype=np.float64) + left.sum() - start.sum(dtype=np.float64)
        limit = 1e-13 if dtype == np.float64 else 5e-7
        assert abs(balance) <= limit * (start.sum() + np.abs(left).sum())
    assert results[0].min() >= 0


@pytest.mark.sampled
@in_single
def test_values_come_in_as_they_are(device, dtype):
    start, u, transport = in_and_out(device, dtype, conservative=False, limiter="monotone")
    slack = 20 * np.finfo(dtype).eps
    assert start.min() - slack <= u.get().min() <= u.get().max() <= 3 + slack
    with pytest.raises(ValueError, match="outflow counts masses, but these particles carry values"):
        transport.outflow  # noqa: B018
