# SPDX-License-Identifier: BSD-3-Clause
"""How many steps lead from one time to another, whatever rounding makes of their durations."""

import numpy as np
import pytest
from particles.stepping.runs import fewest_steps, steps_between


@pytest.mark.parametrize("steps", [1, 3, 10**6, 10**9])
@pytest.mark.parametrize("rounded", [-1e-10, 0.0, 1e-10])
def test_whole_steps_leave_nothing(steps, rounded):
    assert steps_between(2.0, 2.0 + 0.125 * steps * (1 + rounded), 0.125) == (steps, 0.0)


@pytest.mark.parametrize(("ratio", "whole"), [(0.25, 0), (3.5, 3), (10**6 + 0.25, 10**6)])
def test_what_is_no_step_is_left(ratio, whole):
    assert steps_between(2.0, 2.0 + 0.125 * ratio, 0.125) == (whole, 0.125 * (ratio - whole))


@pytest.mark.parametrize(("start", "end"), [(0.3, 0.1 * 3), (1e9, np.nextafter(1e9, 2e9))])
def test_what_rounding_makes_of_a_time_is_no_step(start, end):
    assert end > start
    assert steps_between(start, end, 0.1) == (0, 0.0)


@pytest.mark.parametrize("end", [1e-300, 1e-11, 2.5e-10])
def test_much_less_than_a_step_is_one(end):
    assert steps_between(0.0, end, 1.0) == (0, end)


@pytest.mark.parametrize(
    ("ratio", "count"), [(0.0, 1), (0.5, 1), (1.0, 1), (1 + 1e-10, 1), (1.01, 2), (5.0, 5)]
)
def test_parts_are_no_larger_than_allowed_but_for_rounding(ratio, count):
    assert fewest_steps(ratio) == count
