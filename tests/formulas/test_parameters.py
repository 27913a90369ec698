# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of formulas that are changed between steps: as if they had always been what they are."""

import copy
import pickle
import threading

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.support.gpu_forms import as_gpu
from tests.support.sweeps import field, noise

pytestmark = pytest.mark.one_device


def steady(x, y, U, phase):
    return U * np.sin(2 * np.pi * x) + y, U * np.cos(2 * np.pi * (y + phase))


def separable(x, y, t, U, phase):
    return U * np.sin(2 * np.pi * x) * np.cos(phase * t), y * np.cos(U * t)


def turning(x, y, t, phase, *, U):
    return np.where(U > 1, np.sin(2 * np.pi * x + U * t), 0.25), np.cos(2 * np.pi * y + phase)


def along_a_line(x, U, phase):
    return U * (1 + 0.1 * np.sin(2 * np.pi * (x + phase)))


def split(grid, velocity, scheme, u, order=2, **options):
    remesh = pt.RemeshOp(u, **options)
    source = pt.SourceOp(u, "-k*u", k=velocity.parameters["U"]) if order == 2 else None
    return pt.Splitting(pt.AdvectionOp(velocity, scheme), remesh, order, source=source)


def unsplit(grid, velocity, scheme, u):
    return pt.Unsplit(pt.AdvectionOp(velocity, scheme), pt.RemeshOp(u))


CHANNEL = [("inflow", "outflow"), "wall"]
TRANSPORTS = {
    "steady": ((40, 24), "periodic", steady, "rk2", split, {}),
    "separable": ((24, 40), "periodic", separable, "rk4", split, {"order": 1}),
    "in time": ((24, 24), "periodic", turning, "rk2", split, {}),
    "unsplit, steady": ((24, 24), "periodic", steady, "rk4", unsplit, {}),
    "unsplit, in time": ((24, 24), "periodic", turning, "rk2", unsplit, {}),
    "inflow": ((32, 24), CHANNEL, steady, "rk2", split, {"inflow": 0.5}),
    "inflow, in time": ((32, 24), CHANNEL, separable, "rk4", split, {"inflow": 0.5}),
    "inflow of values": (
        (32, 24),
        CHANNEL,
        turning,
        "rk2",
        split,
        {"inflow": 0.5, "conservative": False},
    ),
    "long lines": ((70000,), "periodic", along_a_line, "rk2", split, {"order": 1}),
}


def transport_with(case, device, U, dtype="float32"):
    shape, boundary, formula, scheme, make, options = TRANSPORTS[case]
    grid = pt.Grid(shape, boundary=boundary)
    velocity = pt.Velocity(grid, formula, U=U, phase=0.3)
    u = field(noise(grid, 1), grid, dtype, device)
    return make(grid, velocity, scheme, u, **options)


def parameters_of(transport):
    source = getattr(transport, "source", None)
    return [transport.advection.velocity.parameters, *([source.parameters] if source else [])]


@pytest.mark.sampled
@pytest.mark.drawn(5)
@pytest.mark.parametrize("case", TRANSPORTS)
def test_what_is_changed_is_as_what_is_made_anew(device, case):
    """The steps before the change leave nothing but what they did to the fields."""
    dt = 0.01
    dtype = "float64" if "in time" in case and "float64" in map(str, device.dtypes) else "float32"
    changed = transport_with(case, device, 2.0, dtype)
    changed.run(until=2 * dt, dt=dt)
    fresh = transport_with(case, device, 0.5, dtype)
    fresh.fields[0][...] = changed.fields[0].get()
    fresh.time = changed.time
    built = testing.programs_compiled(device.core)
    for parameters in parameters_of(changed):
        parameters["U" if "U" in parameters else "k"] = 0.5
    found = []
    for transport in (changed, fresh):
        strains = [transport.lcfl(dt)]
        transport.run(until=4 * dt, dt=dt)
        found.append((strains, transport.fields[0].get()))
    assert testing.programs_compiled(device.core) == built
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_each_value_matters(device):
    """Else the comparisons above would hold of anything."""
    results = []
    for U, k in [(0.5, 0.5), (0.6, 0.5), (0.5, 0.6)]:
        transport = transport_with("steady", device, 2.0)
        velocity, source = parameters_of(transport)
        velocity["U"], source["k"] = U, k
        transport.step(0.03)
        results.append(transport.fields[0].get())
    assert all(np.ptp(results[0] - other) > 1e-3 for other in results[1:])


