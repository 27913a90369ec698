# SPDX-License-Identifier: BSD-3-Clause
"""Velocities on a grid at several times, linear in time between them."""

from itertools import pairwise

import numpy as np
import particles as pt
import pytest
import xarray
from particles import _core

from tests.reference import reference_motion
from tests.reference.reference_motion import ORDERS, order_of, path
from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    box,
    check_every_form,
    components,
    core_form,
    error_of_moves,
    field,
    noise,
    one_kernel,
    remesh_core,
    spread,
    wave,
)

TIMES = (0.0, 0.5, 0.8)


def series_on(grid, dtype, device, make=noise, times=TIMES):
    """A velocity that is another one at every time."""
    fields = [
        field([make(grid, 3 * k + axis) for axis in range(grid.ndim)], grid, dtype, device)
        for k in range(len(times))
    ]
    return pt.VelocitySeries(fields, times)


def series_core(series, form=None, capacity=None, scheme="rk2", interpolation="linear", grid=None):
    cores = [field.core for field in series.fields]
    own = core_form(form, capacity)
    return _core.AdvectionOp(
        cores, series.times, own, scheme, interpolation, (grid or series.grid).core
    )


@pytest.mark.parametrize("shape", [(1,), (101,), (2, 3), (9, 16, 7)], ids=str)
@pytest.mark.parametrize(
    ("scheme", "dtype"),  # which know nothing of each other
    [*[(scheme, "float32") for scheme in ORDERS], ("rk4", "float64")],
    indirect=["dtype"],
)
def test_moves_are_those_of_the_reference(device, dtype, scheme, shape):
    grid = box(*shape)
    series = series_on(grid, dtype, device)
    levels = [components(level) for level in series.fields]
    advection = pt.AdvectionOp(series, scheme, interpolation="cubic")
    for axis in range(grid.ndim):
        for piece, begin, dt in ((0, 0.1, 0.3), (0, 0.5, -0.5), (1, 0.5, 0.3)):
            samples = [
                reference_motion.on_grid(levels[k][axis], axis, "cubic") for k in (piece, piece + 1)
            ]
            sample = reference_motion.at_times(samples, TIMES[piece : piece + 2])
            found = advection.apply(dt, axis, time=begin).displacement.get()
            exact = reference_motion.displacement(sample, scheme, begin, dt, grid.spacing[axis])
            cells = abs(dt) / grid.spacing[axis]
            stages = 3 * cells * max(spread(level[axis], axis) for level in levels)
            limit = 2 * error_of_moves(dtype, cells, sum(stages**k for k in (1, 2, 3)))
            assert np.abs(found - exact).max() <= limit


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("scheme", list(ORDERS))
def test_order_in_time(device, scheme):
    """A velocity that grows linearly is exact between two times."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip("float32 hides the order")
    grid = pt.Grid(4096)
    (x,) = grid.coordinates()
    rate = 1 + 0.5 * np.sin(2 * np.pi * x)
    fields = [field(growth * rate, grid, "float64", device) for growth in (1, 3)]
    advection = pt.AdvectionOp(pt.VelocitySeries(fields, [0, 1]), scheme, interpolation="cubic")
    steps = np.array([0.02, 0.014, 0.01, 0.007])
    errors = []
    for dt in steps:
        exact = path(lambda x, t: (1 + 2 * t) * (1 + 0.5 * np.sin(2 * np.pi * x)), x, 0.0, dt)
        errors.append(np.abs(np.asarray(advection.apply(dt, 0)) - exact).max())
    assert order_of(errors, steps) == pytest.approx(ORDERS[scheme] + 1, abs=0.15)


@pytest.mark.parametrize("begin", [0.3, 0.7])
def test_sweeps_are_cut_at_the_times(device, dtype, begin):
    """Forwards and backwards, with the bits of sweeps that end there."""
    grid = box(33, 16)
    advection = series_core(series_on(grid, dtype, device, wave))
    end = 1.0 - begin
    for axis in (0, 1):
        results = []
        for times in ((begin, end), (begin, 0.5, end)):
            u = field(noise(grid, 9), grid, dtype, device)
            transport = _core.Splitting(advection, remesh_core([u]), 1)
            for first, last in pairwise(times):
                transport.sweep(axis, first, last - first)
            results.append(u.get())
        np.testing.assert_array_equal(results[0], results[1])


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)], ids=str)
def test_a_series_of_an_array_with_names(device, order):
    """Grid and times are those of the coordinates, whatever the order of axes."""
    grid = pt.Grid((5, 4), spacing=(0.1, 0.3), boundary=["periodic", ("inflow", "outflow")])
    times = [0.0, 0.25, 1.0]
    values = np.random.default_rng(8).normal(size=(3, 2, 5, 4)).astype("float32")
    fields = [pt.Field(grid, 2, device=device) for _ in times]
    for one, now in zip(fields, values, strict=True):
        one[...] = now
    arrays = [one.to_xarray(time) for one, time in zip(fields, times, strict=True)]
    array = xarray.concat(arrays, "time")
    given = array.transpose(*(array.dims[k] for k in order))
    series = pt.VelocitySeries.from_xarray(given, device=device)
    assert (series.times, series.grid) == (tuple(times), grid)
    np.testing.assert_array_equal([one.get() for one in series.fields], values)

    parts = xarray.Dataset({"u": array.isel(component=0), "v": array.isel(component=1)})
    of_parts = pt.VelocitySeries.from_xarray(parts.to_dataarray("component"), device=device)
    np.testing.assert_array_equal([one.get() for one in of_parts.fields], values)


def test_a_line_needs_no_component(device):
    array = xarray.DataArray(
        np.arange(8.0).reshape(4, 2), {"x": [0.0, 1.0, 2.0, 3.0], "time": [0, 1]}, ("x", "time")
    )
    series = pt.VelocitySeries.from_xarray(array, device=device)
    assert series.grid == pt.Grid(4, extent=4.0)
    assert series.fields[1].dtype == np.float64
    np.testing.assert_array_equal(series.fields[1], [1, 3, 5, 7])


def test_a_series_of_one_velocity_is_that_velocity(device, dtype):
    grid = box(19, 33, 10)
    steady = field([0.3 * wave(grid, axis) for axis in range(3)], grid, dtype, device)
    series = pt.VelocitySeries([steady, steady.copy()], [0, 1])
    for axis in range(3):
        found = pt.AdvectionOp(series).apply(0.2, axis, time=0.4).displacement.get()
        expected = pt.AdvectionOp(steady).apply(0.2, axis).displacement.get()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled
def test_forms_give_the_same_bits_on_a_finer_grid(device):
    grid, fine = box(9, 16), box(18, 32)
    series = series_on(grid, "float32", device, times=(-30.0, 0.0, 100.0))

    def make(form):
        return series_core(series, form, None, "rk4", "linear", fine)

    check_every_form(make, fine, device)


def test_a_gpu_gives_the_same_bits(device):
    grid = box(30, 100)
    results = []
    for place in (device, as_gpu(device, 8 * 1024)):
        series = series_on(grid, "float32", place)
        u = field(noise(grid, 9), grid, "float32", place)
        for axis in range(2):
            one_kernel(series_core(series), u, remesh_core([u]), axis, 0.4)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])


def test_long_lines(device):
    """They are cut into segments, and look as far as the faster of two times."""
    grid = box(9000)
    slow, fast = (
        field(s * wave(grid, 1), grid, "float32", device) for s in (0.01, 60 * grid.spacing[0])
    )
    advection = series_core(pt.VelocitySeries([slow, fast], [0, 1]))
    u = field(noise(grid, 9), grid, "float32", device)
    whole, moves = u.copy(), pt.Field(grid, 1, "float32", device)
    advection.displace(0, 0.3, 0.6, moves.core)
    remesh_core([whole]).apply(0, moves.core, moves.core.max_abs())
    np.testing.assert_array_equal(one_kernel(advection, u, remesh_core([u]), 0, 0.6), whole.get())


def test_strain_is_the_greatest_of_the_times_concerned(device, dtype):
    grid = box(9)
    fields = [field(s * wave(grid, 0), grid, dtype, device) for s in (1, 4, 2)]
    series = pt.VelocitySeries(fields, TIMES)
    core = series_core(series)
    unit = core.measure([0], [0.1])[0][1] / 4
    found = [
        core.measure([0], [begin], [length])[0][1]
        for begin, length in ((0.6, 0.1), (0.1, 0.7), (0.7, -0.6))
    ]
    np.testing.assert_allclose(found, 4 * unit, rtol=1e-6)
    fields[1][...] = 0
    found = [
        core.measure([0], [begin], [length])[0][1]
        for begin, length in ((0.1, 0.1), (0.6, 0.1), (0.1, 0.6))
    ]
    np.testing.assert_allclose(found, [unit, 2 * unit, 2 * unit], rtol=1e-6)
    fields[0].fill(np.nan)
    assert np.isnan(core.measure([0], [0.1], [0.6])[0][1])


def test_of_a_push_that_goes_beyond_the_ends_what_lies_between_them_is_judged():
    grid = box(9)
    series = pt.VelocitySeries(
        [field(s * wave(grid, 0), grid, "float32", None) for s in (1, 4, 2)], TIMES
    )
    core = series_core(series)
    unit = core.judge(0, 0.1, 0.2)[0] / 4
    strains = [core.judge(0, *push)[0] for push in ((0.6, 0.3), (0.9, -0.25), (-0.1, 0.5))]
    np.testing.assert_allclose(strains, 4 * unit, rtol=1e-6)
    with pytest.raises(ValueError, match=r"^time must be within the velocity's, 0 to 0.8, not fr"):
        core.judge(0, 0.7, 0.3)


@pytest.mark.one_device
@pytest.mark.any_form
def test_a_last_time_that_is_far_away_changes_nothing(device):
    """A velocity that is to stay as it is may be given once more, at any time."""
    grid = box(16, 12)
    fields = [
        field([s * wave(grid, 0), 0 * wave(grid, 0)], grid, "float64", device)
        for s in (0.1, 0.3, 0.3)
    ]
    results = []
    for times in ((0, 0.5, 3), (0, 0.5, 1e12)):
        series = pt.VelocitySeries(fields, times)
        u = field(noise(grid, 9), grid, "float64", device)
        transport = pt.Splitting(pt.AdvectionOp(series, "heun"), pt.RemeshOp(u))
        swarm = pt.ParticleSet(grid, [grid.origin], dtype="float64", device=device)
        tracers = pt.Tracers(swarm, series)
        for each in (transport, tracers):
            each.run(1.2, 0.3)
        results.append((u.get(), swarm.positions.get()))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    transport.time = tracers.time = -0.1
    for each in (transport, tracers):
        with pytest.raises(
            ValueError, match=r"^time must be within .*, 0 to 1e\+12, not from -0.1"
        ):
            each.step(0.2)


@pytest.mark.one_device
@pytest.mark.any_form
def test_steps_end_at_the_last_time_and_not_beyond(device):
    grid = box(16, 12)
    series = series_on(grid, "float32", device, lambda grid, k: 0.1 * wave(grid, k))
    u = field(noise(grid, 9), grid, "float32", device)
    before = u.get()
    transport = pt.Splitting(pt.AdvectionOp(series), pt.RemeshOp(u))
    words = r"^time must be within the velocity's, 0 to 0.8, not from 0 to 0.9$"
    for beyond in (lambda: transport.run(0.9, 0.1), lambda: transport.step(0.9)):
        with pytest.raises(ValueError, match=words):
            beyond()
    with pytest.raises(ValueError, match=words):
        transport.sweep(0, 0.9)
    np.testing.assert_array_equal(u.get(), before)
    transport.run(0.8, 0.1)
    assert transport.time == 0.8
    assert not np.array_equal(u.get(), before)


def test_refused_series(device):
    grid = box(4, 5)
    one, two = (pt.Field(grid, 2, device=device) for _ in range(2))
    refused = [
        (one, [0, 1], TypeError, "^fields must be a sequence of Field, not Field"),
        (
            [one, 1.0],
            [0, 1],
            TypeError,
            r"^fields must be a sequence of Field, not one with 1\.0 in it",
        ),
        *(
            (
                arrays,
                [0, 1],
                TypeError,
                r": make each by pt\.Field\.from_arrays\(grid, \*components\)$",
            )
            for arrays in (np.zeros((2, 2, 4, 5)), [np.zeros((2, 4, 5))] * 2, [one, np.zeros(3)])
        ),
        ([one], [0], ValueError, "^fields must be at least two, not 1"),
        ([one, pt.Field(box(4, 6), 2, device=device)], [0, 1], ValueError, "^fields .* same grid"),
        ([one, pt.Field(grid, 1, device=device)], [0, 1], ValueError, "^fields .* same components"),
        ([one, two], 3, TypeError, "^times must be a sequence of numbers, not 3"),
        ([one, two], [0, "b"], TypeError, "^times must be a number, not 'b'"),
        ([one, two], [0, np.inf], ValueError, "^times must be finite, not inf"),
        ([one, two], [0], ValueError, r"^times must be one for each of 2 fields, not \(0.0,\)"),
        ([one, two], [1, 1], ValueError, r"^times must ascend, not be \(1\.0, 1\.0\)"),
        ([one, two], [2, 1], ValueError, "^times must ascend"),
    ]
    for fields, times, error, words in refused:
        with pytest.raises(error, match=words):
            pt.VelocitySeries(fields, times)


def test_refused_uses_of_a_series(device):
    grid = box(4, 5)
    series = pt.VelocitySeries([pt.Field(grid, 2, device=device) for _ in range(3)], TIMES)
    advection = pt.AdvectionOp(series)
    with pytest.raises(
        ValueError, match=r"^dt: expected a push that passes no time of the velocity"
    ):
        advection.apply(0.4, 0, time=0.3)
    for use in (lambda: advection.apply(0.1, 0, time=0.8), lambda: advection.strain(1.0)):
        with pytest.raises(ValueError, match=r"^time must be within the velocity's, 0 to 0.8"):
            use()
    with pytest.raises(ValueError, match=r"^velocity must have one component per axis"):
        pt.AdvectionOp(pt.VelocitySeries([pt.Field(grid, device=device)] * 2, [0, 1]))
    carried = pt.Field(grid, dtype="float64", device=device)
    with pytest.raises(TypeError, match=r"^the velocity must be of float64, not float32"):
        pt.Splitting(advection, pt.RemeshOp(carried))
    own = pt.RemeshOp(series.fields[1].component(0))
    with pytest.raises(ValueError, match=r"^the velocity must have memory of its own"):
        pt.Splitting(advection, own)
    text = repr(series)
    assert text.startswith("VelocitySeries(3 times from 0 to 0.8, Field(")
