# SPDX-License-Identifier: BSD-3-Clause
"""The handle of an array, beside NumPy's arrays and the arrays of other libraries."""

import copy
import itertools
import operator
import pickle

import numpy as np
import particles as pt
import pytest

from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form

DTYPES = [
    *("float16", "float32", "float64", "bool", "uint8"),
    *("int32", "uint32", "int64", "uint64"),
]
SHAPES = [(0,), (7,), (5, 2), (4, 3), (6, 4), (0, 3)]
KEYS = [
    np.s_[...],
    np.s_[:],
    np.s_[1:4],
    np.s_[::-2],
    np.s_[3:1],
    np.s_[2],
    np.s_[-1, ...],
    np.s_[None, 1::2],
    [0, 2, 2],
    np.s_[..., 1:],
    np.s_[..., 0],
    np.s_[..., ::-1],
]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def filled(machine, shape, dtype, name=None):
    """Return an array and its values."""
    array = pt.Array(shape, dtype, machine, name)
    rng = np.random.default_rng(lot.lots(f"{shape} {dtype}").getrandbits(64))
    values = rng.integers(0, 100, shape).astype(dtype)
    array[...] = values
    return array, values


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_read_and_written_as_numpys(machine, dtype, shape):
    array, values = filled(machine, shape, dtype)
    assert (array.shape, array.dtype, array.ndim, array.size, array.nbytes, len(array)) == (
        shape,
        np.dtype(dtype),
        len(shape),
        values.size,
        values.nbytes,
        shape[0],
    )
    for key in KEYS:
        try:
            expected = values[key]
        except IndexError:
            with pytest.raises(IndexError):
                array[key]
            continue
        found = array[key]
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
        for given in (7, np.arange(expected.size).reshape(expected.shape) % 50):
            given = np.asarray(given).astype(bool) if dtype == "bool" else given
            array[key] = given
            values[key] = given
            np.testing.assert_array_equal(np.asarray(array), values)


def test_operators_are_refused(device):
    array, values = filled(device, (7,), "float32")
    words = r"^an Array has no operators: compute with np\.asarray\(array\), and assign what"
    for operate in (
        lambda: array + 1,
        lambda: 2 / array,
        lambda: -array,
        lambda: operator.iadd(array, 1),
        lambda: operator.imul(array, values),
        lambda: operator.isub(array, array),
    ):
        with pytest.raises(TypeError, match=words):
            operate()
    np.testing.assert_array_equal(array, values)
    np.testing.assert_array_equal(array + values, 2 * values)


def test_what_does_not_fit_integers_is_refused(machine):
    array = pt.Array(3, "uint8", machine)
    array[...] = np.array([1, 255, 0], "uint64")
    np.testing.assert_array_equal(array, [1, 255, 0])
    for values, words in (
        ([0.0, 1, 2], "values must be integers from 0 to 255 to become uint8, not float64"),
        (np.array([0, 1, 256]), "values must be integers from 0 to 255 to become uint8, not 256"),
        (-1, "values must be integers from 0 to 255 to become uint8, not -1"),
    ):
        with pytest.raises((TypeError, ValueError), match=f"^{words}$"):
            array[...] = values
    np.testing.assert_array_equal(array, [1, 255, 0])
    wide = pt.Array(2, "uint64", machine)
    wide[...] = 2**64 - 1
    assert wide[0] == wide.max() == 2**64 - 1


def test_arrays_are_assigned_on_the_device(machine):
    pairs, values = filled(machine, (5, 2), "float32")
    column, ones = filled(machine, 5, "float64")
    moved = pairs.core.bytes_moved
    pairs[:, 1] = column
    values[:, 1] = ones
    twin = pairs.copy()
    twin[...] = pairs
    assert pairs.core.bytes_moved == moved
    np.testing.assert_array_equal(twin, values)
    pairs[:, 0] = pairs.component(1)
    np.testing.assert_array_equal(pairs.component(0), ones)
    np.testing.assert_array_equal(twin, values)
    with np.errstate(over="ignore"):
        halves = pt.Array(5, "float16", machine)
        halves[...] = column
    np.testing.assert_array_equal(halves, ones)


def test_values_that_become_infinite_warn_as_numpys(machine):
    array, large = pt.Array(2, "float16", machine), pt.Array(2, "float32", machine)
    large[...] = 1e6
    for given in (large, np.float32([1e6, 1])):
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            array[...] = given
        assert np.isinf(array[0])


def test_components_are_views(machine):
    array, values = filled(machine, (5, 3), "int32", "v")
    view = array.component(-1)
    assert (view.name, view.shape) == ("v[:, 2]", (5,))
    view[1:4] = 5
    values[1:4, 2] = 5
    np.testing.assert_array_equal(array, values)
    np.testing.assert_array_equal(view.argsort(), np.argsort(values[:, 2], kind="stable"))
    np.testing.assert_array_equal(view.take([4, 0]), values[[4, 0], 2])
    np.testing.assert_array_equal(
        view.exclusive_scan(), np.concatenate(([0], np.cumsum(values[:, 2])))
    )
    np.testing.assert_array_equal(view.copy(), values[:, 2])


