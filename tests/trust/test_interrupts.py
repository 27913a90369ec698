# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt wherever one can come: what it hits is whole, or says what it is, and can go on.

Python lets the handler of a signal run where a function begins or a generator goes on, and after a call
of C. All these places of the package are counted through, one by one, in every call that changes anything.
"""

import itertools
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles.base import progress
from particles.tuning import tuner

from tests.support import lot
from tests.support.several import several
from tests.support.sweeps import field, noise
from tests.support.transports import swirl, transport_of

# Python itself loses an interrupt that comes while it does away with a generator.
UNRAISABLE = "ignore::pytest.PytestUnraisableExceptionWarning"
pytestmark = [
    pytest.mark.one_device,
    pytest.mark.any_form,
    pytest.mark.filterwarnings(UNRAISABLE),
]

PACKAGE = str(Path(pt.__file__).parent)
DT = 0.1


class Places:
    """Counts the places where an interrupt can come, and raises one at the place of a number."""

    def __init__(self, number):
        self.left = number

    def __call__(self, frame, event, _):
        if event in ("call", "c_return") and frame.f_code.co_filename.startswith(PACKAGE):
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt


def interrupts(prepare, call, every=1, first=1):
    """Yield after an interrupt of a call at each place, each time from what is prepared."""
    prepare()
    call()  # builds what is kept
    for number in itertools.count(first, every):
        prepare()
        places = Places(number)
        try:
            sys.setprofile(places)
            call()
        except KeyboardInterrupt as error:
            kept = error  # as a notebook does, with all that was going on
            yield number
            del kept
        finally:
            sys.setprofile(None)
        if places.left > 0:
            break
    assert number > 5


class World:
    """A transport whose values are known at each of its steps."""

    def __init__(self, device, unsplit=False, grid=None):
        velocity = swirl(16, "float32", device, 0.1)
        if grid is not None:
            device, whole = None, velocity
            velocity = pt.Field(grid, 2)
            velocity[...] = whole.get()
        self.grid, self.device = velocity.grid, device
        self.start = noise(self.grid, 3).astype(np.float32)
        self.u = field(self.start, self.grid, "float32", device)
        stepper = pt.Unsplit if unsplit else pt.Splitting
        self.transport = stepper(pt.AdvectionOp(velocity), pt.RemeshOp(self.u))
        self.expected = {}

    def reset(self):
        self.u[...] = self.start
        self.transport.time = 0.0

    def after(self, steps, stops):
        """The values after some steps, joined but at stops, and those at the end of a run from there."""
        if (steps, stops) not in self.expected:
            self.reset()
            for stop in (*(n for n in stops if n < steps), steps):
                self.transport.run(stop * DT, DT)
            values = self.u.get()
            self.transport.run(6 * DT, DT)
            self.expected[steps, stops] = values, self.u.get()
        return self.expected[steps, stops]

    def check(self, stops=()):
        """The values are those of the time, and a run from here leads to those of its end."""
        steps = round(self.transport.time / DT)
        assert self.transport.time == pytest.approx(steps * DT)
        assert steps == 0 or self.transport.last_dt == pytest.approx(DT)
        values = self.u.get()
        self.transport.run(6 * DT, DT)
        assert self.transport.time == 6 * DT
        end = self.u.get()
        expected, expected_end = self.after(steps, stops)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_allclose(end, expected_end, atol=1e-6)


@pytest.fixture(scope="module")
def world():
    return World(pt.default_device())


@pytest.fixture
def short_chunks(monkeypatch):
    """Have steps enqueued two by two."""
    monkeypatch.setattr(progress.Pace, "note", lambda pace, *_: setattr(pace, "steps", 2))


def test_a_step(world):
    for _ in interrupts(world.reset, lambda: world.transport.step(DT)):
        world.check()


@pytest.mark.sampled
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(
    ("options", "stops"),
    [
        ({}, ()),
        ({"check": "step", "every": 2, "callback": lambda one: one.remesh.fields[0].sum()}, (2, 4)),
        ({"at": [3 * DT], "callback": lambda one: one.lcfl(DT)}, (3,)),
    ],
    ids=["plain", "every", "at"],
)
def test_a_run(world, options, stops):
    for _ in interrupts(world.reset, lambda: world.transport.run(5 * DT, DT, **options)):
        world.check(stops)


@pytest.mark.sampled
@pytest.mark.usefixtures("short_chunks")
def test_a_run_on_several_devices(device):
    """Also where its last joined sweeps begin."""
    world = World(device, grid=pt.Grid((16, 16), devices=several(device, 2)))
    first = lot.lots("places of interrupts").randrange(1, 8)
    for _ in interrupts(world.reset, lambda: world.transport.run(5 * DT, DT), 7, first):
        world.check()


@pytest.mark.sampled
def test_a_first_run_in_other_forms(world, monkeypatch):
    """What sweeps is made anew before it begins."""

    def forms_for(_advection, remesh, _time, steps=0):
        return [pt.Form("private") if steps == 0 else pt.Form()] * remesh.grid.ndim

    monkeypatch.setattr(tuner, "forms_for", forms_for)
    before, operators = world.transport, (world.transport.advection, world.transport.remesh)

    def prepare():
        world.transport = pt.Splitting(*operators)
        world.reset()

    try:
        for _ in interrupts(prepare, lambda: world.transport.run(2 * DT, DT), every=5):
            world.check()
    finally:
        world.transport = before


def test_a_run_within_a_strain(world):
    limit = world.transport.lcfl(DT) * 1.01
    for _ in interrupts(world.reset, lambda: world.transport.run(5 * DT, lcfl=limit)):
        world.check()


def test_signals(world, monkeypatch):
    """Of the system, whenever they come."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "_INTERVAL", 1e-3)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for instant in np.random.default_rng(4).uniform(1e-5, 4e-3, 60):
            world.reset()
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, instant)
                world.transport.run(6 * DT, DT)
                signal.setitimer(signal.ITIMER_REAL, 0)
            world.check()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.sampled
