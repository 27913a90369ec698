# SPDX-License-Identifier: BSD-3-Clause
"""Particles that carry values: constants, ranges, order, limiters, one result in all forms."""

import itertools
import warnings

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_motion, reference_values
from tests.support import lot
from tests.support.gpu_forms import as_gpu
from tests.support.problems import UNEVEN, order
from tests.support.sweeps import (
    advection_core,
    box,
    check_forms,
    components,
    error_of_reading,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    wave,
)

KERNELS = ["M'4", "M'6", "M'8", "L6_4"]
LIMITERS = [None, "positive", "monotone"]


def values(fields, kernel="M'6", **options):
    return pt.RemeshOp(fields, kernel, conservative=False, **options)


def back(moves, axis=0):
    return pt.Positions(moves, axis, back=True)


def in_double(device):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    return np.dtype("float64")


@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize(
    ("kernel", "dtype"),  # which know nothing of each other
    [*[(kernel, "float32") for kernel in KERNELS], ("M'6", "float64")],
    indirect=["dtype"],
)
def test_it_is_that_of_the_reference(device, dtype, kernel, limiter):
    for shape in [(1,), (2,), (3,), (17, 33, 7)]:
        grid = box(*shape)
        for axis in range(grid.ndim):
            for moved in (3.7 + 0.2 * wave(grid, 1), 5 * noise(grid, 1)):
                u = field(noise(grid, 0), grid, dtype, device)
                moves = field(moved, grid, dtype, device)
                (before,), (cells,) = components(u), components(moves)
                values(u, kernel, limiter=limiter).apply(back(moves, axis))
                expected = reference_values.remesh(before, cells, axis, kernel, limiter)
                limit = error_of_reading(dtype, before, kernel)
                assert np.abs(components(u)[0] - expected).max() <= limit


@in_single
@pytest.mark.parametrize("limiter", LIMITERS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_constant_stays_to_the_last_bit(device, dtype, kernel, limiter):
    """However much the velocity strains."""
    grid = box(14, 9, 35)
    for axis, constant in enumerate([0.7, -2.0, 1e-30]):
        u = field(np.full(grid.shape, constant), grid, dtype, device)
        moves = field(2 + 7 * noise(grid, 1), grid, dtype, device)
        values(u, kernel, limiter=limiter).apply(back(moves, axis))
        np.testing.assert_array_equal(u.get(), np.full(grid.shape, constant, dtype))


def converging(grid, lcfl, steps, kernel, dtype, device, scheme="rk2", limiter=None):
    """Values in [0.5, 1.5] after steps in a flow that converges at one point, and parts at another."""
    (x,) = grid.coordinates()
    u = field(1 + 0.5 * np.sin(2 * np.pi * x), grid, dtype, device)
    flow = pt.Velocity(grid, lambda x: np.sin(2 * np.pi * x + 0.03))
    transport = pt.Splitting(pt.AdvectionOp(flow, scheme), values(u, kernel, limiter=limiter))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LCFLWarning)
        for _ in range(steps):
            transport.step(lcfl / (2 * np.pi))
    return components(u)[0]


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("kernel", "least", "greatest"),
    [("M'4", 0.41, 1.41), ("M'6", 0.14, 1.77), ("L6_4", 0.16, 1.79)],
)
def test_values_stay_near_their_range_where_a_flow_converges(device, kernel, least, greatest):
    """Figures of an independent prototype in double precision."""
    found = converging(pt.Grid(64), 0.2, 50, kernel, in_double(device), device)
    assert found.min() == pytest.approx(least, abs=0.005)
    assert found.max() == pytest.approx(greatest, abs=0.005)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", reference_motion.TABLES)
def test_no_step_is_too_large_for_values(device, dtype, scheme):
    """Paths that an explicit scheme brings past each other give a wrong value, but always one."""
    for lcfl in (0.7, 0.89, 1.5, 4.0, 40.0):
        for limiter in (None, "monotone"):
            found = converging(pt.Grid(64), lcfl, 20, "L6_4", dtype, device, scheme, limiter)
            assert np.isfinite(found).all()
        assert 0.5 <= found.min() <= found.max() <= 1.5


