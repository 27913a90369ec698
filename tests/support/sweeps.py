# SPDX-License-Identifier: BSD-3-Clause
"""Boxes, velocities and strengths for single sweeps, and how exact a sweep can be."""

from functools import cache
from itertools import product

import numpy as np
import particles as pt
import pytest
from particles import _core, kernels

from tests.reference import reference
from tests.support import lot

# For what is independent of the dtype, where other tests take every one.
in_single = pytest.mark.parametrize("dtype", ["float32"], indirect=True)

ORIGIN, EXTENT = (-1.5, 0.25, 7.0), (2.0, 0.75, 3.0)

SHAPES = [
    *[(1,), (2,), (3,), (17,), (101,)],
    *[(1, 1), (2, 3), (1, 19), (5, 1), (33, 15), (31, 16)],
    *[(1, 1, 1), (2, 3, 5), (5, 1, 40), (17, 33, 7), (16, 15, 17), (13, 10, 101)],
]
CFL = (0.0, 0.4, 1.0, 3.7, 30.0)


def box(*shape):
    """A grid off the origin, with a spacing of its own along every axis."""
    return pt.Grid(shape, origin=ORIGIN[: len(shape)], extent=EXTENT[: len(shape)])


def wave(grid, seed):
    """Smooth values from -1 to 1."""
    phase = np.random.default_rng(seed).random(grid.ndim)
    boxes = zip(grid.coordinates(), grid.origin, grid.extent, phase, strict=True)
    values = [np.sin(2 * np.pi * ((x - start) / length + p)) for x, start, length, p in boxes]
    return np.prod(np.broadcast_arrays(*values), axis=0)


def noise(grid, seed):
    """Values from -1 to 1 that know nothing of their neighbours."""
    return np.random.default_rng(seed).uniform(-1, 1, grid.shape)


def field(values, grid, dtype, device, name=None):
    """One component for an array of the grid's shape, else one for each array."""
    single = isinstance(values, np.ndarray)
    result = pt.Field(grid, 1 if single else len(values), dtype, device, name)
    for index, value in enumerate([values] if single else values):
        result.component(index)[...] = value
    return result


def components(field):
    """The values that a field really holds, one array for each component."""
    arrays = [field.component(index).get() for index in range(field.components)]
    return [array.astype(np.float64) for array in arrays]


def _period(ndim):
    return [2 * np.pi / length for length in EXTENT[:ndim]]


def flow_1d(x, t):
    (k,) = _period(1)
    return (np.cos(t) * np.sin(k * x + t),)


def flow_2d(x, y, t):
    k, m = _period(2)
    return np.sin(k * x) * np.cos(m * y + t), np.cos(t) * np.cos(k * x + m * y)


def flow_3d(x, y, z, t):
    k, m, n = _period(3)
    return (
        np.sin(k * x) * np.cos(m * y + t),
        np.cos(k * x - m * y + n * z),
        np.cos(t) * np.sin(n * z + t) * np.sin(m * y),
    )


FLOWS = {1: flow_1d, 2: flow_2d, 3: flow_3d}
"""Periodic on every `box`, at most 1, and dependent on time."""

# How exact a sweep can be, in units of the dtype's epsilon.
#
# The displacement is a product of rounded numbers, taken at a place that is itself rounded. If no
# particle moves more than C cells and neighbours move apart by at most S, that makes
#     ROUNDINGS C (1 + S) (1 + G),
# where G stands for a formula: relative change of its value when every coordinate and the time
# change by an epsilon, the sum of |gradient| |coordinate|.
#
# A weight is ROUNDINGS wrong, and changes by L, the Lipschitz constant of W, times the error of the
# displacement. What reaches a node from all particles within the stencil adds up.
ROUNDINGS = 3.0


def error_of_moves(dtype, cfl, strain, gradient=0.0):
    """How wrong the displacements, in cells, may be."""
    return np.finfo(dtype).eps * ROUNDINGS * cfl * (1 + strain) * (1 + gradient)


def error_of_sweep(dtype, u, cells, axis, kernel, wrong_by=0.0):
    """How wrong strengths may be after particles have moved by `cells`, known up to `wrong_by`."""
    weight = np.finfo(dtype).eps * ROUNDINGS + lipschitz_constant(kernel) * wrong_by
    return weight * strength_in_reach(u, cells, axis, reference.half_width(kernel))


def error_of_reading(dtype, u, kernel, wrong_by=0.0):
    """How wrong values may be that are read at places known up to `wrong_by` cells.

    Each is a sum of differences of neighbours times weights.
    """
    weight = np.finfo(dtype).eps * ROUNDINGS + lipschitz_constant(kernel) * wrong_by
    return weight * 4 * reference.half_width(kernel) * np.abs(u).max(initial=0)


def spread(a, axis):
    """Greatest difference of neighbours."""
    return float(np.abs(np.roll(a, -1, axis) - a).max())


def formula_gradient(grid, time):
    """G of the `FLOWS` up to a time: it occurs twice; wave numbers times the largest coordinates."""
    reach = [max(abs(o), abs(o + e)) for o, e in zip(grid.origin, grid.extent, strict=True)]
    return sum(k * x for k, x in zip(_period(grid.ndim), reach, strict=True)) + 2 * time


@cache
def lipschitz_constant(kernel):
    x = np.linspace(0, reference.half_width(kernel), 10001)
    return float(np.abs(np.gradient(reference.kernel_value(kernel, x), x)).max())


