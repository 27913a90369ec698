# SPDX-License-Identifier: BSD-3-Clause
"""Laws that hold for every combination of kernel, scheme, shape, dtype and splitting.

They are tested in the form that is built fastest; all forms give the same bits.
"""

import warnings
from functools import partial

import numpy as np
import particles as pt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

SPLINE = pt.kernels.custom("spline", [["2/3", 0, -1, "1/2"], ["4/3", -2, 1, "-1/6"]])
KERNELS = ("L1", "M'4", "M'6", "M'8", "L4_4", "L6_4", "L8_4", SPLINE)
LONGEST = {1: 60, 2: 17, 3: 9}

examples = partial(
    settings,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate,),  # to shrink would build hundreds of kernels
    suppress_health_check=list(HealthCheck),
)


class Carried:
    """A combination of choices, and noise carried with it."""

    def __init__(self, draw, device, **given_options):
        self.grid = draw_grid(draw)
        computed = [name for name in ("float32", "float64") if np.dtype(name) in device.dtypes]
        self.dtype = draw(st.sampled_from(computed), "dtype")
        self.components = draw(st.integers(1, 3), "components")
        self.kernel = pt.kernels.get(draw(st.sampled_from(KERNELS), "kernel"))
        self.random = np.random.default_rng(draw(st.integers(0, 1000), "seed"))
        self.order = draw(st.sampled_from([1, 2, 4]), "order")
        self.scheme = draw(st.sampled_from(["euler", "rk2", "heun", "rk3", "rk4"]), "scheme")
        self.interpolation = draw(st.sampled_from(["linear", "cubic"]), "interpolation")
        self.cells = draw(st.sampled_from([0.3, 2.0, 7.0]), "cells")
        self.options = {**given_options}
        self.device = device
        self.velocity = self.field(self.grid.ndim, self.noise(self.grid.ndim))

    def noise(self, components):
        return self.random.uniform(-1, 1, (components, *self.grid.shape))

    def field(self, components, values):
        field = pt.Field(self.grid, components, self.dtype, self.device)
        field[...] = np.broadcast_to(values, (components, *self.grid.shape)).reshape(field.shape)
        return field

    def transport(self, u, form="private"):
        advection = pt.AdvectionOp(
            self.velocity, self.scheme, interpolation=self.interpolation, form=form
        )
        remesh = pt.RemeshOp(u, self.kernel, form=form, **self.options)
        return pt.Splitting(advection, remesh, self.order)

    def dt(self, transport):
        """As long as particles keep their order, or move so many cells."""
        strain = transport.lcfl(1.0)
        fastest = np.abs(np.asarray(self.velocity)).max() / min(self.grid.spacing)
        return min(0.8 / max(strain, 1e-9), self.cells / fastest)

    def run(self, values, form="private", steps=2):
        """Values after some steps, in double precision, and the number of sweeps done."""
        u = self.field(self.components, values)
        transport = self.transport(u, form)
        dt = self.dt(transport)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            for _ in range(steps):
                transport.step(dt)
        result = np.asarray(u).reshape(self.components, *self.grid.shape).astype(np.float64)
        return result, steps * len(transport.schedule)

    def roundings(self, sweeps):
        """Of the sums on a node, relative to what all particles give in absolute values."""
        sums = np.abs(self.kernel.weights(np.linspace(0, 1, 33))).sum(axis=0).max()
        terms = 2 * self.kernel.stencil
        return sweeps * terms * np.finfo(self.dtype).eps * sums**sweeps

    def over_components(self, values):
        return np.abs(values).reshape(self.components, -1).sum(axis=1)


def draw_grid(draw):
    ndim = draw(st.integers(1, 3), "dimensions")
    shape = draw(st.tuples(*[st.integers(1, LONGEST[ndim])] * ndim), "shape")
    return pt.Grid(shape, origin=(0.5,) * ndim, extent=tuple(1.0 + k for k in range(ndim)))


@examples(max_examples=8)
@given(data=st.data())
def test_mass_is_conserved(device, data):
    carried = Carried(data.draw, device)
    start = carried.noise(carried.components).astype(carried.dtype).astype(np.float64)
    found, sweeps = carried.run(start)
    drift = (found - start).reshape(carried.components, -1).sum(axis=1)
    assert np.all(np.abs(drift) <= carried.roundings(sweeps) * carried.over_components(start))


@examples(max_examples=8)
@given(data=st.data())
def test_values_that_are_all_alike_stay(device, data):
    """Whatever the velocity does, where values are carried instead of masses."""
    limiter = data.draw(st.sampled_from([None, "positive"]), "limiter")
    carried = Carried(data.draw, device, conservative=False, limiter=limiter)
    value = np.asarray(0.75)
    found, sweeps = carried.run(value)
    np.testing.assert_allclose(found, value, rtol=carried.roundings(sweeps))


@examples(max_examples=8)
@given(data=st.data())
def test_nothing_falls_below_zero_with_the_limiter(device, data):
    carried = Carried(data.draw, device, limiter="positive")
    carried.order = min(carried.order, 2)
    start = np.maximum(carried.noise(carried.components), 0)
    found, _ = carried.run(start)
    floor = {"float32": -1e-6, "float64": -1e-15}[carried.dtype]
    assert found.min() >= floor * max(found.max(), 1)


@examples(max_examples=4)
@given(data=st.data())
def test_all_forms_give_the_same_bits(device, data):
    limiter = data.draw(st.sampled_from([None, "positive"]), "limiter")
    carried = Carried(data.draw, device, limiter=limiter)
    start = carried.noise(carried.components)
    expected, _ = carried.run(start)
    for form in (None, "local") if limiter else (None, "local", "global"):
        np.testing.assert_array_equal(carried.run(start, form)[0], expected)


@examples(max_examples=8)
@given(data=st.data())
def test_components_do_not_depend_on_each_other(device, data):
    carried = Carried(data.draw, device)
    start = carried.noise(carried.components)
    together, _ = carried.run(start)
    last = carried.components - 1
    carried.components = 1
    np.testing.assert_array_equal(carried.run(start[last])[0][0], together[last])


@examples(max_examples=8)
@given(data=st.data())
def test_without_motion_interpolating_kernels_change_nothing(device, data):
    carried = Carried(data.draw, device)
    carried.velocity[...] = np.zeros(carried.velocity.shape)
    start = carried.noise(carried.components).astype(carried.dtype)
    u = carried.field(carried.components, start)
    carried.transport(u).step(1.0)
    if pt.kernels.describe(carried.kernel).interpolating:
        np.testing.assert_array_equal(np.asarray(u).reshape(start.shape), start)
    else:
        assert np.abs(np.asarray(u)).max() <= np.abs(start).max() * 1.4
