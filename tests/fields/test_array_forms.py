# SPDX-License-Identifier: BSD-3-Clause
"""Every form of an array at every entry that takes one: right, or refused with one clear error."""

import numpy as np
import particles as pt
import pytest
from particles import kernels

from tests.support import array_forms

RIGHT = [*array_forms.RIGHT, *array_forms.IN_FILES]
VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)
ROWS, COLUMNS = [7, 2, 3, 0], [1, 2, 5, 6, 9, 12]


@pytest.fixture
def form(request, tmp_path):
    """Return what makes an array of a form that a test names."""
    return lambda values: array_forms.made(request.param, values, tmp_path)


every_right_form = pytest.mark.parametrize("form", RIGHT, indirect=True)
every_wrong_form = pytest.mark.parametrize("form", array_forms.WRONG, indirect=True)

PARTS = {
    "all": np.s_[...],
    "rows": np.s_[1:5, 3:9],
    "steps": np.s_[::2, 1:12:2],
    "backwards": np.s_[6:2:-1, 11:0:-2],
    "a new axis": np.s_[None, :4, -6:],
    "lists": np.ix_(ROWS, COLUMNS),
}


def whole_or_wide(part, device, components=1):
    return pt.Field(pt.Grid((4, 6) if part is Ellipsis else (8, 13)), components, device=device)


@every_right_form
def test_values_that_are_assigned(form, device):
    for part in PARTS.values():
        field = whole_or_wide(part, device)
        expected = np.zeros(field.shape, np.float32)
        expected[part] = VALUES
        field[part] = form(VALUES)
        np.testing.assert_array_equal(field.get(), expected)
    field = whole_or_wide(..., device)
    field.set(form(VALUES))
    np.testing.assert_array_equal(field.get(), VALUES)
    velocity = whole_or_wide(..., device, 2)
    velocity[1] = form(VALUES)
    np.testing.assert_array_equal(velocity.get(), [0 * VALUES, VALUES])


WORDS = r"values? must (be real numbers to become float32, not|not be masked: fill them first)"


@every_wrong_form
def test_values_that_are_refused(form, device):
    for part in PARTS.values():
        field = whole_or_wide(part, device)
        with pytest.raises((TypeError, ValueError), match=WORDS):
            field[part] = form(VALUES)
        assert not field.get().any()
    with pytest.raises((TypeError, ValueError), match=WORDS):
        whole_or_wide(..., device).set(form(VALUES))


def test_truth_values_and_their_masks(device):
    field = pt.Field(pt.Grid((4, 6)), device=device)
    field[...] = VALUES > 3
    assert field.sum() == 20
    with pytest.raises(ValueError, match="values must not be masked"):
        field[...] = np.ma.masked_array(VALUES > 3, VALUES > 5)


@pytest.mark.parametrize("empty", [np.zeros((0,)), np.zeros((4, 0)), [], np.zeros((0, 4, 6))])
def test_nothing_fits_nowhere_but_in_nothing(empty, device):
    field = pt.Field(pt.Grid((4, 6)), device=device)
    with pytest.raises(ValueError, match=r"values of the shape .* cannot be broadcast to \(4, 6\)"):
        field[...] = empty
    with pytest.raises(ValueError, match=r"values must have the shape \(4, 6\), not"):
        field.set(empty)
    field[2:2] = np.zeros((0, 6))
    assert not field.get().any()


SINGLE = [5, 5.0, np.float32(5), np.array(5), np.array(5, ">f8"), np.ma.masked_array(5.0)]


@pytest.mark.parametrize("single", SINGLE, ids=lambda value: f"{type(value).__name__} {value!r}")
def test_numbers_without_axes(single, device):
    field = pt.Field(pt.Grid((4, 6)), device=device)
    field[1:3] = single
    assert field.sum() == 60
    field.fill(single)
    assert field.sum() == 120
    with pytest.raises(ValueError, match=r"values must have the shape \(4, 6\), not \(\)"):
        field.set(single)


@pytest.mark.parametrize("single", [np.ma.masked, np.array("5"), np.array(5j), np.array(None)])
def test_what_is_no_number(single, device):
    field = pt.Field(pt.Grid((4, 6)), device=device)
    for write in field.fill, lambda value: field.__setitem__(..., value):
        with pytest.raises((TypeError, ValueError), match=WORDS):
            write(single)
    assert not field.get().any()