def strength_in_reach(u, cells, axis, half_width):
    """Largest sum of |u| of the particles that a node is within reach of."""
    lines, whole = np.moveaxis(np.abs(u), axis, -1), np.moveaxis(np.floor(cells), axis, -1)
    n = lines.shape[-1]
    place = (np.arange(n) + whole.astype(np.int64)) % n
    place = place.reshape(-1, n) + n * np.arange(u.size // n)[:, None]
    in_cell = np.bincount(place.ravel(), lines.ravel(), u.size).reshape(-1, n)
    reach = range(-half_width, half_width)
    return float(sum(np.roll(in_cell, shift, 1) for shift in reach).max())


def core_form(form, capacity=None):
    """A form of the core for the name of a kind, or for what to choose by name."""
    chosen = form if isinstance(form, dict) else {"kind": form}
    return _core.Form(**chosen if capacity is None else {**chosen, "nodes": capacity})


def remesh_core(fields, kernel="M'6", form=None, capacity=None, **options):
    """The operator of the core, with a capacity of lines that the user cannot set."""
    chosen = kernels.get(kernel)
    source = kernels.opencl_source(chosen)
    cores = [field.core for field in fields]
    forms = [core_form(form, capacity)] * fields[0].grid.ndim if fields else []
    return _core.RemeshOp(cores, source, chosen.stencil, forms, **options)


def advection_core(
    velocity, dtype=None, device=None, form=None, capacity=None, *, scheme="rk2", **rule
):
    """The same for a field, or for a formula with a dtype and a device."""
    chosen = core_form(form, capacity)
    if isinstance(velocity, pt.Field):
        return _core.AdvectionOp(velocity.core, chosen, scheme, **rule)
    grid, depends = velocity.grid, velocity.depends_on_time
    sources = [velocity.source(axis) for axis in range(grid.ndim)]
    context = device.core
    return _core.AdvectionOp(context, grid.core, sources, depends, dtype.name, chosen, scheme)


def cases(grid):
    """Axis, CFL number and the duration that makes it with a velocity of 1."""
    for axis, cfl in product(range(grid.ndim), CFL):
        yield axis, cfl, cfl * grid.spacing[axis]


def two_kernels(advection, u, remesh, moves, axis, dt, time=0.3, back=False):
    """Displacements and strengths after one kernel has pushed, perhaps back, and another remeshed."""
    begin, duration = (time + dt, -dt) if back else (time, dt)
    advection.displace(axis, begin, duration, moves.core)
    remesh.apply(axis, moves.core, moves.core.max_abs())
    return moves.get(), u.get()


def one_kernel(advection, u, remesh, axis, dt):
    """Strengths after one kernel has done both."""
    _core.Splitting(advection, remesh, 1).sweep(axis, 0.3, dt)
    return u.get()


def check_forms(
    velocity, grid, dtype, device, form, capacity, *, other=None, remeshing=None, **rule
):
    """Compare a form with another, by default the default, and fused kernels with two kernels."""
    u, moves = (pt.Field(grid, 1, dtype, device) for _ in range(2))
    start, options = noise(grid, 9), remeshing or {}
    back = not options.get("conservative", True)
    plain = (
        advection_core(velocity, dtype, device, other, **rule),
        remesh_core([u], "M'6", other, **options),
    )
    chosen = (
        advection_core(velocity, dtype, device, form, capacity, **rule),
        remesh_core([u], "M'6", form, capacity, **options),
    )
    for axis in range(grid.ndim):
        for cells in (0.4, 3.7, 26.0):
            dt = cells * grid.spacing[axis]
            u[...] = start
            expected = two_kernels(plain[0], u, plain[1], moves, axis, dt, back=back)
            u[...] = start
            np.testing.assert_array_equal(
                one_kernel(*plain[:1], u, plain[1], axis, dt), expected[1]
            )
            u[...] = start
            found = two_kernels(chosen[0], u, chosen[1], moves, axis, dt, back=back)
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_array_equal(found[1], expected[1])
            u[...] = start
            found = one_kernel(chosen[0], u, chosen[1], axis, dt)
            np.testing.assert_array_equal(found, expected[1])


SWEPT = [
    *[("private", 7), ("local", 9), ("lanes", 8), ({"kind": "lanes", "copied": True}, None)],
    *[("registers", None), ("registers", 9), ("team", None), ("team", 9)],
]


def swept_on(device, dtype="float32"):
    """Forms of each kind that the device has, with a capacity of lines each."""
    has_images = device.has_images and dtype == "float32"
    return SWEPT + [({"kind": "private", "images": True}, None)] * has_images


def check_every_form(make_advection, grid, device, dtype="float32", time=0.3):
    """Compare forms of a motion, which is made for one of them, along each axis.

    Displacements too, which have forms of their own. Each run draws three of the forms.
    """
    forms = lot.some(swept_on(device, dtype), 3, f"forms on {grid}")
    default, single = make_advection(None), make_advection("private")
    u, moves = (pt.Field(grid, 1, dtype, device) for _ in range(2))
    start = noise(grid, 9)
    remeshes = [remesh_core([u], "M'6", form, capacity) for form, capacity in forms]
    sweeps = [_core.Splitting(default, remesh, 1) for remesh in remeshes]
    for axis in range(grid.ndim):
        for cells in (0.4, 26.0):
            dt = cells * grid.spacing[axis]
            u[...] = start
            expected = two_kernels(default, u, remesh_core([u]), moves, axis, dt, time)
            single.displace(axis, time, dt, moves.core)
            np.testing.assert_array_equal(moves.get(), expected[0])
            for sweep in sweeps:
                u[...] = start
                sweep.sweep(axis, time, dt)
                np.testing.assert_array_equal(u.get(), expected[1])
