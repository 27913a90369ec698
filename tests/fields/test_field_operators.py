# SPDX-License-Identifier: BSD-3-Clause
"""What a field does with operators, with the copy module and with pickle."""

import copy
import operator
import pickle
import re

import numpy as np
import particles as pt
import pytest

COMPARISONS = [getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")]
ARITHMETIC = [
    getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
]
UNARY = [operator.neg, operator.pos, operator.abs]
NO_NEW_FIELD = (
    "operators make no new Field: change one by u += v, set another one by "
    "w.assign(lambda u, v: u + v, u, v), or compute on the host with np.asarray(u)"
)
NOT_COMPARED = "a Field cannot be compared: use np.asarray(field), or `is` for identity"


def counted(name=None):
    field = pt.Field(pt.Grid((2, 3)), name=name)
    field[...] = values = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    return field, values


@pytest.mark.parametrize("operate", COMPARISONS + ARITHMETIC)
def test_operators_make_no_new_field(operate):
    field, _ = counted()
    words = NO_NEW_FIELD if operate in ARITHMETIC else NOT_COMPARED
    for one, other in [(field, 0), (0, field), (field, field), (field, field.copy()), (field, [1])]:
        with pytest.raises(TypeError, match="^" + re.escape(words) + "$"):
            operate(one, other)
    for operate_on_one in UNARY:
        with pytest.raises(TypeError, match="^" + re.escape(NO_NEW_FIELD) + "$"):
            operate_on_one(field)


@pytest.mark.parametrize("operate", COMPARISONS + ARITHMETIC)
def test_arrays_operate_on_fields(operate):
    field, values = counted()
    for other in (values[::-1], np.float32(2)):
        np.testing.assert_array_equal(operate(field, other), operate(values, other))
        np.testing.assert_array_equal(operate(other, field), operate(other, values))


def test_a_field_is_found_by_identity():
    field, other = counted()[0], counted()[0]
    assert {field: 1, other: 2}[other] == 2
    assert len({field, other, field}) == 2
    assert field in [field]
    assert (field, other) == (field, other)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_have_memory_of_their_own(duplicate):
    field, values = counted("u")
    twin = duplicate(field)
    field.fill(0)
    np.testing.assert_array_equal(twin, values)
    assert (twin.name, twin.grid, twin.device) == ("u", field.grid, field.device)
    one, same = copy.deepcopy([twin, twin])
    assert one is same


def test_a_field_is_not_pickled():
    words = "a Field is on a device and cannot be pickled: pickle np.asarray(field)"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="^" + re.escape(words) + "$"):
            pickle.dumps(counted()[0], protocol)
