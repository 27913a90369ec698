# SPDX-License-Identifier: BSD-3-Clause
"""Many sweeps in one launch, of small fields: the same bits as of a launch for each."""

from dataclasses import replace

import numpy as np
import particles as pt
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support import child, lot
from tests.support.drawn import drawn, duration
from tests.support.sweeps import box, field, noise, wave
from tests.support.transports import transport_of

pytestmark = pytest.mark.one_device

few = settings(
    max_examples=4, phases=(Phase.generate,), suppress_health_check=[HealthCheck.too_slow]
)
APART = pt.Form("lanes")  # a launch for each sweep


def is_chained(transport):
    said = "many in a launch" in repr(transport)
    assert said == ("many in a launch" in transport._repr_html_())
    return said


@pytest.fixture(scope="module")
def device():
    device = pt.default_device()
    if not device.is_cpu:
        pytest.skip("chains are for CPUs")
    return device


def swirl(grid, device, scale=0.3):
    waves = [scale * wave(grid, axis) for axis in range(grid.ndim)]
    return field(waves, grid, "float32", device)


def pair(grid, device, velocity=None, **choices):
    """Transports of the same values, the first one in a chain."""
    velocity = swirl(grid, device) if velocity is None else velocity
    pairs = []
    for form in (None, APART):
        u = field(noise(grid, 5), grid, "float32", device)
        remesh = pt.RemeshOp(u, form=form)
        pairs.append(pt.Splitting(pt.AdvectionOp(velocity), remesh, **choices))
    assert list(map(is_chained, pairs)) == [True, False]
    return pairs


def values(transport):
    return transport.fields[0].get()


@pytest.mark.sampled
@few
@given(data=st.data(), order=st.sampled_from([1, 2, 4]))
def test_a_chain_has_the_bits_of_launches_for_each_sweep(data, order):
    device = pt.default_device()
    case, start = drawn(data.draw, device, has_ends=False, order=order)
    np.testing.assert_array_equal(case.run(start, None)[0], case.run(start, "private")[0])


ENDS = [
    "periodic",
    "wall",
    "outflow",
    "inflow",
    ("wall", "outflow"),
    ("outflow", "wall"),
    ("inflow", "outflow"),
    ("wall", "inflow"),
]
"""Ends that lines of a chain may have, along each axis."""


def brought(t):
    return 0.5 + np.sin(t)


def inflow_of(grid):
    return brought if "inflow" in str(grid.boundary) else None


@pytest.mark.sampled
@settings(few, max_examples=8)
@given(data=st.data(), ends=st.tuples(*[st.sampled_from(ENDS)] * 3))
def test_a_chain_of_lines_with_ends_has_them_too(data, ends):
    """And counts as much mass that crosses them."""
    device = pt.default_device()
    case, start = drawn(data.draw, device, has_ends=False, order=2)
    case = case.on(boundary=ends[: case.grid.ndim], velocities=case.velocities)
    case = replace(case, dt=duration(case.grid, case.coarse, case.velocities))
    (found, left), (expected, left_before) = (
        case.run(start, form, brought) for form in (None, "private")
    )
    np.testing.assert_array_equal(found, expected)
    if left is not None:
        np.testing.assert_allclose(left, left_before, rtol=1e-5, atol=1e-5)


def test_what_is_chained(device):
    grid = box(20, 31)
    velocity, u = swirl(grid, device), pt.Field(grid, device=device)
    assert is_chained(transport_of(u, velocity))
    assert is_chained(transport_of(u, pt.VelocitySeries([velocity, velocity], [0.0, 1.0])))
    assert is_chained(transport_of(pt.Field(grid, 4, device=device), velocity))
    assert not is_chained(transport_of(pt.Field(grid, 5, device=device), velocity))
    assert is_chained(transport_of(u, pt.Velocity(grid, ["y", "x"])))
    for points, are_chained in [((128, 129), True), ((256, 257), False)]:
        large = box(*points)
        u = pt.Field(large, device=device)
        for velocity in swirl(large, device), pt.Velocity(large, ["y", "x"]):
            assert is_chained(transport_of(u, velocity)) == are_chained
    for boundary in [("wall", "wall"), ("wall", "periodic"), (("outflow", "wall"), "outflow")]:
        bounded = pt.Grid((20, 31), boundary=boundary)
        assert is_chained(transport_of(pt.Field(bounded, device=device), swirl(bounded, device)))
    open_at_one = pt.Grid((20, 31), boundary=("inflow", "wall"))
    remesh = pt.RemeshOp(pt.Field(open_at_one, device=device), inflow=0.5)
    assert is_chained(pt.Splitting(pt.AdvectionOp(swirl(open_at_one, device)), remesh))


