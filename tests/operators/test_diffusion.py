# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion alone: against the exponential of a matrix, and the laws of means."""

import numpy as np
import particles as pt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.reference_diffusion import diffuse, diffuse_line
from tests.support.gpu_forms import FORMS, in_form
from tests.support.sweeps import components, field, noise, wave

# What weights leave out, of the greatest value: 1e-8 and 1e-12 times how many squares of distances
# there are, and round-off.
TOLERANCE = {"float32": 2e-6, "float64": 1e-10}
ENDS = ["periodic", "wall", ("inflow", "outflow"), ("inflow", "inflow")]
SHAPES = [(1, 2), (33, 20), (17, 22, 35)]  # of 3, 4, 17, 11 and 5 nodes some are left


def grid_of(shape, *ends):
    boundary = [ends[axis % len(ends)] for axis in range(len(shape))]
    return pt.Grid(shape, extent=[2.0, 0.75, 3.0][: len(shape)], boundary=boundary)


def takes_in(grid):
    return any("inflow" in ends for ends in grid.boundary)


def viscosity_of(grid, spread):
    """What spreads by so many squares of the finest spacing in unit time."""
    return spread * min(grid.spacing) ** 2


def diffusion_of(u, viscosity):
    """What comes in rises evenly, the same everywhere: kernels need not be built anew."""
    return pt.Diffusion(
        u, viscosity, inflow=(lambda t: 0.5 + 0.25 * t) if takes_in(u.grid) else None
    )


def diffused(values, grid, dtype, device, viscosity):
    u = field(values, grid, dtype, device)
    diffusion_of(u, viscosity).apply(1.0)
    return u.get()


@pytest.mark.parametrize("spread", [1e-3, 0.4, 5.0, 30.0, 3e3])
@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_exponential_of_the_second_difference(device, dtype, form, shape, ends, spread):
    """With noise, and with what comes in rising evenly: to what weights leave out."""
    grid = grid_of(shape, ends, "periodic")
    place = in_form(device, form)
    start = noise(grid, 1).astype(dtype)
    viscosity = viscosity_of(grid, spread)
    found = diffused(start, grid, dtype, place, viscosity)
    expected = diffuse(start, viscosity, grid, 1.0, ((0.5, 0.25),) * 2)
    np.testing.assert_allclose(found, expected, atol=TOLERANCE[dtype.name])


