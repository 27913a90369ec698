# SPDX-License-Identifier: BSD-3-Clause
"""Formulas that would be without end if all that is used twice were written twice."""

import numpy as np
import particles as pt
import pytest

GRID = pt.Grid((16, 16))


def conditions(x, y, t):
    """Each condition is used twice in the next one."""
    inside, early = x < 0.5, t < 2
    for k in range(24):
        inside = (inside & (y < k / 24)) ^ (inside | (x > k / 36) & early)
        early = (early & (t > k / 24 - 1)) | (~early ^ (t < k))
    return np.where(inside, x + 1, y) + np.where(early, 0.5, 0.25)


@pytest.mark.parametrize("t", [0.5, 3.0])
def test_conditions_that_are_used_again_on_a_device(device, t):
    u = pt.Field(GRID, device=device)
    source = pt.SourceOp(u, lambda u, x, y, t: conditions(x, y, t))
    assert len(source.text) < 50_000
    source.apply(2**-10, time=t)
    x, y = np.broadcast_arrays(*GRID.coordinates())
    np.testing.assert_allclose(u.get(), conditions(x, y, np.float64(t)) / 2**10, rtol=1e-6)


def test_conditions_of_thousands_of_parts():
    text = " && ".join(f"x < {k}" for k in range(1, 3000)) + " ? y : x"
    velocity = pt.Velocity(GRID, [text, "0"])
    np.testing.assert_array_equal(velocity([0.5, 1.5], 3.0)[0], [3.0, 1.5])
    assert len(velocity.source(0)) < 100_000


def test_deep_choices_are_shown_at_once():
    def nested(x, y):
        for k in range(40):
            x, y = np.where(x < y, x * y, y - x), np.where(y < k, x, y)
        return x, y

    assert len(repr(pt.Velocity(GRID, nested))) < 400


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_integers_that_no_float_holds_are_refused(number):
    for formula in (lambda x, y: (number, x), lambda x, y: (x * number, x)):
        with pytest.raises(ValueError, match="a formula cannot contain the number inf"):
            pt.Velocity(GRID, formula)


def sum_of_sums(a, b):
    """Return 2048 (a + b), in which each is used 8 million times."""
    for _ in range(23):
        a, b = a + b, a - b
    return a


def sum_of_thousands(first, a):
    """Return first + 1500 a."""
    return sum((a if k % 3 else -a for k in range(4500)), start=first)


def test_positions_that_are_long_sums(device):
    """What is added is found in them: where a place were computed, as float32, 1e-7 would be lost."""
    start, a = np.array([[0.5, 0.25], [0.125, 0.75]]), np.float32([1, -2]) / 2**30
    swarm = pt.ParticleSet(GRID, start, device=device, dtype="float32", a=a)
    swarm.update(
        lambda p: {
            "position": (
                p.x + sum_of_sums(p.x, p.a) - sum_of_sums(p.x, 0.0),
                sum_of_thousands(p.y, p.a),
            )
        }
    )
    moves = swarm.positions.get() - start
    np.testing.assert_allclose(moves, np.outer(a, [2048, 1500]), rtol=0, atol=2**-24 / 16)
    swarm.update(lambda p: {"position": (sum_of_sums(p.x, p.a) / 2048, sum_of_sums(p.y, p.a))})
    assert np.isfinite(swarm.positions).all()
