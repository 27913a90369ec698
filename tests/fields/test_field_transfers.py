# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the host of every kind, few elements and many, in the forms for CPUs and for GPUs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import particles as pt
import pytest

from tests.support.gpu_forms import FORMS, in_form

SHAPES = [(3, 17), (700, 801), (65, 70, 131)]
"""The larger ones take more than a mebibyte."""


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def unaligned(values):
    raw = np.empty(values.nbytes + 1, np.uint8)[1:]
    array = raw.view(values.dtype).reshape(values.shape)
    array[...] = values
    assert array.flags.c_contiguous
    assert not array.flags.aligned
    return array


def inside(values):
    """Inside a larger array, at an offset that no vector is aligned to."""
    array = np.full(values.size + 8, np.nan, values.dtype)[3:-5].reshape(values.shape)
    array[...] = values
    return array


def read_only(values):
    array = values.copy()
    array.flags.writeable = False
    return array


def strided(values):
    array = np.empty((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)[..., ::2]
    array[...] = values
    return array


KINDS = [np.copy, unaligned, inside, read_only, strided, np.asfortranarray]


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("given", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_whatever_array_is_written(machine, dtype, shape, kind, given, components):
    field = pt.Field(pt.Grid(shape), components, dtype, machine)
    array = kind(np.random.default_rng(1).normal(size=field.shape).astype(given))
    field[...] = array
    np.testing.assert_array_equal(field.get(), array.astype(dtype))
    assert field.sum() == pytest.approx(array.sum(dtype=float), rel=1e-6, abs=1e-3)


@pytest.mark.parametrize("kind", [np.copy, unaligned, inside, strided, np.asfortranarray])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_whatever_array_is_read_into(machine, dtype, shape, kind):
    field = pt.Field(pt.Grid(shape), 2, dtype, machine)
    values = np.random.default_rng(1).normal(size=field.shape).astype(dtype)
    field[...] = values
    out = kind(np.zeros_like(values))
    assert field.get(out=out) is out
    np.testing.assert_array_equal(out, values)


def test_nothing_beside_an_array_is_written(machine):
    shape = SHAPES[1]
    field = pt.Field(pt.Grid(shape), device=machine)
    field.fill(1)
    memory = np.full(field.size + 20, 5, np.float32)
    field.get(out=memory[7:-13].reshape(shape))
    assert (memory[:7] == 5).all()
    assert (memory[7:-13] == 1).all()
    assert (memory[-13:] == 5).all()


def test_a_file_that_is_only_read(machine, tmp_path):
    values = np.random.default_rng(1).normal(size=SHAPES[1]).astype(np.float32)
    np.save(tmp_path / "values.npy", values)
    field = pt.Field(pt.Grid(SHAPES[1]), device=machine)
    field[...] = np.load(tmp_path / "values.npy", mmap_mode="r")
    np.testing.assert_array_equal(field.get(), values)


def test_an_array_is_the_hosts_again_at_once(machine):
    field = pt.Field(pt.Grid(SHAPES[2]), device=machine)
    array = np.ones(SHAPES[2], np.float32)
    for number in range(5):
        array[...] = number
        field[...] = array
        array[...] = -1
        field.get(out=array)
        assert (array == number).all()


@pytest.mark.parametrize("key", [np.s_[:, ::2], np.s_[1:-1, 3:], np.s_[::3, 5], np.s_[..., ::-1]])
def test_large_parts(machine, dtype, key):
    field = pt.Field(pt.Grid((1200, 1111)), 1, dtype, machine)
    values = np.random.default_rng(1).normal(size=field.shape).astype(dtype)
    field[...] = values
    np.testing.assert_array_equal(field[key], values[key])
    values[key] = new = np.random.default_rng(2).normal(size=values[key].shape)
    field[key] = new
    np.testing.assert_array_equal(field.get(), values)


@pytest.mark.sampled
@pytest.mark.drawn(1)
def test_threads_move_fields_at_once(machine):
    grid = pt.Grid(SHAPES[2])
    shared = pt.Field(grid, device=machine)
    shared.fill(3)

    def work(number):
        field = pt.Field(grid, device=machine)
        for turn in range(3):
            field[...] = np.full(grid.shape, number + turn)
            assert (field.get() == number + turn).all()
            assert field.sum() == (number + turn) * grid.size
            assert field[::2, :, ::2].max() == field.min() == number + turn
            assert shared.sum() == 3 * grid.size
            assert shared.max() == 3
            assert shared.norm(1) == 3 * grid.size
        return True

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(6)))