@pytest.mark.parametrize("shape", [(9, 12), (40, 40, 40)], ids=str)
def test_more_sweeps_than_a_launch_does(device, shape):
    """And more launches than the host makes ready at once; fewer sweeps go into one where they were slow."""
    steps = 1500 if len(shape) == 2 else 70
    run, other = pair(box(*shape), device)
    with pt.profile(device) as profile:
        run.run(steps / 1000, 0.001)
    other.run(steps / 1000, 0.001)
    assert run.sweeps == other.sweeps > 256
    assert 1 < profile.kernels["sweep_chain"].launches < run.sweeps / 10
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.parametrize(
    ("shape", "is_series"), [((12, 9), False), ((12, 9), True), ((40, 1600), False)], ids=str
)
def test_a_launch_knows_the_strain_across_in_each_of_its_sweeps(device, shape, is_series):
    """Of long faces it has room for a few."""
    grid = pt.Grid(shape, boundary=[("inflow", "outflow"), "periodic"])
    flow = ["1 + 0.2*sin(6.25*y)*cos(40*t)", "0.2*cos(6.25*x)*sin(40*t)*sin(6.25*y)"]
    velocity = pt.Velocity(grid, flow)
    if is_series:
        levels = [
            field([1 + a * wave(grid, 1), a * wave(grid, 2)], grid, "float64", device)
            for a in (0.1, 0.3, 0.2)
        ]
        velocity = pt.VelocitySeries(levels, [0.0, 0.1, 0.4])
    steps = 300 if shape[1] < 100 else 30
    results = []
    for form in (None, APART):
        u = field(noise(grid, 5), grid, "float64", device)
        choices = {} if is_series else {"dtype": "float64", "device": device}
        advection = pt.AdvectionOp(velocity, **choices)
        transport = pt.Splitting(advection, pt.RemeshOp(u, form=form, inflow=brought))
        with pt.profile(device) as profile:
            transport.run(steps / 1000, 0.001)
        assert is_chained(transport) == (form is None)
        results.append((u.get(), transport.outflow, profile.kernels["crossflow"].launches))
    (found, left, few_launches), (expected, left_before, launches) = results
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(left, left_before)
    assert few_launches < launches / 2


def test_single_steps_sweeps_and_a_new_velocity(device):
    """What moves particles along the last axis is a copy."""
    grid = box(18, 33, 19)
    velocity = swirl(grid, device)
    results = []
    for transport in pair(grid, device, velocity):
        transport.step(0.05)
        velocity *= -2
        transport.run(0.25, 0.05)
        transport.sweep(2, 0.03)
        velocity /= -2
        transport.sweep(1, -0.02)
        results.append(values(transport))
    np.testing.assert_array_equal(*results)


