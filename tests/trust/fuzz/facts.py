# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered of drivers and of forms: used if it makes sense, or found out anew."""

import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import particles as pt
from particles.operators.form import Form
from particles.runtime import cache as cache_module
from particles.runtime import choice, drivers
from particles.tuning import tuner

from tests.trust.fuzz.choices import Choices

DRIVER = drivers.Driver("platform", "version", "driver", "name", True)
CPUS = [SimpleNamespace(info=name) for name in ("one", "two")]
FOUND = drivers.Vectors(16, False)
TRIAL = SimpleNamespace(output="1.0", is_final=True)


@cache
def place():
    folder = tempfile.TemporaryDirectory()
    return Path(folder.name, "file"), folder


@cache
def problem():
    u = pt.Field(pt.Grid((8, 8)))
    advection = pt.AdvectionOp(pt.Velocity(u.grid, ["1", "0"]))
    return tuner.task_of(advection, pt.RemeshOp(u), 0.0)


def run(data):
    problem()
    choose = Choices(data)
    check = choose.pick((vectors, times, form))
    path, _ = place()
    path.write_bytes(choose.rest())
    with mock.patch.object(cache_module, "path_of", return_value=path):
        check()


def vectors():
    with mock.patch.object(drivers, "_try", return_value=(FOUND._asdict(), True)):
        try:
            found = drivers._vectors.__wrapped__(DRIVER)
        except pt.DeviceError:
            return
    assert (type(found.bytes), type(found.fma)) == (int, bool)
    assert found.bytes in drivers.WIDTHS


def times():
    with (
        mock.patch.object(choice, "_timed", return_value=TRIAL),
        mock.patch.object(drivers, "driver_of", lambda info: (info,)),
    ):
        found = choice._times(CPUS)
    assert all(isinstance(time, float) and time > 0 for time in found)


def form():
    tuner._chosen.clear()
    for thorough in (True, False):
        found = tuner._known(problem(), 0, thorough)
        assert found is None or isinstance(found, Form)
