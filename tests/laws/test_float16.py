# SPDX-License-Identifier: BSD-3-Clause
"""float16 is for storage: numbers are computed with in float32 and rounded once, to nearest even."""

import warnings

import numpy as np
import particles as pt
import pytest

from tests.support.gpu_forms import FORMS, as_gpu, in_form
from tests.support.problems import SWIRL
from tests.support.sweeps import (
    advection_core,
    box,
    field,
    noise,
    one_kernel,
    remesh_core,
    two_kernels,
)

HALF, EPSILON = np.dtype(np.float16), float(np.finfo(np.float16).eps)
EVERY = np.arange(2**16, dtype=np.uint16).view(HALF)
SWEEPS = [
    *[(None, None), ("private", None), ("local", None), ("global", None)],
    *[("lanes", 8), ("private", 7), ("local", 9)],
    *[("registers", None), ("team", None), ("team", 9)],
]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def hard_to_round():
    """Halves, what lies between neighbours, and a little to either side of that, in float64."""
    numbers = EVERY[np.isfinite(EVERY)].astype(np.float64)
    middles = (numbers[:-1] + numbers[1:]) / 2
    beside = [np.nextafter(middles, to) for to in (-np.inf, np.inf)]
    odd = [0.0, -0.0, 65519.99, 65520, 1e6, 1e30, 1e300, 2.0**-25, 1e-60, np.inf, -np.inf, np.nan]
    return np.concatenate([numbers, middles, *beside, odd])


