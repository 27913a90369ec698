# SPDX-License-Identifier: BSD-3-Clause
"""What cubic interpolation, schemes and kernels of high order are needed for."""

import numpy as np
import particles as pt
import pytest
from problems import UNEVEN, order, relative_l1

from benchmarks import accuracy_orders, flows

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]


def fields(problem, n, device, dtype):
    grid = pt.Grid((n,) * problem.ndim)
    x = grid.coordinates()
    velocity = pt.Field(grid, problem.ndim, dtype, device)
    samples = [np.broadcast_to(a, grid.shape) for a in problem.velocity(*x)]
    velocity[...] = np.stack(samples).reshape(velocity.shape)
    u = pt.Field(grid, dtype=dtype, device=device)
    u[...] = problem.initial(*x)
    return velocity, u


@pytest.mark.parametrize(
    ("interpolation", "least", "most"), [("linear", 1.8, 2.3), ("cubic", 3.5, 9)]
)
def test_cubic_interpolation_is_needed_beyond_second_order(device, interpolation, least, most):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (64, 128, 256):
        velocity, u = fields(UNEVEN, n, device, "float64")
        exact = UNEVEN.exact(u.grid.coordinates(), 0.4)
        advection = pt.AdvectionOp(velocity, "rk4", interpolation=interpolation)
        transport = pt.Splitting(advection, pt.RemeshOp(u, "L6_4"))
        transport.run(until=0.4, dt=0.4 / round(0.6 * n / 2))
        errors.append(relative_l1(np.asarray(u), exact))
    assert least <= order(errors) <= most


@pytest.mark.parametrize(("ndim", "share"), [(1, 0.85), (2, 0.8), (3, 0.72)])
def test_every_kernel_has_its_order_in_every_dimension(device, ndim, share):
    """As far as these grids show it: where they are coarse, high orders are not reached yet."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grids, flow = accuracy_orders.GRIDS[ndim], flows.uneven(ndim)
    found = [accuracy_orders.errors_on(flow, n, "exact", "exact", "float64", device) for n in grids]
    for kernel in accuracy_orders.KERNELS:
        observed = accuracy_orders.slope(grids, [errors[kernel] for errors in found])
        assert observed >= share * pt.kernels.get(kernel).moments, kernel


@pytest.mark.parametrize(("kernel", "least"), [("L6_4", 5.6), ("L8_4", 7.4), ("M'8", 4.6)])
def test_order_in_one_dimension_by_a_formula(device, kernel, least):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (128, 256):
        _, u = fields(UNEVEN, n, device, "float64")
        formula = pt.Velocity(u.grid, lambda x: (1 + 0.5 * np.sin(2 * np.pi * x),))
        start = np.asarray(u)
        remesh = pt.RemeshOp(u, kernel)
        transport = pt.Splitting(pt.AdvectionOp(formula, "rk4"), remesh)
        steps = int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8))
        transport.run(until=UNEVEN.duration, dt=UNEVEN.duration / steps)
        errors.append(relative_l1(np.asarray(u), start))
    assert order(errors) >= least
