# SPDX-License-Identifier: BSD-3-Clause
"""Every form of the kernels, whole lines and segments, one kernel and two: the same bits."""

import re

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.reference import reference
from tests.support import lot
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    FLOWS,
    advection_core,
    box,
    check_forms,
    components,
    error_of_moves,
    error_of_sweep,
    field,
    formula_gradient,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    spread,
    wave,
)

FORMS = [
    ("private", None),
    ("local", None),
    ("lanes", None),
    ("private", 7),
    ("local", 9),
    ("lanes", 8),
    ("private", 50),
    ("registers", None),
    ("registers", 9),
    ("team", None),
    ("team", 9),
]
FORM_IDS = [f"{form}-{capacity}" for form, capacity in FORMS]
CELLS = (0.4, 3.7, 26.0)
TAILS = [(101,), (3, 257), (67, 16), (15, 16, 17), (2, 33, 7), (40, 5, 31)]


@pytest.mark.parametrize("shape", TAILS, ids=str)
@pytest.mark.parametrize(("form", "capacity"), FORMS, ids=FORM_IDS)
@pytest.mark.parametrize("make", [wave, noise])
def test_forms_give_the_same_bits(device, dtype, make, form, capacity, shape):
    grid = box(*shape)
    velocity = field([make(grid, axis) for axis in range(grid.ndim)], grid, dtype, device)
    check_forms(velocity, grid, dtype, device, form, capacity)


@pytest.mark.parametrize("group", [1, 3, 8, 40])
@pytest.mark.parametrize("limiter", [None, "monotone"])
@pytest.mark.parametrize("boundary", ["periodic", ("outflow", "wall")], ids=str)
def test_teams_take_their_lines_in_portions(device, boundary, limiter, group):
    """Where compute units have little memory, whether particles keep their order or not."""
    device = as_gpu(device, unit_memory=1)
    grid = pt.Grid((3, 37), boundary=["periodic", boundary])
    for make in wave, noise:
        velocity = field([make(grid, axis) for axis in range(2)], grid, "float32", device)
        found = []
        for form in {"kind": "team", "group": group}, {"kind": "private"}:
            u = field([noise(grid, 2), noise(grid, 3)], grid, "float32", device)
            remesh = remesh_core([u], form=form, limiter=limiter)
            _core.Splitting(advection_core(velocity), remesh, 1).sweep(1, 0.0, 9.7 / 37)
            found.append(u.get())
        np.testing.assert_array_equal(*found)


# Arithmetic and the project's own sines and cosines are the same in every form; other functions are
# the driver's, which may round them in vectors otherwise than alone.
SAME_IN_EVERY_FORM = {
    1: lambda x, t: (x * np.sin(9 * x) + t,),
    2: lambda x, y, t: (np.sin(7 * x - y) + t, np.cos(9 * y) * (x + 0.3)),
    3: lambda x, y, z, t: (
        np.cos(x * y - t),
        np.where(x < 0, np.sin(20 * z), y) / 10,
        np.abs(x) + np.minimum(z, 8) * t,
    ),
}


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((101,), "float64"), ((15, 16, 17), "float32")],
    indirect=["dtype"],
    ids=str,
)
@pytest.mark.parametrize(("form", "capacity"), FORMS, ids=FORM_IDS)
def test_forms_give_the_same_bits_with_a_formula(device, dtype, form, capacity, shape):
    grid = box(*shape)
    check_forms(
        pt.Velocity(grid, SAME_IN_EVERY_FORM[grid.ndim]), grid, dtype, device, form, capacity
    )


@pytest.mark.parametrize("form", ["lanes", "private", "local", "registers", "team"])
def test_the_forms_of_a_user_give_the_same_bits(device, dtype, form):
    grid = box(18, 33, 19)
    velocity = field([0.3 * wave(grid, axis) for axis in range(3)], grid, dtype, device)
    results = []
    for chosen in (None, form):
        u = field(noise(grid, 5), grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(velocity, form=chosen), pt.RemeshOp(u, form=chosen))
        transport.step(0.05)
        velocity[...] = -velocity.get()  # copies of it must be made anew
        transport.run(0.15, 0.05)
        velocity[...] = -velocity.get()
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


