# SPDX-License-Identifier: BSD-3-Clause
"""A driver that does not know the processor is told of an older one, where that is right."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import particles as pt
import pyopencl
import pytest
from particles import _core
from particles.runtime import drivers, processor_name
from particles.runtime.child import Outcome
from particles.runtime.drivers import Vectors

from tests.support import child
from tests.support.stand_ins import stand_in

UNKNOWN = "exit status 1: BUILD\nerror: unknown target CPU 'generic'"
REFUSED = Outcome("", UNKNOWN, True)
PASSED = Outcome("", None, True)
NEW = "flags\t\t: " + " ".join(sorted(processor_name.KNOWN[0].flags)) + " amx_tile avx10\n"
OLD = "flags\t\t: " + " ".join(sorted(processor_name.KNOWN[1].flags)) + "\n"


class Machine:
    """A driver, what comes of its trials by the processor it is told of, and what it was told."""

    def __init__(self, library):
        self.library = library
        self.trials = {"": REFUSED, "skylake-avx512": PASSED, "haswell": PASSED}
        self.tried, self.told = [], []

    def run_trial(self, task, driver, vectors):
        self.tried.append(driver.processor)
        return self.trials[driver.processor]

    def tell(self, device, *layout_name_hash):
        self.told.append(layout_name_hash)

    def use(self, known_as="generic", **options):
        """Use it in a new process; return the vectors that it may have, and what it was told."""
        drivers._vectors.cache_clear()
        processor_name._told.clear()
        processor_name._sum.cache_clear()
        info = stand_in(version=f"OpenCL 3.0 PoCL HSTR: pthread-{known_as}", pointer=42).info
        usable = drivers.usable(info, **options)
        return Vectors(usable.widest_vector, usable.vector_fma), processor_name.told(info)


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """Return a machine whose driver is known and whose processor has all that is asked for."""
    library = tmp_path / "libpocl.so"
    library.write_bytes(b"the driver")
    layout = {_core.sha256(b"the driver"): (1, 2, 3, 4)}
    machine = Machine(library)
    monkeypatch.setattr(processor_name, "LAYOUTS", layout)
    monkeypatch.setattr(_core, "library_of", lambda device: str(library))
    monkeypatch.setattr(_core, "tell_processor", machine.tell)
    monkeypatch.setattr(drivers, "run_trial", machine.run_trial)
    monkeypatch.setattr(processor_name, "platform", SimpleNamespace(machine=lambda: "x86_64"))
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PARTICLES_REPAIR", raising=False)
    machine.cpuinfo = 2 * NEW
    monkeypatch.setattr(processor_name, "_cpuinfo", lambda: machine.cpuinfo)
    yield machine
    drivers._vectors.cache_clear()
    processor_name._sum.cache_clear()
    processor_name._told.clear()


def test_the_newest_processor_with_the_same_instructions(machine):
    assert machine.use() == ((64, True), "skylake-avx512")
    assert machine.tried == ["", "skylake-avx512"]
    ((*layout, name, hash),) = machine.told
    assert (layout, name) == ([1, 2, 3, 4], "skylake-avx512")
    assert hash.startswith("pthread-generic-skylake-avx512-")


def test_it_is_tried_once_and_told_in_every_process(machine):
    first = machine.use()
    assert machine.use() == first
    assert machine.tried == ["", "skylake-avx512"]
    assert len(machine.told) == 2


def test_where_it_must_not_be_told_it_is_refused_told_or_not(machine):
    info = stand_in(version="OpenCL 3.0 PoCL HSTR: pthread-generic", pointer=42).info
    for words in ("unknown target CPU 'generic'", "is told of another one"):
        with pytest.raises(pt.DeviceError, match=words):
            drivers.usable(info, may_tell=False)
        drivers.usable(info)
    assert len(machine.told) == 1


def test_one_that_is_taken_for_less_has_the_instructions_that_it_has(machine):
    """With other drivers beside it, too, and however often it is asked for."""
    for options in {}, {"may_tell": False}:
        assert machine.use("znver3", **options) == ((64, True), "skylake-avx512")
    assert machine.tried == ["skylake-avx512"]
    known_anew = stand_in(version=f"OpenCL 3.0 PoCL HSTR: {machine.told[0][-1]}", pointer=42).info
    assert drivers.usable(known_anew, may_tell=False).widest_vector == 64


@pytest.mark.parametrize("situation", ["flags", "build", "off", "trial"])
def test_one_that_is_taken_for_less_stays_so_where_it_cannot_be_told(
    machine, monkeypatch, situation
):
    machine.trials[""] = PASSED
    if situation == "flags":
        machine.cpuinfo = OLD
    elif situation == "build":
        machine.library.write_bytes(b"the driver, changed")
    elif situation == "off":
        monkeypatch.setenv("PARTICLES_REPAIR", "off")
    else:
        machine.trials["skylake-avx512"] = Outcome("", "exit status -6: it fell", True)
    assert machine.use("znver3") == ((64, True), "")
    assert "haswell" not in machine.tried
    assert machine.told == []


def test_an_older_one_where_instructions_are_missing(machine):
    machine.cpuinfo = NEW + OLD  # one processor of the machine has fewer
    assert machine.use() == ((64, True), "haswell")
    assert machine.tried == ["", "haswell"]


def test_an_older_one_where_the_trial_fails(machine):
    machine.trials["skylake-avx512"] = Outcome("", "exit status -6: it fell", True)
    assert machine.use()[1] == "haswell"
    assert set(machine.tried) == {"", "skylake-avx512", "haswell"}


def test_programs_are_told_from_those_of_other_processors(machine):
    for machine.cpuinfo in (NEW, NEW.replace("amx_tile", "")):
        machine.use()
    first, second = (told[-1] for told in machine.told)
    assert first != second


def lacking(machine, flag):
    machine.cpuinfo = machine.cpuinfo.replace(f" {flag} ", " ")
    return f"this processor lacks what haswell has: {flag}"


def forbidden(machine, monkeypatch):
    monkeypatch.setenv("PARTICLES_REPAIR", "Off")
    return "PARTICLES_REPAIR is off"


def another_library(machine, monkeypatch):
    machine.library.write_bytes(b"the driver, changed")
    return "it is none of the builds that can be told of an older one"


def no_library(machine, monkeypatch):
    machine.library.unlink()
    return "it is none of the builds"


def another_machine(machine, monkeypatch):
    monkeypatch.setattr(processor_name, "platform", SimpleNamespace(machine=lambda: "aarch64"))
    return "this processor lacks what haswell has: abm, "


def no_cpuinfo(machine, monkeypatch):
    machine.cpuinfo = ""
    return "this processor lacks what haswell has: abm, "


def no_trial_passes(machine, monkeypatch):
    fell = Outcome("", "exit status -6: it fell", True)
    machine.trials.update({"skylake-avx512": fell, "haswell": fell})
    return "told of an older one it fails its trial"


def told_otherwise(machine, monkeypatch):
    def refuse(*args):
        raise pt.DeviceError("it compiles for rocketlake")

    monkeypatch.setattr(_core, "tell_processor", refuse)
    return "it compiles for rocketlake"


@pytest.mark.parametrize(
    "situation",
    [
        forbidden,
        another_library,
        no_library,
        another_machine,
        no_cpuinfo,
        no_trial_passes,
        told_otherwise,
        *("avx2", "fma", "bmi2", "movbe"),
    ],
)
def test_where_it_would_be_wrong_the_driver_is_refused(machine, monkeypatch, situation):
    if isinstance(situation, str):
        reason = lacking(machine, situation)
    else:
        reason = situation(machine, monkeypatch)
    for _ in ("tried", "remembered"):
        with pytest.raises(pt.DeviceError, match="does not know it") as refusal:
            machine.use()
        assert UNKNOWN in str(refusal.value)
        assert reason in str(refusal.value)
        assert "apt-get install pocl-opencl-icd" in str(refusal.value)
    assert machine.told == []


def test_nothing_is_told_without_the_words_of_the_compiler(machine):
    machine.trials[""] = Outcome("", "exit status 1: a sweep is wrong", True)
    with pytest.raises(pt.DeviceError, match="a sweep is wrong"):
        machine.use()
    assert set(machine.tried) == {""}
    assert machine.told == []


def test_a_cache_that_cannot_be_written_costs_trials_alone(machine, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", os.devnull)
    for _ in range(2):
        assert machine.use() == ((64, True), "skylake-avx512")
    assert machine.tried == 2 * ["", "skylake-avx512"]


def test_a_wrong_setting_is_refused(machine, monkeypatch):
    monkeypatch.setenv("PARTICLES_REPAIR", "maybe")
    with pytest.raises(ValueError, match="PARTICLES_REPAIR must be on or off, not 'maybe'"):
        machine.use()


SWEEP = """
import sys
import numpy as np
import particles as pt
import pyopencl
from particles.runtime import processor_name
from particles.cli.main import main

