# SPDX-License-Identifier: BSD-3-Clause
"""The OpenCL C that is made of formulas: everything is computed once, and where it belongs."""

import math

import numpy as np
import particles as pt
import pytest


def grid(ndim):
    return pt.Grid((8, 9, 10)[:ndim])


def test_what_occurs_twice_is_computed_once():
    source = pt.Velocity(grid(1), lambda x: np.sin(x) ** 2 + 1 / np.sin(x)).source(0)
    assert source.count("sine(") == 1
    shared = pt.Velocity(
        grid(1), lambda x: np.where(np.sin(x) > 0, x, 1) / np.where(np.sin(x) > 0, 2, x)
    )
    assert shared.source(0).count("sine(") == 1


def test_what_depends_on_the_time_alone_is_computed_once():
    source = pt.Velocity(grid(1), lambda x, t: np.sin(x) * np.cos(t) + np.cos(t)).source(0)
    assert "at.f0 = cos(t);" in source
    assert source.count("cos(") == 1
    assert "terms[0] = near_sine(x) * at->f0 + at->f0;" in source
    source = pt.Velocity(grid(1), lambda x, t: np.where(t < 1, x * t, np.exp(-t / 2))).source(0)
    assert source.count("exp(") == 1
    assert "exp" in source.partition("instant_at")[2].partition("row_terms")[0]


def test_what_depends_on_the_coordinate_along_the_line_alone_is_a_term():
    def flow(x, y, t):
        return (
            np.sin(x) ** 2 * np.sin(y) * np.cos(t) + np.where(x < y, np.sin(x), y) * np.exp(x * y),
            np.sin(x) ** 2 * np.sin(y) * np.cos(t),
        )

    own, rest = parts(pt.Velocity(grid(2), flow).source(0))
    assert own.count("near_sine(x)") == 1
    assert "near_sine(y)" in rest
    assert "x" not in rest.replace("exp", "").replace("const V x,", "")
    assert rest.count("terms[") == 4  # x twice, its sine, the square of that
    own, rest = parts(pt.Velocity(grid(2), flow).source(1))
    assert "near_sine(y)" in own
    assert "near_sine(x)" in rest
    assert "y" not in rest.replace("const V y,", "").replace("velocity", "")


def test_a_velocity_across_its_own_axis_has_the_coordinate_for_a_term():
    own, rest = parts(pt.Velocity(grid(2), lambda x, y: (np.sin(y), x)).source(0))
    assert "terms[0] = x;" in own
    assert "terms[" not in rest


@pytest.mark.parametrize(("count", "terms", "is_short"), [(9, 9, 1), (16, 1, 0), (39, 1, 0)])
def test_rows_do_not_keep_terms_of_long_formulas(count, terms, is_short):
    def waves(x, y):
        return sum(np.sin(k * x) * y**k for k in range(1, count + 1)), 0

    source = pt.Velocity(grid(2), waves).source(0)
    own, rest = parts(source)
    assert f"enum {{ ROW_TERMS = {terms}, IS_SHORT = {is_short} }};" in source
    assert own.count("terms[") == terms
    assert (own if is_short else rest).count("near_sine(") == count


def parts(source):
    """What terms are, and what is made of them."""
    own, _, rest = source.partition("row_terms(")[2].partition("velocity_of_terms(")
    return own, rest.partition("velocity_formula(")[0]


def test_angles_that_are_surely_small_are_not_tested():
    """In the box and as far around it as rounding may put particles; who knows what times and parameters are."""
    source = pt.Velocity(
        pt.Grid((64, 64), origin=(-100, 0)),
        lambda x, y, t, A: (
            np.sin(x) * np.cos(1 / y) * np.tan(9e3 * y) * np.sin(x - t) * np.cos(A * x),
            0,
        ),
        A=1,
    ).source(0)
    for written in "near_sine(x)", " cosine(REAL", " tangent(", " sine(x - ", " cosine(at":
        assert written in source
    fine = pt.Velocity(pt.Grid(64), lambda x: np.sin(1000 * x)).source(0)
    coarse = pt.Velocity(pt.Grid(2), lambda x: np.sin(1000 * x)).source(0)
    assert "near_sine(" in fine
    assert "near_" not in coarse


def test_angles_are_small_by_whatever_sine_of_the_time():
    """Which is none, where the time is infinite, but never great; unless another number stands for none."""
    small = pt.Velocity(grid(1), lambda x, t: np.sin(x * (1 + np.sin(9 * t)) + np.tanh(t))).source(
        0
    )
    assert "near_sine(" in small
    great = pt.Velocity(grid(1), lambda x, t: np.sin(np.fmin(1e9 * x, np.sin(t)))).source(0)
    assert "near_sine(" not in great


def test_constants_are_folded():
    source = pt.Velocity(grid(1), lambda x: np.sqrt(16.0) * (x + np.cos(0) * 0) * 1).source(0)
    assert "terms[0] = REAL(4.0) * x;" in source
    time = pt.Velocity(grid(1), lambda x, t: np.where(np.pi > 3, x, t))
    assert not time.depends_on_time


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1 < 2 && 3 < 2", False),
        ("1 < 2 || 3 < 2", True),
        ("!(1 < 2)", False),
        ("1 < 2 && x < 9", True),
        ("1 < 2 || x < -9", True),
        ("2 < 1 && x < 9", False),
        ("2 < 1 || x < -9", False),
    ],
)
def test_conditions_without_a_coordinate_are_decided(condition, holds):
    velocity = pt.Velocity(grid(1), [f"{condition} ? x : -x"])
    (found,) = velocity(3.0)
    assert found == (3 if holds else -3)
    if condition.count("x") == 0:
        assert f"terms[0] = {'x' if holds else '-x'};" in velocity.source(0)


@pytest.mark.parametrize("constant", [False, True])
def test_an_exclusive_or_with_a_constant_is_the_other_or_its_opposite(constant):
    def flow(x):
        return np.where(np.logical_xor(x > 0, constant), 1.0, 2.0)

    for x in (-3.0, 3.0):
        assert pt.Velocity(grid(1), flow)(x) == [flow(x)]


def test_numbers_are_exact():
    assert "REAL(0.1)" in pt.Velocity(grid(1), lambda x: 0.1 * x).source(0)
    assert f"REAL({math.pi!r})" in pt.Velocity(grid(1), ["M_PI * x"]).source(0)


def test_whole_powers_are_products():
    source = pt.Velocity(grid(1), lambda x: x**10).source(0)
    assert "power" not in source
    assert source.count(" * ") == 4
    assert "power((V)(REAL(2.0)), x)" in pt.Velocity(grid(1), lambda x: 2**x).source(0)
    assert "sqrt(x)" in pt.Velocity(grid(1), lambda x: x**0.5).source(0)