@in_single
@pytest.mark.parametrize("form", ["lanes", "private", "local", "registers", "team"])
def test_components_are_carried_alike_in_every_form(device, dtype, form):
    grid = box(5, 17, 33)
    velocity = field([noise(grid, axis) for axis in range(3)], grid, dtype, device)
    for axis in range(3):
        dt = 3.7 * grid.spacing[axis]
        u = field([noise(grid, seed) for seed in range(2)], grid, dtype, device)
        one_by_one = u.copy()
        advection = advection_core(velocity)
        for index in range(2):
            component = one_by_one.component(index)
            one_kernel(advection, component, remesh_core([component]), axis, dt)
        for capacity in (None, 7):
            together = u.copy()
            remesh = remesh_core([together], "M'6", form, capacity)
            one_kernel(advection, together, remesh, axis, dt)
            np.testing.assert_array_equal(together.get(), one_by_one.get())


@pytest.mark.parametrize(("shape", "axis"), [((1500, 3), 0), ((3, 2100), 1)], ids=str)
def test_components_share_the_memory_of_long_lines(device, dtype, shape, axis):
    """Fewer of them are carried together, with the same bits."""
    grid = box(*shape)
    velocity = field([noise(grid, 0), noise(grid, 1)], grid, dtype, device)
    u = field([noise(grid, seed) for seed in range(3)], grid, dtype, device)
    one_by_one = u.copy()
    advection, dt = advection_core(velocity), 3.7 * grid.spacing[axis]
    one_kernel(advection, u, remesh_core([u]), axis, dt)
    for index in range(3):
        component = one_by_one.component(index)
        one_kernel(advection, component, remesh_core([component]), axis, dt)
    np.testing.assert_array_equal(u.get(), one_by_one.get())


@pytest.mark.parametrize("make", [wave, noise])
@pytest.mark.parametrize("kernel", ["M'4", "M'6"])
def test_a_sweep_is_that_of_the_reference(device, dtype, kernel, make):
    for shape in [(17, 16, 5), (2, 3, 33)]:
        grid = box(*shape)
        velocity = field([make(grid, axis) for axis in range(3)], grid, dtype, device)
        a = components(velocity)
        for axis in (1, 2):
            for cells in CELLS:
                u = field(noise(grid, 9), grid, dtype, device)
                (start,) = components(u)
                dt = cells * grid.spacing[axis]
                one_kernel(advection_core(velocity), u, remesh_core([u], kernel), axis, dt)
                moves = reference.displacement(a, axis, dt, grid)
                expected = reference.remesh(start, moves, axis, kernel)
                wrong_by = error_of_moves(dtype, cells, cells * spread(a[axis], axis))
                limit = error_of_sweep(dtype, start, moves, axis, kernel, wrong_by)
                assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.parametrize("cfl", [0, 0.8, 5, 30])
@pytest.mark.parametrize("axis", [0, 1])
def test_particles_in_order_are_right_to_1e_minus_13(device, dtype, axis, cfl):
    """In float32 to 4 (1 + CFL) epsilons: the displacement is rounded in proportion to its size."""
    grid = box(90, 70)
    velocity = field([1 + 0.1 * wave(grid, k) for k in range(2)], grid, dtype, device)
    u = field(noise(grid, 4), grid, dtype, device)
    ((start,), rates) = components(u), components(velocity)
    dt = cfl * grid.spacing[axis]
    moves = reference.displacement(rates, axis, dt, grid)
    exact = reference.remesh(start, moves, axis, "M'6")
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, kernel="M'6"))
    if cfl:
        transport.sweep(axis, dt)
    limit = 1e-13 if dtype == np.float64 else 4 * (1 + cfl) * np.finfo(dtype).eps
    assert np.abs(components(u)[0] - exact).max() < limit


LONG = [
    ((1_000_000,), 0),
    ((3, 20_000), 1),
    ((20_000, 3), 0),
    ((17, 1024, 3), 1),
    ((5000, 4, 2), 0),
    ((1600, 40), 0),
    ((2, 4, 5000), 2),
]


