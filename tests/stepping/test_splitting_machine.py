# SPDX-License-Identifier: BSD-3-Clause
"""Whatever happens on the way, a run has the bits of one that nothing happened to."""

import copy
import pickle
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from hypothesis import assume, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support import lot

SHAPE = (6, 5)
DT = 1 / 16  # its multiples are exact, so that runs may be cut anywhere
FLOW = np.random.default_rng(5).uniform(-0.5, 0.5, (2, *SHAPE))
START = np.random.default_rng(6).uniform(0.5, 1.5, SHAPE)
KINDS = ("steady", "timed", "lie", "suzuki", "series", "channel", "unsplit")


def made(kind):
    """A transport, with the same values each time."""
    ends = ["periodic", "outflow"] if kind == "channel" else "periodic"
    grid = pt.Grid(SHAPE, boundary=ends)
    u, a = pt.Field(grid, name="u"), pt.Field(grid, 2)
    u[...], a[...] = START, FLOW
    velocity = a
    if kind == "timed":
        velocity = pt.Velocity(grid, lambda x, y, t: (0.5 * np.cos(t), 0.25 * x * (1 - x) * t))
    if kind == "series":
        velocity = pt.VelocitySeries([a, a.copy()], [-64.0, 1024.0])
    form = None if kind == "unsplit" else "private"
    operators = pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, "M'4", form=form)
    if kind == "unsplit":
        return pt.Unsplit(*operators)
    return pt.Splitting(*operators, {"lie": 1, "suzuki": 4}.get(kind, 2))


class Stop(Exception):
    """What a callback fails with."""


