# SPDX-License-Identifier: BSD-3-Clause
"""Steps of fourth order: five Strang steps, one of them backwards."""

import itertools

import numpy as np
import particles as pt
import pytest

from tests.reference.reference_stepping import SUZUKI, observed_order, suzuki
from tests.support.problems import SWIRL, Problem, relative_l1
from tests.support.sweeps import FLOWS, box, components, field, formula_gradient, noise, wave
from tests.support.transports import followed, joined, strained, transport_of

pytestmark = [pytest.mark.one_device, pytest.mark.any_form]

LONGEST = 4 * SUZUKI - 1


def waves(grid, dtype, device):
    return field([0.2 * wave(grid, k) for k in range(grid.ndim)], grid, dtype, device)


@pytest.mark.parametrize("strains", [*itertools.permutations((1.0, 2.0, 3.0)), (2.0, 1.0)], ids=str)
def test_schedule(device, strains):
    """The least strained axis is swept whole, the next one where Strang steps are joined."""
    grid = box(8, 6, 4) if len(strains) == 3 else box(8, 6)
    velocity = strained(strains, grid, "float32", device)
    transport = transport_of(pt.Field(grid, device=device), velocity, 4)
    least, *others = np.argsort(strains)
    expected = suzuki([*others, least])
    assert len(expected) == {2: 11, 3: 21}[grid.ndim]
    assert [stage.axis for stage in transport.schedule] == [axis for axis, _, _ in expected]
    found = [stage[1:] for stage in transport.schedule]
    np.testing.assert_allclose(found, [stage[1:] for stage in expected], atol=1e-15)
    assert transport.joined_schedule == transport.schedule


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_sweeps_of_an_axis_fill_the_step(device, ndim):
    """Each begins where the last one along the axis has ended, forth and back."""
    grid = box(*(8, 6, 4)[:ndim])
    transport = transport_of(pt.Field(grid, device=device), waves(grid, "float32", device), 4)
    for axis in range(ndim):
        reached = 0.0
        for stage in (stage for stage in transport.schedule if stage.axis == axis):
            assert stage.begin == pytest.approx(reached, abs=1e-15)
            reached += stage.length
        assert reached == pytest.approx(1.0, abs=1e-15)


def test_one_axis_is_swept_once(device):
    grid = box(33)
    transport = transport_of(pt.Field(grid, device=device), waves(grid, "float32", device), 4)
    (stage,) = transport.schedule
    assert stage.length == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["grid", "formula"])
def test_steps_are_those_of_the_reference(device, dtype, kind):
    grid = box(24, 35)
    flow = FLOWS[2]
    velocity = waves(grid, dtype, device) if kind == "grid" else pt.Velocity(grid, flow)
    u = field(noise(grid, 9), grid, dtype, device)
    (start,), dt, time = components(u), 0.05, 0.7
    transport = transport_of(u, velocity, 4, time=time)
    reference = components(velocity) if kind == "grid" else flow
    gradient = 0.0 if kind == "grid" else formula_gradient(grid, 1.0)
    transport.step(dt)
    stages = [(s.axis, time + s.begin * dt, s.length * dt) for s in transport.schedule]
    expected, limit = followed(start, reference, stages, grid, dtype, gradient)
    assert np.abs(components(u)[0] - expected).max() <= limit


@pytest.mark.parametrize("shape", [(33, 16), (9, 17, 33), (6000, 3)], ids=str)
@pytest.mark.parametrize("kind", ["grid", "formula"])
def test_a_run_is_its_joined_sweeps_to_the_bit(device, dtype, shape, kind):
    """Joints are no longer than those within a step, so all steps of a steady velocity join."""
    grid = box(*shape)
    formula = ["0.2*sin(6.25*x)", "0.3*cos(6.25*y)", "0.1*sin(6.25*z)"][: grid.ndim]
    velocity = waves(grid, dtype, device) if kind == "grid" else pt.Velocity(grid, formula)
    fields = [field(noise(grid, 3), grid, dtype, device) for _ in range(2)]
    run, other = (transport_of(u, velocity, 4) for u in fields)
    dt = 0.5 / run.lcfl(1.0)
    run.run(3 * dt, dt)
    assert run.sweeps == 3 * (len(run.schedule) - 1) + 1
    for axis, duration in joined(run.schedule, 3, dt):
        other.sweep(axis, duration)
    np.testing.assert_array_equal(fields[0].get(), fields[1].get())


