# SPDX-License-Identifier: BSD-3-Clause
"""What comes in is strained along the face as well: like the reference, in every form alike."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference, reference_boundaries
from tests.support.ends import noise
from tests.support.sweeps import field


def rates_of(grid, dtype):
    """Noise, which is directed inwards at the ends where particles come in."""
    rates = [noise(grid.shape, k, dtype) / 8 for k in range(grid.ndim)]
    for axis, ends in enumerate(grid.boundary):
        if "inflow" in ends:
            low, high = (0.6 if end == "inflow" else -0.6 for end in ends)
            inwards = np.linspace(low, -high, grid.shape[axis]).astype(dtype)
            rates[axis] += inwards.reshape([-1 if k == axis else 1 for k in range(grid.ndim)])
    return rates


def followed(u, rates, grid, stages, time, dt):
    """A step in NumPy: stages (axis, begin, length)."""
    until = [0.0] * grid.ndim
    for axis, begin, length in stages:
        duration = length * dt
        if grid.boundary[axis] == "periodic":
            u = reference.sweep(u, rates, axis, duration, grid, "M'6")
        else:
            turns = [
                (reference_boundaries.crossflow(rates, k, axis, grid), (begin - until[k]) * dt)
                for k in range(grid.ndim)
                if k != axis
            ]
            u, _ = reference_boundaries.sweep(
                u,
                rates[axis],
                axis,
                duration / grid.spacing[axis],
                grid.boundary[axis],
                "M'6",
                np.cos,
                time + begin * dt,
                duration,
                turns=turns,
            )
        until[axis] = begin + length
    return u


@pytest.mark.parametrize(
    ("shape", "boundary", "order", "dt", "dtype"),
    [
        ((20, 33), ["inflow", "periodic"], 1, 0.03, "float32"),
        ((30, 21), ["wall", ("outflow", "inflow")], 4, 0.08, "float64"),
        ((11, 12, 17), [("wall", "inflow"), "periodic", ("inflow", "outflow")], 2, 0.05, "float32"),
    ],
    ids=str,
    indirect=["dtype"],
)
def test_steps_are_those_of_the_reference(device, dtype, shape, boundary, order, dt):
    grid = pt.Grid(shape, boundary=boundary)
    rates = rates_of(grid, dtype)
    start = noise(shape, 9, dtype)
    u = field(start, grid, dtype, device)
    advection = pt.AdvectionOp(field(rates, grid, dtype, device))
    transport = pt.Splitting(advection, pt.RemeshOp(u, inflow=lambda t: np.cos(t)), order, time=0.3)
    transport.step(dt)
    expected = followed(start.astype(float), rates, grid, transport.schedule, 0.3, dt)
    assert np.abs(u.get() - expected).max() <= 3000 * np.finfo(dtype).eps


def test_a_formula_is_looked_at_in_the_box_alone(device):
    """What it is beyond the last node of a periodic axis is nothing to the strain along the face."""
    found = []
    for beyond in 0, 10:
        grid = pt.Grid((24, 47), boundary=["inflow", "periodic"])
        flow = pt.Velocity(grid, lambda x, y, b: (0.4, b * np.maximum(0.0, y - 0.98)), b=beyond)
        u = field(noise(grid.shape, 9, "float32"), grid, "float32", device)
        remesh = pt.RemeshOp(u, inflow=lambda t: np.cos(t))
        pt.Splitting(pt.AdvectionOp(flow), remesh, 2).run(0.1, 0.05)
        found.append(u.get())
    np.testing.assert_array_equal(*found)


def test_a_steady_velocity_is_looked_at_once_and_again_when_it_is_rewritten(device):
    grid = pt.Grid((20, 33), boundary=["inflow", "periodic"])
    rates = rates_of(grid, "float32")
    velocity = field(rates, grid, "float32", device)

    def transport_of(start):
        u = field(start, grid, "float32", device)
        return pt.Splitting(
            pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=lambda t: np.cos(t)), 1
        ), u

    transport, u = transport_of(noise(grid.shape, 9, "float32"))

    def looks():
        with pt.profile(device) as profile:
            transport.step(0.03)
            transport.step(0.03)
        return profile.kernels["crossflow"].launches if "crossflow" in profile.kernels else 0

    assert [looks(), looks()] == [2, 0]  # at either end
    velocity.component(1)[...] = -rates[1]
    other, v = transport_of(u.get())
    other.time = transport.time
    assert looks() == 2
    other.step(0.03)
    other.step(0.03)
    np.testing.assert_array_equal(u.get(), v.get())
