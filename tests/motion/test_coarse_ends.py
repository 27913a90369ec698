# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on a coarse grid with walls and open ends."""

from itertools import product

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.reference import reference_boundaries, reference_coarse
from tests.support import lot
from tests.support.coarse import CASES, boxes, random_velocity
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    advection_core,
    components,
    error_of_moves,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    swept_on,
)


@pytest.mark.sampled
@pytest.mark.parametrize(("coarse", "ratios", "boundary", "interpolation"), CASES, ids=str)
def test_moves_are_those_of_the_reference(device, dtype, coarse, ratios, boundary, interpolation):
    grid, fine = boxes(coarse, ratios, boundary)
    velocity = random_velocity(grid, dtype, device)
    a = components(velocity)
    advection = pt.AdvectionOp(velocity, interpolation=interpolation, grid=fine)
    for axis in range(grid.ndim):
        for cells in (0.4, -3.7, 30.0):
            found = advection.apply(cells * fine.spacing[axis], axis).displacement.get()
            exact = reference_coarse.moves(a[axis], axis, ratios, grid, interpolation, cells)
            # Across a wall neighbours are as far apart as plus and minus the velocity.
            slope = 4 * abs(cells) / ratios[axis]
            assert np.abs(found - exact).max() <= 4 * error_of_moves(
                dtype, abs(cells) + slope, slope
            )


def splitting_of(velocity, u, interpolation="linear", inflow=None):
    """A splitting whose sweeps tell nobody how much they strain."""
    advection = pt.AdvectionOp(velocity, interpolation=interpolation, grid=u.grid)
    remesh = pt.RemeshOp(u, inflow=inflow)
    return _core.Splitting(advection.core_for(u.device, u.dtype), remesh.core, 1)


def check_sweep(velocity, lines, u, axis, ratio, interpolation, begin, dt):
    """Compare a sweep, and what crosses the ends, with the reference; `lines`: of the velocity."""
    grid, start, ends = u.grid, u.get(), u.grid.boundary[axis]
    inflow = (lambda t: np.sin(t)) if "inflow" in str(grid.boundary) else None
    transport = splitting_of(velocity, u, interpolation, inflow)
    transport.sweep(axis, begin, dt)
    cells = dt / grid.spacing[axis]
    reference = reference_coarse.lines_of(ratio, interpolation)
    expected, crossed = reference_boundaries.sweep(
        start, lines, axis, cells, ends, "M'6", inflow, begin, dt, lines=reference
    )
    limit = 200 * (1 + cells) * np.finfo(u.dtype).eps
    assert np.abs(u.get() - expected).max() <= limit
    count = start.size // grid.shape[axis] * min(grid.shape[axis], cells)
    assert np.abs(np.subtract(transport.crossed(axis)[0], crossed)).max() <= limit * count
    u[...] = start


def lines_along(velocity, axis, ratios, interpolation):
    """Its lines in the reference."""
    component = velocity.component(axis).get()
    lines = reference_coarse.across(component, axis, ratios, velocity.grid, interpolation)
    return np.moveaxis(lines, axis, -1)


