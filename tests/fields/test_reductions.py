# SPDX-License-Identifier: BSD-3-Clause
"""Reductions against exactly rounded sums, with NaN and infinities, and to the bit again."""

import itertools
import math
import re

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles._core import testing

from tests.support import child
from tests.support.gpu_forms import FORMS, in_form

SHAPES = [(1,), (15,), (255,), (100003,), (7, 16), (2, 2500), (5, 7, 33), (33, 1, 2), (9, 40, 257)]
REDUCTIONS = ["sum", "min", "max", "norm", "count"]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def fill(shape, dtype, machine, draw, components=1):
    """Return a field and the values that `draw` made for it."""
    field = pt.Field(pt.Grid(shape), components, dtype, machine)
    values = draw(np.random.default_rng(3), field.shape).astype(dtype)
    field[...] = values
    return field, values


def even(rng, shape):
    return rng.normal(size=shape)


def ill_conditioned(rng, shape):
    """Large values that nearly cancel."""
    values = rng.normal(size=shape) * 10.0 ** rng.uniform(-6, 6, size=shape)
    values.ravel()[1::2] = -values.ravel()[: values.size // 2 * 2 : 2] * (1 + 1e-4)
    return values


def sum_error(values):
    """Return the bound of `pt.Field.sum`: the square of the dtype's epsilon, and one rounding."""
    exact = math.fsum(values.ravel().astype(float))
    magnitude = math.fsum(np.abs(values).ravel().astype(float))
    epsilon = float(np.finfo(values.dtype).eps)
    return exact, values.size * epsilon**2 * magnitude + 2 * np.finfo(float).eps * abs(exact)


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("draw", [even, ill_conditioned])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_are_compensated(machine, dtype, shape, draw, components):
    field, values = fill(shape, dtype, machine, draw, components)
    exact, bound = sum_error(values)
    assert abs(field.sum() - exact) <= bound
    exact, bound = sum_error(np.abs(values))
    assert abs(field.norm(1) - exact) <= bound


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_norms_are_as_good_as_their_dtype_twice(machine, dtype, shape):
    field, values = fill(shape, dtype, machine, even, 2)
    exact = math.sqrt(math.fsum(v * v for v in values.ravel().astype(float).tolist()))
    assert field.norm() == pytest.approx(exact, rel=1e-11 if dtype == np.float32 else 1e-15)
    assert field.norm(math.inf) == np.abs(values).max()
    assert field.norm(1) == pytest.approx(np.linalg.norm(values.ravel().astype(float), 1))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_summary_has_the_bits_of_each_reduction(machine, dtype, shape):
    field, _ = fill(shape, dtype, machine, even, 2)
    for one in (field.core, field.component(1).core):
        assert one.summary() == (one.sum(), one.sum_squares(), one.min(), one.max())


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_summary_tells_of_what_is_not_finite(machine, dtype, bad):
    field, values = fill((9, 40), dtype, machine, even)
    for index in ((0, 0), (4, 17), (8, 39)):
        values_there = values.copy()
        values_there[index] = bad
        field[...] = values_there
        _, _, least, greatest = field.core.summary()
        np.testing.assert_equal([least, greatest], [values_there.min(), values_there.max()])


@pytest.mark.parametrize("number", [0.0, math.nan])
def test_extrema_tell_no_sign_of_zero_or_nan(machine, number):
    field = pt.Field(pt.Grid((5, 40)), device=machine)
    for first in 1, -1:
        signs = np.full(field.shape, -first)
        signs[0] = first
        field[...] = np.copysign(number, signs)
        for value in (*field.core.summary()[2:], field.min(), field.max(), field.norm(math.inf)):
            assert np.float64(value).tobytes() == np.float64(number).tobytes()


@pytest.mark.parametrize("gpu", [False, True])
def test_parts_are_as_few_for_any_shape(device, gpu):
    """A long axis of one component has as many as there may be."""

    def bytes_of_parts(shape, components):
        dry = _core.Context.dry(testing.as_gpu(device.core.device) if gpu else device.core.device)
        field = _core.Field(dry, pt.Grid(shape).core, components, "float32", "")
        size = dry.bytes_held
        field.summary()
        return dry.bytes_held - size

    most = bytes_of_parts((2**23,), 1)
    rng = np.random.default_rng()
    for _ in range(20):
        shape = tuple(int(2 ** rng.uniform(0, 12)) for _ in range(rng.integers(2, 4)))
        components = int(rng.choice((1, 3, 1000)))
        assert bytes_of_parts(shape, components) <= most, (shape, components)


@pytest.mark.one_device
def test_norms_are_as_good_without_fused_multiply_add(device, dtype):
    info = testing.as_gpu(device.core.device)
    info = info.with_vectors(info.widest_vector, fma=False)
    machine = pt.Device(info, _core.Context.open(info, ""))
    test_norms_are_as_good_as_their_dtype_twice(machine, dtype, (2, 2500))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_extrema_and_counts_are_numpys(machine, dtype, shape):
    field, values = fill(shape, dtype, machine, even, 2)
    assert (field.min(), field.max()) == (values.min(), values.max())
    median = float(np.sort(values.ravel())[values.size // 2])
    assert field.count(lower=median) == np.count_nonzero(values > dtype.type(median))
    assert field.count(upper=median) == np.count_nonzero(values < dtype.type(median))
    between = (values > 0) & (values < dtype.type(0.7))
    assert field.count(lower=0, upper=0.7) == np.count_nonzero(between)
    assert field.count(lower=-math.inf) == values.size
    assert field.count(lower=1, upper=-1) == 0


def test_one_value_among_many_is_not_lost(machine):
    field = pt.Field(pt.Grid(2**20), device=machine)
    field.fill(2**-30)
    field[77] = 1e6
    assert field.sum() == 1e6 + (2**20 - 1) * 2**-30
    field[78] = -1e6
    assert field.sum() == (2**20 - 2) * 2**-30


@pytest.mark.drawn(1)
def test_sums_beyond_the_integers_of_float32(machine):
    field = pt.Field(pt.Grid((64, 64, 64)), components=80, device=machine)
    field.fill(1)
    assert field.sum() == field.norm(1) == field.count(lower=0) == field.size
    assert field.norm() == math.sqrt(field.size)
    assert field.size > 2**24


@pytest.mark.parametrize("place", [0, 3, 255, 256, 298, 299])
def test_nan_goes_through(machine, dtype, place):
    field, values = fill((2, 300), dtype, machine, even)
    values[1, place] = np.nan
    field[1, place] = np.nan
    for name in ("sum", "min", "max", "norm"):
        assert math.isnan(getattr(field, name)())
    assert math.isnan(field.norm(1))
    assert math.isnan(field.norm(math.inf))
    assert field.count(lower=0) == np.count_nonzero(values > 0)
    assert field.count(upper=0) == np.count_nonzero(values < 0)


def test_infinities_are_numbers(machine, dtype):
    field, _ = fill((3, 20), dtype, machine, even)
    field[1, 2] = np.inf
    assert field.sum() == field.max() == field.norm() == field.norm(1) == math.inf
    assert math.isfinite(field.min())
    field[2, 19] = -np.inf
    assert math.isnan(field.sum())
    assert (field.min(), field.norm(1)) == (-math.inf, math.inf)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reruns_are_the_same_to_the_bit(machine, dtype, name):
    field, _ = fill((9, 40, 257), dtype, machine, ill_conditioned, 2)
    arguments = {"lower": 0.5} if name == "count" else {}
    first, *others = (getattr(f, name)(**arguments) for f in (field, field, field.copy()))
    assert others == [first, first]


@pytest.mark.sampled
@pytest.mark.drawn(1)
def test_bits_do_not_depend_on_the_number_of_threads(machine):
    if not machine.info.is_pocl:
        pytest.skip("only PoCL can be told")
    one, several = (
        child.check(REDUCED, machine.index, FORMS[machine.is_gpu], POCL_MAX_PTHREAD_COUNT=threads)
        for threads in ("1", "3")
    )
    assert one == several
    assert len(one.split()) == 14


REDUCED = """
import hashlib
import sys
import numpy as np
import particles as pt
from tests.support.gpu_forms import in_form
device = in_form(pt.devices()[int(sys.argv[1])], sys.argv[2])
for dtype in ("float32", "float64"):
    field = pt.Field(pt.Grid((40, 90, 257)), 1, dtype, device)
    field[...] = np.random.default_rng(3).normal(size=field.shape) ** 9
    print(field.sum().hex(), field.norm().hex(), field.norm(1).hex(), field.std().hex())
    print(*(hashlib.sha256(field.sum(axis=axis)).hexdigest() for axis in (0, 1, 2)))
"""


@pytest.mark.parametrize("name", REDUCTIONS)
def test_pads_and_neighbours_do_not_count(machine, name):
    field, values = fill((3, 5, 17), "float32", machine, even, 3)
    arguments = {"lower": -math.inf} if name == "count" else {}
    middle = getattr(field.component(1), name)(**arguments)
    field[0] = field[2] = 1e10
    assert getattr(field.component(1), name)(**arguments) == middle
    if name == "count":
        assert middle == values[1].size


def test_bounds_are_rounded_to_the_dtype_as_numpy_does(machine):
    field = pt.Field(pt.Grid(3), device=machine)
    field[...] = [0.1, 0.2, 0.3]
    assert field.count(lower=0.1) == np.count_nonzero(field.get() > 0.1) == 2


def test_refusals():
    field = pt.Field(pt.Grid(3))
    with pytest.raises(TypeError, match="count needs lower, upper or both"):
        field.count()
    with pytest.raises(ValueError, match="upper must be a number or None, not nan"):
        field.count(upper=math.nan)
    with pytest.raises(TypeError, match="lower must be a number, not '1'"):
        field.count(lower="1")
    with pytest.raises(ValueError, match="ord must be 1, 2 or inf, not 3"):
        field.norm(3)
    for ord in (np.array([1, 2]), [2], "2", None):
        with pytest.raises(TypeError, match=re.escape(f"ord must be 1, 2 or inf, not {ord!r}")):
            field.norm(ord)


def test_numpys_functions_reduce_on_the_device(machine, dtype):
    field, values = fill((3, 20), dtype, machine, even, 2)
    moved = field.core.bytes_moved
    assert (np.sum(field), np.min(field), np.max(field)) == (
        field.sum(axis=None, dtype=None, out=None),
        values.min(),
        values.max(),
    )
    assert field.core.bytes_moved == moved
    assert np.linalg.norm(field) == pytest.approx(field.norm(), rel=1e-6)


@pytest.mark.parametrize(
    ("reduce", "choice", "value"),
    [
        *((reduce, "dtype", float) for reduce in (np.sum, np.mean, np.std, np.var)),
        *((reduce, "where", False) for reduce in (np.sum, np.min, np.max, np.mean, np.std, np.var)),
    ],
)
def test_what_of_a_reduction_cannot_be_chosen(reduce, choice, value):
    name, field = reduce.__name__.removeprefix("a"), pt.Field(pt.Grid((3, 4)))
    words = f"{choice} cannot be chosen: use np.{name}(np.asarray(field), {choice}={value!r})"
    with pytest.raises(TypeError, match="^" + re.escape(words) + "$"):
        reduce(field, **{choice: value})


ALONG = [(shape, components) for shape in [(7,), (5, 37), (3, 4, 130)] for components in (1, 2)]


def exact_sums(values, axis, keepdims):
    """Sums along axes, rounded once."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    lines = np.moveaxis(values, axes, range(len(axes)))
    lines = lines.reshape(-1, *lines.shape[len(axes) :])
    sums = np.apply_along_axis(math.fsum, 0, lines)
    return np.expand_dims(sums, axes) if keepdims else sums


@pytest.mark.parametrize(("shape", "components"), ALONG, ids=str)
def test_axes_are_those_of_numpy(machine, dtype, shape, components):
    """Sums and means of float64, each rounded about once; extrema of the field's dtype."""
    field, values = fill(shape, dtype, machine, ill_conditioned, components)
    wide, moved = values.astype(float), field.core.bytes_moved
    bound = float(np.finfo(dtype).eps) ** 2 * np.abs(wide).sum() * wide.size
    axes = [
        axis
        for n in range(1, wide.ndim + 1)
        for axis in itertools.combinations(range(wide.ndim), n)
    ]
    for axis, keepdims in [(axis, keep) for axis in axes for keep in (False, True)] + [(-1, False)]:
        total, mean = (reduce(field, axis=axis, keepdims=keepdims) for reduce in (np.sum, np.mean))
        expected = exact_sums(wide, axis, keepdims)
        count = wide.size / np.size(expected)
        assert np.shape(total) == np.shape(mean) == np.shape(expected)
        for found, right in ((total, expected), (mean, expected / count)):
            rounded = 2 * np.finfo(float).eps * np.abs(right)
            assert (np.abs(found - right) <= bound + rounded).all()
        for name in ("min", "max"):
            found = getattr(np, name)(field, axis=axis, keepdims=keepdims)
            np.testing.assert_array_equal(
                found, getattr(values, name)(axis=axis, keepdims=keepdims)
            )
            assert np.ndim(found) == 0 or found.dtype == field.dtype
    assert field.core.bytes_moved == moved
    np.testing.assert_array_equal(field.sum(axis=()), values)


def test_what_is_not_finite_stays_in_its_line(machine):
    field = pt.Field(pt.Grid((4, 20)), device=machine)
    field[...] = values = np.arange(80.0).reshape(4, 20)
    for place, value in [((0, 3), math.nan), ((1, 5), math.inf), ((2, 7), -math.inf)]:
        field[place] = values[place] = value
    field[3, 8:10] = values[3, 8:10] = math.inf, -math.inf
    for name in ("sum", "mean", "min", "max", "var", "std"):
        for axis in (0, 1):
            with np.errstate(invalid="ignore"):
                expected = getattr(values, name)(axis=axis)
            np.testing.assert_allclose(getattr(field, name)(axis=axis), expected, rtol=1e-14)


@pytest.mark.parametrize("components", [1, 3])
def test_mean_and_deviation_where_the_mean_is_large(machine, dtype, components):
    """Values whose digits are nearly all the mean's: no square of it is ever formed."""
    field, values = fill(
        (30, 41), dtype, machine, lambda rng, shape: 1000 + rng.normal(size=shape), components
    )
    wide = values.astype(np.longdouble)
    assert field.mean() == pytest.approx(float(wide.mean()), rel=4 * np.finfo(float).eps)
    few = 4 * float(np.finfo(np.float64 if dtype == "float64" else np.float32).eps)
    assert np.std(field) == pytest.approx(float(wide.std()), rel=few)
    assert field.std(ddof=1.5) == pytest.approx(float(wide.std(ddof=1.5)), rel=few)
    field.fill(0.1)
    assert field.std() == field.var() == 0


@pytest.mark.parametrize(("shape", "components"), ALONG, ids=str)
def test_deviations_along_axes_where_means_differ(machine, dtype, shape, components):
    """Each line has a mean of its own, larger than its deviations, on either side of zero."""

    def values_of(rng, shape):
        means = 100 * (1 + np.add.reduce(np.indices(shape), axis=0)) * rng.choice([-1, 1], shape)
        return np.broadcast_to(means[..., :1], shape) + rng.normal(size=shape)

    field, values = fill(shape, dtype, machine, values_of, components)
    wide, moved = values.astype(np.longdouble), field.core.bytes_moved
    few = 8 * float(np.finfo(np.float64 if dtype == "float64" else np.float32).eps)
    axes = [
        axis
        for n in range(1, wide.ndim + 1)
        for axis in itertools.combinations(range(wide.ndim), n)
    ]
    for axis, name in itertools.product(axes, ("var", "std")):
        for options in ({}, {"keepdims": True}, {"ddof": 0.5}):
            found = getattr(np, name)(field, axis=axis, **options)
            expected = getattr(wide, name)(axis=axis, **options)
            assert np.shape(found) == np.shape(expected)
            assert np.ndim(found) == 0 or found.dtype == np.float64
            np.testing.assert_allclose(found, expected.astype(float), rtol=few)
    assert field.core.bytes_moved == moved
    np.testing.assert_array_equal(field.var(axis=()), np.zeros_like(values))


@pytest.mark.parametrize("components", [1, 2])
def test_no_square_leaves_the_range_of_numbers(machine, dtype, components):
    """What is so large or so small that its square is no number of this dtype."""
    real = np.finfo("float64" if dtype == "float64" else "float32")
    stored = np.finfo(dtype)
    few = 8 * float(real.eps)
    for unit in (float(stored.max) / 64, float(stored.tiny) * 64):
        draw = lambda rng, shape, unit=unit: unit * rng.uniform(-1, 1, shape)
        field, values = fill((30, 41), dtype, machine, draw, components)
        scaled = values.astype(np.float64) / unit
        assert field.norm() / unit == pytest.approx(np.sqrt((scaled**2).sum()), rel=few)
        assert field.std() / unit == pytest.approx(scaled.std(), rel=few)
        np.testing.assert_allclose(field.std(axis=-1) / unit, scaled.std(axis=-1), rtol=few)
        if dtype != "float64":
            assert field.var() / unit**2 == pytest.approx(scaled.var(), rel=few)


def test_lines_with_squares_beyond_the_range_stand_beside_others(machine):
    field = pt.Field(pt.Grid((2, 8)), device=machine)
    for heights in [1e20, 1e-17], [1e-25, 1e-17], [1, 1e-17]:
        field[...] = np.outer(heights, [1, -1] * 4)
        np.testing.assert_allclose(field.std(axis=1), heights, rtol=1e-6)


def test_a_deviation_has_no_choice_of_bits(machine):
    """What stands beside a line, and how many lines there are, changes none."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(37, 29))
    whole, part = (pt.Field(pt.Grid(s), device=machine) for s in ((37, 29), (3, 29)))
    whole[...], part[...] = values, values[5:8]
    np.testing.assert_array_equal(whole.var(axis=1)[5:8], part.var(axis=1))


def test_a_deviation_of_what_is_not_finite(machine):
    field = pt.Field(pt.Grid((4, 5)), device=machine)
    for value in (math.nan, math.inf):
        field[1, 1] = value
        assert math.isnan(field.std())
    with pytest.raises(
        ValueError, match=r"^ddof must be less than the number of values, 20, not 20$"
    ):
        field.std(ddof=20)
    with pytest.raises(
        ValueError, match=r"^ddof must be less than the number of values, 5, not 5$"
    ):
        field.var(axis=1, ddof=5)


def test_integrals_are_of_cells(machine):
    grid = pt.Grid((10, 20), extent=(2, 3), boundary=["periodic", "wall"])
    x, y = grid.coordinates()
    field = pt.Field(grid, 2, "float64", machine)
    field[0], field[1] = 1 + np.sin(np.pi * x), y
    np.testing.assert_allclose(field.integral(), [6, 9], rtol=1e-14)
    assert field.component(1).integral() == pytest.approx(9, rel=1e-14)


@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "min", "max"])
def test_a_misspelt_keyword_is_told(name):
    reduce = getattr(pt.Field(pt.Grid(4)), name)
    for wrong, words in (
        ("axs", "; is axis meant?"),
        ("axes", "; is axis meant?"),
        ("keepdim", "; is keepdims meant?"),
        ("quux", ""),
    ):
        with pytest.raises(TypeError) as refusal:
            reduce(**{wrong: None})
        expected = f"Field.{name}() got an unexpected keyword argument {wrong!r}{words}"
        assert str(refusal.value) == expected


def test_wrong_axes():
    field = pt.Field(pt.Grid((3, 4)), components=2)
    for axis, error, words in (
        (3, IndexError, "axis must be from -3 to 2, not 3"),
        ((0, -3), ValueError, "axis must name each axis once, not (0, -3)"),
        ([0], TypeError, "axis must be an integer, not [0]"),
        (0.0, TypeError, "axis must be an integer, not 0.0"),
    ):
        for reduce in (field.sum, field.mean, field.var, field.std, field.min, field.max):
            with pytest.raises(error, match="^" + re.escape(words) + "$"):
                reduce(axis=axis)
    with pytest.raises(TypeError, match=r"^keepdims must be True or False, not 1$"):
        field.sum(keepdims=1)
