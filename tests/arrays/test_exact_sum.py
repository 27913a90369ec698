# SPDX-License-Identifier: BSD-3-Clause
"""Sums without rounding, against those of Python."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from particles import _core

exact_sum = _core.testing.exact_sum


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=40))
def test_a_sum_is_rounded_once(terms):
    half = [term / 2 for term in terms]  # the sum is no more than a number can be
    try:
        expected = math.fsum(half)
    except OverflowError:
        return
    assert exact_sum(half) == expected


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_it_does_not_depend_on_the_order(terms, random):
    shuffled = list(terms)
    random.shuffle(shuffled)
    assert exact_sum(shuffled) == exact_sum(terms)


def test_what_is_lost_by_rounding_comes_back():
    assert exact_sum([1e300, 1.0, -1e300, 2.0**-1074]) == 1.0
    assert exact_sum([2.0**-1074, 1e300, -1e300]) == 2.0**-1074
    assert exact_sum([1.0, 2.0**-53, 2.0**-1000]) == 1 + 2.0**-52  # a tie but for the last term
    assert exact_sum([-1.0, -(2.0**-53)]) == -1.0


def test_what_is_not_finite():
    assert exact_sum([1.0, np.inf]) == np.inf
    assert exact_sum([-np.inf, 5.0]) == -np.inf
    assert np.isnan(exact_sum([np.inf, -np.inf]))
    assert np.isnan(exact_sum([np.nan, 1.0]))
    assert exact_sum([1e308] * 10) == np.inf
    assert exact_sum([]) == 0.0
