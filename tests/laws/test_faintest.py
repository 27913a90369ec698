# SPDX-License-Identifier: BSD-3-Clause
"""Numbers below the smallest normal one: sweeps may take them for 0, nothing else touches them."""

import numpy as np
import particles as pt
import pytest

from tests.support.sweeps import field


def hill(grid, dtype):
    """A Gaussian that fades out: some of its values are not normal, and some are 0."""
    depth = -np.log(np.finfo(dtype).smallest_subnormal)
    places = zip(grid.coordinates(), grid.extent, strict=True)
    squares = sum((x / length - 0.5) ** 2 for x, length in places)
    return np.exp(-8 * depth * squares).astype(dtype)


def is_faint(values):
    return (values != 0) & (np.abs(values) < np.finfo(values.dtype).tiny)


def swirl(grid, dtype, device):
    x, y = np.broadcast_arrays(*grid.coordinates())
    rates = [np.sin(2 * np.pi * y) / 4, np.sin(2 * np.pi * x) / 4]
    return field(rates, grid, dtype, device)


CHOICES = [{}, {"limiter": "positive"}, {"conservative": False, "limiter": "positive"}]


@pytest.mark.sampled
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_what_is_lost_is_below_round_off_and_the_same_in_all_forms(device, dtype, options):
    grid = pt.Grid((40, 37))
    start = hill(grid, dtype)
    assert is_faint(start).sum() > 20
    results = []
    for form in ("private", "lanes", "local"):
        u = field(start, grid, dtype, device)
        advection = pt.AdvectionOp(swirl(grid, dtype, device), form=form)
        transport = pt.Splitting(advection, pt.RemeshOp(u, form=form, **options))
        for _ in range(4):
            transport.step(0.1)
        results.append(u.get())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    if options:
        assert results[0].min() >= 0
    if "conservative" not in options:
        assert (
            abs(results[0].sum(dtype="f8") / start.sum(dtype="f8") - 1) < 20 * np.finfo(dtype).eps
        )


def test_a_chain_of_sweeps_between_other_ends_loses_the_same(device, dtype):
    """Its program is linked."""
    grid = pt.Grid((40, 37), boundary=["periodic", "outflow"])
    results = []
    for form in (None, "private"):
        u = field(hill(grid, dtype), grid, dtype, device)
        advection = pt.AdvectionOp(swirl(grid, dtype, device), form=form)
        pt.Splitting(advection, pt.RemeshOp(u, form=form)).step(0.1)
        results.append(u.get())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("conservative", [True, False])
def test_faint_numbers_are_kept_or_zero(device, dtype, conservative):
    """Shifted by whole cells nothing is rounded: all others stay as they are to the bit."""
    grid = pt.Grid((24, 21), spacing=1.0)
    signs = np.where(np.indices(grid.shape).sum(axis=0) % 2, 1, -1)
    start = hill(grid, dtype) * signs.astype(dtype)
    u = field(start, grid, dtype, device)
    velocity = field([np.full(grid.shape, k) for k in (3.0, 2.0)], grid, dtype, device)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, conservative=conservative))
    transport.step(2.0)
    shifted, moved = u.get(), np.roll(start, (6, 4), (0, 1))
    assert np.all((shifted == moved) | ((shifted == 0) & is_faint(moved)))


def test_faint_halves_are_normal_numbers_of_a_sweep(device):
    if np.dtype("float16") not in device.dtypes:
        pytest.skip("needs float16")
    grid = pt.Grid((24, 21), spacing=1.0)
    start = (np.arange(24 * 21).reshape(24, 21) * np.float16(2.0**-24)).astype("float16")
    assert is_faint(start).sum() == start.size - 1
    u = field(start, grid, "float16", device)
    velocity = field([np.full(grid.shape, k) for k in (3.0, 0.0)], grid, "float32", device)
    pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).step(2.0)
    np.testing.assert_array_equal(u.get(), np.roll(start, 6, 0))


def test_what_is_no_sweep_knows_faint_numbers_before_and_after_one(device, dtype):
    grid = pt.Grid((16, 17))
    u, faint = field(hill(grid, dtype), grid, dtype, device), pt.Field(grid, 1, dtype, device)
    faint.fill(float(np.finfo(dtype).tiny) / 8)

    def answers():
        doubled = faint.copy()
        pt.SourceOp(doubled, ["u"]).apply(1.0)
        here = np.full(3, np.finfo(dtype).tiny, dtype) / 8
        return faint.sum(), faint.count(lower=0), doubled.max(), here.tolist()

    before = answers()
    pt.Splitting(pt.AdvectionOp(swirl(grid, dtype, device)), pt.RemeshOp(u)).step(0.1)
    assert answers() == before
    assert before[3][0] > 0
