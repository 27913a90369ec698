# SPDX-License-Identifier: BSD-3-Clause
"""Sorting is timed in each dimension."""

import pytest

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks import interpolation


@pytest.mark.one_device
@pytest.mark.parametrize("shape", [(9,), (4, 5), (3, 4, 5)])
def test_sorting_is_timed_beside_numpy(device, shape, monkeypatch):
    monkeypatch.setattr(interpolation, "SECONDS", 0)
    shuffled, moved = interpolation.sorting(device, shape)
    assert [shuffled["direction"], moved["direction"]] == [
        "sort, shuffled",
        "sort, moved by 0.9 cells",
    ]
    assert min(shuffled["numpy_ns"], moved["numpy_ns"]) > 0
