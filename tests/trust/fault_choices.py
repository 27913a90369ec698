# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that decide - which vectors, which driver, which form - while calls of OpenCL fail."""

import contextlib
import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import particles as pt
from particles.runtime import cache, child, drivers
from particles.runtime import choice as choice_module
from particles.runtime.child import TRANSIENT, Outcome
from particles.trials import driver_trial
from particles.tuning import race, tuner


@contextlib.contextmanager
def nothing_known():
    """Let measurements be wanted, and none be remembered."""
    with tempfile.TemporaryDirectory() as folder:
        known = {"PARTICLES_CACHE": folder, "PARTICLES_TUNE": "quick"}
        with mock.patch.dict(os.environ, known), mock.patch.dict(tuner._chosen, clear=True):
            yield Path(folder)


def tune(device):
    """Race the forms of each axis; the last one that gives the right bits wins. Then run."""
    grid = pt.Grid((6, 10))
    velocity = pt.Field(grid, 2, device=device)
    velocity[...] = np.random.default_rng(0).random((2, 6, 10))
    u = pt.Field(grid, device=device)
    u[2:4] = 1
    short = mock.patch.multiple(race, LEAST_UPDATES=1, ROUNDS=1)
    eager = mock.patch.multiple(
        tuner, WORTH_TUNING=1, LONG=1, SECONDS=1e9, winner=lambda timings: timings[-1].form
    )
    with nothing_known(), short, eager:
        # The race's own scheme, so that it has built what is used where it fails.
        transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, "L1"), order=1)
        transport.run(0.02, 0.02)
    return u.get().tobytes()


def choose(device):
    """Try which vectors a driver computes right and how fast it is, and choose it of two."""
    outcomes, widest = [], device.core.device.widest_vector

    def run_here(_, module, task, request, **variables):
        outcomes.append(outcome_of(task, request))
        return outcomes[-1]

    quick = mock.patch.multiple(driver_trial, POINTS=4, REPEATS=1, SECONDS=0)
    here = mock.patch.object(child, "run_in_child", run_here)
    # Which call fails is counted: one thing after the other.
    serial = mock.patch.multiple("concurrent.futures", ThreadPoolExecutor=OneByOne)
    with nothing_known() as folder, quick, here, serial:
        drivers._vectors.cache_clear()
        choice = choice_module._best.__wrapped__((device, device), may_measure=True)
        facts = [cache.read_facts(path) for path in folder.iterdir() if path.is_file()]
    assert choice.device is device
    if any("clBuildProgram" in (outcome.failure or "") for outcome in outcomes):
        return device.name  # with narrower vectors: what the compiler says is believed
    assert all("failure" not in fact and np.inf not in fact.values() for fact in facts)
    assert device.info.widest_vector == widest
    return device.name


class OneByOne(contextlib.nullcontext):
    """Does one thing after the other, in this thread."""

    def map(self, function, *values):
        return map(function, *values)

    def __enter__(self):
        return self


def outcome_of(task, request):
    """Do in this process what a trial's own would do, and end as that would."""
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            driver_trial.main(task, request)
    except SystemExit as end:
        said = output.getvalue()
        return Outcome(said, f"exit {end.code}: {said}", end.code not in TRANSIENT)
    except Exception as error:  # noqa: BLE001  a process would end with it
        return Outcome("", repr(error), is_final=True)
    return Outcome(output.getvalue(), None, is_final=True)
