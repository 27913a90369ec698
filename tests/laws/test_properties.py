# SPDX-License-Identifier: BSD-3-Clause
"""Laws that hold for every combination of choices; `drawn` says which are drawn.

There are few examples, others for each number: ``--hypothesis-profile=thorough`` draws more.
"""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import particles as pt
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from tests.reference import (
    reference,
    reference_boundaries,
    reference_coarse,
    reference_limiter,
    reference_motion,
    reference_values,
)
from tests.support.drawn import BROUGHT, CHOICES, STEPS, TIMES, drawn
from tests.support.sweeps import error_of_moves, error_of_reading, error_of_sweep, spread

# An example takes a few seconds, as its kernels must be built; to shrink one takes hundreds of them.
examples = partial(settings, phases=(Phase.generate,))
few = examples(max_examples=settings.default.max_examples // 25)
each_in_several_forms = examples(max_examples=settings.default.max_examples // 20)
PUBLISHED = CHOICES["kernel"][:6]  # those that the reference knows


def check(found, expected, limit):
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=limit * np.abs(expected).max(initial=1)
    )


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_mass_inside_and_outside_is_constant(device, data):
    case, start = drawn(data.draw, device, conservative=True, has_source=False)
    found, outflow = case.run(start)
    left = 0.0 if outflow is None else outflow.sum(axis=(1, 2))
    axes = tuple(range(1, start.ndim))
    size = np.maximum(np.abs(start).sum(axes), np.abs(found).sum(axes)) + np.abs(left)
    drift = np.abs(found.sum(axes) + left - start.sum(axes))
    assert np.all(drift <= case.rounding * size)
    for axis, ends in enumerate(case.grid.boundary if case.has_ends else ()):
        for end in (0, 1):
            if ends == "periodic" or ends[end] == "wall":
                assert not outflow[:, axis, end].any()


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_values_that_are_all_alike_stay(device, data):
    """To the last bit, whatever the velocity does, where values are carried instead of masses."""
    order = data.draw(st.sampled_from([1, 2, 4]), "order")
    case, start = drawn(data.draw, device, conservative=False, has_source=False, order=order)
    found, _ = case.run(np.full(start.shape, BROUGHT))
    np.testing.assert_array_equal(found, BROUGHT)


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_nothing_falls_below_zero_with_the_limiter(device, data):
    order = data.draw(st.sampled_from([1, 2]), "order")
    limiter = data.draw(st.sampled_from(["positive", "monotone"]), "limiter")
    case, start = drawn(data.draw, device, limiter=limiter, order=order)
    found, _ = case.run(np.maximum(start, 0))
    assert found.min() >= 0


@pytest.mark.one_device
@few
@given(data=st.data())
def test_no_step_that_is_accepted_makes_what_is_not_finite(device, data):
    """The largest ones, by any scheme: some stretch the spacing of particles to 2.5 times."""
    case, start = drawn(data.draw, device, levels=1, has_source=False)
    u = case.field(start)
    transport = case.transport(u)
    dt = 3 * case.dt
    if case.conservative:
        dt = case.dt * min(3, 0.9 / max(transport.lcfl(case.dt), 0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LCFLWarning)
        transport.run(STEPS * dt, dt)
    assert np.isfinite(case.values_of(u)).all()


@pytest.mark.sampled
@each_in_several_forms
@given(data=st.data())
def test_all_forms_give_the_same_bits(device, data):
    order = data.draw(st.sampled_from([1, 2, 4]), "order")
    case, start = drawn(data.draw, device, order=order)
    expected, _ = case.run(start)
    forms = [None, "local"]
    is_plain = case.limiter is None or not case.conservative
    if is_plain and case.grid.is_periodic:
        forms.append("global")
    for form in forms:
        np.testing.assert_array_equal(case.run(start, form)[0], expected)


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_a_result_depends_on_nothing_but_its_own_component(device, data):
    case, start = drawn(data.draw, device)
    together, _ = case.run(start)
    np.testing.assert_array_equal(case.run(start)[0], together)
    np.testing.assert_array_equal(case.run(start[-1:])[0], together[-1:])


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_results_are_linear(device, data):
    case, start = drawn(data.draw, device, limiter=None)
    other = np.roll(start, 1, -1) ** 2
    results = [case.run(u, brought=b)[0] for u, b in ((start, 1.0), (other, 0.5))]
    both, _ = case.run(2 * start - other / 4, brought=2 - 0.5 / 4)
    check(both, 2 * results[0] - results[1] / 4, 4 * case.rounding)


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_a_mirror_image_is_carried_like_its_object(device, data):
    case, start = drawn(data.draw, device)
    axis = data.draw(st.integers(0, case.grid.ndim - 1), "axis")
    found, _ = case.mirrored(axis).run(case.image(start, axis))
    check(found, case.image(case.run(start)[0], axis), 4 * case.rounding)


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_no_axis_is_special(device, data):
    case, start = drawn(data.draw, device)
    axes = list(range(case.grid.ndim))
    found = case.turned().swept(start.swapaxes(1, -1), axes[::-1])
    check(found, case.swept(start, axes).swapaxes(1, -1), 4 * case.rounding)


@pytest.mark.sampled
@pytest.mark.one_device
@few
@given(data=st.data())
def test_without_motion_interpolating_kernels_change_nothing(device, data):
    case, start = drawn(data.draw, device, has_source=False)
    still = replace(case, velocities=tuple(0 * a for a in case.velocities))
    found, _ = still.run(start)
    if pt.kernels.describe(case.kernel).interpolating:
        np.testing.assert_array_equal(found, start)
    else:
        assert np.abs(found).max() <= np.abs(start).max() * 1.4


def move_error(case, moves, axis):
    """How wrong moves may be."""
    steps = [(3 * spread(moves, axis)) ** stage for stage in (1, 2, 3)]
    return 4 * error_of_moves(case.computed, np.abs(moves).max(), sum(steps))


def limit_of_sweep(case, start, moves, axis):
    """How wrong a sweep may be; results with a limiter are quotients of sums."""
    wrong_by = move_error(case, moves, axis)
    if case.conservative:
        limit = 8 * error_of_sweep(case.computed, start, moves, axis, case.kernel.name, wrong_by)
    else:
        limit = error_of_reading(case.computed, start, case.kernel.name, wrong_by)
    return limit + np.finfo(case.dtype).eps * np.abs(start).sum(axis).max()


def jumps_on_nodes(case):
    """Whether results on a node differ from those just beside it: the limiter keeps the node's value."""
    interpolates = pt.kernels.describe(case.kernel).interpolating
    return case.limiter == "monotone" and not case.conservative and not interpolates


@pytest.mark.sampled
@few
@given(data=st.data())
def test_a_sweep_is_that_of_the_reference(device, data):
    kernel = data.draw(st.sampled_from(PUBLISHED), "kernel")
    case, start = drawn(data.draw, device, order=2, kernel=kernel, has_ends=False, has_source=False)
    times = [2 * case.dt * time for time in TIMES[:2]]
    for axis in range(case.grid.ndim):
        samples = [
            reference_motion.on_grid(a, axis, case.interpolation, case.ratios)
            for a in case.rates(axis)[:2]
        ]
        sample = reference_motion.at_times(samples, times) if len(samples) == 2 else samples[0]
        push = (0.0, case.dt) if case.conservative else (case.dt, -case.dt)
        moves = reference_motion.displacement(sample, case.scheme, *push, case.grid.spacing[axis])
        found = case.swept(start, [axis])
        is_clear = np.full(case.grid.shape, True)
        if jumps_on_nodes(case):
            is_clear = np.abs(moves - np.rint(moves)) > move_error(case, moves, axis)
        for before, after in zip(start, found, strict=True):
            if not case.conservative:
                expected = reference_values.remesh(before, moves, axis, kernel, case.limiter)
            elif case.limiter is None:
                expected = reference.remesh(before, moves, axis, kernel)
            else:
                expected = reference_limiter.remesh(before, moves, axis, kernel, case.limiter)
            wrong_by = np.abs(after - expected).max(where=is_clear, initial=0)
            assert wrong_by <= limit_of_sweep(case, before, moves, axis)


@pytest.mark.sampled
@few
@given(data=st.data())
def test_a_sweep_between_ends_is_that_of_the_reference(device, data):
    """By the midpoint rule and, of masses, without a limiter, which the reference has not.

    Nor are results compared that jump on nodes: the reference does not tell moves near an end.
    """
    kernel = data.draw(st.sampled_from(PUBLISHED), "kernel")
    conservative = data.draw(st.booleans(), "conservative")
    plain = {"has_source": False, "levels": 1} | ({"limiter": None} if conservative else {})
    case, start = drawn(
        data.draw,
        device,
        order=2,
        kernel=kernel,
        scheme="rk2",
        has_ends=True,
        conservative=conservative,
        **plain,
    )
    assume(not jumps_on_nodes(case))
    for axis, ends in enumerate(case.grid.boundary):
        if ends == "periodic":
            continue
        (rates,) = case.rates(axis)
        interpolation, cells = case.interpolation, case.dt / case.grid.spacing[axis]
        coarse = reference_coarse.across(rates, axis, case.ratios, case.coarse, interpolation)
        coarse = np.moveaxis(coarse, axis, -1)
        lines = reference_coarse.lines_of(case.ratios[axis], interpolation)
        found = case.swept(start, [axis])
        for before, after in zip(start, found, strict=True):
            flow = before, lambda _, coarse=coarse: coarse, axis, cells, ends, kernel
            sweep = *flow, lambda time: BROUGHT + 0 * time, 0.0, case.dt
            if conservative:
                expected, _ = reference_boundaries.sweep(*sweep, lines=lines)
            else:
                expected = reference_values.sweep(*sweep, case.limiter, lines=lines)
            limit = 200 * (1 + np.abs(rates).max() * cells) * np.finfo(case.computed).eps
            limit += np.finfo(case.dtype).eps * np.abs(expected).max()
            assert np.abs(after - expected).max() <= limit