grid = pt.Grid((64, 64))
u = pt.Field(grid)
u[20:30] = 1
velocity = pt.Field(grid, 2)
velocity[...] = 1
transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u), order=1)
transport.step(0.25)
expected = np.zeros(grid.shape)
expected[36:46] = 1
np.testing.assert_allclose(u, expected, atol=1e-6)
told = processor_name.told(u.device.info)
processor_name.tell(u.device.info, told)
try:
    processor_name.tell(u.device.info, "znver3")
except pt.DeviceError as error:
    assert f"compiles for {told} and is not told of znver3" in str(error)
else:
    raise AssertionError("it was told twice")
queue = pyopencl.CommandQueue(pyopencl.Context([u.device.queue.device]))
assert pt.Device.from_pyopencl(queue).core.device.widest_vector == u.device.info.widest_vector
sys.exit(main(["info"]))
"""


@pytest.fixture
def alone(tmp_path):
    """Return environment variables with which PyPI's PoCL is all there is, and knows no processor."""
    libraries = (Path(pyopencl.__file__).parent / ".libs").glob("libpocl-*")
    if not any(
        processor_name._sum(str(library)) in processor_name.LAYOUTS for library in libraries
    ):
        pytest.skip("the PoCL of PyPI that is known is not here")
    if not processor_name.KNOWN[1].flags <= processor_name._flags():
        pytest.skip("this processor lacks what would be told")
    forgets = str(Path(__file__).parent / "unknown_processor")
    return {
        "PYTHONPATH": os.pathsep.join([forgets, *sys.path]),
        "OPENCL_VENDOR_PATH": "/nonexistent",
        "OCL_ICD_VENDORS": None,
        "PARTICLES_OPENCL": None,
        "PARTICLES_DEVICE": None,
        "PARTICLES_CACHE": str(tmp_path / "cache"),
        "POCL_CACHE_DIR": str(tmp_path / "kernels"),
    }


