# SPDX-License-Identifier: BSD-3-Clause
"""The memory of fields: zero at first, given back, shared by views, padded."""

import gc
import mmap
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.fields.test_field import random_field
from tests.support.gpu_forms import FORMS, in_form


@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 5)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_memory_that_was_used_before_is_zero_again(device, form, shape):
    device, grid = in_form(device, form), pt.Grid(shape)
    for _ in range(3):
        field = pt.Field(grid, 2, device=device)
        assert not field.get().any()
        field.fill(1)
        device.finish()
        del field


def pages_in_use():
    """Return the memory that this process has mapped, in pages."""
    return int(Path("/proc/self/statm").read_text().split()[0])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="Linux alone tells")
def test_memory_goes_back_to_the_operating_system(device):
    grid = pt.Grid((64, 64, 64))
    pt.Field(grid, device=device).fill(1)
    device.finish()
    before = pages_in_use()
    for _ in range(50):
        pt.Field(grid, device=device).fill(1)
        device.finish()
    assert (pages_in_use() - before) * mmap.PAGESIZE < 10 * grid.size * 4


def test_too_large_a_field_is_an_error_of_the_device(device):
    with pytest.raises(pt.OutOfMemoryError, match="field huge needs"):
        pt.Field(pt.Grid(2**40), device=device, name="huge")


def test_a_dropped_field_frees_its_memory(device):
    gc.collect()
    before = testing.buffers_held(device.core), device.core.bytes_held
    field, _ = random_field(device, (33, 5), 2)
    view = field.component(1)
    assert testing.buffers_held(device.core) == before[0] + 1
    assert device.core.bytes_held > before[1] + field.nbytes
    assert field.sum() == field.sum()
    held = testing.buffers_held(device.core), device.core.bytes_held
    assert field.norm() > view.norm() > 0
    assert field[:, ::2, 0].shape == (2, 17)
    field[:, ::2] = 1
    field.component(0)[...] = view
    assert (testing.buffers_held(device.core), device.core.bytes_held) == held
    del field
    assert (testing.buffers_held(device.core), device.core.bytes_held) == held
    del view
    assert (testing.buffers_held(device.core), device.core.bytes_held) == before


def test_pads_are_left_out_where_they_would_not_fit(device):
    """As many points as one allocation holds; nothing is touched but the two ends."""
    if device.kind != "CPU":
        pytest.skip("takes all that a device allocates at once")
    side = 2**10
    assert pt.Field(pt.Grid((2, side, side)), device=device).core.strides[-2] > side
    gc.collect()
    room = min(device.largest_allocation, device.memory - device.core.bytes_held)
    u = pt.Field(pt.Grid((room // (4 * side**2), side, side)), device=device)
    u[0, 0, 0], u[-1, -1, -1] = 1, 2
    assert (u[0, 0, 0], u[0, 0, 1], u[-1, -1, -1]) == (1, 0, 2)
    assert tuple(u.core.strides[-3:]) == (side**2, side, 1)


@pytest.mark.parametrize("side", [128, 240, 250, 256, 257, 384, 512])
def test_planes_do_not_crowd_into_a_few_sets_of_a_cache(device, side):
    pitch = pt.Field(pt.Grid((1, side, side)), device=device).core.strides[-3] // 16
    beyond = np.arange(1, 33) * pitch % 8192
    assert np.minimum(beyond, 8192 - beyond).min() > 4
    assert pitch * 16 < 1.2 * side * side
