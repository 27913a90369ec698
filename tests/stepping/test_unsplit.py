# SPDX-License-Identifier: BSD-3-Clause
"""Steps along all axes at once: laws, the reference, and that nothing depends on how work is cut."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_unsplit
from tests.support.gpu_forms import FORMS, in_form
from tests.support.sweeps import (
    FLOWS,
    box,
    components,
    field,
    formula_gradient,
    in_single,
    noise,
    wave,
)
from tests.support.unsplits import advance, check_step, unsplit, waves

SHAPES = [(1,), (101,), (300,), (5, 3), (33, 40), (2, 3, 5), (17, 12, 20)]
CFL = (0.4, 3.7, 30.0)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_step_is_that_of_the_reference(device, dtype, form, shape):
    device, grid = in_form(device, form), box(*shape)
    velocity = waves(grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    for cfl in CFL:
        check_step(u, start, velocity, components(velocity), cfl * min(grid.spacing))


@pytest.mark.parametrize("shape", [(41,), (19, 22), (9, 14, 18)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_a_formula_is_evaluated_where_and_when_it_is_needed(device, dtype, form, shape):
    device, grid = in_form(device, form), box(*shape)
    flow = FLOWS[grid.ndim]
    velocity = pt.Velocity(grid, flow)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    gradient = formula_gradient(grid, 1.0)
    for cfl in CFL:
        dt = cfl * min(grid.spacing)
        check_step(u, start, velocity, flow, dt, gradient=gradient)


@in_single
@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("scheme", ["euler", "heun", "rk3", "rk4"])
def test_schemes_and_interpolations(device, dtype, scheme, interpolation):
    grid = box(19, 22)
    velocity = waves(grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    options = {"scheme": scheme, "interpolation": interpolation}
    check_step(u, start, velocity, components(velocity), 3.7 * min(grid.spacing), **options)


@pytest.mark.sampled
@in_single
@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("form", FORMS)
def test_a_velocity_on_a_coarser_grid(device, dtype, form, interpolation):
    device, grid = in_form(device, form), box(8, 27, 20)
    velocity = waves(box(4, 9, 20), dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    options = {"interpolation": interpolation, "grid": grid}
    check_step(u, start, velocity, components(velocity), 3.7 * min(grid.spacing), **options)


@in_single
@pytest.mark.parametrize("kernel", ["M'4", "L6_4", "L8_4"])
def test_kernels(device, dtype, kernel):
    grid = box(12, 9, 17)
    velocity = waves(grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    check_step(u, start, velocity, components(velocity), 2.3 * min(grid.spacing), kernel)


@pytest.mark.parametrize("cells", [-12, 12])
def test_one_row_may_move_further_than_the_others_of_its_plane(device, cells):
    grid = box(40, 6, 16)
    velocity = pt.Field(grid, 3, device=device)
    velocity[0, :, 3] = cells * grid.spacing[0]
    u = field(noise(grid, 8), grid, "float32", device)
    (expected,) = components(u)
    expected[:, 3] = np.roll(expected[:, 3], cells, 0)
    moved = advance(u, velocity, 1.0)
    np.testing.assert_allclose(moved[0], expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("cells", [-30, 30])
def test_particles_may_go_round_several_times(device, cells):
    grid = pt.Grid((8, 16))
    velocity = pt.Field(grid, 2, device=device)
    velocity[0] = cells * grid.spacing[0]
    u = field(noise(grid, 8), grid, "float32", device)
    expected = np.roll(u.get(), cells, 0)
    np.testing.assert_allclose(advance(u, velocity, 1.0)[0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shape", [(300,), (33, 300), (2, 3, 5), (11, 14, 19)], ids=str)
def test_a_gpu_gives_the_same_bits(device, dtype, shape):
    found = set()
    for form in FORMS:
        on, grid = in_form(device, form), box(*shape)
        u = field(noise(grid, 9), grid, dtype, on)
        (moved,) = advance(u, waves(grid, dtype, on), 3.7 * min(grid.spacing))
        found.add(moved.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("form", FORMS)
def test_fields_that_are_alike_share_launches(device, dtype, form, ndim):
    """Up to four components are one launch. Bits are those of a field alone."""
    device, grid = in_form(device, form), box(*(12, 14, 17)[:ndim])
    velocity = waves(grid, dtype, device)
    dt = 0.4 / reference_unsplit.strain(components(velocity), grid)
    numbers = [1, 2, 1, 1, 1, 1]  # of components: four alike share, and one of each kind is left
    fields = [
        field([noise(grid, 7 * k + c) for c in range(n)], grid, dtype, device)
        for k, n in enumerate(numbers)
    ]
    alone = [f.copy() for f in fields]
    transport = unsplit(fields, velocity, "M'4")
    transport.step(dt)
    with pt.profile(device) as profile:
        transport.step(dt)
        device.finish()
    launches = sum(k.launches for name, k in profile.kernels.items() if "particles_to_" in name)
    assert launches == 3
    for one, together in zip(alone, fields, strict=True):
        single = unsplit(one, velocity, "M'4")
        single.step(dt)
        single.step(dt)
        assert together.get().tobytes() == one.get().tobytes()


@pytest.mark.parametrize("kernel", ["M'6", "L6_4"])
def test_in_one_dimension_a_step_is_a_sweep(device, dtype, kernel):
    grid = box(301)
    velocity = waves(grid, dtype, device)
    u, other = (field(noise(grid, 9), grid, dtype, device) for _ in range(2))
    dt = 0.5 / reference_unsplit.strain(components(velocity), grid)
    unsplit(u, velocity, kernel).step(dt)
    pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(other, kernel)).step(dt)
    eps = np.finfo(dtype).eps  # sums of the same numbers, in another order beside the box's ends
    np.testing.assert_allclose(components(u), components(other), rtol=0, atol=20 * eps)


@pytest.mark.parametrize("shape", [(60,), (30, 26), (14, 18, 11)], ids=str)
def test_mass_is_conserved(device, dtype, shape):
    grid = box(*shape)
    u = field(1 + wave(grid, 9), grid, dtype, device)
    velocity = waves(grid, dtype, device)
    transport = unsplit(u, velocity)
    before = u.sum()
    for _ in range(10):
        transport.step(0.45 / reference_unsplit.strain(components(velocity), grid))
    assert abs(u.sum() / before - 1) <= 100 * np.finfo(dtype).eps


@pytest.mark.parametrize("shape", [(60,), (30, 26), (14, 18, 11)], ids=str)
def test_a_uniform_flow_keeps_constants_and_carries_whole_cells(device, dtype, shape):
    grid = box(*shape)
    velocity = pt.Field(grid, grid.ndim, dtype, device)
    for axis, h in enumerate(grid.spacing):
        velocity.component(axis)[...] = (axis + 2) * h
    u = field([np.ones(shape), noise(grid, 9)], grid, dtype, device)
    _, start = components(u)
    transport = unsplit(u, velocity)
    transport.step(1.0)
    moved = np.roll(start, range(2, 2 + grid.ndim), range(grid.ndim))
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(components(u)[1], moved, rtol=0, atol=20 * eps)
    transport.step(0.3217)
    np.testing.assert_allclose(components(u)[0], 1, rtol=0, atol=20 * eps)


def test_a_series_is_linear_in_time_and_cuts_steps(device, dtype):
    grid = box(19, 22)
    fields = [waves(grid, dtype, device), pt.Field(grid, 2, dtype, device)]
    fields[1].fill(0.1)
    a = [components(field) for field in fields]
    series = pt.VelocitySeries([*fields, fields[0]], [0.0, 0.5, 2.0])
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    check_step(u, start, series, reference_unsplit.Series(a, (0.0, 0.5)), 0.125, scheme="rk4")
    u[...] = start
    found = advance(u, series, 0.375, 0.25)
    u[...] = start
    advance(u, series, 0.25, 0.25)
    np.testing.assert_array_equal(found, advance(u, series, 0.125, 0.5))
