# SPDX-License-Identifier: BSD-3-Clause
"""Limited results, which need two rows of sums: the same bits in every form."""

import numpy as np
import pytest

from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import (
    advection_core,
    box,
    check_forms,
    field,
    in_single,
    noise,
    one_kernel,
    remesh_core,
    wave,
)

POSITIVE, MONOTONE = {"limiter": "positive"}, {"limiter": "monotone"}

# How sums are limited, where they lie and their dtype know nothing of each other; each is
# compared with single lines, which are built fastest.
FORMS = [
    (None, None, MONOTONE, "float32"),
    ("lanes", 8, POSITIVE, "float64"),
    ("local", 9, POSITIVE, "float64"),
    ("team", None, MONOTONE, "float32"),
    ("team", 9, POSITIVE, "float32"),
    ("registers", None, POSITIVE, "float32"),
    ("registers", 9, MONOTONE, "float64"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("form", "capacity", "remeshing", "dtype"), FORMS, ids=str, indirect=["dtype"]
)
def test_forms_give_the_same_bits(device, dtype, form, capacity, remeshing):
    grid = box(16, 17)
    velocity = field([wave(grid, axis) for axis in range(2)], grid, dtype, device)
    options = {"other": "private", "remeshing": remeshing}
    check_forms(velocity, grid, dtype, device, form, capacity, **options)


@pytest.mark.sampled
@in_single
def test_components_are_carried_alike(device, dtype):
    grid = box(17, 33)
    velocity = advection_core(field([noise(grid, k) for k in range(2)], grid, dtype, device))
    for axis in range(2):
        dt = 0.4 * grid.spacing[axis]
        together = field([noise(grid, seed) for seed in range(3)], grid, dtype, device)
        one_by_one = together.copy()
        one_kernel(velocity, together, remesh_core([together], **MONOTONE), axis, dt)
        for index in range(3):
            component = one_by_one.component(index)
            one_kernel(velocity, component, remesh_core([component], **MONOTONE), axis, dt)
        np.testing.assert_array_equal(together.get(), one_by_one.get())


@pytest.mark.sampled
@in_single
def test_a_gpu_with_little_local_memory_gives_the_same_bits(device, dtype):
    grid = box(30, 300)
    results = []
    for place, form in (device, "private"), (as_gpu(device, 8 * 1024), None):
        velocity = field([wave(grid, axis) for axis in range(2)], grid, dtype, place)
        u = field([noise(grid, 5), noise(grid, 6)], grid, dtype, place)
        for axis in range(2):
            dt = 3.3 * grid.spacing[axis]
            remesh = remesh_core([u], "M'6", form, **MONOTONE)
            one_kernel(advection_core(velocity, form=form), u, remesh, axis, dt)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1])
