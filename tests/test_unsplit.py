# SPDX-License-Identifier: BSD-3-Clause
"""Steps along all axes at once: laws, the reference, and that nothing depends on how work is cut."""

import warnings

import numpy as np
import particles as pt
import pytest
import reference
import reference_unsplit
from gpu_forms import FORMS, in_form
from particles import _core, levelset
from problems import LEVEL_SET, SWIRL, relative_l1, volume
from refusals import NAN, refused, scalar, vector
from sweeps import (
    FLOWS,
    box,
    components,
    error_of_moves,
    field,
    formula_gradient,
    lipschitz_constant,
    noise,
    wave,
)
from transports import swirl

SHAPES = [(1,), (101,), (300,), (5, 3), (33, 40), (2, 3, 5), (17, 12, 20)]
CFL = (0.4, 3.7, 30.0)
ROUNDINGS = 4.0


def unsplit(u, velocity, kernel="M'6", **options):
    return pt.Unsplit(pt.AdvectionOp(velocity, **options), pt.RemeshOp(u, kernel))


def advance(u, velocity, dt, time=0.0, kernel="M'6", boxes=(), **options):
    """One step, whatever it strains, by work-items that sum up such boxes of nodes."""
    advection = pt.AdvectionOp(velocity, **options)
    core = advection.core_for(u.device, u.dtype)
    _core.Unsplit(core, pt.RemeshOp(u, kernel).core, boxes).advance(time, dt, 1)
    return components(u)


