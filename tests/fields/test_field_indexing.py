# SPDX-License-Identifier: BSD-3-Clause
"""A field under every basic index does what a NumPy array does, and moves no more than that."""

import re

import numpy as np
import particles as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SHAPES = [(1,), (5,), (37,), (1, 7), (6, 16), (3, 17), (2, 3, 5), (4, 1, 18), (1, 5, 33)]


def make_pair(shape, components, device=None):
    """Return a field and an array of the same distinct values."""
    field = pt.Field(pt.Grid(shape), components, device=device)
    values = np.arange(field.size, dtype=np.float32).reshape(field.shape)
    field[...] = values
    return field, values


@st.composite
def indexed(draw):
    """Return a grid's shape, a number of components and a basic index."""
    shape, components = draw(st.sampled_from(SHAPES)), draw(st.integers(1, 3))
    full = (components, *shape) if components > 1 else shape
    key = draw(hnp.basic_indices(full, allow_newaxis=True, allow_ellipsis=True))
    return shape, components, key


@given(indexed())
def test_reading_is_numpys(case):
    shape, components, key = case
    field, values = make_pair(shape, components)
    moved = field.core.bytes_moved
    part, expected = field[key], values[key]
    assert type(part) is type(expected)
    assert part.dtype == expected.dtype
    np.testing.assert_array_equal(part, expected, strict=True)
    assert field.core.bytes_moved - moved == expected.nbytes


@pytest.mark.sampled
@given(indexed(), st.data())
def test_writing_is_numpys(case, data):
    shape, components, key = case
    field, values = make_pair(shape, components)
    target = values[key].shape
    given_shape = tuple(
        data.draw(st.sampled_from([1, n])) for n in target[data.draw(st.integers(0, len(target))) :]
    )
    new = -np.arange(1.0, 1 + np.prod(given_shape)).reshape(given_shape)
    moved = field.core.bytes_moved
    field[key] = new
    moved = field.core.bytes_moved - moved
    values[key] = new
    assert moved == (values[key].nbytes if new.ndim else 0)
    np.testing.assert_array_equal(field.get(), values)


KEYS = [
    np.s_[:],
    np.s_[3],
    np.s_[-1, ::2],
    np.s_[..., 4],
    np.s_[:, :, 5],
    np.s_[::3, 1:4, ::-7],
    np.s_[1:1],
    np.s_[2, 3, 4],
    np.s_[::2, ::2],
    np.s_[None, 2, ..., None],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_every_device_moves_parts(device, dtype, key):
    field = pt.Field(pt.Grid((8, 5, 23)), dtype=dtype, device=device)
    values = np.random.default_rng(0).normal(size=field.shape).astype(dtype)
    field[...] = values
    moved = field.core.bytes_moved
    np.testing.assert_array_equal(field[key], values[key], strict=True)
    new = np.random.default_rng(1).normal(size=values[key].shape)[()]
    field[key] = values[key] = new
    filled_on_the_device = values[key].ndim == 0
    assert field.core.bytes_moved - moved == values[key].nbytes * (2 - filled_on_the_device)
    np.testing.assert_array_equal(field.get(), values)


ADVANCED = [
    [0, 2],
    np.array([1, -1, 1]),
    ([0, 1], [2, 3]),
    (slice(1, 3), [4, 0]),
    np.arange(30).reshape(5, 6) % 4 == 1,
    (np.array([True, False, True, False, True]), 2),
    True,
]


@pytest.mark.parametrize("key", ADVANCED, ids=str)
def test_arrays_and_masks_index_through_a_copy(device, key):
    field, values = make_pair((5, 6), 1, device)
    np.testing.assert_array_equal(field[key], values[key], strict=True)
    field[key] = values[key] = -1.5
    np.testing.assert_array_equal(field.get(), values)


def test_a_cpu_does_not_move_what_arrays_do_not_index(device):
    field, _ = make_pair((5, 6), 2, device)
    moved = field.core.bytes_moved
    field[0, [1, 4], [2, 3]] += 1
    assert (field.core.bytes_moved == moved) == device.is_cpu


def test_what_arrays_index_counts_from_then_on(device):
    velocity = pt.Field(pt.Grid(8), 1, device=device)
    advection = pt.AdvectionOp(velocity)
    transport = pt.Splitting(advection, pt.RemeshOp(pt.Field(velocity.grid, device=device)))
    assert transport.lcfl(0.1) == 0
    velocity[[3]] = 1
    assert transport.lcfl(0.1) == pytest.approx(0.8)
    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        velocity[[2, 8]] = 1
    assert velocity.sum() == 1


def test_adding_in_place_reads_and_writes_the_part(device):
    field, values = make_pair((5, 6), 2, device)
    field[1, 2:] += 3
    values[1, 2:] += 3
    np.testing.assert_array_equal(field.get(), values)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (5, "index 5 is out of bounds for axis 0 with size 5"),
        ((0, -7), "index -7 is out of bounds for axis 1 with size 6"),
        ((0, 0, 0), "too many indices: there are 2 axes, but 3 were given"),
        ((..., ...), "an index can have only one ellipsis"),
        (1.0, "indices must be integers, slices.* not 1.0$"),
        ("u", "indices must be integers, slices.* not 'u'$"),
        (np.float64(1), "indices must be integers, slices.* not np.float64\\(1.0\\)$"),
        (np.array(1.5), "indices must be integers, slices.* not array\\(1.5\\)$"),
    ],
)
def test_bad_indices_are_refused(key, words):
    field = pt.Field(pt.Grid((5, 6)))
    with pytest.raises(IndexError, match=words):
        field[key]
    with pytest.raises(IndexError, match=words):
        field[key] = 1


