# SPDX-License-Identifier: BSD-3-Clause
"""Sources: Runge and Kutta's rule on every point, and as one direction of the splitting."""

import inspect
import warnings

import numpy as np
import particles as pt
import pytest

from tests.reference.reference_stepping import observed_order, rk4
from tests.support.gpu_forms import FORMS, in_form
from tests.support.problems import relative_l1
from tests.support.refusals import GRID, vector
from tests.support.sweeps import box, components, field, noise, wave
from tests.support.transports import transport_of

SHAPES = [(1,), (37,), (2100,), (5, 17), (3, 4, 33)]


def tolerance(dtype, scale=1.0):
    return 40 * scale * float(np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_decay_is_that_of_the_rule(device, dtype, shape, form):
    """The factor of a step is exp(z) up to z^4."""
    grid = box(*shape)
    u = field(noise(grid, 1), grid, dtype, in_form(device, form))
    start = u.get().astype(float)
    source = pt.SourceOp(u, "-2*u")
    for _ in range(3):
        source.apply(0.1)
    z = -0.2
    factor = (1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24) ** 3
    np.testing.assert_allclose(u.get(), start * factor, rtol=tolerance(dtype))


def coupled(u0, u1, g0, g1, g2, x, y, t):
    return g0 * u1 - u0 * np.sin(x + t), g1 * u0 * u1 + np.cos(y) * g2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("split", [False, True], ids=["one field", "several fields"])
def test_components_given_fields_coordinates_and_time(device, dtype, form, split):
    grid = box(9, 34)
    place = in_form(device, form)
    values = [noise(grid, k) for k in range(5)]
    if split:
        fields = [field(values[k], grid, dtype, place) for k in range(2)]
        given = [field(values[2], grid, dtype, place), field(values[3:], grid, dtype, place)]
    else:
        fields, given = field(values[:2], grid, dtype, place), field(values[2:], grid, dtype, place)
    known = [value.astype(dtype).astype(float) for value in values]
    x = grid.coordinates()
    source = pt.SourceOp(fields, coupled, given)

    def rate(u, t):
        return np.stack(np.broadcast_arrays(*coupled(*u, *known[2:], *x, t)))

    expected, time = np.stack(known[:2]), 0.4
    for _ in range(2):
        source.apply(0.3, time=time)
        expected = rk4(expected, rate, time, 0.3)
        time += 0.3
    carried = fields if split else [fields.component(k) for k in range(2)]
    found = np.stack([u.get() for u in carried])
    np.testing.assert_allclose(
        found, expected, atol=tolerance(dtype, 4 * max(map(abs, grid.origin)))
    )


@pytest.mark.parametrize("form", FORMS)
def test_memory_in_any_order(device, form):
    """Bits are those of our own layout."""
    import pyopencl.array

    grid = box(21, 35)
    place = in_form(device, form)
    values = [noise(grid, k).astype(np.float32) for k in (1, 2)]
    strided = []
    for value in values:
        array = pyopencl.array.zeros(place.queue, (70, 21), np.float32)
        strided.append(pt.Field.from_pyopencl(array[::2].T, grid))
        strided[-1][...] = value
    own = [field(value, grid, "float32", place) for value in values]
    for u, g in (strided, own):
        pt.SourceOp(u, lambda u, g, x, y: g * u - x * y, g).apply(0.2)
    np.testing.assert_array_equal(strided[0].get(), own[0].get())


@pytest.mark.parametrize("form", FORMS)
def test_halves_are_computed_with_in_single_precision(device, form):
    grid = box(11, 37)
    place = in_form(device, form)
    values = [noise(grid, k).astype(np.float16) for k in (1, 2)]
    results = []
    for dtype in ("float16", "float32"):
        u, g = (field(value, grid, dtype, place) for value in values)
        pt.SourceOp(u, lambda u, g, x, y: g * u - x * y, g).apply(0.2)
        results.append(u.get())
    np.testing.assert_array_equal(results[0], results[1].astype(np.float16))


def test_what_is_given_stays(device, dtype):
    grid = box(17)
    u, g = (field(noise(grid, k), grid, dtype, device) for k in range(2))
    before, version = g.get(), u.core.version
    pt.SourceOp(u, "g*u", g).apply(0.5)
    np.testing.assert_array_equal(g.get(), before)
    assert u.core.version > version


def test_logistic_growth(device, dtype):
    grid = box(40)
    start = 0.5 + 0.4 * wave(grid, 1)
    u = field(start, grid, dtype, device)
    source = pt.SourceOp(u, lambda u, x: 3 * u * (1 - u))
    for _ in range(20):
        source.apply(0.05)
    exact = 1 / (1 + (1 / start - 1) * np.exp(-3.0))
    np.testing.assert_allclose(u.get(), exact, atol=1e-6)


@pytest.mark.one_device
@pytest.mark.any_form
def test_rotation_is_of_fourth_order(device):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = box(30)
    start = [np.cos(wave(grid, 1)), np.sin(wave(grid, 1))]
    counts, errors = (4, 8, 16), []
    for steps in counts:
        u = field(start, grid, "float64", device)
        source = pt.SourceOp(u, lambda u, v, x: (-v, u))
        for _ in range(steps):
            source.apply(1.0 / steps)
        exact = np.cos(wave(grid, 1) + 1.0), np.sin(wave(grid, 1) + 1.0)
        errors.append(np.abs(np.stack(components(u)) - exact).max())
    assert 3.8 <= observed_order(counts, errors) <= 4.2, errors


def heated(u, x, t):
    """Growth that depends on place and time, while all moves by a uniform velocity."""
    return u * (np.cos(2 * np.pi * x) + t)


def heated_exactly(initial, x, t):
    waves = (np.sin(2 * np.pi * x) - np.sin(2 * np.pi * (x - t))) / (2 * np.pi)
    return initial(x - t) * np.exp(waves + t * t / 2)


def hill(x):
    return np.exp(0.5 * np.cos(2 * np.pi * (x - 0.3)))


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize(("order", "least", "most"), [(1, 0.9, 1.1), (2, 1.9, 2.1), (4, 3.8, 4.3)])
@pytest.mark.parametrize("ndim", [1, 2])
def test_order_of_the_splitting(device, ndim, order, least, most):
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = pt.Grid((128, 4)[:ndim])
    x = np.broadcast_to(grid.coordinates()[0], grid.shape)
    rate = heated if ndim == 1 else lambda u, x, y, t: heated(u, x, t)
    exact, counts, errors = heated_exactly(hill, x, 0.6), np.array([4, 6, 8, 12]), []
    for steps in counts:
        u = field(hill(x), grid, "float64", device)
        velocity = pt.Velocity(grid, ["1", "0.3"][:ndim])
        source = pt.SourceOp(u, rate)
        transport = transport_of(u, velocity, order, "L8_4", source=source)
        transport.run(0.6, 0.6 / steps)
        errors.append(relative_l1(u.get(), exact))
    assert least <= observed_order(counts, errors) <= most, errors


@pytest.mark.one_device
@pytest.mark.any_form
def test_vectors_are_stretched(device):
    """By a shear, whose gradient is given: the first component grows by the second one."""
    if np.dtype(np.float64) not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    grid = pt.Grid((96, 32))
    x, y = grid.coordinates()
    a, slope = np.sin(2 * np.pi * y), 2 * np.pi * np.cos(2 * np.pi * y) + 0 * x
    second = 1 + 0.2 * np.cos(2 * np.pi * (x - 0.5 * a))
    start = [np.zeros(grid.shape), 1 + 0.2 * np.cos(2 * np.pi * x) + 0 * y]
    u, gradient = (field(values, grid, "float64", device) for values in (start, slope))
    stretching = pt.SourceOp(u, lambda u, v, g, x, y: (g * v, 0), gradient)
    velocity = pt.Velocity(grid, ["sin(2*M_PI*y)", "0"])
    transport_of(u, velocity, 2, "L8_4", source=stretching).run(0.5, 0.125)
    np.testing.assert_allclose(np.stack(components(u)), [0.5 * slope * second, second], atol=1e-8)


@pytest.mark.one_device
@pytest.mark.any_form
def test_a_carried_field_may_be_given(device):
    """Heat that is carried along drives another field."""
    grid = pt.Grid(64)
    (x,) = grid.coordinates()
    heat, u = field(1 + hill(x), grid, "float32", device), pt.Field(grid, device=device)
    source = pt.SourceOp(u, lambda u, g, x: g, heat)
    remesh = pt.RemeshOp([heat, u])
    velocity = pt.Velocity(grid, "1")
    pt.Splitting(pt.AdvectionOp(velocity), remesh, source=source).run(0.5, 0.125)
    np.testing.assert_allclose(u.get(), 0.5 * (1 + hill(x - 0.5)), rtol=1e-4)


STAGES = {
    1: [(0, 0.0, 1.0), (1, 0.0, 1.0), (None, 0.0, 1.0)],
    2: [(1, 0.0, 0.5), (None, 0.0, 0.5), (0, 0.0, 1.0), (None, 0.5, 0.5), (1, 0.5, 0.5)],
}


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("order", [1, 2])
def test_a_step_is_its_stages(device, dtype, order):
    grid = box(17, 24)
    velocity = field([0.2 * wave(grid, k) for k in range(2)], grid, dtype, device)
    fields = [field(noise(grid, 3), grid, dtype, device) for _ in range(2)]
    one, other = (
        transport_of(u, velocity, order, source=pt.SourceOp(u, "x - u*u", ())) for u in fields
    )
    assert [tuple(stage) for stage in one.schedule] == STAGES[order]
    one.step(0.1)
    for axis, _, length in other.schedule:
        other.sweep(axis, 0.1 * length)
    np.testing.assert_array_equal(fields[0].get(), fields[1].get())


@pytest.mark.one_device
@pytest.mark.any_form
@pytest.mark.parametrize("order", [2, 4])
def test_halves_of_a_source_in_one_dimension(device, order):
    """They end a step and begin the next, and are joined only where a step has as long ones."""
    grid = box(33)
    velocity = field(0.1 * wave(grid, 0), grid, "float32", device)
    u = field(noise(grid, 1), grid, "float32", device)
    transport = transport_of(u, velocity, order, source=pt.SourceOp(u, "-u"))
    with pt.profile(device) as profile:
        transport.run(0.3, 0.1)
    assert transport.sweeps == {2: 3, 4: 15}[order]
    assert profile.kernels["source"].launches == {2: 6, 4: 16}[order]


def test_a_profile_knows_the_bytes(device):
    grid = box(16, 16)
    u, g = (field(noise(grid, k), grid, "float32", device) for k in range(2))
    source = pt.SourceOp(u, "g", g)
    with pt.profile(device) as profile:
        source.apply(0.1)
    assert (profile.kernels["source"].launches, profile.kernels["source"].bytes) == (1, 3 * 4 * 256)


@pytest.mark.one_device
@pytest.mark.any_form
def test_a_source_beside_steps_that_strain(device):
    grid = box(33)
    u = field(noise(grid, 1), grid, "float32", device)
    velocity = pt.Velocity(grid, lambda x: np.sin(np.pi * x) / np.pi)
    transport = transport_of(u, velocity, source=pt.SourceOp(u, "-u"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(1.0, dt=1.0, lcfl=0.2)
    assert transport.steps == 5


def test_repr(device):
    u = vector(device=device)
    source = pt.SourceOp(u, lambda u0, u1, x, y, t: (-u1, u0 * t + x))
    assert repr(source) == "SourceOp(u0: -u1, u1: u0 * t + x)"
    transport = transport_of(u, pt.Velocity(GRID, ["1", "1"]), 1, source=source)
    told = "many in a launch" if device.is_cpu else "forms registers, team"
    assert repr(transport).startswith(
        f"Splitting(Lie, sweeps 0[0,1] 1[0,1] source[0,1], {told}, time=0,"
    )
    assert repr(transport).endswith(f",\n  {source!r})")


@pytest.mark.one_device
@pytest.mark.parametrize("order", [1, 2])
def test_a_source_alone_takes_the_steps_that_it_is_given(device, order):
    u, v = (pt.Field(pt.Grid(4), device=device, dtype="float64") for _ in range(2))
    u[...] = v[...] = 1
    run, steps = (
        pt.Splitting(source=pt.SourceOp(w, lambda u, x, t: -2 * u + np.cos(t)), order=order)
        for w in (u, v)
    )
    run.run(until=5.0, dt=0.125)
    for _ in range(40):
        steps.step(0.125)
    np.testing.assert_array_equal(u, v)


@pytest.mark.one_device
def test_a_report_names_the_rates(device):
    u = pt.Field(pt.Grid(4), device=device)
    source = pt.SourceOp(u, lambda u, x, k: -k * u, k=2.0)
    told = pt.Splitting(source=source).report().method["source"]
    assert repr(source) == f"SourceOp({told})"
    assert told.endswith(", k=2")


def told_by_run(source, dt):
    """What a run warns of, and which step it names."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pt.Splitting(source=source).run(2 * dt, dt)
    words = [str(one.message) for one in caught if one.category is pt.SourceWarning]
    assert len(words) <= 1
    return float(words[0].split()[-1]) if words else None


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("shape", "rate", "too_long", "short"),
    [
        ((9,), lambda u, v, g: (-10 * u, 0 * v), 0.25, 0.1),  # stable, but wrong
        ((5000,), lambda u, v, g: (0 * u, -30 * v), 0.1, 0.02),  # not even stable
        ((70, 20), lambda u, v, g, x, y, t: (-9 * g * u, x * y * np.cos(t)), 0.2, 0.05),
        ((17, 5, 40), lambda u, v, g, x, y, z, rate: (rate * v, -rate * u), 1.0, 0.1),
    ],
)
def test_steps_that_are_too_long_for_a_source_are_told(device, shape, rate, too_long, short):
    grid = pt.Grid(shape)

    def source():
        u, v, g = (pt.Field(grid, device=device) for _ in range(3))
        for one, value in (u, 1), (v, 2), (g, 3):
            one.fill(value)
        named = {"rate": 5.0} if "rate" in inspect.signature(rate).parameters else {}
        return pt.SourceOp([u, v], rate, g, **named)

    instead = told_by_run(source(), too_long)
    assert short / 20 < instead < too_long
    assert told_by_run(source(), instead) is None
    assert told_by_run(source(), short) is None


@pytest.mark.one_device
def test_a_run_without_checks_does_not_look_at_what_a_source_changes(device):
    """Not even at what a step before has left, which the next one who reads it is told of."""
    u = pt.Field(pt.Grid(6), device=device)
    u.fill(3e38)
    transport = pt.Splitting(source=pt.SourceOp(u, lambda u: u))
    transport.step(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transport.run(2.0, 0.5, check=None)
    with pytest.warns(pt.NotFiniteWarning):
        u.get()


@pytest.mark.one_device
def test_a_source_without_values_is_not_told_of(device):
    u = pt.Field(pt.Grid(6), device=device)
    assert told_by_run(pt.SourceOp(u, lambda u: -100 * u), 1.0) is None