@pytest.mark.parametrize(("shape", "axis"), LONG, ids=str)
def test_long_lines(device, dtype, shape, axis):
    grid = box(*shape)
    velocity = field([wave(grid, k) for k in range(grid.ndim)], grid, dtype, device)
    u = field(noise(grid, 9), grid, dtype, device)
    (start,) = components(u)
    for cells in (0.4, 30.0):
        u[...] = start
        dt = cells * grid.spacing[axis]
        one_kernel(advection_core(velocity), u, remesh_core([u]), axis, dt)
        a = components(velocity)
        moves = reference.displacement(a, axis, dt, grid)
        wrong_by = error_of_moves(dtype, cells, cells * spread(a[axis], axis))
        limit = error_of_sweep(dtype, start, moves, axis, "M'6", wrong_by)
        expected = reference.remesh(start, moves, axis, "M'6")
        assert np.abs(components(u)[0] - expected).max() <= limit
        in_segments = u.get()
        u[...] = start
        capacity = 1000
        one_kernel(advection_core(velocity), u, remesh_core([u], "M'6", None, capacity), axis, dt)
        np.testing.assert_array_equal(u.get(), in_segments)


@in_single
@pytest.mark.parametrize(("shape", "axis"), LONG, ids=str)
def test_long_lines_and_a_formula(device, dtype, shape, axis):
    grid = box(*shape)
    flow = FLOWS[grid.ndim]
    velocity = advection_core(pt.Velocity(grid, flow), dtype, device)
    u = field(wave(grid, 9), grid, dtype, device)
    (start,) = components(u)
    cells = 30.0
    dt = cells * grid.spacing[axis]
    one_kernel(velocity, u, remesh_core([u]), axis, dt)
    moves = reference.displacement(flow, axis, dt, grid, 0.3)
    strain = 2 * np.pi * cells / grid.shape[axis]
    wrong_by = error_of_moves(dtype, cells, strain, formula_gradient(grid, 0.3 + dt))
    limit = error_of_sweep(dtype, start, moves, axis, "M'6", wrong_by)
    expected = reference.remesh(start, moves, axis, "M'6")
    assert np.abs(components(u)[0] - expected).max() <= limit


def test_long_lines_and_a_formula_that_moves_too_far(device):
    grid = box(6000)
    velocity = pt.Velocity(grid, lambda x: 1 + 0 * x)
    u = field(noise(grid, 0), grid, "float32", device)
    advection = advection_core(velocity, np.dtype("float32"), device)
    words = (
        r"^velocity: expected moves of less than 2\*\*30 cells, got 3000000[0-9.]* along axis 0$"
    )
    with pytest.raises(ValueError, match=words):
        one_kernel(advection, u, remesh_core([u]), 0, 1e6)


def test_long_lines_step_by_step(device, dtype):
    """Splitting knows how far a velocity that is rewritten moves particles at most."""
    grid = box(6000)
    velocity = pt.Field(grid, dtype=dtype, device=device)
    u = field(noise(grid, 0), grid, dtype, device)
    start = u.get()
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    shift = 0
    for cells in (1, 500, -3000, 0, 20_000):
        velocity[...] = cells
        transport.step(grid.spacing[0])
        shift += cells
        np.testing.assert_array_equal(u.get(), np.roll(start, shift))


@pytest.mark.parametrize("form", ["lanes", "private", "local", "registers", "team"])
def test_rolling_across_the_lines_rolls_the_bits(device, dtype, form):
    """Sums are in the order of the particles of a line, whichever lines lie beside it."""
    grid = box(9, 21, 35)
    for axis in range(3):
        dt = 3.7 * grid.spacing[axis]
        results = []
        for across in [(0, 0, 0), (4, 5, 13)]:
            shift = np.where(np.arange(3) == axis, 0, across)
            rolled = [np.roll(noise(grid, k), shift, (0, 1, 2)) for k in range(4)]
            velocity = field(rolled[:3], grid, dtype, device)
            u = field(rolled[3], grid, dtype, device)
            remesh = remesh_core([u], "M'6", form)
            moved = one_kernel(advection_core(velocity, form=form), u, remesh, axis, dt)
            results.append(np.roll(moved, -shift, (0, 1, 2)))
        np.testing.assert_array_equal(results[0], results[1])


