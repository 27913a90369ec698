# SPDX-License-Identifier: BSD-3-Clause
"""What comes in is carried at the order of the kernel; whatever the flow does there, none is lost."""

import numpy as np
import particles as pt
import pytest

from tests.support.ends import noise
from tests.support.inlets import Fan, Inlet
from tests.support.sweeps import field, in_single

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

# The kernel's order, or 4 where cubics count, or 2 of linear interpolation, less what is left of it
# on so few points.
CASES = [
    ("L6_4", {}, {}, 4.5),
    ("M'6", {"axis": 2, "ndim": 3, "end": "high"}, {}, 2.6),
    ("M'4", {"end": "high"}, {}, 1.6),
    ("L6_4", {"ratio": 1, "end": "high"}, {}, 3.8),
    ("L6_4", {"ratio": 2, "axis": 1, "ndim": 2}, {}, 3.5),
    ("L6_4", {"ratio": 1}, {"interpolation": "linear"}, 1.9),
    ("L6_4", {}, {"conservative": False}, 3.8),
]


@pytest.mark.sampled
@pytest.mark.drawn(3)
@pytest.mark.parametrize(("kernel", "flow", "options", "order"), CASES, ids=str)
def test_what_comes_in_strained_has_the_order_of_the_kernel(device, kernel, flow, options, order):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    for cfl, points in ((1.5, 64), (6, 128), (16, 256)):
        if cfl == 16 and "ndim" in flow:
            continue
        n = points * flow.get("ratio", 1)
        errors, lost = zip(
            *(Inlet(device, m, **flow).run(0.5, cfl, kernel, **options) for m in (n, 4 * n)),
            strict=True,
        )
        assert np.log2(errors[0] / errors[1]) / 2 > order
        assert max(lost) < 5e-15


ROUGH = {  # rates at the first nodes and the last ones, in cells of a sweep
    "none": np.zeros(9),
    "one that vanishes at the end": np.arange(9) * 0.3,
    "one that vanishes just outside": 0.16 + np.arange(9) * 0.3,
    "one that vanishes inside": np.arange(9) * 0.3 - 0.4,
    "noise": 3 * noise(9, 1, "float64"),
    "other noise": 1e-30 * noise(9, 2, "float64"),
    "a jump": np.where(np.arange(9) < 1, 0.01, 5.0),
    "outwards at both ends": np.arange(9) - 4.0,
    "inwards at both ends": 4.0 - np.arange(9),
}


@pytest.mark.parametrize("turns", [1, -1])
def test_whatever_a_velocity_does_at_the_ends_no_mass_is_lost(device, dtype, turns):
    """It may change its sign during a step: a series from these rates to such multiples of them."""
    grid = pt.Grid((9, len(ROUGH)), boundary=["inflow", "periodic"])
    rates = np.stack(list(ROUGH.values()), axis=1) / 9
    levels = [field([k * rates, 0 * rates], grid, dtype, device) for k in (1.0, turns)]
    u = field(np.ones(grid.shape), grid, dtype, device)
    advection = pt.AdvectionOp(pt.VelocitySeries(levels, [0.0, 1.0]), "rk4")
    remesh = pt.RemeshOp(u, inflow=lambda t: 1 + np.sin(t))
    core = pt.Splitting(advection, remesh, 1)._core  # which refuses no strain
    for begin, dt in ((0.0, 1.0), (1.0, -0.5), (0.5, 0.5)):
        core.sweep(0, begin, dt)
    values = u.get().astype(np.float64)
    left = np.array(core.crossed(0)).sum()
    assert np.isfinite(values).all()
    assert np.abs(values).max() < 50
    assert abs(values.sum() + left - u.size) <= 500 * np.finfo(dtype).eps * u.size


@in_single
def test_a_formula_is_not_asked_beyond_the_ends(device, dtype):
    """There it may be no number. It turns within the steps, at other times across the face."""
    grid = pt.Grid((30, 12), boundary=[("inflow", "outflow"), "periodic"])
    u = field(np.ones(grid.shape), grid, dtype, device)
    flow = pt.Velocity(grid, lambda x, y, t: (np.sqrt(x) * np.cos(20 * t + 6 * y), 0 * y))
    remesh = pt.RemeshOp(u, inflow=1.0)
    transport = pt.Splitting(pt.AdvectionOp(flow, "rk4"), remesh, 1)
    for _ in range(5):
        transport.step(0.1)
    assert np.isfinite(u.get()).all()
    balance = u.sum() + transport.outflow.sum() - u.size
    assert abs(balance) <= 500 * np.finfo(dtype).eps * u.size


@in_single
@pytest.mark.parametrize("conservative", [True, False])
def test_a_constant_stays_constant_in_a_uniform_flow_that_turns(device, dtype, conservative):
    grid = pt.Grid(40, boundary="inflow")
    u = field(np.full(40, 1.75), grid, dtype, device)
    flow = pt.Velocity(grid, lambda x, t: np.sin(7 * t) + 0 * x)
    remesh = pt.RemeshOp(u, inflow=1.75, conservative=conservative)
    transport = pt.Splitting(pt.AdvectionOp(flow), remesh)
    transport.run(1.5, 0.1)
    np.testing.assert_allclose(u.get(), 1.75, rtol=200 * np.finfo(dtype).eps)


