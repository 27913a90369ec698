# SPDX-License-Identifier: BSD-3-Clause
"""Fields of few points to be refused, and what a refusal must say."""

import re

import numpy as np
import particles as pt
import pytest

GRID, OTHER = pt.Grid((4, 6)), pt.Grid((4, 6), origin=(1, 0))
NAN, INF = float("nan"), float("inf")


def scalar(grid=GRID, dtype="float32", device=None):
    return pt.Field(grid, 1, dtype, device)


def vector(grid=GRID, dtype="float32", device=None):
    return pt.Field(grid, 2, dtype, device)


def foreign(components=1):
    """A field in a context of PyOpenCL's own, which is another device to us."""
    import pyopencl
    import pyopencl.array

    context = pyopencl.Context(pt.default_device().context.devices)
    queue = pyopencl.CommandQueue(context)
    shape = (components, *GRID.shape) if components > 1 else GRID.shape
    return pt.Field.from_pyopencl(pyopencl.array.zeros(queue, shape, np.float32), GRID)


def refused(error, words, call, *arguments, **options):
    """Assert that a call raises an error that says these words and no others."""
    with pytest.raises(error, match="^" + re.escape(words) + "$"):
        call(*arguments, **options)
