# SPDX-License-Identifier: BSD-3-Clause
"""Disks that fill, folders that cannot be written, and damaged files of the cache."""

import contextlib
import gc
import math
import os
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import particles as pt
import pytest
from particles import _core
from particles._core import testing
from particles.runtime import cache, drivers
from particles.runtime import child as child_module
from particles.tuning import tuner

from tests.io.test_checkpoint import bits, plain
from tests.runtime.test_program_cache import SOURCE
from tests.support import child
from tests.tuning.test_tuner import operators, tuning

pytestmark = pytest.mark.one_device

ROOT = Path(__file__).parents[2]

__all__ = ["tuning"]  # a fixture


@contextlib.contextmanager
def disk_full_after(size):
    """Let no file grow beyond so many bytes.

    Files that other tests have left in cycles are not closed meanwhile: that would fail here.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    gc.disable()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        gc.enable()


def test_a_disk_that_fills_leaves_the_old_checkpoint_and_the_run(device, tmp_path):
    path = tmp_path / "checkpoint"
    transport, other = plain(device), plain(device)
    transport.step(0.02)
    pt.io.checkpoint(path, transport)
    old, at = path.read_bytes(), bits(transport)
    transport.step(0.02)
    for size in (0, 1, 100, len(old) // 2, len(old) - 1):
        with disk_full_after(size), pytest.raises(OSError, match="File too large"):
            pt.io.checkpoint(path, transport)
        assert list(tmp_path.iterdir()) == [path]
        assert path.read_bytes() == old
    transport.step(0.02)
    pt.io.restore(path, other)
    assert bits(other) == at
    for _ in range(2):
        other.step(0.02)
    assert bits(other) == bits(transport)


def test_a_checkpoint_to_where_no_file_can_be_names_that_place(device, tmp_path):
    transport = plain(device)
    missing, folder = tmp_path / "missing", tmp_path / "folder"
    with pytest.raises(FileNotFoundError) as caught:
        pt.io.checkpoint(missing / "checkpoint", transport)
    assert caught.value.filename == str(missing)
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        pt.io.checkpoint(folder, transport)
    assert caught.value.filename == str(folder)
    assert list(tmp_path.iterdir()) == [folder]


def programs_of(device, folder):
    core = _core.Context.open(device.info, str(folder))
    core.build(SOURCE, "-DNUMBER=1")
    return testing.programs_compiled(core), testing.programs_loaded(core)


@pytest.fixture
def full_disk(tmp_path):
    """Return a folder without room for another byte; only a privileged user can have one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "particles", place]
    try:
        subprocess.run(mount, check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as file:
        while file.write(b"0" * 1024):
            pass
    yield place
    subprocess.run(["umount", place], check=True, timeout=30)


def test_a_full_disk_keeps_no_program(device, full_disk):
    for _ in range(2):
        assert programs_of(device, full_disk) == (1, 0)
    assert [path.name for path in full_disk.iterdir()] == ["filler"]
    (full_disk / "filler").write_bytes(b"")
    assert programs_of(device, full_disk)[0] == 1


def test_a_disk_that_fills_keeps_no_facts_and_no_remains(tmp_path):
    path = tmp_path / "facts"
    cache.write_facts(path, {"a": 1})
    with disk_full_after(5):
        cache.write_facts(path, {"a": 2})
    assert list(tmp_path.iterdir()) == [path]
    assert cache.read_facts(path) == {"a": 1}


@pytest.mark.sampled
def test_a_damaged_program_is_compiled_anew(device, tmp_path):
    programs_of(device, tmp_path)
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    size, header = len(sound), sound.index(b"\n\n") + 2
    places = [*range(0, header, 4), *range(header, size, size // 10), size - 1]
    for place in places:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << place % 8
        for content in damaged, sound[:place]:
            path.write_bytes(content)
            assert programs_of(device, tmp_path) == (1, 0)
    assert programs_of(device, tmp_path) == (0, 1)


@pytest.fixture
def quick_folder():
    """Return a folder in memory, if there is one: to a disk, gigabytes take minutes."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.mark.exhaustive
def test_each_damaged_byte_and_each_length_of_a_program_is_noticed(device, tmp_path, quick_folder):
    folder, checker = quick_folder / "programs", tmp_path / "checker"
    programs_of(device, folder)
    (path,) = folder.iterdir()
    sources = [ROOT / "cpp" / "opencl" / name for name in ("program_file.cpp", "sha256.cpp")]
    compile_ = ["c++", "-std=c++17", "-O2", "-I", ROOT / "cpp", *sources]
    try:
        subprocess.run(
            [*compile_, ROOT / "tests" / "damaged_programs.cpp", "-o", checker], check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"what damages files cannot be built here: {error}")
    size = path.stat().st_size
    told = subprocess.run([checker, folder, path.stem], check=True, capture_output=True, text=True)
    assert told.stdout == f"{2 * size} damages\n"
    print(told.stdout)
    assert programs_of(device, folder) == (0, 1)


def damages(sound):
    for place in range(len(sound)):
        damaged = bytearray(sound)
        damaged[place] ^= 1 << place % 8
        yield damaged
        yield sound[:place]


def test_each_damage_to_a_choice_of_the_tuner_leaves_a_form_of_the_same_bits(
    tuning, device, monkeypatch
):
    push, remesh = operators(device)
    tuner.forms_for(push, remesh, time=0.0, steps=math.inf)
    path = min(Path(cache.cache_folder()).glob("form-*"))
    task = tuner.task_of(push, remesh, 0.0)
    axis = next(axis for axis in range(3) if tuner._path(task, axis) == path)
    allowed = {None, pt.Form(), *tuner.candidates(task, axis, thorough=True)}
    for content in damages(path.read_bytes()):
        path.write_bytes(content)
        monkeypatch.setattr(tuner, "_chosen", {})
        assert tuner._known(task, axis, thorough=False) in allowed


def test_each_damage_to_what_is_known_of_a_driver_makes_it_tried_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path))
    outcome = child_module.Outcome("", None, is_final=True)
    monkeypatch.setattr(drivers, "run_trial", lambda *args: outcome)
    driver = drivers.Driver("platform", "version", "driver", "name", True)
    found = drivers._vectors.__wrapped__(driver)
    (path,) = tmp_path.iterdir()
    for content in damages(path.read_bytes()):
        path.write_bytes(content)
        assert drivers._vectors.__wrapped__(driver) == found


def test_a_child_that_is_killed_is_an_outcome_and_no_answer():
    outcome = child_module.run_in_child(
        "-c", f"import os; os.kill(os.getpid(), {signal.SIGKILL:d})"
    )
    assert outcome.failure == "exit status -9: "
    assert not outcome.is_final


def test_a_trial_that_is_killed_is_an_exception_and_tried_again(device, tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path))
    monkeypatch.setattr(drivers, "CHILD", ("-c", "import os; os.kill(os.getpid(), 9)"))
    driver = drivers.driver_of(device.info)
    with pytest.raises(pt.DeviceError, match="failed a trial in a child process:\nexit status -9"):
        drivers._vectors.__wrapped__(driver)
    assert list(tmp_path.iterdir()) == []


WITHOUT_FOLDERS = """
import sys
import numpy as np
import particles as pt
device = pt.devices()[int(sys.argv[1])]
field = pt.Field(pt.Grid((6, 10)), device=device)
field[...] = np.arange(60).reshape(6, 10)
print(field.sum())
"""


@pytest.mark.sampled
def test_no_folder_can_be_written(device):
    nowhere = "/proc/nowhere"
    variables = {"HOME": nowhere, "XDG_CACHE_HOME": None, "PARTICLES_CACHE": nowhere}
    # Only the driver's own compiler needs a folder.
    kept = os.environ.get("POCL_CACHE_DIR") or str(Path.home() / ".cache" / "pocl")
    output = child.check(WITHOUT_FOLDERS, device.index, POCL_CACHE_DIR=kept, **variables)
    assert float(output) == sum(range(60))