@pytest.mark.one_device
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_spreads_too_wide_for_a_mean_and_too_small_to_leave_nodes_out(device, ends):
    """Where a mean would need more weights than it may have, which shows in double precision."""
    for nodes in 11, 22, 35:
        grid = grid_of((nodes,), ends)
        start = noise(grid, 3)
        for spread in 60.0, 80.0:
            viscosity = viscosity_of(grid, spread)
            found = diffused(start, grid, "float64", device, viscosity)
            expected = diffuse(start, viscosity, grid, 1.0, ((0.5, 0.25),) * 2)
            np.testing.assert_allclose(found, expected, atol=TOLERANCE["float64"])


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_the_forms_of_a_cpu_and_of_a_gpu_give_the_same_bits(device, name):
    if np.dtype(name) not in device.dtypes:
        pytest.skip(f"{device.name} has no {name}")
    ends = [("inflow", "outflow"), "wall", "periodic"]
    held = (19, 5, 33)
    cut = [((4700, 1, 2), 1e4), ((2, 4502, 1), 300.0), ((2, 9, 4507), 1e3)]
    for shape, spread in [(held, 0.4), (held, 30.0), *cut]:
        grid = grid_of(shape, *ends)
        viscosity = spread * grid.spacing[int(np.argmax(shape))] ** 2
        results = [
            diffused(noise(grid, 2), grid, name, in_form(device, form), viscosity) for form in FORMS
        ]
        np.testing.assert_array_equal(*results)


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("shape", "ends"),
    [((5000,), ("outflow", "inflow")), ((4500, 3), "wall"), ((3, 4500), "periodic")],
    ids=str,
)
def test_lines_too_long_to_be_held(device, dtype, shape, ends):
    """Near an end, a short line knows nothing of the other one; waves fade by a known factor."""
    axis = int(np.argmax(shape))
    boundary = ["periodic"] * len(shape)
    boundary[axis] = ends
    grid = pt.Grid(shape, boundary=boundary)
    start = np.zeros(shape)
    cut = [slice(None)] * len(shape)
    cut[axis] = slice(0, 60)
    start[tuple(cut)] = noise(pt.Grid([min(n, 60) for n in shape]), 3)
    start = np.roll(start, -30, axis) if ends == "periodic" else start
    start = np.flip(start, axis) if "inflow" in ends else start
    rate = 20.0
    found = diffused(start, grid, dtype, device, rate * grid.spacing[axis] ** 2)
    near = np.moveaxis(start.astype(dtype), axis, -1)
    kept = 160
    if ends == "periodic":
        near = np.roll(near, 80, -1)[..., :kept]
        expected = diffuse_line(near, rate, ("wall", "wall"))
        result = np.roll(np.moveaxis(found, axis, -1), 80, -1)[..., :kept]
    elif ends == "wall":
        expected = diffuse_line(near[..., :kept], rate, ("wall", "wall"))
        result = np.moveaxis(found, axis, -1)[..., :kept]
    else:
        expected = diffuse_line(near[..., -kept:], rate, ends, 1.0, ((0.0,), (0.5, 0.25)))
        result = np.moveaxis(found, axis, -1)[..., -kept:]
    if len(shape) == 2:  # the other axis has three points
        across = 1 - axis
        other = rate * (grid.spacing[axis] / grid.spacing[across]) ** 2
        expected = diffuse_line(expected.T, other, "periodic").T
    np.testing.assert_allclose(result, expected, atol=TOLERANCE[dtype.name])


@pytest.mark.parametrize("spread", [40.0, 150.0, 3e3])
@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("n", [160, 175, 153, 154, 122, 127])
@pytest.mark.parametrize("form", FORMS)
def test_thinned_lines(device, dtype, form, n, ends, spread):
    """Of 4, 5, 3, 7, 61 and 127 nodes some are left: with a slope, and noise."""
    grid = pt.Grid((n, 3), extent=(float(n), 1.0), boundary=[ends, "periodic"])
    start = np.linspace(0, 1, n)[:, None] + np.repeat(noise(pt.Grid((n, 1)), 1), 3, 1)
    found = diffused(start, grid, dtype, in_form(device, form), spread)
    expected = diffuse_line(start[:, 0], spread, ends, 1.0, ((0.5, 0.25),) * 2)
    np.testing.assert_allclose(
        found, np.repeat(expected[:, None], 3, 1), atol=TOLERANCE[dtype.name]
    )


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.parametrize("n", [1_000_000, 999_983])
def test_a_wave_on_a_line_of_a_million_nodes(device, n):
    """It is an eigenvector, of any length; a prime number of nodes is not thinned."""
    grid = pt.Grid(n, extent=float(n))
    for waves, spread in ((40, 1e8), (1, 1e10)):
        start = np.cos(2 * np.pi * waves / n * np.arange(n))
        faded = np.exp(-4 * spread * np.sin(np.pi * waves / n) ** 2)
        found = diffused(start, grid, "float64", device, spread)
        np.testing.assert_allclose(found, faded * start, atol=1e-10)