POSITIVE, MONOTONE = {"limiter": "positive"}, {"limiter": "monotone"}
FORMS = [  # limiters, where lines are held and their dtype know nothing of each other
    (None, None, {}, "float32"),
    ("lanes", 8, MONOTONE, "float64"),
    ({"kind": "lanes", "copied": True}, None, {}, "float64"),
    ("local", None, MONOTONE, "float32"),
    ("local", 9, POSITIVE, "float64"),
    ("global", None, POSITIVE, "float32"),
    ("private", 7, {}, "float32"),
    ("registers", None, MONOTONE, "float32"),
    ("registers", None, POSITIVE, "float64"),
]


@pytest.mark.drawn(4)
@pytest.mark.parametrize(
    ("form", "capacity", "options", "dtype"), FORMS, ids=str, indirect=["dtype"]
)
def test_forms_give_the_same_bits(device, dtype, form, capacity, options):
    """Also where particles come from beyond the segments beside theirs."""
    grid = box(16, 17)
    velocity = field([wave(grid, axis) for axis in range(2)], grid, dtype, device)
    remeshing = {"conservative": False, **options}
    check_forms(velocity, grid, dtype, device, form, capacity, other="private", remeshing=remeshing)


@pytest.mark.sampled
@in_single
def test_the_forms_of_a_gpu_give_the_same_bits(device, dtype):
    grid = box(30, 300)
    results = []
    forms = [(device, "private"), (as_gpu(device, 8 * 1024), None)]
    forms += [(as_gpu(device), form) for form in (None, {"transposed": False}, "global")]
    if device.has_images:
        forms.append((as_gpu(device), {"images": True}))
    for place, form in forms:
        velocity = field([wave(grid, axis) for axis in range(2)], grid, dtype, place)
        u = field([noise(grid, 5), noise(grid, 6)], grid, dtype, place)
        for axis in range(2):
            dt = 3.3 * grid.spacing[axis]
            remesh = remesh_core([u], "M'6", form, conservative=False)
            one_kernel(advection_core(velocity, form=form), u, remesh, axis, dt)
        results.append(u.get())
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


@in_single
def test_components_are_carried_alike(device, dtype):
    grid = box(17, 33)
    velocity = advection_core(field([noise(grid, k) for k in range(2)], grid, dtype, device))
    for axis in range(2):
        dt = 4.4 * grid.spacing[axis]
        together = field([noise(grid, seed) for seed in range(3)], grid, dtype, device)
        one_by_one = together.copy()
        one_kernel(velocity, together, remesh_core([together], conservative=False), axis, dt)
        for index in range(3):
            component = one_by_one.component(index)
            one_kernel(velocity, component, remesh_core([component], conservative=False), axis, dt)
        np.testing.assert_array_equal(together.get(), one_by_one.get())


@pytest.mark.sampled
@in_single
@pytest.mark.parametrize(
    "ends", [("inflow", "outflow"), ("wall", "inflow"), ("outflow", "wall")], ids=str
)
def test_ends_are_the_same_in_every_form(device, dtype, ends):
    """Whole lines and segments, from near and from far beyond."""
    grid = pt.Grid((21, 33), boundary=[ends, ends])
    velocity = field([noise(grid, k) for k in range(2)], grid, dtype, device)
    u = pt.Field(grid, 1, dtype, device)
    inflow = (lambda t: 3 + np.sin(9 * t)) if "inflow" in ends else None
    sources = pt.RemeshOp(u, inflow=inflow).inflows.sources
    others = [(None, None), ("lanes", 8), ("local", 9), ("private", 7), ("registers", None)]
    forms = [("private", None), *lot.some(others, 2, f"forms {ends}")]
    for axis in range(2):
        for cells in (0.4, 26.0):
            results = []
            for form, capacity in forms:
                u[...] = noise(grid, 9)
                options = {"conservative": False, "limiter": "positive", "inflow": sources}
                remesh = remesh_core([u], "M'6", form, capacity, **options)
                dt = cells * grid.spacing[axis]
                results.append(one_kernel(advection_core(velocity), u, remesh, axis, dt))
            for found in results[1:]:
                np.testing.assert_array_equal(found, results[0])


