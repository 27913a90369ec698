# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is done with fields, in any order, they hold what arrays of NumPy do."""

import gc
import math

import numpy as np
import particles as pt
import pytest
from hypothesis import assume, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.support import lot

GRIDS = [pt.Grid(7), pt.Grid((3, 5)), pt.Grid((2, 1, 4))]
DTYPES = ["float16", "float32", "float64"]
GIVEN = ["<f2", "<f4", "<f8", ">f4", "<i4", "|u1", "|b1"]
NUMBERS = st.one_of(
    st.integers(-9, 9).map(float),
    st.sampled_from([0.1, 1e-30, -7e4, 1e300, -0.0, math.nan, math.inf, -math.inf]),
)
CUTS = [slice(None), slice(None, None, -1), slice(1, None, 2)]


@seed(lot.NUMBER)
class Fields(RuleBasedStateMachine):
    """Fields beside the arrays that they are to equal; what shares memory is a view of an array."""

    def __init__(self):
        super().__init__()
        self.device = pt.default_device()
        self.pairs, self.shared = [], []

    def drawn_pair(self, data):
        return self.pairs[data.draw(st.integers(0, len(self.pairs) - 1), "field")]

    def drawn_values(self, data, shape):
        dtype = np.dtype(data.draw(st.sampled_from(GIVEN), "dtype"))
        numbers = NUMBERS if dtype.kind == "f" else st.integers(0, 1)
        stretch = tuple(n * 2 for n in shape)
        values = np.resize(np.array(data.draw(st.lists(numbers, min_size=1, max_size=5))), stretch)
        cut = data.draw(st.sampled_from(CUTS), "cut")
        with np.errstate(all="ignore"):
            return values.astype(dtype)[(cut,) * len(shape)][tuple(map(slice, shape))]

    @precondition(lambda self: len(self.pairs) < 6)
    @rule(
        grid=st.sampled_from(GRIDS),
        components=st.integers(1, 3),
        dtype=st.sampled_from(DTYPES),
    )
    def make(self, grid, components, dtype):
        assume(np.dtype(dtype) in self.device.dtypes)
        field = pt.Field(grid, components, dtype)
        self.pairs.append((field, np.zeros(field.shape, dtype)))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def assign(self, data):
        field, array = self.drawn_pair(data)
        key = data.draw(hnp.basic_indices(field.shape, allow_newaxis=True, allow_ellipsis=True))
        shape = array[key].shape
        values = self.drawn_values(data, shape[data.draw(st.integers(0, len(shape))) :])
        with np.errstate(all="ignore"):
            array[key] = values
            field[key] = values

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def assign_by_a_mask(self, data):
        field, array = self.drawn_pair(data)
        mask = np.resize(data.draw(st.lists(st.booleans(), min_size=1, max_size=5)), field.shape)
        np.testing.assert_array_equal(field[mask], array[mask])
        field[mask] = array[mask] = data.draw(st.integers(-9, 9))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), number=NUMBERS)
    def add_in_place(self, data, number):
        field, array = self.drawn_pair(data)
        key = data.draw(hnp.basic_indices(field.shape))
        with np.errstate(all="ignore"):
            array[key] += array.dtype.type(number)
            field[key] += array.dtype.type(number)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), number=NUMBERS)
    def fill(self, data, number):
        field, array = self.drawn_pair(data)
        with np.errstate(all="ignore"):
            field.fill(number)
            array.fill(number)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def set(self, data):
        field, array = self.drawn_pair(data)
        values = self.drawn_values(data, field.shape)
        with np.errstate(all="ignore"):
            field.set(values)
            array[...] = values

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def assign_a_field(self, data):
        field, array = self.drawn_pair(data)
        other, values = self.drawn_pair(data)
        with np.errstate(all="ignore"):
            if (field.grid, field.components) == (other.grid, other.components):
                field[...] = other
                array[...] = values.copy()
            elif field.grid == other.grid and other.components == 1:
                field[-1] = other
                array[-1] = values.copy()

    @precondition(lambda self: 0 < len(self.pairs) < 6)
    @rule(data=st.data())
    def view_a_component(self, data):
        field, array = self.drawn_pair(data)
        index = data.draw(st.integers(-field.components, field.components - 1))
        view = array[index] if field.components > 1 else array
        self.pairs.append((field.component(index), view))

    @precondition(lambda self: 0 < len(self.pairs) < 6)
    @rule(data=st.data())
    def copy(self, data):
        field, array = self.drawn_pair(data)
        self.pairs.append((field.copy(), array.copy()))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), cut=st.sampled_from(CUTS[:2]))
    def get(self, data, cut):
        field, array = self.drawn_pair(data)
        out = np.empty((*field.shape, 2), field.dtype)[..., 0][cut]
        np.testing.assert_array_equal(field.get(out), array)

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), bound=st.integers(-9, 9))
    def reduce(self, data, bound):
        field, array = self.drawn_pair(data)
        with np.errstate(all="ignore"):
            values = array.astype(np.float64)
            np.testing.assert_array_equal(
                [field.min(), field.max(), field.norm(np.inf), field.count(lower=bound)],
                [values.min(), values.max(), np.abs(values).max(), (values > bound).sum()],
            )
            if np.abs(values).max() < 1e6:
                exact, size = math.fsum(values.ravel()), np.abs(values).sum()
                assert abs(field.sum() - exact) <= 1e-13 * size

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), number=st.integers(-9, 9))
    def share_by_dlpack(self, data, number):
        assume(self.device.is_cpu and np.lib.NumpyVersion(np.__version__) >= "2.1.0")
        field, array = self.drawn_pair(data)
        memory = np.from_dlpack(field)
        memory[..., 0] = number
        array[..., 0] = number
        self.shared.append((memory, array))

    @precondition(lambda self: 0 < len(self.pairs) < 6)
    @rule(data=st.data(), number=st.integers(-9, 9))
    def share_with_pyopencl(self, data, number):
        field, array = self.drawn_pair(data)
        again = pt.Field.from_pyopencl(field.to_pyopencl(), field.grid)
        assert again.components == field.components
        again[..., -1] = number
        array[..., -1] = number
        self.pairs.append((again, array))

    @precondition(lambda self: self.pairs)
    @rule(data=st.data(), other=st.sampled_from(GRIDS))
    def be_refused(self, data, other):
        field, _ = self.drawn_pair(data)
        wrong = np.zeros((9, *field.shape))
        for write in (
            lambda: field.set(wrong),
            lambda: field.__setitem__(..., wrong),
            lambda: field.__setitem__(field.shape, 1),
            lambda: field.__setitem__(..., 1j),
            lambda: field.get(wrong),
            lambda: field.fill([1, 2]),
        ):
            try:
                write()
            except (IndexError, TypeError, ValueError):
                continue
            raise AssertionError("it was not refused")

    @precondition(lambda self: self.pairs or self.shared)
    @rule(data=st.data())
    def drop(self, data):
        place = data.draw(st.integers(0, len(self.pairs) + len(self.shared) - 1))
        several, index = (
            (self.pairs, place)
            if place < len(self.pairs)
            else (self.shared, place - len(self.pairs))
        )
        del several[index]
        gc.collect()

    @invariant()
    def fields_are_their_arrays(self):
        for field, array in self.pairs:
            np.testing.assert_array_equal(field.get(), array, strict=True)
        self.device.finish()
        for memory, array in self.shared:
            np.testing.assert_array_equal(memory, array, strict=True)


Fields.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 8, stateful_step_count=25
)
TestFields = pytest.mark.sampled(Fields.TestCase)