@seed(lot.NUMBER)
class Runs(RuleBasedStateMachine):
    """One transport that all happens to, and one that does the same steps and nothing else."""

    @initialize(kind=st.sampled_from(KINDS))
    def begin(self, kind):
        self.kind = kind
        self.lived, self.plain = made(kind), made(kind)
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "checkpoint")
        self.kept = None
        self.count_anew()

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def count_anew(self):
        """Measure mass from here on, as it has been written."""
        self.mass, self.scale = self.mass_of(self.lived), 0.0

    def mass_of(self, transport):
        inside = transport.remesh.fields[0].get().sum(dtype=np.float64)
        return inside + (transport.outflow.sum() if self.kind == "channel" else 0.0)

    def advance(self, advance_lived, steps):
        """Do something with one, and so many plain runs with the other, each of some steps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            advance_lived()
            for count in steps:
                self.plain.run(until=self.plain.time + count * DT, dt=DT)
        size = np.abs(self.plain.remesh.fields[0].get()).sum(dtype=np.float64)
        self.scale += sum(steps) * max(size, START.sum())

    @rule(steps=st.integers(1, 3))
    def step(self, steps):
        for _ in range(steps):
            self.advance(lambda: self.lived.step(DT), [1])

    @rule(steps=st.integers(0, 5), check=st.sampled_from(["step", "end", None]))
    def run(self, steps, check):
        until = self.lived.time + steps * DT
        self.advance(lambda: self.lived.run(until, DT, check=check), [steps])

    @rule(steps=st.integers(1, 6), every=st.integers(1, 4))
    def run_with_calls(self, steps, every):
        until, times = self.lived.time + steps * DT, []
        expected = [self.lived.time + n * DT for n in range(every, steps + 1, every)]

        def callback(run):
            times.append(run.time)
            self.look_at(run)

        cuts = [every] * (steps // every) + [steps % every] * (steps % every > 0)
        self.advance(lambda: self.lived.run(until, DT, callback=callback, every=every), cuts)
        assert times == expected

    @rule(steps=st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def run_with_calls_at_times(self, steps):
        at = [self.lived.time + count * DT for count in np.cumsum(steps).tolist()]
        self.advance(lambda: self.lived.run(at[-1], DT, callback=self.look_at, at=at), steps)

    @precondition(lambda self: self.kind not in ("timed", "series"))
    @rule(spans=st.lists(st.integers(1, 4), min_size=1, max_size=3))
    def run_as_fast_as_strain_allows(self, spans):
        """A steady velocity makes the same steps to each time of a call, calls or not."""
        at = [self.lived.time + count * DT for count in np.cumsum(spans).tolist()]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)  # of masses with the wrong sign
            self.lived.run(at[-1], lcfl=0.4, callback=self.look_at, at=at)
            for time in at:
                self.plain.run(time, lcfl=0.4)
        self.scale += 4 * sum(spans) * START.sum()

    @rule(steps=st.integers(1, 4), error=st.sampled_from([Stop, KeyboardInterrupt]))
    def run_into_an_error(self, steps, error):
        def fail(run):
            raise error

        def run():
            with pytest.raises(error):
                self.lived.run(self.lived.time + 9 * DT, DT, callback=fail, every=steps)

        self.advance(run, [steps])

    @rule(value=st.floats(-2, 2, width=16), row=st.integers(0, 5), at=st.integers(1, 3))
    def write_in_the_middle(self, value, row, at):
        """Into the carried field, and into a velocity on the grid."""

        def write(run):
            run.remesh.fields[0][row, 1:] = value
            if run.advection.fields:
                run.advection.fields[0][0, row] = value / 4

        until = self.lived.time + 2 * at * DT
        once = [self.lived.time + at * DT]
        self.advance(lambda: self.lived.run(until, DT, callback=write, at=once), [at])
        write(self.plain)
        self.advance(lambda: None, [at])
        self.count_anew()

    @rule(axis=st.integers(0, 1), back=st.booleans())
    def sweep(self, axis, back):
        assume(self.kind != "unsplit")
        dt = -DT if back else DT
        self.lived.sweep(axis, dt)
        self.plain.sweep(axis, dt)
        self.advance(lambda: None, [])
        self.scale += START.sum()

    @rule()
    def look_now(self):
        self.look_at(self.lived)

    def look_at(self, run):
        """Read all that can be read; nothing of it may change a bit."""
        u = run.remesh.fields[0]
        assert u.max() >= u.min()
        assert np.isfinite(u[::2, -1]).all()
        assert run.lcfl(DT) >= 0
        assert repr(run)
        assert run._repr_html_()
        assert run.memory()
        if self.kind != "unsplit":
            assert run.schedule
            assert run.joined_schedule

    @rule()
    def be_refused(self):
        run = self.lived
        now = run.time
        for wrong in (
            lambda: run.step(-DT),
            lambda: run.step(1e9),
            lambda: run.run(now - 1, DT),
            lambda: run.run(now + 1),
            lambda: run.run(now + 1, DT, callback=self.look_at, at=[now + 2]),
            lambda: run.run(now + 1, DT, every=0),
            lambda: run.run(now + DT, DT, callback=lambda inner: inner.step(DT), every=1, at=[now]),
            lambda: pickle.dumps(run),
            lambda: copy.deepcopy(run),
            lambda: pt.io.restore(self.folder.name + "/none", run),
        ):
            with pytest.raises((ValueError, TypeError, OSError)):
                wrong()
        assert run.time == now

    @rule()
    def step_within_a_callback(self):
        def step(run):
            with pytest.raises(RuntimeError, match="is being advanced already"):
                run.step(DT)

        until = self.lived.time + DT
        self.advance(lambda: self.lived.run(until, DT, callback=step, every=1), [1])

    @rule(in_a_run=st.booleans())
    def checkpoint(self, in_a_run):
        if in_a_run:
            until = self.lived.time + DT
            save = partial(pt.io.checkpoint, self.path)
            self.advance(lambda: self.lived.run(until, DT, callback=save, every=1), [1])
        else:
            pt.io.checkpoint(self.path, self.lived)
        self.kept = self.state(self.plain), self.mass, self.scale

    @precondition(lambda self: self.kept)
    @rule(is_new=st.booleans())
    def restore(self, is_new):
        if is_new:
            self.lived = made(self.kind)
        for field in self.fields(self.lived):
            field.fill(0.125)
        pt.io.restore(self.path, self.lived)
        state, self.mass, self.scale = self.kept
        for field, values in zip(self.fields(self.plain), state[0], strict=True):
            field[...] = values
        self.plain.time = state[1]
        if self.kind == "channel":
            self.plain.outflow = state[2]

    def fields(self, transport):
        return transport.remesh.fields + transport.advection.fields

    def state(self, transport):
        outflow = transport.outflow if self.kind == "channel" else None
        return [field.get() for field in self.fields(transport)], transport.time, outflow

    @invariant()
    def bits_are_those_of_plain_steps(self):
        if not hasattr(self, "lived"):
            return
        (values, time, outflow), (expected, instant, left) = map(
            self.state, (self.lived, self.plain)
        )
        assert time == instant
        for one, other in zip(values, expected, strict=True):
            assert one.tobytes() == other.tobytes()
        if outflow is not None:
            np.testing.assert_allclose(outflow, left, rtol=1e-12, atol=1e-12)

    @invariant()
    def mass_is_constant(self):
        if hasattr(self, "lived"):
            limit = 40 * np.finfo(np.float32).eps * (self.scale + abs(self.mass))
            assert abs(self.mass_of(self.lived) - self.mass) <= limit


Runs.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 8, stateful_step_count=15
)
TestRuns = pytest.mark.sampled(Runs.TestCase)