@pytest.mark.parametrize("case", ["steady", "separable", "unsplit, steady"])
def test_the_strain_follows(device, case):
    transport = transport_with(case, device, 0.5)
    (parameters, *_) = parameters_of(transport)
    transport.step(0.01)
    parameters["U"] = 50.0
    with pytest.raises(ValueError, match="dt must be"):
        transport.step(0.05)
    strain = transport_with(case, device, 50.0)
    strain.time = transport.time
    assert transport.lcfl(0.001) == strain.lcfl(0.001)
    parameters["U"] = 0.5
    transport.step(0.01)


@pytest.mark.parametrize("case", ["steady", "separable"])
def test_steps_follow(device, case):
    """Twice the speed takes about twice the steps of a limited strain, where nothing turns."""
    counts = []
    for U in (2.0, 4.0):
        transport = transport_with(case, device, 1.0)
        transport.lcfl(0.1)
        parameters_of(transport)[0]["U"] = U
        transport.run(until=0.3, dt=1.0, lcfl=0.2)
        counts.append(transport.steps)
        fresh = transport_with(case, device, U)
        fresh.run(until=0.3, dt=1.0, lcfl=0.2)
        assert fresh.steps == transport.steps
    if case == "steady":
        assert counts[1] > 1.5 * counts[0]


def test_displacements_of_an_operator_alone(device):
    grid = pt.Grid((40, 24))
    changed, fresh = (
        pt.AdvectionOp(pt.Velocity(grid, separable, U=U, phase=0.3), "rk4", device=device)
        for U in (2.0, 0.5)
    )
    pushed = changed.apply(0.001, 0, time=0.1).displacement.get()
    changed.velocity.parameters["U"] = 0.5
    again, other = (op.apply(0.001, 0, time=0.1).displacement.get() for op in (changed, fresh))
    np.testing.assert_array_equal(again, other)
    np.testing.assert_allclose(pushed, 4 * again, rtol=0.02)
    assert changed.strain(0.1) == fresh.strain(0.1)


@pytest.mark.sampled
def test_a_formula_with_parameters_is_the_one_with_their_values():
    grid = pt.Grid((6, 5))
    texts = pt.Velocity(grid, ["U*sin(x) + V", "x > U ? V : y"], U=0.5, V=2.0)
    function = pt.Velocity(
        grid, lambda x, U, y, *, V: (U * np.sin(x) + V, np.where(x > U, V, y)), V=2.0, U=0.5
    )
    numbers = pt.Velocity(grid, lambda x, y: (0.25 * np.sin(x) + 2, np.where(x > 0.25, 2, y)))
    for velocity in (texts, function):
        velocity.parameters["U"] = 0.25
        assert dict(velocity.parameters) == {"U": 0.25, "V": 2.0}
        for found, expected in zip(velocity.on_grid(), numbers.on_grid(), strict=True):
            np.testing.assert_array_equal(found, expected)
    u, w = pt.Field(grid, dtype="float32"), pt.Field(grid, dtype="float32")
    for carried, velocity in ((u, function), (w, numbers)):
        carried[...] = noise(grid, 1)
        pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(carried)).step(0.01)
    np.testing.assert_allclose(u.get(), w.get(), rtol=1e-5, atol=1e-6)


def test_a_source_alone(device):
    u = pt.Field(pt.Grid(5), dtype="float32", device=device)
    heating = pt.SourceOp(u, "a*t + b", a=0.0, b=1.0)
    heating.apply(1.0)
    heating.parameters["a"], heating.parameters["b"] = 2.0, -1.0
    heating.apply(1.0)
    np.testing.assert_allclose(u.get(), 1.0, rtol=1e-6)