def test_rolling_along_the_lines_rolls_the_result(device, dtype):
    """To round-off alone: a line's particles are then added in another order."""
    grid = box(19, 5, 35)
    for axis in (0, 2):
        dt = 3.7 * grid.spacing[axis]
        arrays = [noise(grid, k) for k in range(4)]
        results = []
        for shift in (0, 13):
            rolled = [np.roll(a, shift, axis) for a in arrays]
            velocity = field(rolled[:3], grid, dtype, device)
            u = field(rolled[3], grid, dtype, device)
            moved = one_kernel(advection_core(velocity), u, remesh_core([u]), axis, dt)
            results.append(np.roll(moved, -shift, axis))
        moves = reference.displacement(arrays, axis, dt, grid)
        limit = error_of_sweep(dtype, arrays[3], moves, axis, "M'6")
        assert np.abs(results[1] - results[0]).max() <= limit


@pytest.mark.sampled
@in_single
@pytest.mark.parametrize("kilobytes", [8, 48])
@pytest.mark.parametrize("carried", [1, 3])
def test_a_gpu_with_little_local_memory_gives_the_same_bits(device, dtype, carried, kilobytes):
    """Lines that do not fit are cut, or fewer of them share a group."""
    grid = box(70, 17, 300)
    results = []
    for place in (device, as_gpu(device, kilobytes * 1024)):
        velocity = field([noise(grid, axis) for axis in range(3)], grid, dtype, place)
        u = field([noise(grid, 5 + c) for c in range(carried)], grid, dtype, place)
        transport = _core.Splitting(advection_core(velocity), remesh_core([u]), 1)
        for axis in range(3):
            transport.sweep(axis, 0.0, 26.3 * grid.spacing[axis])
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


ANYTHING = {
    "shape": [(1,), (17,), (3, 5), (40, 6), (2, 33, 7), (13, 1, 18), (300, 4), (3, 700)],
    "dtype": ["float16", "float32"],
    "velocity": ["field", "formula"],
    "limiter": [None, "positive", "monotone"],
    "conservative": [True, True, False],
    "kernel": ["M'4", "M'6", "L6_4"],
    "boundary": ["periodic", "wall", ("inflow", "outflow"), ("outflow", "wall")],
    "components": [1, 2, 3],
    "form": [None, None, "registers"],
    "cells": [0.4, 3.7, 26.0],
}


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.drawn(4)
@pytest.mark.parametrize("number", range(10_000, 10_040))
def test_gpus_sweep_whatever_cpus_do(device, number):
    """Lines that are short or long, limited sums and halves; and what leaves is counted alike."""
    draw = lot.lots(f"gpus {number}").choice
    case = {name: draw(choices) for name, choices in ANYTHING.items()}
    grid = pt.Grid(case["shape"], boundary=[case["boundary"]] * len(case["shape"]))
    ends = []
    for place, form in ((device, None), (as_gpu(device), case["form"])):
        velocity = pt.Velocity(grid, SAME_IN_EVERY_FORM[grid.ndim])
        if case["velocity"] == "field":
            velocity = field([noise(grid, k) for k in range(grid.ndim)], grid, "float32", place)
        start = [noise(grid, 7 + c) + 0.5 for c in range(case["components"])]
        u = field(start, grid, case["dtype"], place)
        remesh = pt.RemeshOp(
            u,
            case["kernel"],
            limiter=case["limiter"],
            conservative=case["conservative"],
            inflow=0.5 if "inflow" in case["boundary"] else None,
            form=form,
        )
        core = pt.Splitting(pt.AdvectionOp(velocity), remesh, order=1)._core
        for axis in range(grid.ndim):
            core.sweep(axis, 0.0, case["cells"] * grid.spacing[axis])
        crossed = [core.crossed(axis) for axis in range(grid.ndim)]
        ends.append((u.get(), np.array(crossed, float).ravel()))
    np.testing.assert_array_equal(ends[0][0], ends[1][0], err_msg=str(case))
    size = np.abs(start).sum() * (1 + case["cells"])
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=0, atol=1e-6 * size, err_msg=str(case))


