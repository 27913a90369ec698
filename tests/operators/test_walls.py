# SPDX-License-Identifier: BSD-3-Clause
"""Velocities that go through walls are warned of, and those that respect them are not."""

import itertools
import warnings

import numpy as np
import particles as pt
import pytest

from tests.support.sweeps import field, noise
from tests.support.transports import epsilon

pytestmark = pytest.mark.any_form

WORDS = (
    r"^the velocity goes through a wall: its component {} is .*, next to the {} end of axis {}, and"
)


BORNE = 1 / 50  # of what the flow carries across the box, while it does


def along(axis, ndim, value, rest):
    return [value if k == axis else rest for k in range(ndim)]


def on_walls(values, axis, ends):
    """By the line or the parabola through the last points, from the last value to none."""
    greatest, across = 0.0, np.moveaxis(values.astype(np.float64), axis, 0)
    for points, end in zip((across[:3], across[:-4:-1]), ends, strict=True):
        if end == "wall":
            one, two, three = points * np.sign(points[0])
            least = np.minimum(1.5 * one - 0.5 * two, (15 * one - 10 * two + 3 * three) / 8)
            greatest = max(greatest, np.clip(least, 0, one).max())
    return greatest


@pytest.mark.parametrize("form", ["lanes", "private"])
@pytest.mark.parametrize("ends", [("wall", "wall"), ("wall", "inflow"), ("outflow", "wall")])
@pytest.mark.parametrize(
    "shape", [(7,), (5, 19), (20, 33), (4, 3, 40), (9000,), (3, 9000)], ids=str
)
def test_what_is_measured_is_that_of_numpy(device, dtype, shape, ends, form):
    for axis in range(len(shape)):
        grid = pt.Grid(shape, boundary=along(axis, len(shape), ends, "periodic"))
        rates = [noise(grid, k) for k in range(len(shape))]
        velocity = field(rates, grid, dtype, device)
        core = pt.AdvectionOp(velocity, form=form).core_for(device, np.dtype(dtype))
        exact = on_walls(velocity.component(axis).get(), axis, ends)
        assert core.measure([axis], [0.0])[0][2] == pytest.approx(exact, rel=8 * epsilon(dtype))


# Laws, on one device


def carried(grid, device):
    u = pt.Field(grid, device=device)
    u.fill(1)
    return u


def ways(advection, u, dt):
    """All ways to move by a velocity, of a transport of its own each."""
    axes = range(u.grid.ndim)
    new = lambda: pt.Splitting(advection, pt.RemeshOp(u))
    yield lambda: new().run(3 * dt, lcfl=0.2)
    yield lambda: new().run(3 * dt, dt=dt)
    yield lambda: new().step(dt)
    yield lambda: [new().sweep(axis, dt) for axis in axes]
    yield lambda: [advection.apply(dt, axis) for axis in axes]


def stored(kind, grid, device, formula):
    """A velocity of a kind, which at time 0 is a formula."""
    if kind == "formula":
        return pt.Velocity(grid, formula)
    if kind == "timed":
        return pt.Velocity(grid, lambda x, y, t: [np.cos(t) * a for a in formula(x, y)])
    velocity = pt.Field(grid, grid.ndim, device=device)
    for component, value in enumerate(formula(*grid.coordinates())):
        velocity.component(component)[...] = value
    if kind == "series":
        return pt.VelocitySeries([velocity, velocity.copy()], [-1.0, 1.0])
    return velocity


KINDS = ("formula", "timed", "field", "series")