def test_values_that_do_not_fit_are_refused():
    field = pt.Field(pt.Grid((5, 6)))
    for key, shape in [((...,), (5,)), (0, (2, 6)), (np.s_[1:3], (3, 6)), ((0, 0), (2,))]:
        words = f"values of the shape {shape} cannot be broadcast to {field.get()[key].shape}"
        with pytest.raises(ValueError, match=re.escape(words)):
            field[key] = np.zeros(shape)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        field[::0]


@pytest.mark.parametrize(
    ("key", "shape", "words"),
    [
        (..., (6, 5), "axis 0 is x, axis 1 is y"),
        (0, (6, 5), "axis 0 is x, axis 1 is y"),
        (..., (5, 6, 2), "axis 0 is the component, axis 1 is x, axis 2 is y"),
        ((slice(None), 2), (6, 2), "axis 0 is the component, axis 1 is y"),
        ((0, None), (6, 5, 1), "axis 0 is new, axis 1 is x, axis 2 is y"),
    ],
)
def test_axes_in_another_order_are_told(key, shape, words):
    field = pt.Field(pt.Grid((5, 6)), components=2)
    values = np.zeros(shape)
    if key is ... and len(shape) == 2:
        field = pt.Field(pt.Grid((5, 6)))
        for change in field.set, field.__iadd__:
            with pytest.raises(ValueError, match=f": transpose them, as {words}$"):
                change(values)
    with pytest.raises(ValueError, match=f": transpose them, as {words}$"):
        field[key] = values
    rows = pt.Array((5, 3))
    with pytest.raises(ValueError, match=r"as axis 0 is the row, axis 1 is the component$"):
        rows[...] = np.zeros((3, 5))


def test_what_is_in_a_field_is_what_is_in_its_array():
    for values in pt.Field(pt.Grid((5, 6)), components=2), pt.Array((4, 2)):
        values[1, 1] = 3
        assert 3.0 in values
        assert 2.0 not in values


def test_nothing_is_written_to_nothing():
    field = pt.Field(pt.Grid((5, 6)))
    version = field.core.version
    field[2:2] = 1
    field[:, 6:] = np.zeros((5, 0))
    assert field.core.version == version
    assert not field.get().any()


def test_negative_components_count_from_the_end(device):
    field, values = make_pair((5, 6), 3, device)
    field[-1] = values[-1] = -2
    np.testing.assert_array_equal(field[-3:], values)
