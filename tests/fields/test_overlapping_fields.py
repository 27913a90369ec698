# SPDX-License-Identifier: BSD-3-Clause
"""Fields that share memory cannot be remeshed together; those that only mesh with another can."""

import numpy as np
import particles as pt
import pytest

from tests.support.refusals import refused

cl_array = pytest.importorskip("pyopencl.array")

LEFT, RIGHT = np.s_[:, 0:8], np.s_[:, 8:16]
OVERLAPPING = [
    (np.s_[0:64], np.s_[10:74]),
    (np.s_[0:64], np.s_[63:127]),
    (np.s_[0:128:2], np.s_[0:64]),
    (LEFT, np.s_[:, 7:15]),
]
APART = [(np.s_[0:64], np.s_[64:128]), (np.s_[0:128:2], np.s_[1:128:2]), (LEFT, RIGHT)]


def parts(device, *places):
    """Fields on parts of one array, of 128 numbers or of 8 rows."""
    array = cl_array.zeros(device.queue, 128, np.float32)
    strided = [array[p] if isinstance(p, slice) else array.reshape(8, 16)[p] for p in places]
    return [pt.Field.from_pyopencl(part, pt.Grid(part.shape)) for part in strided]


@pytest.mark.parametrize("places", OVERLAPPING, ids=str)
def test_overlapping_fields_are_refused(device, places):
    one, other = parts(device, *places)
    words = "fields must each have memory of their own, but two of them overlap"
    refused(ValueError, words, pt.RemeshOp, [one, other])
    refused(ValueError, words, pt.RemeshOp, [other, pt.Field(one.grid, device=one.device), one])


@pytest.mark.parametrize("places", APART, ids=str)
def test_fields_apart_in_one_array_are_taken(device, places):
    fields = parts(device, *places)
    assert pt.RemeshOp(fields).fields == tuple(fields)


def test_components_side_by_side_are_taken(device):
    array = cl_array.zeros(device.queue, (8, 16, 3), np.float32).transpose((2, 0, 1))
    for field in (
        pt.Field.from_pyopencl(array, pt.Grid((8, 16))),
        pt.Field(pt.Grid((8, 16)), 3, device=device),
    ):
        fields = [field.component(index) for index in range(3)]
        assert pt.RemeshOp(fields).fields == tuple(fields)
