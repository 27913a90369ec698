# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of any length and dtype, their scans, orders and reductions, beside NumPy."""

import math
import threading

import numpy as np
import pytest
from particles import _core
from particles._core import testing

from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form

REALS = ["float16", "float32", "float64"]
KEYS = ["int32", "uint32", "int64", "uint64"]
DTYPES = [*REALS, "uint8", *KEYS]
EDGES = [0, 1, 2, 127, 128, 129, 511, 513, 4096, 4097]
"""Lengths about those of groups, tiles and chunks."""


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def generator(name):
    """Return NumPy's generator of what this run draws."""
    return np.random.default_rng(lot.lots(name).getrandbits(64))


def empty(machine, count, dtype, components=1):
    return _core.Array(machine.core, count, components, np.dtype(dtype).name, "an array")


def made(machine, values):
    """Return an array of the core with these values."""
    components = values.shape[1] if values.ndim > 1 else 1
    array = empty(machine, len(values), values.dtype, components)
    put(array, (slice(None), slice(None)), values.reshape(len(values), components))
    return array


def part(array, index):
    """Return start, count and step of slices."""
    shape = (array.count, array.components)
    ranges = [range(*one.indices(n)) for one, n in zip(index, shape, strict=True)]
    return [[r.start for r in ranges], [len(r) for r in ranges], [r.step for r in ranges]]


def put(array, index, values):
    array.write(*part(array, index), np.ascontiguousarray(values))


def got(array, index=(slice(None), slice(None))):
    """Return the values of a part, with an axis of components where there are several."""
    start, count, step = part(array, index)
    values = np.empty(count, array.dtype)
    array.read(start, count, step, values)
    return values if array.components > 1 else values[:, 0]


def random_values(rng, shape, dtype):
    """Return values of all sizes; real ones are finite."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def keys_of_every_kind(rng, n, dtype):
    """Yield keys with nothing, little and much in common, in order and not."""
    keys = random_values(rng, n, dtype)
    yield keys
    yield np.sort(keys)
    yield np.sort(keys)[::-1].copy()
    yield np.full(n, keys[0] if n else 0, dtype)
    yield rng.integers(0, 7, n).astype(dtype)
    mask = rng.integers(1, np.iinfo(dtype).max, dtype=dtype)  # bits that no two keys differ in
    yield keys & (mask & rng.integers(1, np.iinfo(dtype).max, dtype=dtype))
    nearly = np.arange(n) // 3 + rng.integers(0, 9, n)
    yield nearly.astype(dtype)


@pytest.mark.parametrize("dtype", KEYS)
def test_the_order_of_keys_is_numpys_stable_one(machine, dtype):
    rng = generator(f"keys {dtype}")
    for n in (*EDGES, int(rng.integers(5, 10**5))):
        for keys in keys_of_every_kind(rng, n, dtype):
            array, order = made(machine, keys), empty(machine, n, "int32")
            _core.sort(array, order)
            np.testing.assert_array_equal(got(order), np.argsort(keys, kind="stable"))
            np.testing.assert_array_equal(got(array), keys)


def test_no_key_is_overlooked_that_alone_has_another_bit(machine):
    """Whichever work-item looks at it: bits that no two keys differ in are passed over."""
    n = 700
    keys, order = np.zeros((n,), np.uint32), empty(machine, n, "int32")
    array = made(machine, keys)
    for place in (0, 1, 2, 64, 127, 128, 129, 256, n - 2):
        keys[place] = 1 << 20
        put(array, (slice(None), slice(None)), keys[:, np.newaxis])
        _core.sort(array, order)
        np.testing.assert_array_equal(got(order), np.argsort(keys, kind="stable"))
        keys[place] = 0


def test_the_order_of_a_million_keys(machine):
    """So many that no group has few of them; with places of 64 bits."""
    rng = generator("a million keys")
    keys = rng.integers(0, 2**18, 10**6 + int(rng.integers(9999)), np.uint32)
    order = empty(machine, len(keys), "int64")
    _core.sort(made(machine, keys), order)
    np.testing.assert_array_equal(got(order), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("dtype", KEYS)
def test_scans_are_sums_before_each_element(machine, dtype):
    """Modulo a power of two, as NumPy's; one entry more gets the sum of all."""
    rng = generator(f"scan {dtype}")
    for n in (*EDGES, int(rng.integers(10**6, 10**6 + 9999))):
        values = random_values(rng, n, dtype)
        expected = np.concatenate((np.zeros(1, dtype), np.cumsum(values, dtype=dtype)))
        source, target = made(machine, values), empty(machine, n + 1, dtype)
        _core.scan(source, target)
        np.testing.assert_array_equal(got(target), expected)
        _core.scan(source, source)
        np.testing.assert_array_equal(got(source), expected[:-1])


