# SPDX-License-Identifier: BSD-3-Clause
"""Of several CPUs the one that sweeps fastest is the default: measured once, then remembered."""

import itertools
from pathlib import Path

import particles as pt
import pytest
from particles.runtime import cache, drivers
from particles.runtime import choice as choice_module
from particles.runtime.child import Outcome

from tests.support.stand_ins import stand_in


class Machine:
    """Drivers that need so many nanoseconds (None: they fail), and what was asked of them."""

    def __init__(self):
        self.nanoseconds = {}
        self.timed = []
        self.refused = set()
        self.to_be_told = set()
        self.tried = []

    def usable(self, info, may_tell=True):
        self.tried.append(info.name)
        if info.name in self.to_be_told and not may_tell:
            raise pt.DeviceError(f"{info.name}: {drivers.UNKNOWN_PROCESSOR} 'generic'")
        if info.name in self.refused:
            raise pt.DeviceError(f"{info.name} is refused")
        return info

    def run_trial(self, task, driver, vectors):
        assert task == "time"
        assert vectors == (64, True)
        self.timed.append(driver.name)
        time = self.nanoseconds[driver.name]
        return Outcome("", "it fell", True) if time is None else Outcome(f"{time}\n", None, True)

    def choose(self, *names, **facts):
        """Choose in a new process."""
        choice_module._best.cache_clear()
        cpus = [stand_in(index, name, **facts) for index, name in enumerate(names)]
        return choice_module.choose(cpus)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    machine = Machine()
    monkeypatch.setattr(drivers, "usable", machine.usable)
    monkeypatch.setattr(drivers, "run_trial", machine.run_trial)
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARTICLES_TUNE", raising=False)
    yield machine
    choice_module._best.cache_clear()


def test_the_fastest_is_chosen(machine):
    machine.nanoseconds = {"A": 2.0, "B": 0.5, "C": 1.0}
    choice = machine.choose("A", "B", "C")
    assert choice.device.name == "B"
    assert choice.reason == "its driver runs sweeps fastest"
    assert choice.nanoseconds == {0: 2.0, 1: 0.5, 2: 1.0}


def test_a_simulator_is_used_only_where_it_is_named(machine):
    machine.nanoseconds = {"A": 2.0, "B": 0.5}
    simulator = stand_in(0, "Simulator", "GPU", is_simulator=True)
    assert choice_module.choose([simulator, stand_in(1, "A")]).device.name == "A"
    assert choice_module.find("simul", [simulator]) is simulator
    with pytest.raises(pt.DeviceError, match=r"every device is a simulator.*0: Simulator"):
        choice_module.choose([simulator])


def test_the_choice_stays_whatever_the_speeds_are_later(machine):
    machine.nanoseconds = {"A": 2.0, "B": 0.5, "C": 1.0}
    machine.choose("A", "B", "C")
    machine.nanoseconds = {"A": 0.1, "B": 0.5, "C": 1.0}
    for names in itertools.permutations("ABC"):
        assert machine.choose(*names).device.name == "B"
    assert machine.timed == ["A", "B", "C"]


@pytest.mark.parametrize("changed", ["driver", "driver's platform", "version", "kernels", "file"])
def test_what_decides_makes_it_measured_again(machine, changed, tmp_path, monkeypatch):
    machine.nanoseconds = {"A": 2.0, "B": 0.5}
    machine.choose("A", "B")
    machine.nanoseconds = {"A": 0.1, "B": 0.5}
    facts = {}
    if changed == "driver":
        facts = {"driver": "2.0"}
    elif changed == "driver's platform":
        facts = {"platform_version": "OpenCL 3.1"}
    elif changed == "version":
        monkeypatch.setattr(drivers, "__version__", "99.0")
    elif changed == "kernels":
        monkeypatch.setattr(drivers, "_kernels", lambda: "others")
    else:
        for path in (tmp_path / "cache").iterdir():
            path.write_bytes(b'{"A": ')
    assert machine.choose("A", "B", **facts).device.name == "A"
    assert machine.timed == ["A", "B", "A", "B"]