def departures(x, velocity, begin, end, steps=2000):
    """Where particles that are at places at the end were at the beginning."""
    times = np.linspace(end, begin, steps + 1)
    for start, stop in itertools.pairwise(times):
        here = x
        x = here + reference_motion.displacement(
            lambda cells, time, here=here: velocity(here + cells, time)[0],
            "rk4",
            start,
            stop - start,
            1.0,
        )
    return x


def flow(x, t):
    return (np.sin(2 * np.pi * x + t) * (1 + t),)


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", reference_motion.TABLES)
def test_a_push_back_and_a_remeshing_are_a_sweep(device, dtype, scheme):
    """Also where the velocity depends on time, and Euler's rule looks at one end of the sweep."""
    grid = pt.Grid(48)
    advection = pt.AdvectionOp(pt.Velocity(grid, flow), scheme, dtype=dtype, device=device)
    u = field(noise(grid, 3), grid, dtype, device)
    v = u.copy()
    pt.Splitting(advection, values(u), order=1, time=0.3).sweep(0, 0.05)
    values(v).apply(advection.apply(0.05, 0, time=0.3, back=True))
    np.testing.assert_array_equal(u.get(), v.get())


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", reference_motion.ORDERS)
def test_paths_are_followed_with_the_order_of_the_scheme(device, scheme):
    """Back and forth in time, until the kernel's error takes over."""
    dtype, grid = in_double(device), pt.Grid(512)
    (x,) = grid.coordinates()
    advection = pt.AdvectionOp(pt.Velocity(grid, flow), scheme)
    exact = np.sin(2 * np.pi * departures(x, flow, 0.1, 0.4))
    errors = []
    for steps in (6, 12):
        u = field(np.sin(2 * np.pi * x), grid, dtype, device)
        transport = pt.Splitting(advection, values(u, "L8_4"), 1, time=0.1)
        transport.run(0.4, 0.3 / steps)
        errors.append(np.abs(components(u)[0] - exact).max())
    assert order(errors) >= reference_motion.ORDERS[scheme] - 0.3


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("scheme", "errors"),
    [
        ("rk2", (1.5e-3, 6.7e-3, 1.8e-2, 3.8e-2, 1.1e-1)),
        ("rk4", (2.5e-5, 1.7e-4, 1.0e-3, 3.6e-3, 2.3e-2)),
    ],
)
def test_errors_of_large_steps_grow_evenly(device, scheme, errors):
    """As paths do, of which an independent prototype gave these figures."""
    dtype, grid = in_double(device), pt.Grid(256)
    (x,) = grid.coordinates()
    start = 1 + 0.5 * np.sin(2 * np.pi * x)

    def velocity(x, t):
        return (0.2 + np.sin(2 * np.pi * x) * np.cos(t),)

    exact = 1 + 0.5 * np.sin(2 * np.pi * departures(x, velocity, 0.0, 0.6))
    for steps, error in zip((12, 6, 4, 3, 2), errors, strict=True):
        u = field(start, grid, dtype, device)
        transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, velocity), scheme), values(u), 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            transport.run(0.6, 0.6 / steps)
        assert np.abs(components(u)[0] - exact).mean() == pytest.approx(error, rel=0.05)


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("scheme", "lcfl", "crosses"),
    [
        *[("euler", 1.0, True), ("rk2", 0.732, True), ("heun", 1.414, True)],
        *[("rk3", 0.855, True), ("rk4", 1.593, False)],
    ],
)
def test_paths_cross_from_that_strain_on(device, scheme, lcfl, crosses):
    """Where a wind brings stages to places of another slope; `docs/method.md` has the worst cases."""
    grid = pt.Grid(3000)
    (x,) = grid.coordinates()
    flow = pt.Field(grid, dtype=in_double(device), device=device)
    advection = pt.AdvectionOp(flow, scheme)
    found = []
    for z in (0.98 * lcfl, 1.05 * lcfl):
        in_order = []
        for wind in np.linspace(0, 9, 91):
            flow[...] = wind + np.sin(2 * np.pi * x)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pt.LCFLWarning)
                places = np.asarray(advection.apply(z / (2 * np.pi), 0, back=True))
            in_order.append(bool((np.diff(places) > 0).all()))
        found.append(all(in_order))
    assert found == [True, not crosses]


