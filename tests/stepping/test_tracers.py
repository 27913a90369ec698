# SPDX-License-Identifier: BSD-3-Clause
"""Particles that a velocity takes along: laws of paths, then beside NumPy, then what a run does."""

import gc
import itertools

import numpy as np
import particles as pt
import pytest
from particles._core import testing
from particles.operators.schemes import SCHEMES

from tests.reference import reference_tracers as reference
from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form

ORDERS = {"euler": 1, "rk2": 2, "heun": 2, "rk3": 3, "rk4": 4}
BOXES = [
    {"shape": (9,), "boundary": ["wall"]},
    {"shape": (7, 5), "origin": (0.5, -2), "boundary": ["periodic", ("wall", "outflow")]},
    {"shape": (6, 8), "extent": (1, 3), "boundary": [("inflow", "wall"), "periodic"]},
    {
        "shape": (5, 4, 6),
        "extent": (1, 1, 9),
        "boundary": [("outflow", "wall"), "wall", "periodic"],
    },
]
KERNELS = ["L1", "M'4", "M'6", "L6_4"]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def generator(name):
    """Return a generator of the tests' number."""
    return np.random.default_rng(lot.lots(name).getrandbits(64))


def anywhere(grid, n, rng):
    return np.array(grid.origin) + rng.random((n, grid.ndim)) * grid.extent


def turning(grid, rate=lambda t: 3 + np.sin(4 * t)):
    """Return a rotation about 0 whose speed changes, which no scheme follows exactly."""
    return pt.Velocity(grid, lambda x, y, t: (-rate(t) * y, rate(t) * x))


def turned(places, angle):
    c, s = np.cos(angle), np.sin(angle)
    return places @ np.array([[c, s], [-s, c]])


def test_there_is_an_order_for_each_scheme():
    assert {*ORDERS} == {*SCHEMES} == {*reference.TABLEAUS}