@pytest.mark.sampled
@in_single
@pytest.mark.parametrize(
    ("ends", "interpolation"),
    [
        (("wall", "wall"), "cubic"),
        (("outflow", "inflow"), "cubic"),
        (("wall", "outflow"), "linear"),
        (("inflow", "wall"), "linear"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("coarse", "ratios", "axis"),
    [((9, 5), (4, 3), 0), ((8, 9), (4, 3), 1)],
    ids=str,
)
def test_a_sweep_is_that_of_the_reference(device, dtype, coarse, ratios, axis, interpolation, ends):
    boundary = [ends if k == axis else ("wall", "outflow") for k in range(len(coarse))]
    grid, fine = boxes(coarse, ratios, boundary)
    velocity = random_velocity(grid, dtype, device)
    lines = lines_along(velocity, axis, ratios, interpolation)
    u = field(noise(fine, 9), fine, dtype, device)
    for cells in (0.4, 3.7, 30.0):
        dt = cells * fine.spacing[axis]
        check_sweep(velocity, lambda _: lines, u, axis, ratios[axis], interpolation, 0.3, dt)


@pytest.mark.sampled
def test_a_series_is_that_of_the_reference(device):
    ratios, interpolation = (4, 3), "cubic"
    grid, fine = boxes((8, 9), ratios, ["wall", ("inflow", "wall")])
    levels = [random_velocity(grid, "float32", device, seed) for seed in (0, 5)]
    series = pt.VelocitySeries(levels, [0, 8])
    u = field(noise(fine, 9), fine, "float32", device)
    for axis in (0, 1):
        early, late = (lines_along(level, axis, ratios, interpolation) for level in levels)
        check_sweep(
            series,
            lambda time, early=early, late=late: early + time / 8 * (late - early),
            u,
            axis,
            ratios[axis],
            interpolation,
            1.0,
            3.7 * fine.spacing[axis],
        )


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
def test_a_wall_is_a_mirror(device):
    """The same on a periodic box of twice the size, of even fields and odd velocities.

    There both grids must begin at the same point, which is in the middle of a coarse cell where a
    wall's is: the ratio is odd, and particles are counted from the one that is there.
    """
    coarse, ratios, results = (6, 4), (3, 5), []
    rng = np.random.default_rng(3)
    a = [0.05 * rng.uniform(-1, 1, coarse) for _ in range(2)]
    start = rng.uniform(1, 2, np.multiply(coarse, ratios))
    doubled = [doubled_at(doubled_at(a[k], 0, k == 0), 1, k == 1) for k in range(2)]
    first = [(ratio - 1) // 2 for ratio in ratios]
    images = np.roll(doubled_at(doubled_at(start, 0), 1), np.negative(first), (0, 1))
    cells = [(coarse, a, start, "wall"), (np.multiply(2, coarse), doubled, images, "periodic")]
    for shape, velocities, strengths, boundary in cells:
        grid, fine = (
            pt.Grid(tuple(points), extent=np.divide(shape, coarse), boundary=boundary)
            for points in (shape, np.multiply(shape, ratios))
        )
        u = field(strengths, fine, "float32", device)
        velocity = field(velocities, grid, "float32", device)
        transport = splitting_of(velocity, u, "cubic")
        for axis in (0, 1, 0):
            transport.sweep(axis, 0.0, 1.5)
        results.append(u.get())
    unrolled = np.roll(results[1], first, (0, 1))[tuple(map(slice, start.shape))]
    assert np.abs(results[0] - unrolled).max() <= 400 * np.finfo("float32").eps


def doubled_at(values, axis, is_odd=False):
    """With its mirror image behind it."""
    image = np.flip(values, axis)
    return np.concatenate([values, -image if is_odd else image], axis)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("ratio", "interpolation"), [(3, "cubic"), (2, "linear"), (8, "cubic")])
def test_linear_profiles_are_reproduced(device, dtype, ratio, interpolation):
    """From a wall on, where the velocity vanishes; not near an end where it goes on as it is."""
    grid, fine = boxes((7, 12), (1, ratio), ["outflow", ("wall", "outflow")])
    y, places = (g.coordinates()[1] - g.origin[1] for g in (grid, fine))
    values = [np.ones(grid.shape), 0.3 * y + np.zeros(grid.shape)]
    velocity = field(values, grid, dtype, device)
    advection = pt.AdvectionOp(velocity, interpolation=interpolation, grid=fine)
    dt = 0.5
    moved = advection.apply(dt, 1).displacement.get() * fine.spacing[1]
    exact = np.broadcast_to(dt * 0.3 * (1 + dt / 2 * 0.3) * places, fine.shape)
    inside = slice(0, 8 * ratio)
    limit = 100 * np.finfo(dtype).eps
    assert np.abs(moved - exact)[:, inside].max() <= limit
    uniform = advection.apply(dt, 0).displacement.get() * fine.spacing[0]
    assert np.abs(uniform - dt).max() <= limit


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("ratio", [2, 3])
def test_no_particle_passes_a_wall(device, ratio):
    """Small steps: the velocity falls to nothing between the last node and its image."""
    grid, fine = boxes((4,), (ratio,), ["wall"])
    velocity = field([np.array([-1.0, -1.0, 1.0, 1.0])], grid, "float32", device)
    places = np.array([0.5, fine.size - 0.5])
    moves = pt.AdvectionOp(velocity, "rk4", grid=fine).apply(0.5 / ratio, 0).displacement.get()
    ends = places + moves[[0, -1]]
    assert 0 < ends[0] < 0.5
    assert ends[0] + ends[1] == pytest.approx(fine.size)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("boundary", "interpolation"),
    [(["wall", "outflow"], "cubic"), ([("inflow", "wall"), ("wall", "outflow")], "linear")],
    ids=str,
)
def test_mass_inside_and_outside_is_constant(device, dtype, boundary, interpolation):
    grid, fine = boxes((9, 5), (4, 3), boundary)
    velocity = random_velocity(grid, dtype, device)
    start = [1 + noise(fine, c) for c in range(2)]
    u = field(start, fine, dtype, device)
    inflow = [2, lambda t: 3 + np.sin(t)] if "inflow" in str(boundary) else None
    before = u.get().sum(axis=(1, 2), dtype=np.float64)
    transport = splitting_of(velocity, u, interpolation, inflow)
    for axis, cells in ((0, 0.7), (1, 12.0), (0, 5.0)):
        transport.sweep(axis, 0.0, cells * fine.spacing[axis])
    left = np.array([transport.crossed(axis) for axis in range(2)])
    assert np.abs(left).max() > 1
    balance = u.get().sum(axis=(1, 2), dtype=np.float64) + left.sum(axis=(0, 2)) - before
    limit = 1e-13 if dtype == np.float64 else 5e-7
    assert np.abs(balance).max() <= limit * (before.sum() + np.abs(left).sum())


@pytest.mark.sampled
def test_forms_give_the_same_bits(device):
    grid, fine = boxes((9, 11), (2, 3), ["wall", ("outflow", "wall")])
    velocity = random_velocity(grid, "float32", device)
    u, moves = (pt.Field(fine, 1, "float32", device) for _ in range(2))
    default, single = (
        advection_core(velocity, form=form, interpolation="cubic", grid=fine.core)
        for form in (None, "private")
    )
    forms = lot.some(swept_on(device), 3, "forms with coarse velocities and ends")
    sweeps = [
        _core.Splitting(default, remesh_core([u], "M'6", form, capacity), 1)
        for form, capacity in [(None, None), *forms]
    ]
    for axis, cells in product(range(2), (0.4, 26.0)):
        dt, results = cells * fine.spacing[axis], []
        for sweep in sweeps:
            u[...] = noise(fine, 9)
            sweep.sweep(axis, 0.3, dt)
            results.append(u.get())
        for advection in (default, single):
            advection.displace(axis, 0.3, dt, moves.core)
            results.append(moves.get())
        for result in results[1:-2]:
            np.testing.assert_array_equal(result, results[0])
        np.testing.assert_array_equal(results[-2], results[-1])


@pytest.mark.sampled
def test_a_gpu_gives_the_same_bits(device):
    grid, fine = boxes((15, 50), (2, 3), ["wall", ("outflow", "wall")])
    results = []
    for place in (device, as_gpu(device, 8 * 1024)):
        velocity = random_velocity(grid, "float32", place)
        u = field(noise(fine, 9), fine, "float32", place)
        advection = advection_core(velocity, interpolation="cubic", grid=fine.core)
        for axis in range(2):
            one_kernel(advection, u, remesh_core([u]), axis, 26.3 * fine.spacing[axis])
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.sampled
@pytest.mark.parametrize(("coarse", "ratios"), [((3000,), (3,)), ((4500, 1), (2, 3))], ids=str)
def test_long_lines(device, coarse, ratios):
    grid, fine = boxes(coarse, ratios, [("inflow", "wall")] * len(coarse))
    velocity = random_velocity(grid, "float32", device)
    u = field(noise(fine, 9), fine, "float32", device)
    lines = lines_along(velocity, 0, ratios, "cubic")
    dt = 30 * fine.spacing[0]
    check_sweep(velocity, lambda _: lines, u, 0, ratios[0], "cubic", 0.3, dt)


def test_a_wall_strains_as_much_as_its_image(device, dtype):
    """The ghosts of the last particles count: they move the other way."""
    grid, fine = boxes((4,), (2,), [("wall", "outflow")])
    velocity = field([np.array([3.0, 1.0, 0.5, 0.0])], grid, dtype, device)
    places = np.arange(-1, fine.size + 1) + 0.5
    (a,) = components(velocity)
    on_fine = reference_coarse.along(a, places, 2, ("wall", "outflow"), "cubic")
    expected = np.abs(np.diff(on_fine)).max() / fine.spacing[0]
    assert np.argmax(np.abs(np.diff(on_fine))) == 0
    advection = pt.AdvectionOp(velocity, interpolation="cubic", grid=fine)
    np.testing.assert_allclose(advection.strain(), expected, rtol=10 * np.finfo(dtype).eps)