@pytest.mark.sampled
def test_a_sweep_where_pypis_driver_is_alone_and_older_than_the_processor(alone):
    output = child.check(SWEEP, **alone)
    assert "is told, in memory, that it is" in output
    assert "self-test passed" in output
    status, _, errors = child.run(SWEEP, PARTICLES_REPAIR="off", **alone)
    assert status == 1
    assert "does not know it (PARTICLES_REPAIR is off" in errors


MIXED = """
import sys
import numpy as np
import particles as pt
import pyopencl
import pyopencl.array
from particles import _core
from particles.runtime import loader, processor_name

loader.load()
(platform,) = pyopencl.get_platforms()
queue = pyopencl.CommandQueue(pyopencl.Context(platform.get_devices()))
((info,),) = [platform.devices for platform in _core.list_platforms()]
is_unknown = info.version.endswith("-generic")
if is_unknown and sys.argv[1] == "before":
    print("builds nothing")
    sys.exit()
is_less = is_unknown or processor_name.is_taken_for_less(info)
if sys.argv[2] == "taken for less":
    known = [known for known in processor_name.KNOWN if known.flags <= processor_name._flags()]
    processor_name.KNOWN = known[:1]
    processor_name.TAKEN_FOR_LESS = info.version[-4:]
    is_less = True

def expected(x):
    return 2 * np.exp(x) - np.sin(x)
def theirs(lanes):
    text = "__kernel void values(__global T *x) { x[0] = 2 * exp(x[0]) - sin(x[0]); }"
    program = pyopencl.Program(queue.context, text.replace("T", f"double{lanes}".rstrip("1")))
    kernel = pyopencl.Kernel(program.build(), "values")
    x = pyopencl.array.to_device(queue, np.arange(8.0))
    def run():
        x[:] = np.arange(8.0)
        kernel(queue, (1,), None, x.data)
        np.testing.assert_allclose(x.get()[:lanes], expected(np.arange(8.0))[:lanes], rtol=1e-12)
        return x.get().tobytes()
    return run
def ours():
    u = pt.Field(pt.Grid(64), device=pt.Device.from_pyopencl(queue))
    u[...] = expected
    np.testing.assert_allclose(u, expected(np.arange(64) / 64), atol=1e-6)

if sys.argv[1] == "before":
    before = theirs(1)
    first = before()
    ours()
    assert before() == first
    assert processor_name.told(info) == ""
else:
    ours()
    theirs(8)()
    assert bool(processor_name.told(info)) == is_less
"""


@pytest.mark.sampled
@pytest.mark.parametrize("flags", ["", "-cl-opt-disable"])
@pytest.mark.parametrize("processor", ["as it is", "taken for less"])
@pytest.mark.parametrize("built", ["before", "after"])
def test_a_driver_that_has_compiled_is_told_nothing(alone, built, processor, flags):
    """Its optimiser and its code generator would take vectors to be of different widths."""
    alone["PYTHONPATH"] = alone["PYTHONPATH"].partition(os.pathsep)[2]
    if child.check(MIXED, built, processor, POCL_EXTRA_BUILD_FLAGS=flags, **alone):
        pytest.skip("this driver builds nothing before it is told")


FORMULA = """
import sys
from particles import _core
from particles.runtime import loader
from particles.runtime.drivers import Vectors, driver_of
from particles.trials import driver_trial
loader.load()
(info,) = [device for platform in _core.list_platforms() for device in platform.devices]
driver = driver_of(info)._replace(processor="haswell")
driver_trial._check_formula(driver_trial._device(driver, Vectors(int(sys.argv[1]), False)))
"""


def test_formulas_are_tried_in_vectors(alone):
    """Those of 64 bytes do not reach this driver's library where kernels have 32."""
    if not processor_name.KNOWN[0].flags <= processor_name._flags():
        pytest.skip("this processor's vectors have 32 bytes")
    assert child.run(FORMULA, 32, **alone)[0] == 0
    assert child.run(FORMULA, 64, **alone)[0] != 0
