# SPDX-License-Identifier: BSD-3-Clause
"""Fields on finer and coarser grids: order, moments, mass, bits, and a reference in NumPy."""

import numpy as np
import particles as pt
import pytest

from tests.reference import reference_resample
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import EXTENT, ORIGIN, box, field, noise

KERNELS = ["M'4", "M'6", "L6_4", "M'8"]
INTERPOLATING = {"L1": 2, "M'4": 3, "M'6": 5, "L6_4": 7}
"""Kernels that leave a particle on a node where it is, and the order of their interpolation."""

SHAPES = [
    *[((8,), (24,)), ((24,), (8,)), ((5,), (1,)), ((1,), (7,)), ((37,), (37,))],
    *[((12, 10), (4, 30)), ((3, 40), (18, 10)), ((6, 5), (6, 5))],
    *[((6, 8, 10), (12, 4, 50)), ((4, 18, 35), (12, 6, 35)), ((9, 4, 20), (3, 32, 20))],
]


def resampled(values, shapes, kernel, dtype, device):
    """The values on the second shape, as a NumPy array, and both grids."""
    grid, new = (box(*shape) for shape in shapes)
    u = field(values(grid), grid, dtype, device)
    return pt.resample(u, new, kernel).get(), grid, new


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_reference(device, dtype, shapes, kernel):
    found, grid, new = resampled(lambda g: noise(g, 1), shapes, kernel, dtype, device)
    u = noise(grid, 1).astype(dtype).astype(np.float64)
    expected = reference_resample.resampled(u, grid, new, kernel)
    assert found.dtype == dtype
    # Three passes of weights that sum up to less than 2 in magnitude, each a few roundings wrong.
    assert abs(found - expected).max() < 40 * np.finfo(dtype).eps


BEYOND = [
    ("wall", ("wall", "outflow")),
    (("inflow", "wall"), "outflow"),
    ("periodic", ("outflow", "inflow")),
]


@pytest.mark.parametrize("shapes", [((20, 24), (60, 12)), ((24, 21), (8, 42))], ids=str)
@pytest.mark.parametrize("beyond", BEYOND, ids=str)
def test_reference_with_ends(device, dtype, beyond, shapes):
    grid, new = (pt.Grid(shape, boundary=beyond) for shape in shapes)
    u = field(noise(grid, 5), grid, dtype, device)
    expected = reference_resample.resampled(u.get().astype(np.float64), grid, new, "M'6")
    found = pt.resample(u, new).get()
    assert abs(found - expected).max() < 40 * np.finfo(dtype).eps


@pytest.mark.one_device
@pytest.mark.parametrize("factor", [2, 3])
def test_order_between_walls(device, factor):
    """Points lie in the middle of cells: those of both grids are apart, and walls at their ends."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (32, 64):
        grid, new = (pt.Grid(k, boundary="wall") for k in (n, factor * n))
        waves = [np.cos(3 * np.pi * g.coordinates()[0]) for g in (grid, new)]
        u = field(waves[0], grid, "float64", device)
        fine = pt.resample(u, new)
        assert fine.sum() / new.size == pytest.approx(u.sum() / grid.size, abs=1e-15)
        errors.append(abs(fine.get() - waves[1]).max())
    assert np.log2(errors[0] / errors[1]) > INTERPOLATING["M'6"] - 0.25


@pytest.mark.one_device
@pytest.mark.parametrize("boundary", ["wall", "outflow"])
def test_order_beside_ends_where_a_field_has_a_slope(device, boundary):
    """What lies beyond them has a kink there: first order at the end, second in the mean."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    greatest, mean, inside = [], [], []
    for n in (64, 128):
        grid, new = (pt.Grid(k, boundary=boundary) for k in (n, 2 * n))
        lines = [
            1 + 0.7 * x + 0.4 * np.sin(4 * x) for (x,) in (grid.coordinates(), new.coordinates())
        ]
        error = abs(pt.resample(field(lines[0], grid, "float64", device), new).get() - lines[1])
        greatest.append(error.max())
        mean.append(error.mean())
        inside.append(error[8:-8].max())
    orders = [np.log2(errors[0] / errors[1]) for errors in (greatest, mean, inside)]
    assert orders == pytest.approx([1, 2, INTERPOLATING["M'6"]], abs=0.1)


def test_walls_keep_the_mass_on_coarser_points(device, dtype):
    grid, new = (pt.Grid(shape, boundary="wall") for shape in ((36, 40), (12, 10)))
    u = field(noise(grid, 6), grid, dtype, device)
    v = pt.resample(u, new)
    scale = u.norm(1) / grid.size
    assert abs(v.sum() / new.size - u.sum() / grid.size) < 4 * np.finfo(dtype).eps * scale


def wave(grid):
    (x,) = grid.coordinates()
    return np.exp(np.sin(2 * np.pi * (x - ORIGIN[0]) / EXTENT[0]))


@pytest.mark.parametrize(("kernel", "order"), INTERPOLATING.items())
def test_order_on_finer_points(device, kernel, order):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (32, 64, 128):
        found, _, new = resampled(wave, ((n,), (3 * n,)), kernel, "float64", device)
        errors.append(abs(found - wave(new)).max())
    slope = -np.polyfit(np.log2([32, 64, 128]), np.log2(errors), 1)[0]
    assert slope > order - 0.25


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_the_integral_stays(device, dtype, shapes, kernel):
    grid, new = (box(*shape) for shape in shapes)
    u = field(noise(grid, 2), grid, dtype, device)
    v = pt.resample(u, new, kernel)
    scale = u.norm(1) / grid.size
    assert abs(v.sum() / new.size - u.sum() / grid.size) < 4 * np.finfo(dtype).eps * scale