def waves(grid, dtype, device):
    return field([wave(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)


def crowd(u, moved, kernel):
    """Largest sum of |u| of the particles that a node is within reach of."""
    width = reference.half_width(kernel)
    places = np.indices(u.shape) + np.floor(moved).astype(np.int64)
    at = np.ravel_multi_index([i % n for i, n in zip(places, u.shape, strict=True)], u.shape)
    cells = np.bincount(at.ravel(), np.abs(u).ravel(), u.size).reshape(u.shape)
    for axis in range(u.ndim):
        cells = sum(np.roll(cells, shift, axis) for shift in range(-width, width))
    return float(cells.max())


def check_step(u, start, velocity, a, dt, kernel="M'6", gradient=0.0, **options):
    """Compare one step from the time 0.3 with the reference, within what rounding explains.

    Every stage passes on the error of the place before it as many times as the velocity strains. A
    product of weights is wrong by the error of each times the others, which are 1 at most.
    """
    grid = u.grid
    u[...] = start
    (found,) = advance(u, velocity, dt, 0.3, kernel, **options)
    options.pop("grid", None)
    moved = reference_unsplit.displacements(a, dt, grid, 0.3, **options)
    strain = dt * reference_unsplit.strain(a, grid, 0.3)
    stages = len(reference_unsplit.SCHEMES[options.get("scheme", "rk2")][1])
    wrong = error_of_moves(u.dtype, np.abs(moved).max(), (1 + strain) ** stages, gradient)
    weight = ROUNDINGS * np.finfo(u.dtype).eps + lipschitz_constant(kernel) * wrong
    limit = grid.ndim * weight * crowd(start, moved, kernel)
    expected = reference_unsplit.remesh(start, moved, kernel)
    assert np.abs(found - expected).max() <= limit


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


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("scheme", ["euler", "heun", "rk3", "rk4"])
def test_schemes_and_interpolations(device, dtype, scheme, interpolation):
    grid = box(19, 22)
    velocity = waves(grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    options = {"scheme": scheme, "interpolation": interpolation}
    check_step(u, start, velocity, components(velocity), 3.7 * min(grid.spacing), **options)


@pytest.mark.parametrize("interpolation", ["linear", "cubic"])
@pytest.mark.parametrize("form", FORMS)
def test_a_velocity_on_a_coarser_grid(device, dtype, form, interpolation):
    device, grid = in_form(device, form), box(8, 27, 20)
    velocity = waves(box(4, 9, 20), dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    options = {"interpolation": interpolation, "grid": grid}
    check_step(u, start, velocity, components(velocity), 3.7 * min(grid.spacing), **options)


@pytest.mark.parametrize("kernel", ["M'4", "L6_4", "L8_4"])
def test_kernels(device, dtype, kernel):
    grid = box(12, 9, 17)
    velocity = waves(grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    start = noise(grid, 9).astype(dtype).astype(np.float64)
    check_step(u, start, velocity, components(velocity), 2.3 * min(grid.spacing), kernel)


@pytest.mark.parametrize("shape", [(50,), (14, 23), (7, 9, 17)], ids=str)
def test_no_bit_depends_on_the_boxes(device, dtype, shape):
    grid = box(*shape)
    velocity = waves(grid, dtype, device)
    u = field([noise(grid, 8), noise(grid, 9)], grid, dtype, device)
    start = components(u)
    for cfl in CFL:
        results = []
        for boxes in ([], [1] * grid.ndim, [5, 2, 3][: grid.ndim], [100] * grid.ndim):
            for index, values in enumerate(start):
                u[index] = values
            results.append(advance(u, velocity, cfl * min(grid.spacing), 0.0, "M'6", boxes))
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


def test_no_bit_depends_on_the_form(device, dtype):
    """Vectors of any width, single particles on a GPU: the sums are the same."""
    results = []
    for form in FORMS:
        on, grid = in_form(device, form), box(11, 14, 19)
        u = field(noise(grid, 9), grid, dtype, on)
        results.append(advance(u, waves(grid, dtype, on), 3.7 * min(grid.spacing)))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("kernel", ["M'6", "L6_4"])
def test_in_one_dimension_a_step_is_a_sweep(device, dtype, kernel):
    grid = box(301)
    velocity = waves(grid, dtype, device)
    u, other = (field(noise(grid, 9), grid, dtype, device) for _ in range(2))
    dt = 0.5 / reference_unsplit.strain(components(velocity), grid)
    unsplit(u, velocity, kernel).step(dt)
    pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(other, kernel)).step(dt)
    np.testing.assert_array_equal(components(u), components(other))


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


def test_components_and_fields_are_carried_alike(device, dtype):
    grid = box(12, 17)
    velocity = waves(grid, dtype, device)
    pair = field([noise(grid, 8), noise(grid, 9)], grid, dtype, device)
    single = field(noise(grid, 9), grid, dtype, device)
    transport = pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp([pair, single]))
    transport.step(0.4 / reference_unsplit.strain(components(velocity), grid))
    np.testing.assert_array_equal(components(pair)[1], components(single)[0])


def test_strain_counts_all_axes(device, dtype):
    grid = box(12, 17, 9)
    velocity = waves(grid, dtype, device)
    transport = unsplit(pt.Field(grid, 1, dtype, device), velocity)
    for scale in (1.0, 3.0):
        for axis in range(3):
            velocity[axis] = scale * wave(grid, axis)
        expected = 0.01 * reference_unsplit.strain(components(velocity), grid)
        assert transport.lcfl(0.01) == pytest.approx(expected, rel=1e-5)


def test_large_strains_are_warned_of_and_refused(device):
    grid = box(12, 17)
    velocity = waves(grid, np.dtype("float32"), device)
    transport = unsplit(pt.Field(grid, device=device), velocity)
    strain = reference_unsplit.strain(components(velocity), grid)
    with pytest.warns(pt.LCFLWarning, match=r"strain of a step is 0\.6,"):
        transport.step(0.6 / strain)
    with pytest.raises(ValueError, match=r"strain of a step is 0\.95,"):
        transport.step(0.95 / strain)


def test_runs(device):
    """By equal steps and a shorter one, or by a strain; a run is its steps."""
    grid = box(16, 20)
    velocity = waves(grid, np.dtype("float32"), device)
    start = noise(grid, 9)
    u, other = (field(start, grid, np.dtype("float32"), device) for _ in range(2))
    dt = 0.3 / reference_unsplit.strain(components(velocity), grid)
    run, steps = unsplit(u, velocity), unsplit(other, velocity)
    run.run(2.5 * dt, dt, progress=False)
    for duration in (dt, dt, 2.5 * dt - 2 * dt):
        steps.step(duration)
    assert (run.time, run.steps) == (2.5 * dt, 3)
    np.testing.assert_array_equal(components(u), components(other))
    run.run(4.5 * dt, lcfl=0.31, progress=False)
    assert run.steps == 5
    assert repr(run).startswith(f"Unsplit(time={run.time:g},\n  AdvectionOp(")


def errors_of_swirl(device, stepper, kernel, cases, scheme="rk4"):
    """Relative errors at the time 0.5, by cases (points along an axis, steps), in float64."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for points, steps in cases:
        velocity = swirl(points, "float64", device)
        x = velocity.grid.coordinates()
        u = field(SWIRL.initial(*x), velocity.grid, "float64", device)
        advection = pt.AdvectionOp(velocity, scheme, interpolation="cubic")
        stepper(advection, pt.RemeshOp(u, kernel)).run(0.5, 0.5 / steps, progress=False)
        errors.append(relative_l1(components(u)[0], SWIRL.exact(x, 0.5)))
    return errors


STEPS = (8, 12, 16)


def slope(numbers, errors):
    return -np.polyfit(np.log(numbers), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("scheme", "least"), [("euler", 0.85), ("rk2", 1.9), ("heun", 1.9), ("rk3", 2.9), ("rk4", 3.9)]
)
def test_order_in_time(device, scheme, least):
    errors = errors_of_swirl(device, pt.Unsplit, "L6_4", [(96, n) for n in STEPS], scheme)
    assert slope(STEPS, errors) >= least


def test_there_is_no_error_of_splitting(device):
    cases = [(96, n) for n in STEPS]
    errors = errors_of_swirl(device, pt.Unsplit, "L6_4", cases)
    split = errors_of_swirl(device, pt.Splitting, "L6_4", cases)
    assert slope(STEPS, split) <= 2.3
    assert errors[-1] <= split[-1] / 10


@pytest.mark.parametrize(("kernel", "least"), [("M'4", 2.5), ("M'6", 3.9), ("L6_4", 4.9)])
def test_order_in_space(device, kernel, least):
    points = (32, 48, 64)
    errors = errors_of_swirl(device, pt.Unsplit, kernel, [(n, 24) for n in points])
    assert slope(points, errors) >= least


def test_level_set(device):
    """Twenty steps on 64^3 points: as far from the solution as steps of Strang are."""
    grid = pt.Grid((64, 64, 64))
    x = grid.coordinates()
    exact = levelset.exact(grid, [1.0])[0]
    errors = []
    for stepper in (pt.Splitting, pt.Unsplit):
        u = field(LEVEL_SET.initial(*x), grid, "float32", device)
        velocity = [np.broadcast_to(a, grid.shape) for a in LEVEL_SET.velocity(*x)]
        advection = pt.AdvectionOp(field(velocity, grid, "float32", device))
        before = u.sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            stepper(advection, pt.RemeshOp(u)).run(1.0, 0.05, progress=False)
        (values,) = components(u)
        errors.append(relative_l1(values, exact))
        assert abs(u.sum() / before - 1) <= 3e-7
        assert -0.04 <= volume(values) / exact.sum() - 1 <= 0
    assert errors[1] <= 1.05 * errors[0]


@pytest.mark.parametrize("shape", [(30,), (12, 17)], ids=str)
def test_halves_are_rounded_once_a_step(device, shape):
    grid = box(*shape)
    velocity = waves(grid, np.dtype("float32"), device)
    half = field(noise(grid, 9), grid, "float16", device)
    single = field(components(half)[0], grid, "float32", device)
    dt = 0.4 / reference_unsplit.strain(components(velocity), grid)
    for u in (half, single):
        unsplit(u, velocity).step(dt)
    rounded = components(single)[0].astype(np.float16).astype(np.float64)
    np.testing.assert_array_equal(components(half)[0], rounded)


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        ({"limiter": "positive"}, "remesh must have no limiter for Unsplit, not 'positive'"),
        (
            {"conservative": False},
            "remesh must be conservative for Unsplit, not conservative=False",
        ),
        (
            {"form": "global"},
            "remesh must have no form for Unsplit, which has no lines, not Form(kind='global')",
        ),
    ],
    ids=str,
)
def test_what_it_cannot_do_is_refused(operator, words):
    refused(
        ValueError, words, pt.Unsplit, pt.AdvectionOp(vector()), pt.RemeshOp(scalar(), **operator)
    )


def test_wrong_arguments_are_refused():
    advection, remesh = pt.AdvectionOp(vector()), pt.RemeshOp(scalar())
    refused(TypeError, "advection must be an AdvectionOp, not None", pt.Unsplit, None, remesh)
    refused(TypeError, "remesh must be a RemeshOp, not None", pt.Unsplit, advection, None)
    velocity = vector()
    velocity[0] = NAN
    transport = pt.Unsplit(pt.AdvectionOp(velocity), remesh)
    refused(ValueError, "velocity must be finite, but it is not", transport.step, 0.1)
    velocity.fill(1.0)
    words = "dt must move particles by less than 2**30 cells, not 4e+09 along axis 0"
    refused(ValueError, words, transport.step, 1e9)
