# SPDX-License-Identifier: BSD-3-Clause
"""A CPU's driver is tried in a child process before it is trusted, and what came out remembered."""

import json
import os
from pathlib import Path

import numpy as np
import particles as pt
import pyopencl
import pytest
from particles.runtime import drivers, processor_name
from particles.runtime.child import Outcome
from particles.runtime.device import Device
from particles.runtime.drivers import Vectors
from particles.trials import driver_trial

from tests.support.stand_ins import stand_in

PASSED = Outcome("", None, True)
FELL = Outcome("", "exit status -6: it fell", True)
TOOK_TOO_LONG = Outcome("", "it took too long", False)
EVERY = [Vectors(width, fma) for fma in (True, False) for width in (64, 32, 16)]


class Trials:
    """What comes of each trial, and which were made."""

    def __init__(self):
        self.outcome = lambda vectors: PASSED
        self.made = []

    def run(self, task, driver, vectors):
        assert task == "check"
        self.made.append(vectors)
        return self.outcome(vectors)

    def probe(self, **facts):
        """Try a driver in a new process; return the vectors that it may use."""
        drivers._vectors.cache_clear()
        info = drivers.usable(stand_in(**facts).info)
        return Vectors(info.widest_vector, info.vector_fma)


@pytest.fixture
def trials(monkeypatch, tmp_path):
    trials = Trials()
    monkeypatch.setattr(drivers, "run_trial", trials.run)
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    yield trials
    drivers._vectors.cache_clear()


def test_the_widest_vectors_come_first(trials):
    assert trials.probe() == (64, True)
    assert trials.made == [(64, True)]


def test_narrower_vectors_until_one_passes(trials):
    trials.outcome = lambda vectors: PASSED if vectors.bytes == 16 else FELL
    assert trials.probe() == (16, True)
    assert trials.made == EVERY[:3]


def test_a_driver_that_falls_at_a_multiply_add(trials):
    trials.outcome = lambda vectors: FELL if vectors.fma else PASSED
    assert trials.probe() == (64, False)
    assert trials.made == EVERY[:4]


def test_no_multiply_add_is_tried_where_the_driver_has_none(trials):
    assert trials.probe(has_fma=False) == (64, False)
    assert trials.made == [(64, False)]


def test_a_driver_is_tried_once_per_machine(trials):
    trials.outcome = lambda vectors: PASSED if vectors.bytes == 32 else FELL
    assert [trials.probe() for _ in range(3)] == [(32, True)] * 3
    assert trials.made == EVERY[:2]


def test_a_driver_that_fails_is_refused_in_every_process(trials, tmp_path):
    trials.outcome = lambda vectors: FELL
    for _ in ("tried", "remembered"):
        with pytest.raises(pt.DeviceError) as refusal:
            trials.probe(name="CPU 1")
        (path,) = (tmp_path / "cache").iterdir()
        assert str(refusal.value) == (
            "CPU 1 is not used: its driver (Platform 1.0) failed a trial in a child process:\n"
            f"exit status -6: it fell\nIt is tried again when {path} is removed."
        )
    assert trials.made == EVERY
    path.unlink()
    trials.outcome = lambda vectors: PASSED
    assert trials.probe(name="CPU 1") == (64, True)


def test_a_trial_without_an_end_decides_nothing(trials):
    trials.outcome = lambda vectors: TOOK_TOO_LONG
    with pytest.raises(pt.DeviceError, match=r"it took too long$"):
        trials.probe()
    assert trials.made == EVERY[:1]
    trials.outcome = lambda vectors: PASSED
    assert trials.probe() == (64, True)


@pytest.mark.parametrize(
    "changed", ["driver", "platform_version", "name", "version", "kernels", "processor", "file"]
)
def test_what_decides_makes_it_tried_again(trials, changed, tmp_path, monkeypatch):
    trials.probe()
    if changed == "version":
        monkeypatch.setattr(drivers, "__version__", "99.0")
    elif changed in ("kernels", "processor"):
        monkeypatch.setattr(drivers, f"_{changed}", lambda: "another")
    elif changed == "file":
        for path in (tmp_path / "cache").iterdir():
            path.write_bytes(b'{"bytes": 48, "fma": true, "archives": false}')
    trials.probe(**({changed: "2.0"} if changed in ("driver", "platform_version", "name") else {}))
    assert len(trials.made) == 2