@pytest.mark.sampled
@pytest.mark.one_device
@settings(max_examples=25)
@given(
    st.tuples(st.sampled_from([1, 2, 7, 33]), st.sampled_from([1, 20, 37])),
    st.sampled_from(ENDS),
    st.floats(-6, 12),
    st.integers(0, 9),
    st.booleans(),
)
def test_no_value_leaves_the_range_at_any_step(device, shape, ends, exponent, seed, is_gpu):
    """Of the field and of what flows in; where nothing does, the sum stays."""
    grid = grid_of(shape, ends, "periodic")
    start = np.random.default_rng(seed).integers(0, 2, shape).astype(np.float32)
    viscosity = viscosity_of(grid, 10.0**exponent)
    found = diffused(start, grid, "float32", in_form(device, FORMS[is_gpu]), viscosity)
    if takes_in(grid):  # from 0.5 to 0.75; odd images leave round-off
        assert found.min() >= -1e-6
        assert found.max() <= 1 + 1e-6
    else:
        assert start.min() <= found.min()
        assert found.max() <= start.max() + 3e-7
        assert abs(found.sum(dtype=float) - start.sum(dtype=float)) <= 1e-7 * grid.size


@pytest.mark.one_device
def test_a_constant_stays_what_it_is_to_the_last_bit(device, dtype):
    grid = grid_of((33, 20), "wall", "periodic")
    u = field(np.full(grid.shape, 0.1), grid, dtype, device)
    before = u.get()
    diffusion = pt.Diffusion(u, viscosity_of(grid, 1.0))
    for dt in (1e-3, 1.0, 50.0, 1e9):
        diffusion.apply(dt)
    np.testing.assert_array_equal(u.get(), before)


@pytest.mark.one_device
@pytest.mark.parametrize("ends", ["wall", ("inflow", "outflow")], ids=str)
@pytest.mark.parametrize("spread", [5e-324, 1e-150, 1e-40, 1e-30])
def test_what_hardly_spreads_changes_nothing(device, dtype, spread, ends):
    grid = pt.Grid(16, extent=16.0, boundary=[ends])
    start = noise(grid, 8).astype(dtype)
    np.testing.assert_array_equal(diffused(start, grid, dtype, device, spread), start)


@pytest.mark.one_device
def test_a_viscosity_of_0_changes_nothing_however_small_cells_are(device, dtype):
    grid = pt.Grid(16, extent=1e-170)  # the square of a spacing is 0
    start = noise(grid, 9).astype(dtype)
    u = field(start, grid, dtype, device)
    pt.Diffusion(u, 0.0).apply(1.0)
    np.testing.assert_array_equal(u, start)


@pytest.mark.one_device
@pytest.mark.parametrize("spread", [0.7, 60.0])
@pytest.mark.parametrize("shape", [(64, 33), (5, 2000), (127, 3)], ids=str)
def test_the_sum_stays_over_many_steps(device, dtype, shape, spread):
    grid = grid_of(shape, ("wall", "outflow"), "periodic")
    u = field(1 + noise(grid, 5) + wave(grid, 1), grid, dtype, device)
    before = u.sum()
    diffusion = pt.Diffusion(u, viscosity_of(grid, spread))
    for _ in range(300):
        diffusion.apply(1.0)
    assert abs(u.sum() / before - 1) < {"float32": 3e-7, "float64": 1e-14}[dtype.name]


@pytest.mark.one_device
@pytest.mark.parametrize("ends", ["periodic", "wall"])
def test_lines_may_be_turned_round(device, dtype, ends):
    """To the bit, and a periodic one may be shifted."""
    grid = grid_of((40, 24), ends)
    start, viscosity = noise(grid, 6), viscosity_of(grid, 3.0)
    found = diffused(start, grid, dtype, device, viscosity)
    turned = diffused(start[::-1, ::-1], grid, dtype, device, viscosity)
    np.testing.assert_array_equal(turned, found[::-1, ::-1])
    if ends == "periodic":
        shifted = diffused(np.roll(start, (7, 5), (0, 1)), grid, dtype, device, viscosity)
        np.testing.assert_array_equal(shifted, np.roll(found, (7, 5), (0, 1)))


