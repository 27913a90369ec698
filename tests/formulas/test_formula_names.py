# SPDX-License-Identifier: BSD-3-Clause
"""What the arguments of a formula are called says what they are."""

from itertools import permutations

import numpy as np
import particles as pt
import pytest

from tests.support.lot import lots

pytestmark = pytest.mark.one_device
GRID = pt.Grid((4, 5))
X, Y = GRID.coordinates()


def function(arguments, result):
    return eval(f"lambda {', '.join(arguments)}: {result}", {"np": np})


def drawn(names, count=6):
    """Return some ways to order names, the time being called either way."""
    orders = lots(str(names)).sample(list(permutations(names)), count)
    return [
        [("time" if name == "t" and k % 2 else name) for name in o] for k, o in enumerate(orders)
    ]


def test_a_function_that_is_right_is_not_printed():
    printed = []

    class Formula:
        def __call__(self, x, y):
            return x, y

        def __repr__(self):
            printed.append(self)
            return "a formula"

    pt.Velocity(GRID, Formula())
    assert printed == []


def test_a_velocity_takes_what_it_names_in_any_order():
    for names in drawn(("x", "y", "t", "U")):
        time = "time" if "time" in names else "t"
        formula = function(names, f"(x + 2 * {time}, U * y)")
        velocity = pt.Velocity(GRID, formula, U=3.0)
        assert velocity.depends_on_time
        along_x, along_y = velocity.on_grid(t=0.5)
        np.testing.assert_array_equal(along_x, X + 1 + 0 * Y)
        np.testing.assert_array_equal(along_y, 3 * Y + 0 * X)


def test_what_a_velocity_does_not_need_is_left_out():
    for formula in (
        lambda y: (y, 1),
        lambda *, y: (y, 1),
        lambda y, /: (y, 1),
        lambda y, U=1: (y, U),
        lambda y, x=0, t=0, **options: (y + 0 * x + 0 * t, 1),
        lambda y: np.array([y, 1]),
        lambda y: [np.asarray(y), np.array(1.0)],
        ["y", "1"],
        ["y + 0*time", 1],
    ):
        along_x, along_y = pt.Velocity(GRID, formula).on_grid()
        np.testing.assert_array_equal(along_x, Y + 0 * X)
        np.testing.assert_array_equal(along_y, np.ones(GRID.shape))


def test_a_constant_takes_nothing():
    assert [c[0, 0] for c in pt.Velocity(GRID, lambda: (1.0, 0.5)).on_grid()] == [1.0, 0.5]


def test_values_come_first_and_are_called_anything(device):
    """The first is not the second, nor the second the third."""
    u, v, g = (pt.Field(GRID, device=device) for _ in range(3))
    for names in (("u", "v", "g"), ("a", "b", "c"), ("z", "T", "X")):
        first, second, given = names
        u[...], v[...], g[...] = 1, 2, 4
        formula = function([*names, "k", "time", "y"], f"(k * {given}, {second} + 0 * (time + y))")
        pt.SourceOp([u, v], formula, given=g, k=0.5).apply(1.0)
        np.testing.assert_allclose(u.get(), 1 + 0.5 * 4)
        np.testing.assert_allclose(v.get(), 2 * (1 + 1 + 1 / 2 + 1 / 6 + 1 / 24), rtol=1e-6)
        u[...], v[...] = 1, 2
        g.assign(function([first, second, "y"], f"{first} + 10 * {second} + 0 * y"), u, v)
        np.testing.assert_array_equal(g.get(), 21)


def test_names_that_mean_something_are_no_names_of_values(device):
    """Else what reads as a coordinate could be a field, or the other way round."""
    u, v = pt.Field(GRID, device=device), pt.Field(GRID, device=device)
    for formula in (lambda x, u: u, lambda x: x, lambda t, u: u, lambda u, v: u):
        with pytest.raises(
            ValueError, match=r"^rate must take first u \(by any name\), then any of x, y, t"
        ):
            pt.SourceOp(u, formula)
    for formula in (lambda x, y: x, lambda x, a, b: a, lambda a: a, lambda a, b, t: a):
        with pytest.raises(
            ValueError, match=r"^formula must take first u0, u1 \(by any name\), then any of x, y"
        ):
            u.assign(formula, u, v)
    for formula in (lambda U: 1.0, lambda x: x, lambda t, U: t * U):
        with pytest.raises(ValueError, match=r"^inflow at \(0, 'low'\) must take only t"):
            pt.RemeshOp(pt.Field(pt.Grid(4, boundary=[("inflow", "outflow")])), inflow=formula)


def test_a_number_that_is_not_given_is_told_how_to_be():
    """It was taken for the time."""
    words = "call the time t or time, and give a number beside the formula, as U=1.0$"
    for formula in (lambda x, y, U: (U * y, 0), lambda x, U: (U, x), lambda U: (U, U)):
        with pytest.raises(ValueError, match=words):
            pt.Velocity(GRID, formula)