def test_steps_along_all_axes(device):
    world = World(device, unsplit=True)
    for _ in interrupts(world.reset, lambda: world.transport.run(2 * DT, DT)):
        world.check()


def test_a_sweep(world):
    """Its time is its user's: the values are those before it, or those after it."""
    world.reset()
    world.transport.sweep(0, DT)
    known = world.start, world.u.get()
    for _ in interrupts(world.reset, lambda: world.transport.sweep(0, DT)):
        assert any((world.u.get() == values).all() for values in known)
        world.transport.step(DT)


def test_the_clock(world):
    def later():
        world.transport.time = 5.0

    for _ in interrupts(world.reset, later):
        assert world.transport.time in (0.0, 5.0)
        world.reset()
        world.check()


@pytest.mark.sampled
def test_a_checkpoint(world, tmp_path):
    """The file is that of before, or whole."""
    path = tmp_path / "checkpoint"

    def prepare():
        path.unlink(missing_ok=True)
        world.reset()

    for _ in interrupts(prepare, lambda: pt.io.checkpoint(path, world.transport)):
        if path.exists():
            world.u.fill(0)
            world.transport.time = 3.0
            pt.io.restore(path, world.transport)
        world.check()


@pytest.mark.sampled
def test_what_is_restored_in_part_says_so(world, tmp_path):
    path = tmp_path / "checkpoint"
    world.reset()
    world.transport.run(2 * DT, DT)
    pt.io.checkpoint(path, world.transport)
    cut_short = 0
    for _ in interrupts(world.reset, lambda: pt.io.restore(path, world.transport)):
        if "time=none" in repr(world.transport):
            cut_short += 1
            for use in (
                lambda: world.transport.time,
                lambda: world.transport.last_dt,
                lambda: world.transport.step(DT),
                lambda: world.transport.run(1.0, DT),
                lambda: pt.io.checkpoint(tmp_path / "none", world.transport),
            ):
                with pytest.raises(
                    RuntimeError, match="a restore was cut short, so the fields belo"
                ):
                    use()
            assert "none after" in world.transport._repr_html_()
            if cut_short % 2:
                pt.io.restore(path, world.transport)
            else:
                world.reset()
        world.check()
    assert cut_short > 3