def test_a_checkpoint_keeps_the_values(device, tmp_path):
    transport = transport_with("steady", device, 2.0)
    for parameters in parameters_of(transport):
        parameters[next(iter(parameters))] = 0.7
    transport.step(0.02)
    pt.io.checkpoint(tmp_path / "c", transport)
    continued = transport_with("steady", device, 1.0)
    pt.io.restore(tmp_path / "c", continued)
    for stepped in (transport, continued):
        stepped.step(0.02)
    assert parameters_of(continued) == parameters_of(transport)
    assert parameters_of(continued)[0]["U"] == 0.7
    np.testing.assert_array_equal(continued.fields[0].get(), transport.fields[0].get())
    u = continued.fields[0]
    for own, what in (("W", "velocity's parameters"), ("U", "source's parameters")):
        renamed = (lambda x, y, W, phase: steady(x, y, W, phase)) if own == "W" else steady
        velocity = pt.Velocity(u.grid, renamed, **{own: 2.0}, phase=0.3)
        source = pt.SourceOp(u, "-other*u", other=1.0)
        other = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), source=source)
        with pytest.raises(ValueError, match=f"whose {what} is"):
            pt.io.restore(tmp_path / "c", other)


def test_only_the_callback_changes_what_is_running(device):
    transport = transport_with("steady", device, 1.0)
    velocity, source = parameters_of(transport)
    refused = []

    def from_elsewhere():
        for parameters, name in ((velocity, "U"), (source, "k")):
            with pytest.raises(RuntimeError, match="this Splitting is being advanced already"):
                parameters[name] = 3.0
            refused.append(parameters[name])

    def between_steps(run):
        velocity["U"] = 0.5
        thread = threading.Thread(target=from_elsewhere)
        thread.start()
        thread.join()

    transport.run(until=0.04, dt=0.02, callback=between_steps, at=[0.02])
    assert refused == [0.5, 1.0]
    fresh = transport_with("steady", device, 1.0)
    fresh.step(0.02)
    parameters_of(fresh)[0]["U"] = 0.5
    fresh.step(0.02)
    np.testing.assert_array_equal(transport.fields[0].get(), fresh.fields[0].get())


def test_names_and_values_are_refused_in_words(device):
    grid = pt.Grid((8, 8))

    def formula(x, y, U):
        return U * x, y

    with pytest.raises(ValueError, match="y must have another name"):
        pt.Velocity(grid, formula, y=1.0)
    with pytest.raises(ValueError, match="formula must take V, because a number"):
        pt.Velocity(grid, formula, U=1.0, V=1.0)
    for unused in (["x", "y"], ["UV", "x_U"], (1.0, 2.0)):
        with pytest.raises(ValueError, match="formula must take U, because a number"):
            pt.Velocity(grid, unused, U=1.0)
    with pytest.raises(ValueError, match="parameters must be at most 16, not 17"):
        pt.Velocity(grid, ["x", "y"], **{f"a{k}": 1.0 for k in range(17)})
    velocity = pt.Velocity(grid, formula, U=2.0)
    for name in ("V", "x", 3, None, ["U"]):
        with pytest.raises(ValueError, match="parameters of the velocity are U, not"):
            velocity.parameters[name] = 1.0
    with pytest.raises(TypeError, match="can be set, not deleted"):
        del velocity.parameters["U"]
    with pytest.raises(AttributeError, match="parameters of a Velocity cannot be replaced"):
        velocity.parameters = {}
    u = pt.Field(grid, dtype="float32", device=as_gpu(device))
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    with pytest.raises(ValueError, match="U of the velocity must contain numbers that float32 can"):
        velocity.parameters["U"] = 1e-300
    assert velocity.parameters["U"] == 2.0
    transport.step(0.01)
    with pytest.raises(ValueError, match="k of the source must contain numbers that float32 can"):
        pt.SourceOp(u, "k*u", k=1e300)


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))]
)
def test_a_copy_of_a_velocity_has_numbers_of_its_own(duplicate):
    velocity = pt.Velocity(pt.Grid((8, 8)), ["U*y", "-x"], U=2.0)
    other = duplicate(velocity)
    other.parameters["U"] = 3.0
    assert (velocity.parameters["U"], other.parameters["U"]) == (2.0, 3.0)