@pytest.mark.sampled
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("conservative", [True, False])
def test_split_steps_are_of_second_order_where_inflow_shears(device, conservative, order):
    """What comes in during a sweep along the axis has not been carried along the face: even by a
    velocity that is the same everywhere there."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")

    def error(n):
        grid = pt.Grid((n, n), boundary=[("inflow", "outflow"), "periodic"])
        x, y = np.broadcast_arrays(*grid.coordinates())
        lag = x.copy()  # since a particle has come in: Newton's method
        for _ in range(30):
            bent = np.cos(2 * np.pi * (y - lag / 2)) - np.cos(2 * np.pi * y)
            slope = 1 + 0.3 * np.sin(2 * np.pi * (y - lag / 2))
            lag -= (lag + 0.3 / np.pi * bent - x) / slope
        u = field(np.sin(-4 * lag), grid, "float64", device)
        flow = pt.Velocity(grid, lambda x, y: (1 + 0.3 * np.sin(2 * np.pi * y), 0.5))
        remesh = pt.RemeshOp(u, "L6_4", conservative=conservative, inflow=lambda t: np.sin(4 * t))
        transport = pt.Splitting(pt.AdvectionOp(flow, "rk4"), remesh, order)
        transport.run(0.4, 1.6 / n)
        return np.abs(u.get() - np.sin(4 * (0.4 - lag)))[x < 0.1].max()

    assert np.log2(error(48) / error(96)) == pytest.approx(2, abs=0.3)


FANS = [
    ({"end": "high"}, {}),  # by a formula that depends on time
    ({"axis": 1, "kind": "field"}, {"joined": True}),
    ({"kind": "series"}, {"order": 1}),
    ({"kind": "series"}, {"order": 4}),
    ({"axis": 1, "ndim": 3}, {"joined": True}),
]


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize(("flow", "options"), FANS, ids=str)
def test_masses_are_of_second_order_where_inflow_diverges_along_the_face(device, flow, options):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    points = (20, 40) if flow.get("ndim") == 3 else (64, 128)
    cfls = (1.5,) if flow.get("ndim") == 3 else (1.5, 4)
    for cfl in cfls:
        runs = [Fan(device, n, **flow).run(0.375, cfl, **options) for n in points]
        errors, lost = zip(*runs, strict=True)
        assert np.log2(errors[0] / errors[1]) > 1.8
        assert max(lost) < 2e-14  # of hundreds of sweeps


@pytest.mark.sampled
def test_where_two_ends_meet_both_strain_what_comes_in(device):
    """A constant in a flow that diverges everywhere alike falls everywhere alike.

    That of the other axis left out, it would be wrong by half of what that strains in a step, 0.02.
    """
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")
    n = 32
    grid = pt.Grid((n, n, n), boundary=[("inflow", "outflow"), ("outflow", "inflow"), "wall"])
    u = pt.Field(grid, 1, "float64", device)
    u.fill(2.0)
    flow = pt.Velocity(grid, lambda x, y, z: (1 + 0.4 * x, 0.3 * (y - 2), 0 * z))
    remesh = pt.RemeshOp(u, "M'6", inflow=lambda t: 2 * np.exp(-0.7 * t))
    transport = pt.Splitting(pt.AdvectionOp(flow, "rk4"), remesh)
    transport.run(0.2, 0.1)
    inside = u.get()[: n // 2, n // 2 :]
    assert np.abs(inside - 2 * np.exp(-0.7 * 0.2)).max() < 1e-4


@pytest.mark.parametrize("joined", [False, True])
def test_a_sweep_alone_is_strained_by_nobody(device, joined):
    """It brings in what is given, as on a line of its own, before and after whole steps."""
    grid = pt.Grid((16, 12), boundary=[("inflow", "outflow"), "periodic"])
    flow = pt.Velocity(grid, lambda x, y: (1, np.sin(2 * np.pi * y)))
    u = pt.Field(grid, device=device)
    transport = pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u, inflow=2.0))
    for _ in range(2):
        u.fill(2.0)
        transport.sweep(0, 0.1)
        np.testing.assert_allclose(u.get(), 2.0, rtol=1e-6)
        if joined:
            transport.run(transport.time + 0.2, 0.1)
        else:
            transport.step(0.1)
        assert np.ptp(u.get()[0]) > 0.1


@pytest.mark.parametrize("conservative", [True, False])
def test_sources_are_of_first_order_at_inflow(device, conservative):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("needs float64")

    def error(n):
        grid = pt.Grid(n, boundary=[("inflow", "outflow")])
        (x,) = grid.coordinates()
        u = pt.Field(grid, 1, "float64", device)
        u[...] = np.exp(-x)
        wind = pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0))
        remesh = pt.RemeshOp(u, inflow=1.0, conservative=conservative)
        pt.Splitting(wind, remesh, source=pt.SourceOp(u, ["-u"])).run(0.375, 1.5 / n)
        return np.abs(u.get() - np.exp(-x))[x < 0.6].max()

    assert np.log2(error(64) / error(128)) == pytest.approx(1, abs=0.1)