def test_an_order_sorts_what_belongs_together(machine):
    """Rows in the order of keys, the places where each key begins, and the way back."""
    rng = np.random.default_rng(lot.lots("order").getrandbits(64))
    keys, values = rng.integers(0, 9, 1000), rng.normal(size=(1000, 4)).astype("f4")
    cell, rows = pt.Array(1000, "int32", machine), pt.Array((1000, 4), "float32", machine)
    cell[...], rows[...] = keys, values
    order = cell.argsort()
    assert (order.dtype, order.shape) == (np.int32, (1000,))
    expected = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(rows.take(order), values[expected])
    np.testing.assert_array_equal(rows.sorted_by(cell), values[expected])
    np.testing.assert_array_equal(rows.component(2).sorted_by(cell), values[expected, 2])
    np.testing.assert_array_equal(cell.sorted_by(cell), np.sort(keys))
    np.testing.assert_array_equal(rows.take(expected[:10]), values[expected[:10]])
    count = pt.Array(9, "int32", machine)
    count[...] = np.bincount(keys, minlength=9)
    starts = count.exclusive_scan()
    np.testing.assert_array_equal(starts, np.searchsorted(keys[expected], np.arange(10)))
    np.testing.assert_array_equal(rows.take(order).take(order.argsort()), values)


def test_an_order_is_looked_at_unless_it_is_known(machine):
    rows, _ = filled(machine, 6, "float32")
    order = pt.Array(6, "int32", machine).argsort()
    np.testing.assert_array_equal(rows.take(order), rows)
    shorter = pt.Array(5, "float32", machine)
    with pytest.raises(IndexError, match="order must be indices from 0 to 4, not 5"):
        shorter.take(order)
    order[3] = 6
    with pytest.raises(IndexError, match="order must be indices from 0 to 5, not 6"):
        rows.take(order)
    order = order.argsort()
    if machine.is_cpu:
        np.from_dlpack(order)[2] = -1
        with pytest.raises(IndexError, match="order must be indices from 0 to 5, not -1"):
            rows.take(order)
    assert rows.take([]).shape == pt.Array(0, "int32", machine).argsort().shape == (0,)
    with pytest.raises(IndexError, match="order must be indices from 0 to -1, not 0"):
        pt.Array(0, device=machine).take([0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_and_extrema(machine, dtype):
    array, values = filled(machine, (1001, 3), dtype)
    assert np.sum(array) == values.sum(dtype=float)
    assert (np.min(array), array.max()) == (values.min(), values.max())
    assert type(array.min()) is (float if np.dtype(dtype).kind == "f" else int)
    empty = pt.Array((0, 3), dtype, machine)
    assert empty.sum() == 0
    with pytest.raises(ValueError, match="max needs one number at least, and the Array has none"):
        empty.max()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1001, 3), (500,)])
def test_reductions_are_those_of_numpy(machine, dtype, shape):
    """Of all numbers and of each component; a view of one component has its own."""
    array, values = filled(machine, shape, dtype)
    exact = values.astype(float)
    for axis, keepdims in itertools.product((None, 0), (False, True)):
        choices = {"axis": axis, "keepdims": keepdims}
        for name in ("sum", "mean", "var", "std", "min", "max"):
            found = getattr(np, name)(array, **choices)
            source = values if name in ("min", "max") else exact
            expected = getattr(source, name)(**choices)
            np.testing.assert_allclose(found, expected, rtol=2e-6)
            assert np.shape(found) == np.shape(expected)
            if name in ("min", "max"):
                np.testing.assert_array_equal(found, expected, strict=keepdims)
        np.testing.assert_allclose(
            array.std(ddof=1.5, **choices), exact.std(ddof=1.5, **choices), rtol=2e-6
        )
    if len(shape) > 1:
        assert array.sum(0).dtype.kind == values.sum(0).dtype.kind
    for order in (1, 2, np.inf):
        assert array.norm(order) == pytest.approx(np.linalg.norm(exact.ravel(), order), rel=2e-6)
    lower, upper = np.quantile(exact, (0.2, 0.7))
    within = (exact > lower) & (exact < upper)
    assert array.count(float(lower), float(upper)) == np.count_nonzero(within)
    if len(shape) > 1:
        assert array.component(1).mean() == pytest.approx(exact[:, 1].mean(), rel=2e-6)