@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4"])
def test_moments_stay_on_coarser_points(device, kernel):
    """Of masses in the middle of the box, far from where its ends meet."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid, new = pt.Grid(128), pt.Grid(32)
    u = pt.Field(grid, dtype="float64", device=device)
    u[50:70] = np.random.default_rng(3).uniform(-1, 1, 20)
    v = pt.resample(u, new, kernel)
    for a in range(pt.kernels.get(kernel).moments + 1):
        moments = [
            np.sum(np.asarray(w) * ((g.coordinates()[0] - 0.5) * 32) ** a) * g.spacing[0]
            for w, g in ((u, grid), (v, new))
        ]
        assert moments[1] == pytest.approx(moments[0], rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("kernel", list(INTERPOLATING))
def test_coarse_points_keep_their_values_on_finer_ones(device, dtype, kernel):
    found, grid, _ = resampled(lambda g: noise(g, 4), ((6, 20), (24, 60)), kernel, dtype, device)
    np.testing.assert_array_equal(found[::4, ::3], noise(grid, 4).astype(dtype))


@pytest.mark.parametrize("kernel", ["M'4", "M'6", "L6_4"])
def test_there_and_back(device, kernel):
    """Coarsening a smooth field that has been refined gives it back, to the kernel's order."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    errors = []
    for n in (32, 64):
        grid = box(n)
        u = field(wave(grid), grid, "float64", device)
        back = pt.resample(pt.resample(u, box(4 * n), kernel), grid, kernel)
        errors.append(abs(back.get() - u.get()).max())
    assert np.log2(errors[0] / errors[1]) > INTERPOLATING[kernel] - 0.4


@pytest.mark.parametrize("shapes", [((12, 40, 33), (4, 80, 66)), ((30, 8), (10, 40))], ids=str)
def test_every_form_and_memory_gives_the_same_bits(device, dtype, shapes):
    cl_array = pytest.importorskip("pyopencl.array")
    grid, new = (box(*shape) for shape in shapes)
    values = [noise(grid, seed) for seed in range(3)]
    expected = pt.resample(field(values, grid, dtype, device), new).get()
    machine = as_gpu(device)
    found = pt.resample(field(values, grid, dtype, machine), new)
    np.testing.assert_array_equal(found.get(), expected)
    array = cl_array.to_device(device.queue, np.asfortranarray(np.array(values, dtype)))
    adopted = pt.Field.from_pyopencl(array, grid)
    np.testing.assert_array_equal(pt.resample(adopted, new).get(), expected)
    for c in range(3):
        one = pt.resample(adopted.component(c), new, out=pt.Field(new, 1, dtype, device))
        np.testing.assert_array_equal(one.get(), expected[c])


def test_a_profile_counts_what_is_read_and_written(device):
    u = pt.Field(box(8, 6), 2, device=device)
    with pt.profile(device) as profile:
        pt.resample(u, box(16, 6))
    assert profile.kernels["resample"].bytes == 4 * 2 * (8 * 6 + 16 * 6)


def test_what_it_returns(device):
    u = pt.Field(pt.Grid((4, 6)), 2, device=device, name="u")
    v = pt.resample(u, pt.Grid((8, 6)))
    assert (v.grid, v.components, v.dtype, v.device, v.name) == (
        pt.Grid((8, 6)),
        2,
        np.float32,
        device,
        "u",
    )
    w = pt.Field(pt.Grid((8, 6)), 2, device=device)
    version = w.core.version
    assert pt.resample(u, w.grid, out=w) is w
    assert w.core.version > version


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (pt.Grid((8, 12)), "whole multiple or fraction of 8 points along axis 1, not 12"),
        (pt.Grid((3, 8)), "whole multiple or fraction of 4 points along axis 0, not 3"),
        (pt.Grid(8), "2 axes"),
        (pt.Grid((8, 8), extent=2), "field's box, from 0.0 over 1.0 along axis 0"),
        (pt.Grid((8, 8), origin=(0, 0.5)), "field's box, from 0.0 over 1.0 along axis 1"),
    ],
    ids=str,
)
def test_other_boxes(device, grid, words):
    with pytest.raises(ValueError, match=words):
        pt.resample(pt.Field(pt.Grid((4, 8)), device=device), grid)


def test_other_arguments(device):
    u, grid = pt.Field(pt.Grid(4), device=device), pt.Grid(8)
    with pytest.raises(TypeError, match="field must be a Field"):
        pt.resample(np.zeros(4), grid)
    with pytest.raises(TypeError, match="grid must be a Grid, not 8"):
        pt.resample(u, 8)
    with pytest.raises(ValueError, match=r"kernel must be .*, not 'M6'"):
        pt.resample(u, grid, "M6")
    with pytest.raises(TypeError, match="out must be a Field"):
        pt.resample(u, grid, out=np.zeros(8))
    with pytest.raises(ValueError, match="out must have the number of components 1, not 2"):
        pt.resample(u, grid, out=pt.Field(grid, 2, device=device))
    with pytest.raises(ValueError, match="out must have the grid"):
        pt.resample(u, grid, out=pt.Field(pt.Grid(16), device=device))
    with pytest.raises(ValueError, match="out must have the device"):
        pt.resample(u, grid, out=pt.Field(grid, device=as_gpu(device)))
    with pytest.raises(ValueError, match="out must have memory of its own"):
        pt.resample(u, u.grid, out=u)