def test_strange_moves_disturb_their_lines_alone(device):
    """A step refuses them; where they come all the same, nothing else suffers."""
    grid = box(40, 33)
    moves = [wave(grid, axis) for axis in range(2)]
    case = lot.lots("strange moves of a chain")
    for value in (np.nan, np.inf, -np.inf, 2.0**31, -(10.0 ** case.uniform(3, 30))):
        moves[0][case.randrange(40), 4] = moves[1][4, case.randrange(33)] = value
    found = []
    for transport in pair(grid, device, field(moves, grid, "float32", device)):
        for axis in range(2):
            transport.fields[0][...] = noise(grid, 5)
            transport._core.sweep(axis, 0.0, 0.1)
            found.append(np.delete(np.moveaxis(values(transport), axis, -1), 4, 0))
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def test_steps_that_each_have_their_own_velocity_are_chained(device):
    grid = box(16, 24)
    series = pt.VelocitySeries([swirl(grid, device, a) for a in (0.1, 0.4, 0.2)], [0.0, 0.3, 1.0])
    run, other = pair(grid, device, series)
    with pt.profile(device) as profile:
        run.run(1.0, 0.02)
    other.run(1.0, 0.02)
    assert profile.kernels["sweep_chain"].launches < 20 < run.sweeps
    np.testing.assert_array_equal(values(run), values(other))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "ends",
    [
        ["periodic"] * 3,
        ["outflow"] * 3,
        ["periodic", "wall", "outflow"],
        [("inflow", "outflow"), "wall", "inflow"],
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", [(37,), (19, 24), (12, 17, 21)], ids=str)
def test_a_formula_moves_particles_of_a_chain(device, shape, ends):
    """With parameters, and the time; points are counted from an origin of their own."""
    grid = pt.Grid(
        shape,
        extent=[1.0, 2.0, 1.5][: len(shape)],
        origin=[0.5, -1.0, 2.0][: len(shape)],
        boundary=ends[: len(shape)],
    )
    names = "xyz"[: len(shape)]
    formulas = [
        f"U * sin(6.25*({names[(k + 1) % len(shape)]} + {0.3 * k}*{names[k]})) * cos(3*t)"
        for k in range(len(shape))
    ]
    scheme = lot.lots("scheme of a chain").choice(["euler", "rk2", "rk4"])
    results = []
    for form in (None, APART):
        u = field(noise(grid, 5), grid, "float32", device)
        velocity = pt.Velocity(grid, formulas, U=0.7)
        remesh = pt.RemeshOp(u, form=form, inflow=inflow_of(grid))
        transport = pt.Splitting(pt.AdvectionOp(velocity, scheme), remesh)
        assert is_chained(transport) == (form is None)
        transport.run(0.3, 0.05)
        velocity.parameters["U"] = -0.4
        transport.run(0.5, 0.05)
        results.append(u.get())
    np.testing.assert_array_equal(*results)


def test_the_source_has_its_turn_between_sweeps(device):
    grid = box(16, 24)
    results = []
    for form in (None, APART):
        u = field(noise(grid, 5), grid, "float32", device)
        transport = pt.Splitting(
            pt.AdvectionOp(swirl(grid, device)),
            pt.RemeshOp(u, form=form),
            source=pt.SourceOp(u, "u*(1 - u)"),
        )
        transport.run(0.3, 0.05)
        results.append(u.get())
    np.testing.assert_array_equal(*results)


DIGEST = """
import hashlib, sys
import numpy as np, particles as pt
digest = hashlib.sha256()
for ends in ["periodic"] * 3, ["outflow"] * 3, ["outflow", "periodic", ("inflow", "outflow")]:
    grid = pt.Grid((25, 26, 27), boundary=ends)
    velocity, u = pt.Field(grid, 3), pt.Field(grid)
    velocity[...] = lambda x, y, z: (np.sin(6 * y), np.cos(6 * z) / 2, np.sin(6 * x))
    u[...] = lambda x, y, z: x * y + z
    inflow = 0.5 if "inflow" in str(ends) else None
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, inflow=inflow))
    assert "many in a launch" in repr(transport)
    transport.run(0.5, 0.05)
    digest.update(u.get().tobytes() + transport.outflow.tobytes())
# Some passes have a few jobs less than there are work-items.
grid = pt.Grid((144, 150))
velocity, u = pt.Field(grid, 2), pt.Field(grid)
velocity[...] = lambda x, y: (np.sin(6 * y), np.cos(6 * x))
u[...] = lambda x, y: np.sin(40 * x) * np.cos(30 * y)
pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u)).run(0.5, 0.005)
digest.update(u.get().tobytes())
print(pt.default_device().compute_units, digest.hexdigest())
"""


@pytest.mark.sampled
def test_any_number_of_work_items_gives_the_same_bits(device):
    if not device.info.is_pocl:
        pytest.skip("no other driver is told how many units to use")
    found = [
        child.check(DIGEST, POCL_MAX_PTHREAD_COUNT=n, POCL_CPU_MAX_CU_COUNT=n).split()
        for n in (None, "1", "3", "8")
    ]
    assert [units for units, _ in found[1:]] == ["1", "3", "8"]
    assert len({digest for _, digest in found}) == 1