def assert_same_bits(found, expected):
    """Any NaN will do for another."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


def test_every_half_travels(machine):
    u = pt.Field(pt.Grid((256, 256)), dtype=HALF, device=machine)
    u[...] = EVERY.reshape(256, 256)
    assert_same_bits(u.get(), EVERY.reshape(256, 256))
    assert_same_bits(u[3:200:7, ::-2], EVERY.reshape(256, 256)[3:200:7, ::-2])
    assert_same_bits(u.copy().get(), EVERY.reshape(256, 256))
    assert (u.nbytes, u.dtype, HALF in machine.dtypes) == (2 * u.size, HALF, True)
    assert repr(u) == f"Field((256, 256), float16, {machine.name})"


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conversions_round_as_numpy_does(machine, dtype):
    if np.dtype(dtype) not in machine.dtypes:
        pytest.skip(f"{machine.name} has no {dtype}")
    values = hard_to_round().astype(dtype)
    grid = pt.Grid(len(values))
    halves = pt.Field(grid, dtype=HALF, device=machine)
    halves[...] = values
    assert_same_bits(halves.get(), values.astype(HALF))
    halves[::3] = values[1::3]
    assert_same_bits(halves[::3], values[1::3].astype(HALF))
    others = pt.Field(grid, dtype=dtype, device=machine)
    others[...] = values
    halves[...] = others
    assert_same_bits(halves.get(), values.astype(HALF))
    others[...] = halves
    assert_same_bits(others.get(), values.astype(HALF).astype(dtype))


def test_one_number_is_rounded_once(machine):
    """Rounded to float32 first it would lie in the middle between two halves."""
    value = 1 + EPSILON / 2 + 2.0**-40
    u = pt.Field(pt.Grid(37), dtype=HALF, device=machine)
    u.fill(value)
    u[5] = np.array(1 - EPSILON / 4 - 2.0**-40)
    expected = np.full(37, HALF.type(value))
    expected[5] = 1 - EPSILON / 2
    assert_same_bits(u.get(), expected)


@pytest.mark.parametrize("shape", [(2600,), (41, 50), (6, 21, 130)], ids=str)
def test_reductions_are_those_of_float32(machine, shape):
    values = noise(pt.Grid(shape), 1).astype(HALF)
    halves, singles = (field(values, pt.Grid(shape), dtype, machine) for dtype in (HALF, "float32"))
    for reduced in (pt.Field.sum, pt.Field.min, pt.Field.max, pt.Field.norm):
        assert reduced(halves) == reduced(singles)
    assert halves.count(lower=0.1) == np.count_nonzero(values > 0.1)
    assert halves.sum() == pytest.approx(values.sum(dtype=np.float64), rel=1e-12)


def test_memory_is_shared_with_pyopencl(device):
    cl_array = pytest.importorskip("pyopencl.array")
    values = noise(box(12, 19), 2).astype(HALF)
    array = cl_array.to_device(device.queue, np.asfortranarray(values))
    u = pt.Field.from_pyopencl(array, box(12, 19))
    assert u.sum() == field(values, box(12, 19), HALF, device).sum()
    u[3] = 0.1
    values[3] = 0.1
    np.testing.assert_array_equal(array.get(), values)
    line = field(values[0], pt.Grid(19), HALF, device)
    np.testing.assert_array_equal(line.to_pyopencl().get(), values[0])


@pytest.mark.sampled
@pytest.mark.parametrize(("form", "capacity"), SWEEPS)
def test_a_sweep_is_rounded_once(device, form, capacity):
    """It is the sweep of float32 fields that begin with the same values."""
    grid = box(67, 16)
    starts = [noise(grid, seed).astype(HALF).astype(np.float64) for seed in (3, 4)]
    velocity = field([noise(grid, axis) for axis in range(grid.ndim)], grid, "float32", device)
    singles, halves = (field(starts, grid, dtype, device) for dtype in ("float32", HALF))
    moves = pt.Field(grid, 1, "float32", device)
    plain = advection_core(velocity), remesh_core([singles])
    chosen = (
        advection_core(velocity, form=form if form != "global" else None, capacity=capacity),
        remesh_core([halves], "M'6", form, capacity),
    )
    for axis in range(grid.ndim):
        dt = 3.7 * grid.spacing[axis]
        singles[...] = starts
        expected = one_kernel(plain[0], singles, plain[1], axis, dt).astype(HALF)
        halves[...] = starts
        assert_same_bits(one_kernel(chosen[0], halves, chosen[1], axis, dt), expected)
        halves[...] = starts
        assert_same_bits(two_kernels(*chosen[:1], halves, chosen[1], moves, axis, dt)[1], expected)


@pytest.mark.sampled
@pytest.mark.parametrize("form", [None, {"transposed": True}, "global", {"copied": True}], ids=str)
def test_sweeps_on_a_gpu_are_rounded_once(device, form):
    machine, grid = as_gpu(device), box(12, 17, 33)
    start = noise(grid, 5).astype(HALF)
    velocity = field([noise(grid, axis) for axis in range(3)], grid, "float32", machine)
    kind = form if form != "global" else None
    for axis in range(3):
        results = []
        for dtype, chosen in (("float32", None), (HALF, form)):
            u = field(start, grid, dtype, machine)
            push = advection_core(velocity, form=kind if chosen else None)
            dt = 2.2 * grid.spacing[axis]
            results.append(one_kernel(push, u, remesh_core([u], "L6_4", chosen), axis, dt))
        assert_same_bits(results[1], results[0].astype(HALF))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((48, 33), {}),
        ((48, 33), {"limiter": "positive"}),
        ((48, 33), {"conservative": False}),
        ((3, 5000), {"limiter": "positive"}),  # in segments
    ],
    ids=["plain", "limited", "values", "segments"],
)
def test_every_remeshing_rounds_once(device, shape, options):
    grid = box(*shape)
    start = (noise(grid, 7) + 1).astype(HALF)
    velocity = pt.Velocity(grid, lambda x, y: (0.2 * y, 0.01 * x))
    for axis in range(2):
        results = []
        for dtype in (HALF, "float32"):
            u = field(start, grid, dtype, device)
            transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, **options))
            transport.sweep(axis, 0.05)
            results.append(u.get())
        assert_same_bits(results[0], results[1].astype(HALF))


@pytest.mark.sampled
@pytest.mark.parametrize("ends", ["wall", "outflow"])
def test_beyond_ends_halves_are_continued(device, ends):
    grid = pt.Grid((48, 40), boundary=ends)
    start = (noise(grid, 7) + 1).astype(HALF)
    velocity = pt.Velocity(grid, lambda x, y: (0.2 * y, 0.1 - 0.2 * x))
    for axis in range(2):
        results = []
        for dtype in (HALF, "float32"):
            u = field(start, grid, dtype, device)
            pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).sweep(axis, 0.02)
            results.append(u.get())
        assert_same_bits(results[0], results[1].astype(HALF))


def test_a_source_rounds_once(machine):
    grid = box(12, 37)
    results = []
    for dtype in (HALF, "float32"):
        u, g = (field(noise(grid, seed).astype(HALF), grid, dtype, machine) for seed in (8, 9))
        pt.SourceOp(u, lambda u, g, x, y: g - x * u, given=g).apply(0.1)
        results.append(u.get())
    assert_same_bits(results[0], results[1].astype(HALF))


@pytest.mark.one_device
def test_mass_drifts_no_more_than_rounding_allows(device):
    """A sweep rounds every value by half an epsilon of its magnitude at most."""
    grid = pt.Grid((64, 64))
    u = field(SWIRL.initial(*grid.coordinates()), grid, HALF, device)
    points = grid.coordinates()
    velocity = field([*np.broadcast_arrays(*SWIRL.velocity(*points))], grid, "float32", device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), order=1)
    for _ in range(20):
        mass, size = u.sum(), u.norm(1)
        transport.sweep(0, 0.02)
        rounding = 0.5 * EPSILON * max(size, u.norm(1)) * 1.01 + u.size * 2.0**-25
        assert abs(u.sum() - mass) < rounding


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("level", [1.0, 1.5])
def test_a_plateau_at_a_power_of_two_loses_mass(device, level):
    """Halves above 1 are twice as far apart as below: what is a little more than 1 is rounded away
    to 1 more often than what is a little less. Elsewhere rounding has no preferred sign."""
    grid = pt.Grid((48, 48))
    x, y = (2 * np.pi * c for c in grid.coordinates())
    drifts = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        (p0, p1), (q0, q1) = 2 * np.pi * rng.random((2, 2))
        a, b = rng.normal(size=2)
        velocity = [  # without divergence
            -a * np.sin(x + p0) * np.sin(y + q0) - 2 * b * np.cos(x + p1) * np.sin(2 * y + q1),
            -a * np.cos(x + p0) * np.cos(y + q0) + b * np.sin(x + p1) * np.cos(2 * y + q1),
        ]
        u = field(np.full(grid.shape, level), grid, HALF, device)
        advection = pt.AdvectionOp(field(velocity, grid, "float32", device))
        transport = pt.Splitting(advection, pt.RemeshOp(u))
        dt = 0.3 / transport.lcfl(1.0)
        for _ in range(10):
            transport.step(dt)
        drifts.append(u.get().astype(np.float64).mean() / level - 1)
    doubt = np.std(drifts) / np.sqrt(len(drifts))
    if level == 1:
        assert np.mean(drifts) < -3 * doubt
    else:
        assert abs(np.mean(drifts)) < 2.5 * doubt


@pytest.mark.parametrize("shape", [(60, 10), (12, 40)], ids=str)
def test_resampling_rounds_once(machine, shape):
    grid = pt.Grid((12, 10))
    results = []
    for dtype in (HALF, "float32"):
        u = field(noise(grid, 6).astype(HALF), grid, dtype, machine)
        results.append(pt.resample(u, pt.Grid(shape)).get())
    assert_same_bits(results[0], results[1].astype(HALF))


def test_only_carried_fields_may_be_halves(device):
    grid = pt.Grid(8)
    u, velocity = pt.Field(grid, dtype=HALF, device=device), pt.Field(grid, device=device)
    with pytest.raises(TypeError, match="velocity must be of float32 or float64, not of float16"):
        pt.AdvectionOp(u)
    with pytest.raises(TypeError, match="dtype must be float32 or float64, not 'float16'"):
        pt.AdvectionOp(pt.Velocity(grid, ["1"]), dtype="float16")
    with pytest.raises(TypeError, match="fields must have one dtype, not float32 and float16"):
        pt.RemeshOp([u, pt.Field(grid, device=device)])
    with pytest.raises(TypeError, match="positions must have one dtype, not float16 and float32"):
        pt.RemeshOp(u).apply(pt.Positions(pt.Field(grid, dtype=HALF, device=device), 0))
    if np.dtype(np.float64) in device.dtypes:
        doubles = pt.AdvectionOp(pt.Field(grid, dtype="float64", device=device))
        with pytest.raises(TypeError, match="velocity must be of float32, not float64, with"):
            pt.Splitting(doubles, pt.RemeshOp(u))
    pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).step(0.1)


def large_field():
    """A field of float32 that no float16 holds."""
    large = pt.Field(pt.Grid(16))
    large.fill(-1e6)
    return large


@pytest.mark.parametrize(
    "make",
    [
        *[lambda: 1e6, lambda: [1e6] * 16, large_field],
        *[lambda: np.full(16, 1e6, np.float32), lambda: np.full(32, 1e6)[::-2]],
    ],
    ids=["one", "several", "field", "float32", "strided float64"],
)
def test_who_stores_what_is_too_large_is_warned_in_his_own_file(make):
    u, value = pt.Field(pt.Grid(16), dtype="float16"), make()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        u[...] = value
    assert u.max() == 0
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast") as seen:
        u[...] = value
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow"):
            u[...] = value
        with np.errstate(over="ignore"):
            u[...] = value
    assert np.isinf(u.get()).all()


def test_what_is_infinite_already_or_is_rounded_down_is_no_overflow():
    u = pt.Field(pt.Grid(4), dtype="float16")
    u[...] = np.array([np.inf, -np.inf, np.nan, 65519.99], np.float32)
    assert_same_bits(u.get(), np.array([np.inf, -np.inf, np.nan, 65504], HALF))