CHANGES = [0.0, 0.02, 0.3, 2.0, 40.0]  # of how many cells a node moves, to the next node
ROWS_THAT_DIFFER = {
    "shape": [(700,), (96, 50), (24, 40, 36), (9, 64), (16, 48)],
    "along": CHANGES,
    "across": CHANGES,
    "rough": [0.0, 0.0, 0.4, 3.0],
    "wind": [0.0, 7.3, -31.0],
    "dtype": ["float16", "float32", "float64"],
    "limiter": [None, None, "positive", "monotone"],
    "conservative": [True, True, False],
    "kernel": ["M'4", "M'6", "L6_4"],
    "scheme": ["euler", "rk2", "rk3", "rk4"],
    "interpolation": ["linear", "cubic"],
    "boundary": ["periodic", "periodic", "wall", ("inflow", "outflow")],
    "coarser": [1, 1, 2],
    "components": [1, 2],
}


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.drawn(6)
@pytest.mark.parametrize("number", range(20_000, 20_060))
def test_rows_that_move_alike_or_not_give_the_bits_of_lines_by_themselves(device, number):
    draw = lot.lots(f"rows {number}").choice
    case = {name: draw(choices) for name, choices in ROWS_THAT_DIFFER.items()}
    shape, boundary = case["shape"], [case["boundary"]] * len(case["shape"])
    grid = pt.Grid(shape, boundary=boundary)
    is_even = all(n % case["coarser"] == 0 for n in shape)
    divisor = case["coarser"] if is_even else 1
    coarse = pt.Grid([n // divisor for n in shape], boundary=boundary)
    computed = "float64" if case["dtype"] == "float64" else "float32"
    nodes = divisor * np.indices(coarse.shape)
    moves = []
    for axis in range(grid.ndim):
        along, others = nodes[axis], nodes.sum(axis=0) - nodes[axis]
        waves = 8 * (case["along"] * np.sin(along / 8) + case["across"] * np.sin(others / 8))
        rough = case["rough"] * noise(coarse, axis)
        moves.append((case["wind"] + waves + rough) * grid.spacing[axis])
    results = []
    for form in ("lanes", "private"):
        velocity = field(moves, coarse, computed, device)
        start = [noise(grid, 7 + c) + 0.5 for c in range(case["components"])]
        u = field(start, grid, case["dtype"], device)
        remesh = pt.RemeshOp(
            u,
            case["kernel"],
            limiter=case["limiter"],
            conservative=case["conservative"],
            inflow=0.5 if "inflow" in case["boundary"] else None,
            form=form,
        )
        rule = {"interpolation": case["interpolation"], "grid": grid, "form": form}
        advection = pt.AdvectionOp(velocity, case["scheme"], **rule)
        core = pt.Splitting(advection, remesh, order=1)._core
        for axis in range(grid.ndim):
            core.sweep(axis, 0.0, 1.0)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1], err_msg=str(case))


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.drawn(3)
@pytest.mark.parametrize("boundary", ["periodic", "wall", ("outflow", "wall"), "outflow"], ids=str)
@pytest.mark.parametrize("limiter", [None, "monotone"])
@pytest.mark.parametrize("conservative", [True, False])
@pytest.mark.parametrize("capacity", [None, 9])
def test_no_move_keeps_a_gpu_busy_for_long(device, boundary, limiter, conservative, capacity):
    """NaN and moves beyond all integers are refused; where they come all the same, their lines alone suffer."""
    case = lot.lots(f"strange moves {boundary} {limiter} {conservative} {capacity}")
    grid = pt.Grid((50, 40), boundary=[boundary] * 2)
    dtype = case.choice([name.name for name in device.dtypes])
    drawn = [case.choice((-1, 1)) * 10.0 ** case.uniform(1, 30) for _ in range(40)]
    strange = [np.nan, np.inf, -np.inf, 2.0**31, *drawn]
    moves = [noise(grid, 0), noise(grid, 1)]
    for k in range(6):
        at = case.sample(range(40), case.choice((1, 2, 39, 40)))
        moves[0][at, 2 * k] = [case.choice(strange) for _ in at]
        moves[1][2 * k, at] = [case.choice(strange) for _ in at]
    moves[0][1, 0] = np.nan
    found, moved = [], np.promote_types(dtype, "float32")
    for place in (device, as_gpu(device)):
        velocity = field(moves, grid, moved, place)
        u = field(noise(grid, 2), grid, dtype, place)
        remesh = pt.RemeshOp(u, limiter=limiter, conservative=conservative)
        with pytest.raises(ValueError, match="velocity"):
            pt.Splitting(pt.AdvectionOp(velocity), remesh).step(0.01)
        for axis in range(2):
            u[...] = noise(grid, 2)
            options = {"limiter": limiter, "conservative": conservative}
            core = remesh_core([u], "M'6", None, capacity, **options)
            displacements = pt.Field(grid, 1, moved, place)
            displacements[...] = 0.3 * moves[axis]
            core.apply(axis, displacements.core, np.nan)
            others = np.moveaxis(u.get(), axis, -1)
            found.append(np.delete(others, range(0, 12, 2), 0))
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