@pytest.mark.one_device
def test_steps_may_be_cut_anywhere(device):
    grid = grid_of((37,), ("inflow", "outflow"))
    start, viscosity = wave(grid, 3), viscosity_of(grid, 12.0)
    whole = diffused(start, grid, "float64", device, viscosity)
    u = field(start, grid, "float64", device)
    diffusion = diffusion_of(u, viscosity)
    for begin, end in ((0, 0.01), (0.01, 0.3), (0.3, 1)):
        diffusion.apply(end - begin, time=begin)
    np.testing.assert_allclose(u.get(), whole, atol=1e-10)


@pytest.mark.sampled
@pytest.mark.one_device
def test_shares_of_two_inflow_ends(device):
    """The flux through each end over time, by Simpson's rule."""
    n, rate, intervals = 12, 20.0, 2000
    grid = pt.Grid(n, extent=float(n), boundary=[("inflow", "inflow")])
    u = field(noise(grid, 4), grid, "float64", device)
    values = u.get()
    both = {(0, "low"): 0.5, (0, "high"): 2.0}
    transport = pt.Splitting(
        None, pt.RemeshOp(u, inflow=both), diffusion=pt.Diffusion(u, rate), order=1
    )
    times = np.linspace(0, 1, intervals + 1)
    lines = [
        diffuse_line(values[None], rate, ("inflow",) * 2, t, ((0.5,), (2.0,)))[0] for t in times
    ]
    out = rate * 2 * np.array([[line[0] - 0.5, line[-1] - 2.0] for line in lines])
    simpson = np.r_[1, np.tile([4, 2], intervals // 2)[:-1], 1] / (3 * intervals)
    transport.run(until=1.0, dt=0.5)
    np.testing.assert_allclose(transport.outflow[0, 0], simpson @ out, rtol=1e-6)


@pytest.mark.one_device
def test_components_have_viscosities_of_their_own_that_may_change(device):
    grid = grid_of((16, 20), "wall")
    u = field([noise(grid, k) for k in range(3)], grid, "float64", device)
    start = components(u)
    rates = [viscosity_of(grid, s) for s in (0.5, 0.0, 4.0)]
    diffusion = pt.Diffusion(u, rates)
    diffusion.apply(1.0)
    diffusion.viscosity = rates[2]
    diffusion.apply(0.5)
    assert diffusion.viscosity == rates[2]
    for found, values, rate in zip(components(u), start, rates, strict=True):
        expected = diffuse(diffuse(values, rate, grid, 1.0), rates[2], grid, 0.5)
        np.testing.assert_allclose(found, expected, atol=TOLERANCE["float64"])
    still = pt.Field(grid, device=device)
    still[...] = start[0]
    before = still.get()
    pt.Diffusion(still, 0.0).apply(1.0)
    np.testing.assert_array_equal(still.get(), before)


@pytest.mark.one_device
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(21, 35), (17, 4507)], ids=str)
def test_memory_in_any_order(device, form, shape):
    """Bits are those of our own layout."""
    import pyopencl.array

    grid = grid_of(shape, "wall", "periodic")
    place = in_form(device, form)
    array = pyopencl.array.zeros(place.queue, (2 * shape[1], shape[0]), np.float32)
    strided = pt.Field.from_pyopencl(array[::2].T, grid)
    strided[...] = noise(grid, 7)
    own = field(noise(grid, 7), grid, "float32", place)
    for u in (strided, own):
        pt.Diffusion(u, viscosity_of(grid, 30.0)).apply(1.0)
    np.testing.assert_array_equal(strided.get(), own.get())


@pytest.mark.one_device
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_stay_within_reach(device, value):
    grid = grid_of((64, 2), "wall", "periodic")
    u = field(np.ones(grid.shape), grid, "float32", device)
    u[0, 0] = value
    pt.Diffusion(u, viscosity_of(grid, 0.1)).apply(1.0)
    with pytest.warns(pt.NotFiniteWarning, match=r"after Diffusion\.apply"):
        found = u.get()
    assert not np.isfinite(found[0]).any()
    assert (found[32:] == 1).all()
