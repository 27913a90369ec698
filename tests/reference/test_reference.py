# SPDX-License-Identifier: BSD-3-Clause
"""The NumPy reference reproduces known solutions, orders and figures: it can be trusted."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reference import reference
from tests.support.kernel_tables import PIECES
from tests.support.problems import (
    LEVEL_SET,
    SWIRL,
    TURNS,
    UNEVEN,
    ZALESAK,
    order,
    relative_l1,
    volume,
)


def box(*shape):
    return SimpleNamespace(
        shape=shape, origin=(0.0,) * len(shape), spacing=tuple(1 / n for n in shape)
    )


@pytest.mark.parametrize("kernel", PIECES)
def test_weights_conserve_the_first_moments(kernel):
    y = np.linspace(0, 1, 17)[:, None]
    nodes = np.arange(1 - reference.half_width(kernel), reference.half_width(kernel) + 1)
    weights = reference.kernel_value(kernel, y - nodes)
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-15)
    np.testing.assert_allclose((weights * nodes).sum(1), y[:, 0], atol=2e-15)
    np.testing.assert_allclose((weights * nodes**2).sum(1), y[:, 0] ** 2, atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_whole_cells_are_a_shift(axis):
    u = np.random.default_rng(0).random((5, 6, 7))
    for cells in (-13, -1, 0, 2, 30):
        moved = reference.remesh(u, np.full(u.shape, float(cells)), axis, "M'6")
        np.testing.assert_allclose(moved, np.roll(u, cells, axis), atol=1e-14)


def test_displacement_of_a_formula_and_of_its_samples():
    grid = SimpleNamespace(shape=(400, 3), origin=(-1.0, 0.0), spacing=(0.01, 0.5))

    def velocity(x, y, t):
        return np.sin(np.pi * x / 2) * (1 + y) * np.cos(t), 0 * x

    x, y = reference.coordinates(grid)
    found = reference.displacement(velocity, 0, 0.3, grid, time=0.2)
    middle = x + 0.15 * velocity(x, y, 0.2)[0]
    np.testing.assert_allclose(found, 0.3 / 0.01 * velocity(middle, y, 0.35)[0], atol=1e-13)
    steady = [np.sin(np.pi * x / 2) * (1 + y), 0 * x]
    sampled = reference.displacement(steady, 0, 0.3, grid)
    exact = reference.displacement(lambda x, y, t: velocity(x, y, 0.0), 0, 0.3, grid)
    assert 1e-4 < np.abs(sampled - exact).max() < 2e-2


def uneven_errors(kernel, move):
    errors = []
    for n in (64, 128, 256):
        grid = box(n)
        (x,) = reference.coordinates(grid)
        steps = int(np.ceil(UNEVEN.duration * 1.5 * n / 0.8))
        cells = move(grid, UNEVEN.duration / steps)
        u = UNEVEN.initial(x)
        for _ in range(steps):
            u = reference.remesh(u, cells, 0, kernel)
        errors.append(relative_l1(u, UNEVEN.initial(x)))  # after one period
    return errors


def from_samples(grid, dt):
    velocity = [UNEVEN.velocity(*reference.coordinates(grid))[0]]
    return reference.displacement(velocity, 0, dt, grid)


def from_formula(grid, dt):
    return reference.displacement(lambda x, t: UNEVEN.velocity(x), 0, dt, grid)


def from_characteristics(grid, dt):
    x = reference.coordinates(grid)
    return (UNEVEN.departure(x, -dt, steps=4)[0] - x[0]) / grid.spacing[0]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("kernel", "move", "least"),
    [
        ("M'4", from_samples, 1.8),
        ("M'6", from_samples, 3.7),
        ("L4_4", from_samples, 3.7),
        ("M'8", from_characteristics, 4.6),
        ("L6_4", from_characteristics, 5.6),
        ("L8_4", from_characteristics, 7.4),
    ],
)
def test_order_in_one_dimension(kernel, move, least):
    assert order(uneven_errors(kernel, move)) >= least


@pytest.mark.sampled
def test_the_midpoint_rule_limits_the_order_to_two():
    assert 1.9 < order(uneven_errors("L8_4", from_formula)) < 2.1
    assert 1.9 < order(uneven_errors("L8_4", from_samples)) < 2.1


SWIRL_FIGURES = {
    # kernel: forward and reversed error at N = 128
    "M'4": (2.09e-2, 3.63e-2),
    "M'6": (7.64e-3, 7.71e-3),
    "L6_4": (5.72e-3, 2.79e-3),
    "L8_4": (5.15e-3, 1.50e-3),
}


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("kernel", SWIRL_FIGURES)
def test_swirl_figures(kernel):
    grid = box(128, 128)
    x = reference.coordinates(grid)
    velocity, start = SWIRL.velocity(*x), SWIRL.initial(*x)
    u = reference.run(start, velocity, 1 / 32, 32, grid, kernel)
    back = reference.run(u, [-a for a in velocity], 1 / 32, 32, grid, kernel)
    found = relative_l1(u, SWIRL.exact(x, 1.0)), relative_l1(back, start)
    assert found == pytest.approx(SWIRL_FIGURES[kernel], rel=4e-3)


@pytest.mark.sampled
@pytest.mark.parametrize(("splitting", "least", "most"), [(1, 0.85, 1.1), (2, 1.85, 2.2)])
def test_order_in_time(splitting, least, most):
    grid = box(128, 128)
    x = reference.coordinates(grid)
    velocity, exact = SWIRL.velocity(*x), SWIRL.exact(x, 0.5)
    errors = [
        relative_l1(
            reference.run(SWIRL.initial(*x), velocity, 0.5 / n, n, grid, "L8_4", splitting), exact
        )
        for n in (8, 16)
    ]
    assert least <= order(errors) <= most


@pytest.mark.sampled
def test_order_in_time_when_the_velocity_depends_on_time():
    grid = box(96, 96)
    x = reference.coordinates(grid)

    def velocity(x, y, t):
        return [a * (1 + np.sin(2 * np.pi * t)) for a in SWIRL.velocity(x, y)]

    mean = 1 + (1 - np.cos(2 * np.pi * 0.3)) / (2 * np.pi * 0.3)
    exact = SWIRL.exact(x, 0.3 * mean)
    errors = [
        relative_l1(reference.run(SWIRL.initial(*x), velocity, 0.3 / n, n, grid, "L8_4"), exact)
        for n in (12, 24)
    ]
    assert 1.85 <= order(errors) <= 2.2


@pytest.mark.drawn(1)
@pytest.mark.parametrize(
    ("kernel", "figure"), [("M'4", 0.207), ("M'6", 0.159), ("L6_4", 0.150), ("L8_4", 0.145)]
)
def test_slotted_disk(kernel, figure):
    grid = box(128, 128)
    x = reference.coordinates(grid)
    start, velocity = ZALESAK.initial(*x), ZALESAK.velocity(*x)
    u = reference.run(start, velocity, 1.0, TURNS, grid, kernel)
    assert relative_l1(u, start) == pytest.approx(figure, rel=5e-3)


def test_full_sweep_goes_to_the_axis_of_least_strain():
    x = reference.coordinates(box(24, 24, 24))
    velocity = LEVEL_SET.velocity(*x)
    strains = [reference.strain(velocity, axis, box(24, 24, 24)) for axis in range(3)]
    halves = [(0, 0.0, 0.5), (1, 0.0, 0.5), (2, 0.0, 1.0), (1, 0.5, 0.5), (0, 0.5, 0.5)]
    assert reference.schedule(strains, 2) == halves
    assert reference.schedule([1.0, 3.0, 2.0], 2)[2] == (0, 0.0, 1.0)
    assert reference.schedule([1.0, 3.0], 1) == [(0, 0.0, 1.0), (1, 0.0, 1.0)]


def test_lcfl_of_the_swirl():
    grid = box(256, 256)
    velocity = SWIRL.velocity(*reference.coordinates(grid))
    assert reference.lcfl(velocity, 0.25, grid) == pytest.approx(np.pi * 0.25, rel=1e-3)


@pytest.mark.slow
def test_level_set_figures():
    grid = box(64, 64, 64)
    x = reference.coordinates(grid)
    velocity, start = LEVEL_SET.velocity(*x), LEVEL_SET.initial(*x)
    u = reference.run(start, velocity, 0.2, 5, grid, "M'6")
    back = reference.run(u, [-a for a in velocity], 0.2, 5, grid, "M'6")
    assert volume(u) / volume(start) - 1 == pytest.approx(-0.0564, abs=5e-4)
    error = np.abs(u - LEVEL_SET.exact(x, 1.0, steps=25)).sum() / start.sum()
    assert error == pytest.approx(1.018, abs=5e-3)
    assert volume(back) / volume(start) - 1 == pytest.approx(-0.0391, abs=5e-4)
    assert relative_l1(back, start) == pytest.approx(0.555, abs=5e-3)
    assert abs(back.sum() / start.sum() - 1) < 1e-13