@pytest.mark.sampled
@pytest.mark.parametrize("carried", [(0, 1, 2), (1,), (0, 2)], ids=str)
def test_what_is_swept_out_of_place_comes_home(device, carried):
    """All of a field, or some components: also for who holds a view of it, and in the next run."""
    start = np.random.default_rng(1).random((3, 12, 7, 33))
    ends = []
    for place in (device, as_gpu(device)):
        grid = box(12, 7, 33)
        u = pt.Field(grid, 3, "float32", place)
        views = [u.component(c) for c in range(3)]
        for view, values in zip(views, start, strict=True):
            view[...] = values
        flow = pt.Velocity(
            grid, lambda x, y, z: (np.sin(6 * y) + 0.3, np.cos(6 * z), np.sin(6 * x))
        )
        remesh = pt.RemeshOp(u if len(carried) == 3 else [views[c] for c in carried])
        transport = pt.Splitting(pt.AdvectionOp(flow), remesh)
        for until in (0.03, 0.05):
            transport.run(until, 0.01, progress=False)
            ends.append(u.get())
            for c, view in enumerate(views):
                np.testing.assert_array_equal(view.get(), u.get()[c])
                assert np.array_equal(view.get(), start[c].astype("f4")) == (c not in carried)
    for k in range(2):
        np.testing.assert_array_equal(ends[k], ends[k + 2])


@pytest.mark.one_device
@pytest.mark.parametrize("ends", ["periodic", ("outflow", "inflow"), ("inflow", "inflow")])
def test_a_formula_may_be_faster_between_points_than_on_them(device, ends):
    """Then stages look further than particles are known to move, across the ends of the line."""
    n, found = 64, set()
    grid = pt.Grid((40, n), boundary=["periodic", ends])
    is_closed = ends == "periodic"
    wind = -0.9 if ends[0] == "outflow" else 0.9

    def speed(x, y):
        between = np.sin(np.pi * (n * y if is_closed else n * y - 0.5)) ** 2
        return 0, wind / n + 40 / n * between * (0.5 + y if is_closed else 4 * y * (1 - y))

    for form in "private", "lanes", None:
        u = pt.Field(grid, device=device)
        u[...] = np.random.default_rng(0).random(grid.shape)
        transport = pt.Splitting(
            pt.AdvectionOp(pt.Velocity(grid, speed), "rk4", device=device, form=form),
            pt.RemeshOp(u, form=form, **({} if is_closed else {"inflow": 0.5})),
        )
        transport.sweep(1, 1.0)
        found.add(u.get().tobytes())
    assert len(found) == 1