def test_without_a_cache_folder_each_process_tries(trials, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", os.devnull)
    assert [trials.probe() for _ in range(2)] == [(64, True)] * 2
    assert len(trials.made) == 2
    trials.outcome = lambda vectors: FELL
    with pytest.raises(pt.DeviceError, match=r"it fell$"):
        trials.probe()


def test_a_gpu_is_not_tried(trials):
    trials.probe(kind="GPU")
    assert trials.made == []


def test_the_processor_is_told_from_others():
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists():
        pytest.skip("no /proc/cpuinfo here")
    told = drivers._processor()
    assert len(told.splitlines()) > 2
    assert all(line in cpuinfo.read_text().splitlines() for line in told.splitlines()[2:])


@pytest.mark.sampled
def test_each_device_uses_the_widest_vectors_that_pass(device):
    if not device.is_cpu:
        pytest.skip(f"{device.name} is no CPU")
    assert device.core.device.widest_vector == device.info.widest_vector
    facts, is_final = drivers._try(drivers.driver_of(device.info))
    widest = {"bytes": device.info.widest_vector, "fma": device.info.vector_fma}
    assert facts == {**widest, "archives": False}
    assert is_final


def test_a_queue_of_pyopencl_uses_the_same_vectors(device):
    context = pyopencl.Context([device.queue.device])
    core = pt.Device.from_pyopencl(pyopencl.CommandQueue(context)).core
    assert core.device.widest_vector == device.core.device.widest_vector
    assert core.device.vector_fma == device.core.device.vector_fma


@pytest.mark.parametrize("fma", [False, True])
def test_a_driver_that_is_known_to_fail_fails(device, fma):
    is_known = "PoCL 3.0" in device.info.platform_version
    if not (is_known and processor_name.is_taken_for_less(device.info)):
        pytest.skip(f"nothing is known against {device.name}")
    untold = drivers.driver_of(device.info)._replace(processor="")
    outcome = drivers.run_trial("check", untold, Vectors(64, fma))
    assert outcome.failure is not None
    assert outcome.is_final


def test_a_driver_that_ends_the_process_is_refused(device, monkeypatch, tmp_path):
    if not device.is_cpu:
        pytest.skip(f"{device.name} is no CPU")
    monkeypatch.setattr(
        drivers, "CHILD", ("-c", "import os; print('linked', flush=True); os.abort()")
    )
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    drivers._vectors.cache_clear()
    with pytest.raises(pt.DeviceError, match=r"is not used: its driver .*\nexit status -6"):
        Device(device.info).core.finish()
    with pytest.raises(pt.DeviceError, match="is not used"):
        Device.from_pyopencl(pyopencl.CommandQueue(device.context))
    drivers._vectors.cache_clear()


@pytest.mark.parametrize("part", drivers.PARTS)
def test_a_driver_that_computes_right_passes(device, part):
    driver_trial.check(device, part)


def test_wrong_numbers_are_found(device, monkeypatch):
    moved = driver_trial.moved

    def moved_otherwise(u, axis, cells):
        result = moved(u, axis, cells)
        result[3, 5] = np.nan if axis else result[3, 5] + 0.01
        return result

    monkeypatch.setattr(driver_trial, "moved", moved_otherwise)
    with pytest.raises(SystemExit, match=r"a sweep along axis 0 is wrong by 0\.01"):
        driver_trial.check(device, "across")
    with pytest.raises(SystemExit, match="a sweep along axis 1 is wrong by nan"):
        driver_trial.check(device, "along")
    exact = driver_trial.speed
    off = 0.01  # in what NumPy says of it alone
    monkeypatch.setattr(
        driver_trial, "speed", lambda x: exact(x) + (off if isinstance(x, np.ndarray) else 0)
    )
    with pytest.raises(SystemExit, match=r"a formula is wrong by"):
        driver_trial.check(device, "across")


def test_the_child_does_the_task_with_the_vectors_it_is_given(device, monkeypatch, capsys):
    tried = []
    monkeypatch.setattr(driver_trial, "_device", lambda driver, vectors: (driver, vectors))
    monkeypatch.setattr(driver_trial, "check", lambda device, part: tried.append((part, *device)))
    monkeypatch.setattr(driver_trial, "nanoseconds_per_particle", lambda device: 2.5)
    driver = drivers.driver_of(device.info)
    request = json.dumps([driver, Vectors(16, False)])
    driver_trial.main("along", request)
    assert tried == [("along", driver, Vectors(16, False))]
    assert capsys.readouterr().out == ""
    driver_trial.main("time", request)
    assert len(tried) == 1
    assert capsys.readouterr().out == "2.5\n"


def test_sweeps_are_timed(device, monkeypatch):
    monkeypatch.setattr(driver_trial, "POINTS", 16)
    monkeypatch.setattr(driver_trial, "SECONDS", 0)
    assert 0 < driver_trial.nanoseconds_per_particle(device) < np.inf


def test_a_driver_that_is_gone_fails(device):
    driver = drivers.driver_of(device.info)._replace(driver="another")
    outcome = drivers.run_trial("check", driver, Vectors(16, False))
    assert f"the device {device.name}" in outcome.failure
    assert "was not found" in outcome.failure
    assert not outcome.is_final


@pytest.mark.parametrize(
    ("error", "is_final"),
    [("OutOfMemoryError", False), ("DeviceError", False), ("BuildError", True)],
)
def test_calls_that_fail_are_tried_again_unless_it_is_the_compiler(
    device, monkeypatch, error, is_final
):
    failing = f"""
import sys
from particles.base import errors
from particles.trials import driver_trial
def fail(device, part):
    raise errors.{error}("it failed")
driver_trial.check = fail
driver_trial.main(*sys.argv[1:])
"""
    monkeypatch.setattr(drivers, "CHILD", ("-c", failing))
    outcome = drivers.run_trial("check", drivers.driver_of(device.info), Vectors(16, False))
    assert outcome.failure.endswith("it failed")
    assert outcome.is_final == is_final