@pytest.mark.parametrize("index", KEYS)
@pytest.mark.parametrize("components", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_in_an_order(machine, dtype, components, index):
    rng = generator(f"rows {dtype}")
    for n in (*EDGES, int(rng.integers(10**5))):
        values = random_values(rng, (n, components), dtype)
        order = rng.permutation(n)[rng.integers(n + 1) :].astype(index)
        source = made(machine, values)
        target = empty(machine, len(order), dtype, components)
        _core.permute(source, made(machine, order), target)
        np.testing.assert_array_equal(got(target).reshape(len(order), components), values[order])


@pytest.mark.parametrize("keys_of", KEYS)
@pytest.mark.parametrize("components", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_travel_with_keys(machine, dtype, components, keys_of):
    """To and from rows with gaps behind them, too."""
    rng = generator(f"travel {dtype}")
    for n in (*EDGES, int(rng.integers(10**5))):
        values = random_values(rng, (n, components), dtype)
        source, target = made(machine, values), empty(machine, n, dtype, components)
        for keys in keys_of_every_kind(rng, n, keys_of):
            _core.sort_rows(made(machine, keys), source, target)
            order = np.argsort(keys, kind="stable")
            np.testing.assert_array_equal(got(target).reshape(n, components), values[order])
        column = components - 1
        _core.sort_rows(made(machine, keys), source.component(column), target.component(0))
        np.testing.assert_array_equal(
            got(target).reshape(n, components)[:, 0], values[order, column]
        )


def test_rows_of_a_component(machine):
    """A view of one component of several, and memory of others with a gap behind each row."""
    values = np.arange(60, dtype=np.float32).reshape(20, 3)
    array, order = made(machine, values), made(machine, np.arange(19, -1, -2, dtype=np.int32))
    column, target = array.component(1), empty(machine, 10, "float32")
    _core.permute(column, order, target)
    np.testing.assert_array_equal(got(target), values[19::-2, 1])
    wide = _core.Array.adopt(machine.core, 9, 2, "float32", "", array.memory, 4, 6)
    np.testing.assert_array_equal(got(wide), values.reshape(-1)[4:58].reshape(9, 6)[:, :2])
    _core.permute(
        wide,
        made(machine, np.array([3, 0], np.uint64)),
        wide_rows := empty(machine, 2, "float32", 2),
    )
    np.testing.assert_array_equal(got(wide_rows), got(wide)[[3, 0]])
    packed = empty(machine, 9, "float32", 2)
    packed.copy_from(wide)
    np.testing.assert_array_equal(got(packed), got(wide))
    version = array.version
    column.fill(*part(column, (slice(2, 9, 3), slice(None))), 7)
    values[2:9:3, 1] = 7
    np.testing.assert_array_equal(got(array), values)
    assert array.version == column.version == version + 1
    assert wide.is_shared
    assert not array.is_shared


@pytest.mark.parametrize("components", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_parts_come_and_go_as_numpys(machine, dtype, components):
    rng = generator(f"parts {dtype}")
    for n in (0, 1, 5, 1000, 300_001):
        values = random_values(rng, (n, components), dtype)
        array = made(machine, values)
        number = random_values(rng, (), dtype).item()
        for _ in range(3):
            rows = slice(int(rng.integers(n + 1)), n, int(rng.integers(1, 4)))
            some = slice(int(rng.integers(components)), components, int(rng.integers(1, 3)))
            index = (rows, some)
            np.testing.assert_array_equal(
                got(array, index).reshape(values[index].shape), values[index]
            )
            values[index] = random_values(rng, values[index].shape, dtype)
            put(array, index, values[index])
            np.testing.assert_array_equal(got(array).reshape(n, components), values)
            values[index] = number
            array.fill(*part(array, index), number)
            np.testing.assert_array_equal(got(array).reshape(n, components), values)


def test_the_largest_integers_are_filled_in_as_they_are(machine):
    for dtype in KEYS:
        limits = np.iinfo(dtype)
        for number in (limits.min, limits.max):
            array = empty(machine, 5, dtype)
            array.fill(*part(array, (slice(1, 4), slice(None))), int(number))
            np.testing.assert_array_equal(got(array), [0, *[number] * 3, 0])


def test_new_arrays_are_zeros(machine):
    for n in (0, 3, 70_000):
        assert not got(empty(machine, n, "uint8", 3)).any()


def test_real_numbers_are_converted_on_their_way(machine):
    values = generator("converted").normal(size=70_001)
    for dtype in ("float16", "float32"):
        array = empty(machine, len(values), dtype)
        put(array, (slice(None), slice(None)), values.reshape(-1, 1))
        np.testing.assert_array_equal(got(array), values.astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", *KEYS])
def test_sums_and_extrema_of_integers_are_exact(machine, dtype):
    """Sums in 64 bits: modulo 2^64 where that is not enough, as NumPy's."""
    rng = generator(f"integers {dtype}")
    wide = np.int64 if np.dtype(dtype).kind == "i" else np.uint64
    for n in (*EDGES[1:], int(rng.integers(10**6))):
        values = random_values(rng, n + 1, dtype)
        array = made(machine, values)
        assert array.sum() == values.sum(dtype=wide)
        assert (array.min(), array.max()) == (values.min(), values.max())
        assert testing.count_not_finite(array) == 0


@pytest.mark.parametrize("dtype", REALS)
def test_sums_and_extrema_of_reals(machine, dtype):
    rng = generator(f"reals {dtype}")
    for n in (1, 3, 4097, int(rng.integers(10**5))):
        values = random_values(rng, (n, 3), dtype)
        array, column = made(machine, values), made(machine, values).component(2)
        for one, its in ((array, values), (column, values[:, 2])):
            exact = math.fsum(its.ravel().astype(float))
            assert one.sum() == pytest.approx(exact, rel=1e-12, abs=1e-12)
            assert one.sum() == one.sum()
            assert (one.min(), one.max()) == (its.min(), its.max())
            assert testing.count_not_finite(one) == 0
        values[n // 2, 2] = math.nan
        values[0, 2] = math.inf
        array = made(machine, values)
        bad = np.count_nonzero(~np.isfinite(values))
        assert (
            testing.count_not_finite(array) == testing.count_not_finite(array.component(2)) == bad
        )
        assert testing.count_not_finite(array.component(1)) == 0


def test_arrays_of_no_elements(machine):
    for dtype in DTYPES:
        array = empty(machine, 0, dtype)
        assert array.sum() == testing.count_not_finite(array) == 0
        for extremum in (array.min, array.max):
            with pytest.raises(ValueError, match="expected one element at least, got none"):
                extremum()


def test_memory_of_a_sort_is_kept_for_the_next(machine):
    keys, order = empty(machine, 10_000, "uint64"), empty(machine, 10_000, "int32")
    held = machine.core.bytes_held
    _core.sort(keys, order)
    with_sort = machine.core.bytes_held
    assert with_sort > held
    _core.sort(keys, order)
    assert machine.core.bytes_held == with_sort


def test_nobody_waits_for_the_device(machine):
    """All of it is enqueued behind a command that has yet to begin."""
    cl = pytest.importorskip("pyopencl")
    keys = made(machine, random_values(generator("waits"), 5000, "uint64"))
    order, sums, rows = (empty(machine, 5000, dtype) for dtype in ("int32", "uint64", "uint64"))

    def work():
        _core.sort(keys, order)
        _core.scan(keys, sums)
        _core.permute(keys, order, rows)

    work()  # builds what it needs
    begin = cl.UserEvent(machine.context)
    late = threading.Timer(20, begin.set_status, [cl.command_execution_status.COMPLETE])
    late.start()
    cl.enqueue_barrier(machine.queue, wait_for=[begin])
    work()
    has_waited = begin.command_execution_status == cl.command_execution_status.COMPLETE
    late.cancel()
    if not has_waited:
        begin.set_status(cl.command_execution_status.COMPLETE)
    machine.finish()
    assert not has_waited
    np.testing.assert_array_equal(got(rows), np.sort(got(keys)))


def test_refusals(device, machine):
    other = in_form(device, FORMS[not machine.is_gpu])
    keys, order = empty(machine, 5, "int32"), empty(machine, 5, "int32")
    pairs, bytes_, reals = (
        empty(machine, 5, *kind) for kind in (("int32", 2), ("uint8",), ("float32",))
    )
    for call, words in [
        (lambda: _core.sort(reals, order), "sort: expected packed keys"),
        (lambda: _core.sort(bytes_, order), "sort: expected packed keys"),
        (lambda: _core.sort(keys, keys), "a target in memory of its own"),
        (lambda: _core.sort(pairs.component(0), order), "sort: expected packed keys"),
        (lambda: _core.sort(pairs, order), "keys: expected 5 rows of 1 components"),
        (lambda: _core.sort(keys, empty(machine, 4, "int32")), "order: expected 5 rows of 1"),
        (lambda: _core.sort(keys, empty(other, 5, "int32")), "components on the device of"),
        (lambda: _core.sort_rows(keys, reals, order), "of the dtype of the rows"),
        (lambda: _core.sort_rows(keys, order, keys), "a target in memory of its own"),
        (lambda: _core.sort_rows(reals, keys, order), "sort: expected packed keys"),
        (lambda: _core.sort_rows(keys, pairs, order), "target: expected 5 rows of 2 components"),
        (lambda: _core.scan(keys, empty(machine, 5, "int64")), "scan: expected packed integers"),
        (lambda: _core.scan(keys, empty(machine, 7, "int32")), "scan: expected 5 rows"),
        (lambda: _core.scan(pairs, keys), "scan: expected 5 rows of 1 components"),
        (lambda: _core.permute(keys, order, keys), "permute: expected a packed order"),
        (lambda: _core.permute(keys, reals, order), "permute: expected a packed order"),
        (lambda: _core.permute(reals, order, keys), "permute: expected a packed order"),
        (lambda: _core.permute(pairs, order, keys), "target: expected 5 rows of 2 components"),
        (lambda: _core.sort(keys, reals), "sort: expected a packed order of integers"),
        (lambda: _core.sort(keys, pairs.component(0)), "sort: expected a packed order"),
        (lambda: _core.sort_rows(order, keys, keys), "sort: expected a target of the dtype"),
        (lambda: _core.scan(reals, reals), "scan: expected packed integers"),
        (lambda: _core.scan(bytes_, bytes_), "scan: expected packed integers"),
        (lambda: _core.scan(pairs.component(0), order), "scan: expected packed integers"),
        (lambda: _core.scan(keys, pairs.component(0)), "scan: expected packed integers"),
        (lambda: _core.permute(keys, pairs.component(0), order), "permute: expected a packed"),
        (lambda: _core.permute(keys, order, order), "permute: expected a packed order"),
        (lambda: keys.max_abs(), "array: expected real numbers, got int32"),
        (lambda: empty(machine, 0, "int32").min(), "expected one element at least, got none"),
        (lambda: empty(machine, 0, "float32").max_abs(), "expected one element at least"),
        (lambda: keys.copy_from(reals), "dtype: expected int32, got float32"),
        (lambda: keys.copy_from(empty(machine, 4, "int32")), "copy: expected 5 rows of 1"),
        (lambda: keys.copy_from(empty(other, 5, "int32")), "on the device of an array"),
        (lambda: put(keys, (slice(None), slice(None)), np.zeros((5, 1), "f4")), "expected int32"),
        (lambda: keys.read((0, 0), (6, 1), (1, 1), np.empty((6, 1), "i4")), "of length 5"),
        (lambda: keys.fill((-1, 0), (1, 1), (1, 1), 0), "of length 5, got 1 from -1"),
        (lambda: keys.fill((0, 0), (-1, 1), (1, 1), 0), "of length 5, got -1 from 0"),
        (lambda: keys.fill((0, 0), (1, 1), (0, 1), 0), "in steps of 0"),
        (lambda: put(keys, (slice(None), slice(None)), np.zeros((4, 1), "i4")), "expected 5 cont"),
        (
            lambda: pairs.read((0, 0), (5, 2), (1, 1), np.empty((2, 5), "i4").T),
            "host array: expected 10 contiguous elements of int32",
        ),
        (
            lambda: put(keys, (slice(None), slice(None)), np.zeros((5, 1), ">i4")),
            "host array: expected the byte order of this machine",
        ),
        (lambda: pairs.component(2), "component: expected 0 to 1, got 2"),
        (lambda: empty(machine, 3, "int32", 5), "rows of 1 to 4 components, got 3 of 5"),
        (lambda: empty(machine, 3, "int32", 0), "rows of 1 to 4 components, got 3 of 0"),
        (lambda: empty(machine, -1, "int32"), r"expected 0 to 2\*\*40 rows"),
        (lambda: empty(machine, 2**40 + 1, "int32"), r"expected 0 to 2\*\*40 rows"),
        (lambda: empty(machine, 3, "int16"), "int64 or uint64, got int16"),
    ]:
        with pytest.raises((ValueError, IndexError), match=words):
            call()
    assert order.version == keys.version == 0