def test_backward_sweeps_strain_too(device, dtype):
    """The full sweep back is the longest."""
    velocity = strained((1.0, 1.0), box(8, 6), dtype, device)
    u = pt.Field(velocity.grid, 1, dtype, device)
    transport = transport_of(u, velocity, 4)
    assert transport.lcfl(0.5) == pytest.approx(0.5 * LONGEST, rel=1e-6)
    transport.run(2.0, lcfl=LONGEST / 4)
    assert transport.steps == 8
    with pytest.raises(ValueError, match=r"^dt must be at most 1\.36\d*, not 1\.4: "):
        transport.step(1.4)


def test_no_part_leaves_the_step(device):
    """So a velocity need not be known beyond the run, nor before it."""
    grid = box(17, 24)
    fields = [waves(grid, "float32", device) for _ in range(2)]
    fields[1].fill(0.0)
    u = field(noise(grid, 1), grid, "float32", device)
    transport = transport_of(u, pt.VelocitySeries(fields, [0.0, 0.5]), 4)
    transport.run(0.25, 0.125)
    transport.run(0.5, lcfl=0.3)
    assert transport.time == 0.5


def shear_2d(x, y):
    return 0.5 * np.sin(2 * np.pi * y) + 0 * x, 0.4 * np.sin(2 * np.pi * x) + 0 * y


def shear_3d(x, y, z):
    return (
        0.4 * np.sin(2 * np.pi * y) + 0 * x,
        0.4 * np.sin(2 * np.pi * z) + 0 * y,
        0.4 * np.sin(2 * np.pi * x) + 0 * z,
    )


def hill(*coordinates):
    return np.exp(0.25 * sum(np.cos(2 * np.pi * (x - 0.3)) for x in coordinates))


PROBLEMS = {
    "2-D": (Problem(2, shear_2d, hill, 1.0), 256, (4, 5, 6, 7)),
    "3-D": (Problem(3, shear_3d, hill, 0.75), 48, (2, 3, 4)),
}
"""Sweeps along an axis are exact, so errors are those of the splitting."""


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize(("name", "kind"), [("2-D", "grid"), ("2-D", "formula"), ("3-D", "grid")])
def test_order_in_time(device, name, kind):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    problem, n, counts = PROBLEMS[name]
    grid = pt.Grid((n,) * problem.ndim)
    x = grid.coordinates()
    velocity = pt.Velocity(grid, problem.velocity)
    if kind == "grid":
        velocity = field(velocity.on_grid(), grid, "float64", device)
    exact = problem.exact(x, problem.duration)
    errors = []
    for steps in counts:
        u = field(hill(*x), grid, "float64", device)
        transport = transport_of(u, velocity, 4, "L8_4")
        transport.run(problem.duration, problem.duration / steps)
        errors.append(relative_l1(u.get(), exact))
    assert 3.8 <= observed_order(counts, errors) <= 4.6, errors


@pytest.mark.slow
def test_order_in_time_where_the_velocity_varies(device):
    """Linearly, so that the midpoint rule is exact along a sweep."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = pt.Grid((64, 64))
    velocity = pt.Velocity(
        grid, lambda x, y, t: tuple((0.2 + t) * component for component in shear_2d(x, y))
    )
    finals = []
    counts = np.array([4, 5, 6, 7])
    for steps in (*counts, 24):
        u = field(hill(*grid.coordinates()), grid, "float64", device)
        transport_of(u, velocity, 4, "L8_4").run(1.0, 1.0 / steps)
        finals.append(u.get())
    errors = [relative_l1(final, finals[-1]) for final in finals[:-1]]
    assert 3.8 <= observed_order(counts, errors) <= 4.6, errors


@pytest.mark.slow
@pytest.mark.drawn(1)
@pytest.mark.parametrize("kind", ["grid", "formula"])
def test_order_in_time_of_particles_that_are_strained(device, kind):
    """With a scheme and an interpolation of fourth order along each axis."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = pt.Grid((192, 192))
    x = grid.coordinates()
    velocity, interpolation = pt.Velocity(grid, SWIRL.velocity), None
    if kind == "grid":
        velocity, interpolation = field(velocity.on_grid(), grid, "float64", device), "cubic"
    exact, counts, errors = SWIRL.exact(x, 0.5), (5, 6, 8), []
    for steps in counts:
        u = field(SWIRL.initial(*x), grid, "float64", device)
        advection = pt.AdvectionOp(velocity, "rk4", interpolation=interpolation)
        pt.Splitting(advection, pt.RemeshOp(u, "L8_4"), 4).run(0.5, 0.5 / steps)
        errors.append(relative_l1(u.get(), exact))
    assert 3.8 <= observed_order(counts, errors) <= 4.8, errors


def test_repr_names_the_steps(device):
    grid = box(8, 6)
    transport = transport_of(pt.Field(grid, device=device), waves(grid, "float32", device), 4)
    assert repr(transport).startswith("Splitting(Suzuki, sweeps ")