BETWEEN_POINTS = {
    "beyond": [
        "1/(x - x)",
        "-1/(x - x)",
        "1e9 + y",
        "-1e9 + y",
        "1e30",
        "-1e30",
    ],
    "shape": [(40,), (40, 5), (24, 33), (9, 40, 6)],
    "dtype": ["float16", "float32", "float64"],
    "limiter": [None, None, "positive", "monotone"],
    "conservative": [True, True, False],
    "kernel": ["M'4", "M'6", "L6_4"],
    "scheme": ["rk2", "rk4"],
    "boundary": ["periodic", "periodic", "wall", ("outflow", "wall")],
    "rough": [0.1, 3.0],
    "components": [1, 2],
}


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.drawn(4)
@pytest.mark.parametrize("number", range(30_000, 30_040))
@pytest.mark.filterwarnings("ignore::particles.NotFiniteWarning")
@pytest.mark.filterwarnings("ignore::particles.LCFLWarning")
@pytest.mark.filterwarnings("ignore::particles.WallWarning")
def test_a_formula_may_be_huge_between_its_points(device, number):
    """A step knows only what it is on them."""
    draw = lot.lots(f"between points {number}").choice
    case = {name: draw(choices) for name, choices in BETWEEN_POINTS.items()}
    shape, names = case["shape"], "xyz"[: len(case["shape"])]
    grid = pt.Grid(shape, boundary=[case["boundary"]] * len(shape))
    axis = draw(range(len(shape)))
    n, x, others = shape[axis], names[axis], "+".join(sorted(set(names) - {names[axis]})) or "0"
    middle = (draw(range(n // 2)) + (0.5 if case["boundary"] == "periodic" else 1.0)) / n
    rough = min(case["rough"], n / 20)  # else short lines are strained too much
    usual = f"(0.5 + {rough}*({others}))*4*{x}*(1 - {x})/{n}"
    beyond = case["beyond"].replace("x", x).replace("y", names[0])
    wind = ["0"] * len(shape)
    wind[axis] = f"fabs({x} - {middle}) < {0.4 / n} ? {beyond} : {usual}"
    found = []
    words = r"^velocity: expected moves of (less than 2\*\*30 cells|at most 1000 times the length)"
    for place, form in (device, "lanes"), (device, "private"), (as_gpu(device), None):
        u = field(
            [noise(grid, 3 + c) for c in range(case["components"])], grid, case["dtype"], place
        )
        advection = pt.AdvectionOp(pt.Velocity(grid, wind), case["scheme"], form=form)
        how = {name: case[name] for name in ("kernel", "limiter", "conservative")}
        transport = pt.Splitting(advection, pt.RemeshOp(u, **how, form=form), order=1)
        refused = None
        try:
            transport.sweep(axis, 1.0)
        except ValueError as error:  # images are sought as far away as particles come
            refused = str(error)
            u.fill(-1)
        if refused is not None:
            assert case["boundary"] != "periodic"
            assert re.match(words, refused), case
        found.append(u.get())
        np.testing.assert_array_equal(found[0], found[-1], err_msg=f"{form} of {case}")


def swept_between_points(places, boundary, beyond, dtype="float32", **how):
    """A box of ones, by a formula that is something else between two points, in several forms:
    what comes of it, and what has left."""
    grid = pt.Grid((24, 33), boundary=boundary)
    place = (6.5 if grid.boundary[0] == "periodic" else 7) / 24
    usual = "2*x*(1 - x)/24"
    wind = [f"fabs(x - {place}) < 0.4/24 && y > 0.6 ? {beyond} : {usual}", "0"]
    for device, form in places:
        u = field(np.ones(grid.shape), grid, dtype, device)
        advection = pt.AdvectionOp(pt.Velocity(grid, wind), form=form)
        transport = pt.Splitting(advection, pt.RemeshOp(u, form=form, **how), order=1)
        transport.sweep(0, 1.0)
        yield u, transport.outflow


@pytest.mark.one_device
@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("boundary", ["wall", "outflow", ("outflow", "wall"), ("inflow", "wall")])
@pytest.mark.parametrize("cells", [3, 20, -20, 300])
def test_nothing_is_lost_where_a_formula_is_faster_between_its_points(
    device, boundary, cells, dtype
):
    """What crosses an end is counted, and a wall sends it back, from wherever it comes."""
    places = [(device, "lanes"), (device, "private"), (device, None), (as_gpu(device), None)]
    how = {"inflow": 1.0} if "inflow" in boundary else {}
    found = list(swept_between_points(places, [boundary, "periodic"], f"{cells}/24.", dtype, **how))
    for u, outflow in found:
        np.testing.assert_array_equal(u.get(), found[0][0].get())
        np.testing.assert_allclose(outflow, found[0][1], rtol=0, atol=1e-4)
        assert float(u.sum()) + np.sum(outflow) == pytest.approx(24 * 33, rel=1e-6)
    if boundary == "outflow" and cells > 3:
        assert found[0][1][0][0][1] > 12  # lines that the formula is fast on


@pytest.mark.one_device
@pytest.mark.filterwarnings("ignore::particles.NotFiniteWarning")
def test_a_formula_that_is_no_number_between_its_points_is_seen(device):
    """In the form that CPUs have by themselves, and in all forms where lines have ends."""
    nan = "(x - x)/(x - x)"
    if device.is_cpu:
        ((u, _),) = swept_between_points([(device, None)], "periodic", nan)
        assert np.isnan(u.get()).any()
    for place in (device, "lanes"), (device, "private"), (as_gpu(device), None):
        with pytest.raises(ValueError, match=r"less than 2\*\*30 cells, got nan along axis 0$"):
            list(swept_between_points([place], "wall", nan))
