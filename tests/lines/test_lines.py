# SPDX-License-Identifier: BSD-3-Clause
"""How a device works on the lines of a grid, as the library sees it that the core calls."""

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.trust.test_faults import in_child


@pytest.mark.sampled
@pytest.mark.one_device
def test_a_group_gets_the_local_memory_that_its_rows_take(device, library):
    in_child(
        device,
        library,
        """
import numpy as np
n, group = 12, 2
grid = pt.Grid((5, n))
limited, values = {"limiter": "positive"}, {"conservative": False}
# Rows of a node, and nodes beyond either end of a line that have them: a limiter looks that far, and
# values are read from there.
for choices, components, dtype, sums, beyond in (
    ({}, 1, "float32", 1, 0),
    (limited, 2, "float64", 4, 2),
    (values, 1, "float32", 1, 16),
    (limited | values, 2, "float32", 2, 16),
):
    u = pt.Field(grid, components=components, dtype=dtype, device=device)
    moves = pt.Field(grid, dtype=dtype, device=device)
    remesh = pt.RemeshOp(u, form=pt.Form("local", group=group), **choices)
    remesh.apply(pt.Positions(moves, 1, back="conservative" in choices))
    rows = n + 2 * beyond + 1  # all nodes that have none share one
    taken = rows * sums * group * np.dtype(dtype).itemsize
    assert faults.local_memory_given() == taken, (choices, components, dtype)
""",
    )


@pytest.mark.one_device
def test_tiles_end_where_lines_do(device):
    """What crosses an end is counted once, though the last work-item has fewer tiles."""
    grid = pt.Grid((8, 80), boundary=["outflow", "periodic"])
    velocity = pt.Field(grid, 2, device=device)
    velocity[0] = 1.0
    u = pt.Field(grid, device=device)
    u.fill(1.0)
    form = pt.Form("lanes", tiles=4)
    transport = pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form))
    transport.sweep(0, 2 * grid.spacing[0])
    np.testing.assert_allclose(transport.outflow[0, 0], [-160, 160], rtol=1e-5)


@pytest.mark.one_device
def test_what_lies_beyond_the_last_tile_is_nobodys(device):
    """A work-item with more tiles than there are leaves alone what comes after them in memory."""
    grid = pt.Grid((8, 20))
    velocity = pt.Field(grid, 2, device=device)
    velocity[0] = grid.spacing[0]
    u = pt.Field(grid, 2, device=device)
    u.fill(1.0)
    form = pt.Form("global", lanes=4, tiles=10)
    transport = pt.Splitting(
        pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u.component(0), form=form)
    )
    transport.sweep(0, 1.0)
    np.testing.assert_array_equal(u.get(), 1.0)


@pytest.mark.one_device
@pytest.mark.parametrize("reach", [2, 5, 40])
def test_edges_of_segments_are_copied_within_their_lines(device, reach):
    """However far particles move, and however short the last segment of a line is."""
    cl = pytest.importorskip("pyopencl")
    cl_array = pytest.importorskip("pyopencl.array")
    n, segment = 33, 16
    source = testing.kernel_source("sweep/keep_edges.cl")
    program = cl.Program(device.queue.context, source).build("-cl-std=CL1.2 -w -DSEGMENT")
    start = np.arange(2 * n, dtype=np.float32)
    u, kept = (cl_array.to_device(device.queue, a) for a in (start, np.full_like(start, -1)))
    longs = (np.int64(number) for number in (1, 1, 1))  # strides
    counts = (np.int32(number) for number in (n, 1, 1, segment, 3, reach))
    arrays = (u.data, np.uint64(0), kept.data, np.uint64(0))
    program.keep_edges(device.queue, (1,), None, *arrays, *longs, *counts)
    copied = kept.get() == start
    np.testing.assert_array_equal(kept.get()[~copied], -1)
    assert copied[:n].any()
    assert not copied[n:].any()