@pytest.mark.one_device
@pytest.mark.parametrize(("axis", "side"), list(itertools.product(range(2), (0, 1))), ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_goes_through_a_wall_is_warned_of(device, kind, axis, side):
    ends = ("wall", "outflow") if side == 0 else ("outflow", "wall")
    grid = pt.Grid((12, 9), boundary=along(axis, 2, ends, "periodic"))
    velocity = stored(kind, grid, device, lambda x, y: along(axis, 2, 1 + 0 * x * y, 0 * x * y))
    u = carried(grid, device)
    words = WORDS.format(axis, ("low", "high")[side], axis)
    for way in ways(
        pt.AdvectionOp(velocity, device=device if kind in KINDS[:2] else None), u, 0.01
    ):
        with pytest.warns(pt.WallWarning, match=words) as seen:
            way()
        assert [one.filename for one in seen if one.category is pt.WallWarning] == [__file__]


def gyre(x, y):
    """Between walls, with whole and with half waves."""
    return (
        np.sin(2 * np.pi * x) * np.cos(np.pi * y) + x * (1 - x),
        -np.cos(np.pi * x) * np.sin(np.pi * y) + 0 * x,
    )


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.parametrize("points", [6, 9, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_a_flow_between_walls_is_not(device, kind, points):
    grid = pt.Grid((points, points + 1), boundary="wall")
    operators = [pt.AdvectionOp(stored(kind, grid, device, gyre))]
    if kind in ("field", "series"):
        fine = pt.Grid([3 * n for n in grid.shape], boundary="wall")
        velocity = stored(kind, grid, device, gyre)
        operators += [
            pt.AdvectionOp(velocity, interpolation=rule, grid=fine) for rule in ("linear", "cubic")
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.WallWarning)
        for operator in operators:
            for way in ways(operator, carried(operator.grid, device), 0.01):
                way()


def cells(n):
    """How many cells each point is from the wall."""
    return np.arange(n) + 0.5


# From how many points on.
SILENT = {
    "half a wave": (3, lambda n: np.sin(np.pi * cells(n) / n)),
    "a wave": (6, lambda n: np.sin(2 * np.pi * cells(n) / n)),
    "a flow that also rests along the wall": (3, lambda n: np.sin(np.pi * cells(n) / n) ** 2),
    "a layer of two cells": (8, lambda n: np.tanh(cells(n) / 2) * (1 - cells(n) / n)),
    "a wall at the first point": (3, lambda n: np.sin(np.pi * np.arange(n) / (n - 1))),
    "nothing": (1, lambda n: np.zeros(n)),
}


@pytest.mark.one_device
@pytest.mark.parametrize("name", SILENT)
def test_coarse_flows_are_given_the_benefit_of_the_doubt(device, name):
    fewest, flow = SILENT[name]
    for points in (fewest, fewest + 1, 50):
        grid = pt.Grid(points, boundary=[("wall", "outflow")])
        operator = pt.AdvectionOp(field([flow(points)], grid, "float32", device))
        with warnings.catch_warnings():
            warnings.simplefilter("error", pt.WallWarning)
            for way in ways(operator, carried(grid, device), 1e-3):
                way()


@pytest.mark.one_device
def test_what_a_solver_leaves_across_a_fast_flow_is_not_warned_of(device):
    """Of what flows along the channel hardly anything comes to its walls."""
    grid = pt.Grid((16, 32), boundary=["periodic", "wall"])
    velocity = pt.Field(grid, 2, device=device)
    for leak, warned in ((0.9 * BORNE, 0), (1.1 * BORNE, 1)):
        velocity.component(0).fill(1)
        velocity.component(1).fill(leak)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", pt.WallWarning)
            pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried(grid, device))).step(1e-3)
        assert sum(one.category is pt.WallWarning for one in seen) == warned


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.parametrize("leak", [0.05, 0.2])
@pytest.mark.parametrize("extent", [(1.0, 1.0), (2.0, 1.0)], ids=str)
def test_the_share_is_what_piles_up_while_the_flow_crosses_the_box(device, leak, extent):
    points, (length, width) = 128, extent
    grid = pt.Grid((points, points), extent=extent, boundary="wall")
    x, y = (at / side for at, side in zip(grid.coordinates(), extent, strict=True))
    swirl = np.sin(np.pi * x) * np.cos(np.pi * y), -np.cos(np.pi * x) * np.sin(np.pi * y)
    velocity = field(
        [length * ((1 - leak) * swirl[0] + leak), width * (1 - leak) * swirl[1]],
        grid,
        "float32",
        device,
    )
    u = carried(grid, device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, limiter="positive"))
    share = transport._gauge.of_steps([0.0], 0.0, 0.0)[0].leak.share
    with pytest.warns(pt.WallWarning):
        transport.run(1.0, lcfl=0.2)
    piled = np.maximum(u.get()[-1] - 1, 0).sum() / grid.size
    assert share == pytest.approx(leak, rel=0.02)
    assert piled == pytest.approx(share, rel=0.15)


@pytest.mark.one_device
def test_a_run_warns_once_and_a_velocity_is_measured_once(device):
    grid = pt.Grid((16, 16), boundary="wall")
    velocity = pt.Field(grid, 2, device=device)
    velocity.component(1).fill(1)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried(grid, device)))
    with pytest.warns(pt.WallWarning) as seen:
        transport.run(0.1, lcfl=0.2, callback=lambda _: None, every=1)
    assert len([one for one in seen if one.category is pt.WallWarning]) == 1
    for _ in range(2):
        with pytest.warns(pt.WallWarning), pt.profile(device) as profile:
            transport.step(0.005)
        assert "strain" not in profile.kernels
    velocity.component(1).fill(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.WallWarning)
        transport.step(0.005)
        transport.run(0.2, lcfl=0.2)


@pytest.mark.one_device
def test_a_formula_may_be_no_number_just_on_the_wall(device):
    grid = pt.Grid(16, boundary="wall")
    velocity = pt.Velocity(grid, lambda x: x * np.log(x) * (1 - x))
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried(grid, device)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.WallWarning)
        transport.step(0.01)


@pytest.mark.one_device
def test_a_formula_may_be_none_but_on_the_wall(device):
    grid = pt.Grid(16, boundary="wall")
    velocity = pt.Velocity(grid, lambda x: np.where(x < 0.01, 1.0, 0.0))
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried(grid, device)))
    with pytest.warns(pt.WallWarning, match=WORDS.format(0, "low", 0)):
        transport.step(0.01)