TAKEN = {"C", "Fortran", "strided", "negative strides", "unaligned", "memmap"}
TAKEN |= {"matrix-like subclass"}


@pytest.mark.parametrize("name", [*RIGHT, *array_forms.WRONG])
def test_arrays_that_are_filled(name, device, tmp_path):
    field = pt.Field(pt.Grid((4, 6)), device=device)
    field[...] = VALUES
    out = array_forms.made(name, np.zeros((4, 6), np.float32), tmp_path)
    if name in TAKEN:
        assert field.get(out=out) is out
        np.testing.assert_array_equal(out, VALUES)
        return
    with pytest.raises((TypeError, ValueError), match=r"^out must (be|have)"):
        field.get(out=out)
    if isinstance(out, np.ndarray) and out.dtype.kind == "f":
        assert not np.asarray(out).any()


@every_right_form
def test_arrays_that_functions_are_given(form):
    kernel, x = kernels.get("M'6"), VALUES % 2
    velocity = pt.Velocity(pt.Grid((8, 8)), lambda x, y: (x * y, x - y))
    np.testing.assert_array_equal(kernel(form(x)), kernel(x.astype(float)))
    np.testing.assert_array_equal(kernel.weights(form(x)), kernel.weights(x))
    for one, other in zip(velocity(form(x), form(x)), velocity(x, x), strict=True):
        np.testing.assert_array_equal(one, other)


@every_wrong_form
def test_arrays_that_functions_refuse(form):
    kernel, x = kernels.get("M'6"), VALUES % 2
    velocity = pt.Velocity(pt.Grid((8, 8)), lambda x, y: (x * y, x - y))
    for name, function in (
        ("x", kernel),
        ("y", kernel.weights),
        ("coordinates", lambda values: velocity(x, values)),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{name} must (be real|not be masked)"):
            function(form(x))


POINTS = np.array([3, 4, 5], np.float32)
# Not what says so of one object alone, not of its class.
TAKEN_AS_NUMBERS = {*RIGHT, "object", "masked in xarray's object"} - {"__array_interface__"}


@pytest.mark.parametrize("name", [*RIGHT, *array_forms.WRONG])
def test_numbers_of_axes(name, tmp_path):
    """Short arrays, one number for each axis, or one for each time."""
    fields = [pt.Field(pt.Grid(4)) for _ in range(3)]
    for take in (
        lambda numbers: pt.Grid((2, 2, 2), origin=numbers).origin,
        lambda numbers: pt.Grid((2, 2, 2), extent=numbers).extent,
        lambda numbers: pt.Grid((2, 2, 2), spacing=numbers).spacing,
        lambda numbers: pt.VelocitySeries(fields, numbers).times,
    ):
        numbers = array_forms.made(name, POINTS, tmp_path)
        if name in TAKEN_AS_NUMBERS:
            assert take(numbers) == (3.0, 4.0, 5.0)
            continue
        with pytest.raises(
            (TypeError, ValueError), match=r"^(origin|extent|spacing|times) must be"
        ):
            take(numbers)


@pytest.mark.parametrize("name", ["C", "strided", "byte-swapped", "read-only", "uint64", "memmap"])
def test_arrays_of_indices(name, device, tmp_path):
    field = pt.Field(pt.Grid((8, 13)), device=device)
    field[...] = values = np.arange(104.0).reshape(8, 13)
    rows = array_forms.made(name, np.array(ROWS), tmp_path)
    np.testing.assert_array_equal(field[rows], values[ROWS])
    chosen = array_forms.made(name, values % 3 == 1, tmp_path).astype(bool)
    np.testing.assert_array_equal(field[chosen], values[values % 3 == 1])


def test_masks_do_not_get_lost_in_indices(device):
    field = pt.Field(pt.Grid(4), device=device)
    chosen = np.ma.masked_array([True, True, False, False], mask=[False, True, False, False])
    for use in (lambda: field[chosen], lambda: field.__setitem__(chosen, 1)):
        with pytest.raises(IndexError, match="indices must not be masked"):
            use()


def test_memory_of_a_device_is_taken_there(device):
    arrays = pytest.importorskip("pyopencl.array")
    field = pt.Field(pt.Grid((4, 6)), device=device)
    array = arrays.to_device(device.queue, VALUES)
    for taken in (array, pt.Field.from_pyopencl(array, field.grid)):
        field.fill(0)
        field[...] = taken
        np.testing.assert_array_equal(field.get(), VALUES)