@pytest.mark.one_device
@pytest.mark.parametrize("scheme", ORDERS)
def test_paths_are_of_the_order_of_the_scheme(device, scheme):
    """Around a centre, with a rate that depends on time, to an angle that is known."""
    grid = pt.Grid((8, 8), origin=(-1, -1), extent=2)
    places = anywhere(grid, 40, generator(scheme)) / 2
    exact = turned(places, 3 + (1 - np.cos(4)) / 4)
    errors = []
    for steps in (16, 32):
        swarm = pt.ParticleSet(grid, places, dtype="float64", device=device)
        pt.Tracers(swarm, turning(grid), scheme).run(1.0, 1 / steps)
        errors.append(np.abs(swarm.positions - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(ORDERS[scheme], abs=0.35)


@pytest.mark.one_device
@pytest.mark.parametrize("scheme", ["rk2", "rk4"])
def test_paths_keep_their_order_at_walls(device, scheme):
    """A flow that vanishes on its walls, through which some stages look: x = tan(...) of a cell."""
    grid = pt.Grid(8, boundary="wall")
    stretch = pt.Velocity(grid, lambda x: np.sin(np.pi * x))
    begin = np.linspace(0.001, 0.999, 50)[:, None]
    exact = 2 / np.pi * np.arctan(np.tan(np.pi / 2 * begin) * np.exp(np.pi * 0.8))
    errors = []
    for steps in (8, 16):
        swarm = pt.ParticleSet(grid, begin, dtype="float64", device=device)
        pt.Tracers(swarm, stretch, scheme).run(0.8, 0.8 / steps)
        errors.append(np.abs(swarm.positions - exact).max())
    assert np.log2(errors[0] / errors[1]) > ORDERS[scheme] - 0.4


@pytest.mark.one_device
def test_back_along_the_same_way(device):
    """With the velocity turned round, particles come back to where they were, up to the order."""
    grid = pt.Grid((16, 12), extent=(2, 1))
    there = pt.Field(grid, 2, "float64", device)
    there[...] = generator("back").normal(size=(2, 16, 12))
    back = there.copy()
    back *= -1
    places = anywhere(grid, 100, generator("places"))
    swarm = pt.ParticleSet(grid, places, dtype="float64", device=device)
    for velocity in there, back:
        pt.Tracers(swarm, velocity, "rk4", "M'6").run(0.2, 0.2 / 400)
    assert np.abs(swarm.positions + swarm.turns * grid.extent - places).max() < 1e-5


@pytest.mark.sampled
def test_beside_numpy(machine):
    """Every kind of velocity, of end, scheme, kernel, dtype, and cells that are not the points'."""
    rng = generator("beside numpy")
    for box, scheme in zip(
        lot.some(BOXES, 3, "boxes"), lot.some(ORDERS, 3, "schemes"), strict=True
    ):
        points = pt.Grid(**box)
        cells = (
            points
            if rng.random() < 0.5
            else pt.Grid(**box | {"shape": rng.integers(3, 9, points.ndim)})
        )
        dtype = "float64" if rng.random() < 0.5 else "float32"
        kernel = KERNELS[rng.integers(len(KERNELS))]
        fields = []
        for _ in range(2):
            fields.append(
                pt.Field(points, points.ndim, ["float32", dtype][rng.integers(2)], machine)
            )
            fields[-1][...] = rng.uniform(-1, 1, fields[-1].shape)
        arrays = [field.get().reshape(points.ndim, *points.shape).astype(float) for field in fields]

        def formula(*xt):
            *x, t = xt
            return tuple(np.sin(one + 2 * t) * 0.5 for one in x)

        names = ["x", "y", "z"][: points.ndim]
        made = {
            "field": (fields[0], reference.on_points(points, arrays[0], kernel)),
            "formula": (
                pt.Velocity(
                    points,
                    eval(f"lambda {', '.join(names)}, t: f({', '.join(names)}, t)", {"f": formula}),
                ),
                reference.by_formula(points, formula),
            ),
        }
        if fields[0].dtype == fields[1].dtype:
            one, other = (reference.on_points(points, array, kernel) for array in arrays)
            made["series"] = (
                pt.VelocitySeries(fields, [0, 2]),
                reference.between(one, other, 2.0),
            )
        for name, (velocity, by_numpy) in made.items():
            places = anywhere(cells, 37, rng)
            swarm = pt.ParticleSet(cells, places, dtype=dtype, device=machine, tag=np.arange(37))
            before = swarm.positions.get()
            tracers = pt.Tracers(swarm, velocity, scheme, kernel, time=0.5)
            tracers.step(0.3)
            ends = reference.moved(by_numpy, scheme, before, 0.5, 0.3)
            inside, _, beyond = reference.folded(cells, ends)
            margin = {"float32": 4e-5, "float64": 1e-11}[dtype]
            what = name, box, scheme, kernel
            tags = swarm["tag"].get()
            assert {*np.flatnonzero(beyond < -margin)} <= {*tags}, what
            assert {*tags} <= {*np.flatnonzero(beyond < margin)}, what
            away = np.abs(swarm.positions - inside[tags])
            is_round = np.array([boundary == "periodic" for boundary in cells.boundary])
            away = np.where(is_round, np.minimum(away, np.array(cells.extent) - away), away)
            assert away.max(initial=0) < margin, what
            assert len(swarm) + swarm.left.sum() == 37


@pytest.mark.sampled
@pytest.mark.one_device
def test_each_step_looks_at_the_velocity_when_a_splitting_does(device):
    """The nodes' particles are where `AdvectionOp` pushes them; of a series, piece by piece."""
    grid = pt.Grid(24)
    rng = generator("looks")
    fields = [pt.Field(grid, dtype="float64", device=device) for _ in range(3)]
    for field in fields:
        field[...] = rng.normal(size=24)
    wind = pt.VelocitySeries(fields, [0.0, 0.4, 1.0])
    wave = pt.Velocity(grid, lambda x, t: np.sin(2 * np.pi * (x - t)) + t)
    for velocity, scheme in itertools.product((fields[0], wind, wave), SCHEMES):
        options = {"dtype": "float64", "device": device} if velocity is wave else {}
        push = pt.AdvectionOp(velocity, scheme, **options)
        swarm = pt.ParticleSet(grid, grid.coordinates()[0][:, None], dtype="float64", device=device)
        pt.Tracers(swarm, velocity, scheme, time=0.45).step(0.2)
        moves = push.apply(0.2, 0, time=0.45).displacement.get() / 24
        now = (swarm.positions + swarm.turns)[:, 0]
        assert np.abs(now - np.arange(24) / 24 - moves).max() < 1e-12


@pytest.mark.one_device
def test_a_series_is_followed_through_its_kinks(device):
    """What is uniform in space and linear in time between the times is integrated exactly."""
    grid = pt.Grid(4)
    values, times = [1.0, -2.0, 0.5], [0.0, 0.3, 1.0]
    fields = [pt.Field(grid, dtype="float64", device=device) for _ in values]
    for field, value in zip(fields, values, strict=True):
        field.fill(value)
    swarm = pt.ParticleSet(grid, [[0.5]], dtype="float64", device=device)
    tracers = pt.Tracers(swarm, pt.VelocitySeries(fields, times), "rk2")
    tracers.run(1.0, 0.4)
    exact = 0.5 + sum(
        (t1 - t0) * (u0 + u1) / 2
        for (t0, u0), (t1, u1) in itertools.pairwise(zip(times, values, strict=True))
    )
    assert swarm.positions[0] + swarm.turns[0] == pytest.approx(exact, abs=1e-14)
    with pytest.raises(ValueError, match="time must be within the velocity's"):
        tracers.step(0.1)


@pytest.mark.one_device
def test_walls_are_never_crossed(device):
    grid = pt.Grid((5, 7), boundary="wall")
    storm = pt.Field(grid, 2, device=device)
    storm[...] = generator("storm").normal(size=(2, 5, 7)) * 20
    swarm = pt.ParticleSet.random(grid, 500, seed=3, device=device)
    tracers = pt.Tracers(swarm, storm)
    for _ in range(5):
        tracers.step(0.7)
        places = swarm.positions.get()
        assert len(swarm) == 500
        assert (places >= 0).all()
        assert (places <= 1).all()


@pytest.mark.one_device
def test_accuracy_does_not_fall_with_the_box(device):
    """Of two boxes with the same cells, one a thousand times as long: the same way in cells."""
    ways = []
    for n in (16, 16000):
        grid = pt.Grid(n, extent=n)
        wind = pt.Field(grid, device=device)
        wind.fill(0.37)
        swarm = pt.ParticleSet(grid, [[n - 3.71]], device=device)
        pt.Tracers(swarm, wind).run(50.0, 0.5)
        ways.append((swarm.positions[0] + swarm.turns[0] * n)[0] - n)
    assert ways[0] == pytest.approx(ways[1], abs=1e-7)


def open_box(device, leaving="remove", n=300):
    grid = pt.Grid((6, 8), boundary=["periodic", ("wall", "outflow")])
    wind = pt.Velocity(grid, lambda x, y, t: (1 + np.sin(2 * np.pi * y), 0.2 + 0.3 * np.cos(3 * t)))
    places = np.random.default_rng(5).random((n, 2)) * [1, 0.9]
    swarm = pt.ParticleSet(
        grid, places, device=device, leaving=leaving, tag=np.arange(n), mass=np.ones(n)
    )
    return swarm, pt.Tracers(swarm, wind, "rk3")


def state_of(swarm):
    return [
        swarm.positions.get().tobytes(), swarm.turns.tobytes(), swarm.left.tolist(),
        swarm["tag"].get().tobytes(),
    ]  # fmt: skip


def test_bits_do_not_depend_on_how_a_run_is_divided(machine, monkeypatch):
    states = []
    for way in ("run", "pace", "callbacks", "steps", "looked at"):
        swarm, tracers = open_box(machine)
        if way == "steps" or way == "looked at":
            for k in range(32):
                tracers.step(1 / 32)
                if way == "looked at" and k % 3 == 0:
                    assert len(swarm) == len(swarm.positions.get())
        else:
            monkeypatch.setattr("particles.base.progress.Pace.note", lambda *_, way=way, **__: None)
            tracers._pace.steps = 1 if way == "pace" else 7
            calls = (
                {"callback": lambda run: len(run.swarm), "every": 5} if way == "callbacks" else {}
            )
            tracers.run(1.0, 1 / 32, **calls)
        assert tracers.time == 1.0
        assert tracers.steps == 32
        states.append(state_of(swarm))
    assert states[0][2] != [[0, 0], [0, 0]]
    assert all(state == states[0] for state in states)


@pytest.mark.one_device
def test_no_particle_depends_on_another(device):
    swarm, tracers = open_box(device)
    some, of_some = open_box(device)
    some.remove(np.arange(300) % 3 != 0)
    for one in tracers, of_some:
        one.run(0.8, 0.1)
    alike = np.isin(swarm["tag"].get(), some["tag"].get())
    assert (swarm.positions[alike] == some.positions.get()).all()


@pytest.mark.one_device
@pytest.mark.parametrize("kernel", ["nearest", "L1", "M'4", "M'6"])
@pytest.mark.parametrize("shape", [(40,), (24, 20), (9, 7, 18)])
def test_few_particles_go_the_way_of_many(device, shape, kernel):
    """Many are read, pushed and put back together, as far as they stay away from the ends."""
    rng, ndim = generator(f"few of {shape} {kernel}"), len(shape)
    grid = pt.Grid(shape, boundary=["wall", "periodic", "periodic"][:ndim])
    fields = [pt.Field(grid, ndim, device=device) for _ in range(2)]
    for field in fields:
        field[...] = rng.uniform(-0.2, 0.2, field.shape)
    series, places = pt.VelocitySeries(fields, [0, 2]), anywhere(grid, 45, rng)

    def ends(of):
        swarm = pt.ParticleSet(grid, of, dtype="float32", device=device)
        tracers = pt.Tracers(swarm, series, kernel=kernel)
        tracers.run(1.0, 0.25)
        return swarm.positions.get(), swarm.turns

    many = ends(places)
    few = [ends(places[k : k + 9]) for k in range(0, 45, 9)]
    for whole, parts in zip(many, zip(*few, strict=True), strict=True):
        np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.one_device
def test_attributes_are_left_alone_and_leave_with_their_particles(device):
    swarm, tracers = open_box(device)
    swarm["mass"] = swarm["tag"].get().astype("float32")
    tracers.run(1.0, 0.05)
    assert 0 < len(swarm) < 300
    assert len(swarm) + swarm.left.sum() == 300
    assert (swarm["mass"].get() == swarm["tag"].get()).all()
    assert (np.diff(swarm["tag"].get()) > 0).all()


def test_what_must_not_leave_is_refused_before_it_does(machine):
    swarm, tracers = open_box(machine, leaving="refuse")
    with pytest.raises(ValueError, match=r"particle .* would leave it in the step from time"):
        tracers.run(1.0, 1 / 32)
    held, held_tracers = open_box(machine)
    held_tracers.run(tracers.time, 1 / 32)
    assert 0 < tracers.time < 1
    assert len(swarm) == 300
    assert state_of(held) == state_of(swarm)
    before = state_of(swarm)
    with pytest.raises(ValueError, match="would leave it"):
        tracers.step(1 / 32)
    assert state_of(swarm) == before
    held_tracers.step(1 / 32)
    assert held.left.sum() > 0


@pytest.mark.one_device
def test_a_velocity_that_is_not_finite_is_told(device):
    grid = pt.Grid(8)
    sea = pt.Field(grid, device=device)
    sea.fill(1.0)
    sea[5] = np.nan
    for check, dt in (("step", 1 / 16), ("end", 1 / 16)):
        swarm = pt.ParticleSet(grid, [[0.05], [0.3]], device=device)
        tracers = pt.Tracers(swarm, sea, "euler")
        with pytest.raises(
            pt.NotFiniteError, match=r"particle 1 at \(0.54.*, in the step from time 0.25"
        ):
            tracers.run(1.0, dt, check=check)
        assert swarm.positions[:, 0] == pytest.approx([0.3, 0.55])
        assert tracers.time == 0.25
    swarm = pt.ParticleSet(grid, [[0.05], [0.3]], device=device)
    tracers = pt.Tracers(swarm, sea, "euler")
    tracers.run(0.5, 1 / 16, check=None)
    assert swarm.positions[:, 0] == pytest.approx([0.55, 0.55])
    tracers.step(1 / 16)
    with pytest.warns(
        pt.NotFiniteWarning, match="2 times a particle stayed where it was, first in step 9"
    ):
        swarm.positions.get()


@pytest.mark.one_device
@pytest.mark.parametrize(("dt", "moves"), [(1e10, 1), (1e8, 30)], ids=["a step", "turns"])
def test_a_velocity_that_moves_too_far_is_told(device, dt, moves):
    """It is finite, so neither message may say no more than that it must be."""
    grid = pt.Grid(8)
    for run in (False, True):
        swarm = pt.ParticleSet(grid, [[0.25]], device=device)
        tracers = pt.Tracers(swarm, pt.Velocity(grid, "1"))
        words = "by at most 10.9 cells in a step, and by fewer than 2.31 turns in all"
        if run:
            with pytest.raises(pt.NotFiniteError, match=words):
                tracers.run(moves * dt, dt)
        else:
            for _ in range(moves):
                tracers.step(dt)
            with pytest.warns(pt.NotFiniteWarning, match=words):
                swarm.positions.get()


@pytest.mark.one_device
def test_nothing_is_allocated_built_or_waited_for(device):
    grid = pt.Grid((16, 16), boundary=["periodic", "wall"])
    wind = pt.Velocity(grid, lambda x, y, t: (np.cos(t), np.sin(np.pi * y)))
    swarm = pt.ParticleSet.random(grid, 10000, seed=1, device=device)
    tracers = pt.Tracers(swarm, wind)
    tracers.step(0.01)
    gc.collect()  # what other tests have left

    def counted():
        core = device.core
        return testing.programs_compiled(core), testing.buffers_held(core), core.bytes_held

    before = counted()
    looks = []

    class Spied:
        def __init__(self, core):
            self._of = core

        def __getattr__(self, name):
            looks.append(name)
            return getattr(self._of, name)

    vars(tracers)["_core"] = Spied(tracers._core)
    moved = swarm._columns_now.offsets.bytes_moved
    for _ in range(20):
        tracers.step(0.01)
    assert "look" not in looks
    assert looks.count("advance") == 20
    assert swarm._columns_now.offsets.bytes_moved == moved
    assert counted() == before


@pytest.mark.one_device
def test_a_set_may_change_between_two_steps(device):
    swarm, tracers = open_box(device)
    tracers.step(0.3)
    swarm.sort("cell")
    tracers.step(0.3)
    swarm.add(
        pt.ParticleSet(
            swarm.grid, [[0.5, 0.99]], device=device, tag=np.array([300]), mass=np.ones(1)
        )
    )
    tracers.step(0.4)
    assert len(swarm) + swarm.left.sum() == 301
    other = pt.Tracers(swarm, pt.Velocity(swarm.grid, (0.0, 2.0)))
    tracers.step(0.01)
    other.step(1.0)
    assert len(swarm) == 0
    assert swarm.left.sum() == 301
    tracers.run(2.0, 0.1)
    assert len(swarm) == 0


@pytest.mark.sampled
@pytest.mark.one_device
def test_a_set_knows_that_it_is_not_sorted_any_more(device):
    """However steps, sorting and sums by row follow each other."""
    grid = pt.Grid((9, 7))
    swarm = pt.ParticleSet.lattice(grid, device=device)
    swarm["mass"] = generator("mass").random(63)
    density = pt.Field(grid, dtype="float64", device=device)
    tracers = pt.Tracers(swarm, pt.Velocity(grid, lambda x, y: (np.sin(7 * y), np.cos(5 * x))))
    for turn in range(4):
        if turn == 2:
            tracers.run(tracers.time + 0.2, 0.1)
        tracers.step(0.3)
        sums = []
        for order in None, "canonical":
            pt.ParticlesToGrid(swarm, "mass", density, order=order).apply()
            sums.append(density.get())
        assert np.abs(sums[0] - sums[1]).max() < 1e-14


@pytest.mark.one_device
def test_times_of_calls_and_steps_that_strain_as_asked(device):
    grid = pt.Grid((32, 32), origin=(-1, -1), extent=2, boundary="outflow")
    swarm = pt.ParticleSet(grid, [[0.5, 0.0]], device=device)
    tracers = pt.Tracers(swarm, turning(grid))
    times = []
    tracers.run(1.0, lcfl=0.2, callback=lambda run: times.append(run.time), at=[0.25, 0.5, 1.0])
    assert times == [0.25, 0.5, 1.0]
    assert 15 < tracers.steps < 40
    assert tracers.lcfl(1e-9) == pytest.approx(1e-9 * (3 + np.sin(4)), rel=1e-5)
    with pytest.raises(ValueError, match="until must not be before"):
        tracers.run(0.5, 0.1)


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("scheme", "looks"), [("euler", 0.0), ("rk2", 0.5), ("rk3", 0.5), ("rk4", 0.5)]
)
def test_strain_of_a_step_is_that_of_its_looks_as_the_scheme_weighs_them(scheme, looks, device):
    """Of a velocity that grows evenly: not the greatest of them, at the end."""
    grid = pt.Grid((8, 8), boundary="outflow")
    shear = pt.Velocity(grid, lambda x, y, t: (2 * y * t, 0))
    swarm = pt.ParticleSet(grid, [[0.5, 0.5]], device=device)
    for begin in 0.0, 1.0:
        tracers = pt.Tracers(swarm, shear, scheme, time=begin)
        assert tracers.lcfl(0.5) == pytest.approx(2 * (begin + looks * 0.5) * 0.5, rel=1e-5)


@pytest.mark.one_device
def test_strain_is_that_of_all_components_along_all_axes(device):
    grid = pt.Grid((16, 8), boundary="outflow")
    shear = pt.Field(grid, 2, device=device)
    shear[...] = lambda x, y: (3 * y + x, -2 * x)
    swarm = pt.ParticleSet(grid, [[0.5, 0.5]], device=device)
    assert pt.Tracers(swarm, shear).lcfl(0.5) == pytest.approx(2.0)
    shear[0, 3, 3] = np.inf
    with pytest.raises(pt.NotFiniteError, match="velocity must be finite"):
        pt.Tracers(swarm, shear).lcfl(0.5)


@pytest.mark.one_device
def test_parameters_and_fields_may_change_between_steps(device):
    grid = pt.Grid(4)
    wind = pt.Velocity(grid, lambda x, U: U, U=0.25)
    swarm = pt.ParticleSet(grid, [[0.0]], device=device)
    tracers = pt.Tracers(swarm, wind)
    tracers.step(1.0)
    wind.parameters["U"] = 0.5
    tracers.step(0.5)
    assert swarm.positions[0, 0] == 0.5
    assert tracers.last_dt == 0.5
    assert tracers.time == 1.5
    with pytest.raises(RuntimeError, match="advanced already"):
        tracers.run(3.0, 0.5, callback=lambda run: run.step(1.0), every=1)
    assert tracers.time == 2.0


def test_repr_tells_what_moves_how():
    grid = pt.Grid((4, 4))
    tracers = pt.Tracers(pt.ParticleSet(grid, [[0, 0]]), pt.Field(grid, 2), "heun", "M'4")
    assert "scheme='heun', kernel=\"M'4\"" in repr(tracers)
    assert "heun" in tracers._repr_html_()


@pytest.mark.one_device
@pytest.mark.sampled
@pytest.mark.parametrize("boundary", ["periodic", ("wall", "outflow")])
@pytest.mark.parametrize("kernel", ["L1", "M'6"])
def test_fields_of_a_series_may_lie_in_memory_as_they_like(device, kernel, boundary):
    """In another order of axes, strided, or with a gap between their components."""
    array = pytest.importorskip("pyopencl.array")
    grid = pt.Grid((9, 6), boundary=[boundary] * 2)
    rng = np.random.default_rng(1)
    speeds = (0.3 * rng.standard_normal((2, 2, 9, 6))).astype("float32")
    places = rng.random((100, 2))

    def adopted(values, steps, turned=False):
        own = values.swapaxes(1, 2) if turned else values
        spread = np.full([n * k for n, k in zip(own.shape, steps, strict=True)], 7, own.dtype)
        cut = tuple(slice(None, None, k) for k in steps)
        spread[cut] = own
        on_device = array.to_device(device.queue, spread)[cut]
        return pt.Field.from_pyopencl(on_device.transpose((0, 2, 1)) if turned else on_device, grid)

    def own(values):
        return pt.Field.from_arrays(grid, *values, device=device)

    ways = [
        own,
        lambda values: adopted(values, (1, 1, 1)),
        lambda values: adopted(values, (2, 1, 1)),
        lambda values: adopted(values, (2, 1, 2)),
        lambda values: adopted(values, (1, 1, 1), turned=True),
    ]
    found = set()
    for first, second in [(0, 0), (0, 1), (1, 2), (2, 1), (3, 1), (1, 4), (4, 3)]:
        flow = pt.VelocitySeries([ways[first](speeds[0]), ways[second](speeds[1])], [0.0, 1.0])
        swarm = pt.ParticleSet(grid, places, device=device)
        pt.Tracers(swarm, flow, kernel=kernel).step(0.3)
        found.add(swarm.positions.get().tobytes())
    assert len(found) == 1