def test_reductions_whose_squares_leave_the_range(machine):
    for size in (1e30, 1e-30):
        array = pt.Array((4, 2), device=machine)
        array[...] = np.array([[1, 2], [3, 4], [1, 2], [3, 4]]) * size
        assert array.norm() == pytest.approx(60**0.5 * size, rel=1e-6)
        np.testing.assert_allclose(array.std(axis=0), [size, size], rtol=1e-6)
        assert array.var() == pytest.approx(1.25 * size**2, rel=1e-6)
    array[...] = np.array([[1e30, 1e-30], [3e30, 3e-30], [1e30, 1e-30], [3e30, 3e-30]])
    np.testing.assert_allclose(array.std(axis=0), [1e30, 1e-30], rtol=1e-6)
    array[0, 0] = np.inf
    assert array.std(axis=0)[1] == pytest.approx(np.std([1e-30, 3e-30, 1e-30, 3e-30]))
    array[0, 0], array[2, 1] = 1e30, np.nan
    assert np.isnan(array.norm())
    assert np.isnan(array.std(axis=0)).tolist() == [False, True]
    if np.dtype("float64") in machine.dtypes:
        large = pt.Array(4, "float64", machine)
        large[...] = np.array([1, 2, 3, 4]) * 4e307  # whose sum is no number
        assert large.std() == pytest.approx(np.std([1, 2, 3, 4]) * 4e307, rel=1e-12)
    empty = pt.Array((0, 2), device=machine)
    assert (empty.norm(), empty.norm(np.inf), empty.count(lower=0)) == (0, 0, 0)
    for name in ("mean", "std"):
        with pytest.raises(ValueError, match=f"{name} needs one number at least, and the Array"):
            getattr(empty, name)()


def test_integers_beyond_those_of_float64_are_counted(machine):
    array = pt.Array(3, "int64", machine)
    array[...] = [2**53 + 1, 2**63 - 1, -(2**63)]
    assert array.count(lower=2.0**53) == array.count(upper=2.0**63, lower=0) == 2
    assert array.count(lower=2.0**63) == array.count(upper=-(2.0**63)) == 0
    assert (array.count(lower=-np.inf), array.count(upper=-0.5)) == (3, 1)
    assert array.count(lower=2**53 + 1) == array.count(lower=0, upper=np.int64(2**63 - 1)) == 1


def test_keys_are_integers(machine):
    for array in (pt.Array(3, device=machine), pt.Array((3, 2), "int32", machine)):
        for call, what in (
            (array.argsort, "what is sorted by"),
            (array.exclusive_scan, "what is scanned"),
            (lambda array=array: array.sorted_by(array), "keys"),
        ):
            with pytest.raises(TypeError, match=f"^{what} must be of one component of int32"):
                call()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_memory_is_shared_by_dlpack(device, shape):
    array, values = filled(device, shape, "int32")
    if not device.is_cpu:
        pytest.skip("only a CPU shares its memory")
    shared = np.from_dlpack(array)
    np.testing.assert_array_equal(shared, values)
    shared += 1
    np.testing.assert_array_equal(array, values + 1)
    assert array.__dlpack_device__() == (1, 0)
    assert shared.flags.c_contiguous


def test_memory_is_shared_with_pyopencl(device):
    pytest.importorskip("pyopencl.array")
    array, values = filled(device, (5, 3), "float32")
    twin = array.to_pyopencl()
    twin += 2
    np.testing.assert_array_equal(array, values + 2)
    adopted = pt.Array.from_pyopencl(twin[1:4], "part")
    adopted.fill(9)
    values[1:4] = 7
    np.testing.assert_array_equal(array, values + 2)
    every_other = pt.Array.from_pyopencl(array.component(0).to_pyopencl()[::2])
    np.testing.assert_array_equal(every_other, values[::2, 0] + 2)
    assert repr(adopted) == f"Array('part', (3, 3), float32, {device.name})"
    other = pt.Array((5, 3), "float64" if np.float64 in device.dtypes else "float16", device)
    other[...] = twin
    np.testing.assert_array_equal(other, values + 2)


def test_what_an_array_is_not(machine):
    array = pt.Array(3, device=machine)
    for call, error, words in (
        (lambda: bool(array), ValueError, "an Array has no truth value"),
        (lambda: array == array.copy(), TypeError, "an Array cannot be compared"),
        (
            lambda: array.cumsum,
            AttributeError,
            r"an Array has no cumsum: use array.exclusive_scan\(\)\[1:\]",
        ),
        (lambda: array.sort, AttributeError, "an Array has no sort: use array"),
        (lambda: array.median, AttributeError, r"an Array has no median: use np.median\(array\)"),
        (lambda: pickle.dumps(array), TypeError, "an Array is on a device and cannot be pickled"),
        (
            lambda: np.array(array, copy=False),
            ValueError,
            "an Array cannot become an array without",
        ),
        (
            lambda: setattr(array, "shape", 3),
            AttributeError,
            "shape of an Array cannot be replaced",
        ),
    ):
        with pytest.raises(error, match=words):
            call()
    twin = copy.deepcopy(array)
    twin.fill(1)
    assert (array.sum(), twin.sum()) == (0, 3)
    np.testing.assert_array_equal(np.sqrt(twin) + array, np.ones(3))
    assert [float(number) for number in twin] == [1, 1, 1]
