# SPDX-License-Identifier: BSD-3-Clause
"""Copies between fields that lie in memory in any way, in the forms for CPUs and for GPUs."""

import itertools

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles._core import testing

from tests.support.gpu_forms import FORMS, in_form

OFFSET, UNTOUCHED = 5, -7.0
SHAPES = [(1,), (2600,), (3, 2), (40, 33), (64, 64), (1, 70), (17, 3, 35), (2, 48, 1), (5, 16, 32)]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


class Strided:
    """A field of one component whose axes lie in memory in a given order, and all that memory."""

    def __init__(self, machine, shape, dtype, order, step=1, gap=3):
        strides, reach = [0] * len(shape), step
        for axis in reversed(order):
            strides[axis] = reach
            reach = reach * shape[axis] + gap
        grid = pt.Grid(shape)
        self.memory = pt.Field(pt.Grid(OFFSET + reach), 1, dtype, machine)
        self.memory.fill(UNTOUCHED)
        self.strides = strides
        self.field = _core.Field.adopt(
            machine.core,
            grid.core,
            1,
            np.dtype(dtype).name,
            "",
            self.memory.core.memory,
            OFFSET,
            [reach, *strides],
        )
        self.shape = shape

    def view(self, memory):
        """Return the field's values in a copy of the memory."""
        strides = [stride * memory.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(memory[OFFSET:], self.shape, strides)

    def set(self, values):
        memory = self.memory.get()
        self.view(memory)[...] = values
        self.memory[...] = memory


def check_copy(source, target, values):
    """Copy, and compare all memory of the target."""
    source.set(values)
    expected = target.memory.get()
    target.view(expected)[...] = values.astype(source.memory.dtype)
    target.field.copy_from(source.field)
    np.testing.assert_array_equal(target.memory.get(), expected)


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_axes_may_lie_in_any_order(machine, shape):
    values = np.random.default_rng(2).normal(size=shape)
    orders = itertools.product(itertools.permutations(range(len(shape))), repeat=2)
    dtypes = itertools.cycle(itertools.product(machine.dtypes, repeat=2))
    for (one, other), (source_dtype, target_dtype) in zip(orders, dtypes, strict=False):
        source = Strided(machine, shape, source_dtype, one)
        target = Strided(machine, shape, target_dtype, other, gap=0)
        check_copy(source, target, values)


@pytest.mark.parametrize("shape", [(2600,), (40, 33)], ids=str)
def test_dtypes_may_differ(machine, shape):
    values = np.random.default_rng(2).normal(size=shape)
    for source_dtype, target_dtype in itertools.product(machine.dtypes, repeat=2):
        for order in itertools.permutations(range(len(shape))):
            source = Strided(machine, shape, source_dtype, order)
            target = Strided(machine, shape, target_dtype, order[::-1])
            check_copy(source, target, values)


@pytest.mark.parametrize("steps", [(1, 2), (3, 1), (2, 2)], ids=str)
def test_neighbours_may_lie_apart(machine, steps):
    shape = (18, 3, 35)
    values = np.random.default_rng(2).normal(size=shape)
    for order in itertools.permutations(range(3)):
        source = Strided(machine, shape, "float32", (0, 1, 2), steps[0])
        target = Strided(machine, shape, "float32", order, steps[1])
        check_copy(source, target, values)


def test_more_tiles_than_groups(machine):
    shape = (300, 41, 50)
    values = np.random.default_rng(2).normal(size=shape)
    source = Strided(machine, shape, "float32", (0, 1, 2), gap=16)
    check_copy(source, Strided(machine, shape, "float32", (0, 2, 1), gap=16), values)
    check_copy(source, Strided(machine, shape, "float32", (2, 1, 0), gap=16), values)


def test_values_travel_to_the_bit(machine):
    values = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4e38] * 11, np.float32)
    source, target = (Strided(machine, (6, 11), "float32", order) for order in [(0, 1), (1, 0)])
    source.set(values.reshape(6, 11))
    target.field.copy_from(source.field)
    copied = np.ascontiguousarray(target.view(target.memory.get()))
    assert copied.tobytes() == values.tobytes()


def test_filling_leaves_the_gaps(machine, dtype):
    shape = (4, 21, 18)
    for order in itertools.permutations(range(3)):
        target = Strided(machine, shape, dtype, order)
        target.field.fill([0] * 4, [1, *shape], [1] * 4, 2.5)
        expected = np.full(target.memory.shape, UNTOUCHED, dtype)
        target.view(expected)[...] = 2.5
        np.testing.assert_array_equal(target.memory.get(), expected)


@pytest.mark.parametrize("dtype", ["float32"], indirect=True)
def test_reductions_are_the_same_in_any_order(machine, dtype):
    shape = (6, 21, 130)
    values = np.random.default_rng(2).normal(size=shape).astype(dtype)
    fields = [Strided(machine, shape, dtype, order) for order in itertools.permutations(range(3))]
    fields.append(Strided(machine, shape, dtype, (0, 1, 2), step=2))
    for strided in fields:
        strided.set(values)
    for name in ("sum", "sum_abs", "sum_squares", "min", "max", "max_abs"):
        assert len({getattr(strided.field, name)() for strided in fields}) == 1


@pytest.mark.one_device
def test_copies_are_in_vectors_of_the_wider_dtype(device, tmp_path):
    """Of 16 bytes it would have two lanes, too few: its numbers go one by one, as of 8 bytes."""
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    built = []
    for widest in (16, 8):
        info = _core.describe_device(device.info.pointer).with_vectors(widest, fma=False)
        own = pt.Device(info, _core.Context.open(info, str(tmp_path)))
        one, other = (pt.Field(pt.Grid((3, 21)), dtype=f"float{n}", device=own) for n in (32, 64))
        other.core.copy_from(one.core)
        built.append((testing.programs_compiled(own.core), testing.programs_loaded(own.core)))
    assert built == [(1, 0), (0, 1)]