def test_assignments(world):
    other = field(2 * world.start, world.grid, "float32", world.device)
    for key, value in ((np.s_[...], 2 * world.start), (np.s_[...], other), (np.s_[3:5], 7.0)):

        def assign(key=key, value=value):
            world.u[key] = value

        world.reset()
        assign()
        known = world.start, world.u.get()
        for _ in interrupts(world.reset, assign):
            assert any((world.u.get() == values).all() for values in known)


@pytest.mark.sampled
def test_what_makes_something_new(world):
    """What has been interrupted works the next time."""
    grid, u = world.grid, world.u
    world.reset()

    def transport():
        made = transport_of(u.copy(), swirl(16, "float32", world.device, 0.1))
        made.step(DT)
        return made.remesh.fields[0].get().tolist()

    def formula():
        return pt.Velocity(grid, lambda x, y: (np.sin(3 * x) + y, np.where(x < y, 1, x))).source(0)

    def profile():
        with pt.profile(world.device) as times:
            u.sum()
        return sorted(times.kernels)

    calls = {
        "sum": u.sum,
        "values": lambda: u[2:4].tolist(),
        "component": lambda: u.component(0).max(),
        "resample": lambda: pt.resample(u, pt.Grid((32, 32))).sum(),
        "memory": lambda: world.transport.memory().total,
        "formula": formula,
        "profile": profile,
        "transport": transport,
    }
    for name, call in calls.items():
        expected = call()
        every = {"transport": 17, "formula": 3}.get(name, 1)  # of very many
        for number in interrupts(lambda: None, call, every):
            assert call() == expected, (name, number)


def test_who_reads_is_warned_all_the_same(world):
    """A look that was interrupted has told nobody."""
    told = []

    def prepare():
        world.reset()
        world.u[4, 5] = np.nan
        world.transport.step(DT)
        told.clear()

    def read():
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                world.u.get()
            finally:
                told.extend(found)

    for number in interrupts(prepare, read):
        read()
        assert any(warning.category is pt.NotFiniteWarning for warning in told), number


@pytest.mark.sampled
@pytest.mark.usefixtures("short_chunks")
@pytest.mark.parametrize(("kind", "parts"), [("run", 1), ("step", 1), ("run", 2)])
def test_tracers(device, kind, parts):
    """Particles, some of which leave, are where they are at the time of the last whole step."""
    made, places = {}, several(device, parts)

    def reset():
        grid = pt.Grid((4, 5), boundary=["periodic", "outflow"], devices=places)
        swarm = pt.ParticleSet.random(grid, 30, seed=4, tag=np.arange(30))
        made["tracers"] = pt.Tracers(swarm, pt.Velocity(grid, lambda x, y: (1.0, 2 + x)), "rk2")

    def advance(tracers, steps):
        if kind == "run":
            tracers.run(steps * DT, DT)
        else:
            while round(tracers.time / DT) < steps:
                tracers.step(DT)

    def state(tracers):
        swarm = tracers.swarm
        known = swarm.positions.get(), swarm["tag"].get(), swarm.turns, swarm.left
        return [values.tobytes() for values in known]

    expected = []
    for steps in range(6):
        reset()
        advance(made["tracers"], steps)
        expected.append(state(made["tracers"]))
    every, first = (1, 1) if parts == 1 else (5, lot.lots("interrupted tracers").randrange(1, 6))
    for _ in interrupts(reset, lambda: advance(made["tracers"], 5), every, first):
        tracers = made["tracers"]
        found, steps = state(tracers), round(tracers.time / DT)
        assert found == expected[steps]
        advance(tracers, 5)
        assert state(tracers) == expected[5]