def test_without_a_cache_folder_a_process_measures_once(machine, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", "/proc/particles")
    machine.nanoseconds = {"A": 2.0, "B": 0.5}
    cpus = [stand_in(0, "A"), stand_in(1, "B")]
    assert {choice_module.choose(cpus).device.name for _ in range(3)} == {"B"}
    assert machine.timed == ["A", "B"]


def test_of_two_processes_that_measure_at_once_the_first_decides(machine, monkeypatch):
    machine.nanoseconds = {"A": 2.0, "B": 0.5}
    machine.choose("A", "B")
    (path,) = Path(cache.cache_folder()).iterdir()
    first = path.read_text()
    path.unlink()

    def run_trial(task, driver, vectors):
        path.write_text(first)
        return Outcome({"A": "0.1", "B": "0.5"}[driver.name], None, True)

    monkeypatch.setattr(drivers, "run_trial", run_trial)
    assert machine.choose("A", "B").device.name == "B"


def test_a_driver_that_is_refused_is_left_out(machine):
    machine.nanoseconds = {"A": 2.0, "B": 0.5, "C": 1.0}
    machine.refused = {"B"}
    choice = machine.choose("A", "B", "C")
    assert choice.device.name == "C"
    assert choice.nanoseconds == {0: 2.0, 2: 1.0}


def test_the_only_one_that_can_be_used_is_not_measured(machine):
    machine.refused = {"A"}
    choice = machine.choose("A", "B")
    assert choice.device.name == "B"
    assert choice.reason == "it is the only CPU whose driver can be used"
    assert machine.timed == []


def test_a_driver_that_does_not_know_the_processor_is_told_where_no_other_can_be_used(machine):
    machine.nanoseconds = {"A": 0.5, "B": 2.0}
    machine.to_be_told = {"A"}
    assert machine.choose("A", "B").reason == "it is the only CPU whose driver can be used"
    machine.refused = {"B"}
    assert machine.choose("A", "B").device.name == "A"
    assert machine.timed == []


def test_no_driver_that_can_be_used(machine):
    machine.refused = {"A", "B"}
    with pytest.raises(pt.DeviceError, match="no CPU can be used:\nA is refused\nB is refused"):
        machine.choose("A", "B")
    assert sorted(machine.tried) == ["A", "B"]


def test_a_driver_that_cannot_be_timed_is_not_chosen(machine):
    machine.nanoseconds = {"A": None, "B": 2.0}
    for _ in ("measured", "remembered"):
        choice = machine.choose("A", "B")
        assert choice.device.name == "B"
        assert choice.nanoseconds == {1: 2.0}
    assert machine.timed == ["A", "B"]


def test_what_came_to_no_end_is_not_remembered(machine, monkeypatch):
    machine.nanoseconds = {"A": 0.5, "B": 2.0}
    ended = machine.run_trial

    def run_trial(task, driver, vectors):
        outcome = ended(task, driver, vectors)
        return outcome if driver.name == "B" else Outcome("", "no memory", is_final=False)

    monkeypatch.setattr(drivers, "run_trial", run_trial)
    assert machine.choose("A", "B").device.name == "B"
    monkeypatch.setattr(drivers, "run_trial", ended)
    assert machine.choose("A", "B").device.name == "A"


def test_the_first_where_none_can_be_timed(machine):
    machine.nanoseconds = {"A": None, "B": None}
    choice = machine.choose("A", "B")
    assert choice.device.name == "A"
    assert choice.reason == "it is the first CPU, and no driver's sweeps could be timed"


@pytest.mark.parametrize("off", ["off", " OFF "])
def test_nothing_is_measured_where_the_user_says_so(machine, monkeypatch, off):
    monkeypatch.setenv("PARTICLES_TUNE", off)
    choice = machine.choose("A", "B")
    assert choice.device.name == "A"
    assert choice.reason == "it is the first CPU, and PARTICLES_TUNE is 'off'"
    assert machine.timed == []


def test_one_cpu_is_not_measured(machine):
    machine.refused = {"A"}  # said when it is opened
    assert machine.choose("A").device.name == "A"
    assert machine.timed == []


def test_with_a_gpu_no_cpu_is_measured(machine):
    cpus = [stand_in(0, "A"), stand_in(1, "B")]
    gpu = stand_in(2, "C", kind="GPU")
    assert choice_module.choose([*cpus, gpu]).device is gpu
    assert machine.timed == []
