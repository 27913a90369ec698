# SPDX-License-Identifier: BSD-3-Clause
"""What cubic interpolation, schemes and kernels of high order are needed for."""

import numpy as np
import particles as pt
import pytest

from tests.support.problems import UNEVEN, order, relative_l1

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks import flows
from benchmarks.accuracy import orders, rest
from benchmarks.accuracy.runs import Choice

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


@pytest.mark.sampled
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


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize(("ndim", "share"), [(1, 0.85), (2, 0.8), (3, 0.72)])
def test_every_kernel_has_its_order_in_every_dimension(device, ndim, share):
    """As far as these grids show it: where they are coarse, high orders are not reached yet."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grids, flow = orders.GRIDS[ndim], flows.uneven(ndim)
    found = [orders.errors_on(flow, n, "exact", "exact", "float64", device) for n in grids]
    for kernel in orders.KERNELS:
        observed = orders.slope(grids, [errors[kernel] for errors in found])
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


AT_REST = ("M'4", "M'6", "L4_4", "L6_4", "L8_4")


@pytest.fixture
def orders_of(device):
    """Orders of the mean and of the greatest error where a flow stands still."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")

    def found(place, kernel, **options):
        errors = [rest.errors_at(place, kernel, n, device, **options) for n in rest.GRIDS]
        return [orders.slope(rest.GRIDS, e) for e in zip(*errors, strict=True)]

    return found


@pytest.mark.parametrize("kernel", AT_REST)
@pytest.mark.parametrize("place", rest.PLACES[:2], ids=lambda place: place.name)
def test_smoothness_limits_the_order_where_the_flow_stands_still(orders_of, place, kernel):
    """The greatest error has the order min(p, q), the mean one min(p, q + 1)."""
    mean, greatest = orders_of(place, kernel)
    about = pt.kernels.describe(kernel)
    assert about.order_at_rest == min(about.moments, about.smoothness)
    assert -0.25 <= greatest - about.order_at_rest <= 0.3
    assert -0.25 <= mean - min(about.moments, about.smoothness + 1) <= 0.6


@pytest.mark.parametrize("kernel", AT_REST)
def test_an_image_of_a_slope_is_of_first_order(orders_of, kernel):
    """Of second order in the mean; the mirror image of a field with a slope has a kink."""
    mean, greatest = orders_of(rest.PLACES[2], kernel)
    assert -0.1 <= mean - 2 <= 0.1
    assert -0.1 <= greatest - 1 <= 0.25


@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4"])
def test_values_keep_their_order_where_the_flow_stands_still(orders_of, kernel):
    """But for the kink in the image of a slope."""
    for place in rest.PLACES[:2]:
        order_of_both = [pt.kernels.get(kernel).moments] * 2
        assert orders_of(place, kernel, conservative=False) == pytest.approx(order_of_both, abs=0.1)
    found = orders_of(rest.PLACES[2], kernel, conservative=False)
    assert found == pytest.approx([2, 1], abs=0.1)


def test_a_kernel_that_smooths_hides_what_happens_at_rest(orders_of):
    """The error of M'8 by its smoothing, of order 5, is the larger one on these grids."""
    mean, greatest = orders_of(rest.PLACES[0], "M'8")
    assert -0.1 <= mean - 5 <= 0.1
    assert -0.1 <= greatest - 5 <= 0.1
    mean, greatest = orders_of(rest.PLACES[1], "M'8")
    assert -0.1 <= mean - 5 <= 0.1
    assert -0.1 <= greatest - 4 <= 0.3


def strained(device, kernel, n, steps):
    """The error of a flow that strains, by paths that are exact."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    flow, grid = flows.uneven(1), pt.Grid(n)
    x = grid.coordinates()
    positions = orders.exact_move(grid, 0, flow.duration / steps, "float64", device)
    u = pt.Field(grid, dtype="float64", device=device)
    u[...] = flow.solution(x, 0.0)
    remesh = pt.RemeshOp(u, kernel)
    for _ in range(steps):
        remesh.apply(positions)
    return relative_l1(np.asarray(u), flow.solution(x, flow.duration))


def greatest(device, kernel, points, cfl):
    choice = Choice(kernel, "rk4", "formula", dtype="float64")
    steps = round(flows.CELLS.duration * points / cfl)
    return choice.carry(flows.CELLS, points, steps, device)["max"]


def a_smoother_kernel_pays(device):
    """L4_4 has the nodes of M'6, and an error at stagnation points that is several times smaller."""
    assert 5 <= greatest(device, "M'6", 256, 4) / greatest(device, "L4_4", 256, 4) <= 10


def the_error_is_of_second_order(device):
    errors = [greatest(device, "M'6", n, 1) for n in (128, 256)]
    assert order(errors) == pytest.approx(2.1, abs=0.2)


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("law", [a_smoother_kernel_pays, the_error_is_of_second_order])
def test_where_vortices_meet(device, law):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    law(device)


@pytest.mark.parametrize(("kernel", "power"), [("M'4", 2), ("M'6", 4)])
def test_the_strain_leaves_an_error_however_fine_the_grid(device, kernel, power):
    """Of order s^(p + 1) in each of 1/s sweeps: 1024 and 2048 points make no difference."""
    errors = [[strained(device, kernel, n, steps) for n in (1024, 2048)] for steps in (10, 20)]
    for coarse, fine in errors:
        assert fine == pytest.approx(coarse, rel=0.5)
    assert np.log2(errors[0][1] / errors[1][1]) == pytest.approx(power, abs=0.5)


@pytest.mark.parametrize(
    ("steps", "grids", "least", "most"), [(160, (128, 256), 4.7, 5.2), (20, (256, 512), -0.5, 0.5)]
)
def test_a_fixed_step_has_one_order_more_until_the_strain_counts(device, steps, grids, least, most):
    assert least <= order([strained(device, "M'6", n, steps) for n in grids]) <= most