def jump(grid):
    return ((grid.coordinates()[0] % 0.5) < 0.25).astype(float)


@pytest.mark.one_device
@pytest.mark.any_form
def test_limiters_keep_their_bounds(device, dtype):
    grid = pt.Grid(256)
    (x,) = grid.coordinates()
    moves = field(20 * np.sin(2 * np.pi * x) + 0.4, grid, dtype, device)
    ranges = []
    for limiter in LIMITERS:
        u = field(jump(grid), grid, dtype, device)
        for _ in range(3):
            values(u, limiter=limiter).apply(back(moves))
        ranges.append((u.get().min(), u.get().max()))
    plain, positive, monotone = ranges
    assert plain[0] < -0.05
    assert positive[0] == 0
    assert 1.05 < positive[1] < 1.5
    assert monotone == (0, 1)


@pytest.mark.one_device
@pytest.mark.any_form
def test_the_floor_of_negative_values_is_what_is_around(device, dtype):
    """Where a positive limiter has no floor to keep it makes no new minimum."""
    grid = pt.Grid(64)
    moves = field(np.full(64, 0.5), grid, dtype, device)
    u = field(-2 * jump(grid) - 1, grid, dtype, device)
    values(u, limiter="positive").apply(back(moves))
    assert u.get().min() == -3
    assert u.get().max() > -0.95


def back_in_time(x, time, steps=400):
    """Where particles of the UNEVEN velocity have come from."""
    (departure,) = UNEVEN.departure((x,), time, steps)
    return departure


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(
    ("kernel", "limiter", "least"),
    [
        *[("M'4", None, 1.9), ("M'6", None, 3.8), ("L6_4", None, 5.5)],
        *[("M'4", "positive", 1.9), ("M'6", "positive", 3.8), ("L6_4", "positive", 5.5)],
        ("M'6", "monotone", 1.5),
    ],
)
def test_order(device, kernel, limiter, least):
    """That of the kernel, from steps of a quarter of a cell down to where time does not count.

    A floor does not change it, on data that are next to nothing in places.
    """
    dtype, errors = in_double(device), []
    for n in (64, 128):
        grid = pt.Grid(n)
        (x,) = grid.coordinates()
        moves = field((back_in_time(x, 0.5 / n) - x) * n, grid, dtype, device)
        u = field(UNEVEN.initial(x), grid, dtype, device)
        remesh = values(u, kernel, limiter=limiter)
        for _ in range(n):
            remesh.apply(back(moves))
        expected = UNEVEN.initial(back_in_time(x, 0.5))
        errors.append(np.abs(components(u)[0] - expected).sum() / expected.sum())
    assert order(errors) >= least


@pytest.mark.one_device
def test_large_steps_are_warned_of(device):
    grid = pt.Grid(64)
    advection = pt.AdvectionOp(pt.Velocity(grid, lambda x: np.sin(2 * np.pi * x)))
    transport = pt.Splitting(advection, values(pt.Field(grid, device=device)))
    words = (
        r"^dt = 1 is large: the strain of a sweep along axis 0 is 6\.\d+, above 0\.5 accuracy is "
    )
    with pytest.warns(
        pt.LCFLWarning, match=words + r"lost; take dt=0\.079\d* or run\(lcfl=0\.5\)$"
    ):
        transport.step(1.0)


def test_what_cannot_be(device):
    u = pt.Field(box(8), device=device)
    with pytest.raises(TypeError, match=r"^conservative must be True or False, not 0$"):
        pt.RemeshOp(u, conservative=0)
    moved = pt.Field(box(8), device=device)
    words = r"^positions must have back=True where particles carry values, not back=False$"
    with pytest.raises(ValueError, match=words):
        values(u).apply(pt.Positions(moved, 0))
    words = r"^positions must have back=False where particles carry masses, not back=True$"
    with pytest.raises(ValueError, match=words):
        pt.RemeshOp(u).apply(back(moved))
    assert repr(values(u)) == f'RemeshOp([{u!r}], kernel="M\'6", conservative=False)'
    assert repr(back(moved)).endswith(", back=True)")
