# SPDX-License-Identifier: BSD-3-Clause
"""Programs are compiled once, kept on disk, and rebuilt whenever what is kept cannot be trusted."""

import hashlib

import numpy as np
import particles as pt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from particles import DeviceError, _core
from particles._core import testing

from tests.support import child
from tests.support.usable import usable_devices

SOURCE = "__kernel void f(__global float* a) { a[0] = NUMBER; }"
PARTS = [
    "int number(void); __kernel void f(__global int* a) { a[0] = number(); }",
    "int number(void) { return 7; }",
]
"""Of one program."""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


def run_with(device, folder):
    """Open the device anew, run a kernel there, and return the programs compiled and loaded."""
    core = _core.Context.open(device.info, str(folder))
    core.run_self_test()
    return testing.programs_compiled(core), testing.programs_loaded(core)


def entry(folder):
    (path,) = folder.iterdir()
    return path


@given(st.binary(max_size=300))
def test_the_digest_is_sha256(content):
    assert _core.sha256(content) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("length", [0, 55, 56, 63, 64, 65, 119, 120, 10**6])
def test_the_digest_is_sha256_at_the_edges_of_blocks(length):
    assert _core.sha256(b"a" * length) == hashlib.sha256(b"a" * length).hexdigest()


def test_the_second_context_compiles_nothing(device, folder):
    assert run_with(device, folder) == (1, 0)
    assert run_with(device, folder) == (0, 1)


def test_a_second_process_compiles_nothing(device, folder):
    assert run_with(device, folder) == (1, 0)
    assert child.check(CHILD, device.index, folder).split() == ["0", "1"]


CHILD = """
import sys
import particles as pt
from particles import _core
from particles._core import testing
device = pt.devices()[int(sys.argv[1])]
device.core.finish()  # as all who use it: its driver knows the processor now
core = _core.Context.open(device.info, sys.argv[2])
core.run_self_test()
print(testing.programs_compiled(core), testing.programs_loaded(core))
"""


def test_parts_are_compiled_and_linked_once(device, folder):
    for expected in [(1, 0), (0, 1)]:
        core = _core.Context.open(device.info, str(folder))
        testing.link(core, PARTS, "f")
        assert (testing.programs_compiled(core), testing.programs_loaded(core)) == expected
    with pytest.raises(pt.BuildError, match=r"(?s)clCompileProgram.*no_such_name"):
        testing.link(core, [PARTS[0], "int number(void) { return no_such_name; }"], "f")


def test_processes_share_a_folder(device, folder):
    processes = [child.start(CHILD, device.index, folder) for _ in range(4)]
    for process in processes:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert sum(map(int, output.split())) == 1
    assert entry(folder).suffix == ".clbin"
    assert run_with(device, folder) == (0, 1)


def test_without_a_folder_nothing_is_written(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_with(device, "") == (1, 0)
    assert list(tmp_path.iterdir()) == []


def test_whatever_decides_the_binary_decides_the_entry(device, folder):
    core = _core.Context.open(device.info, str(folder))
    for source, options in [
        (SOURCE, "-DNUMBER=1"),
        (SOURCE, "-DNUMBER=2"),
        (SOURCE, "-DNUMBER=1 "),
        (SOURCE + " ", "-DNUMBER=1"),
    ] * 2:
        core.build(source, options)
    assert testing.programs_compiled(core) == len(list(folder.iterdir())) == 4


def test_every_device_has_its_own_entry(folder):
    listed = usable_devices()
    assert [run_with(device, folder) for device in listed] == [(1, 0)] * len(listed)
    assert len(list(folder.iterdir())) == len(listed)


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def cut_to_header(path):
    path.write_bytes(path.read_bytes()[:100])


def empty(path):
    path.write_bytes(b"")


def append(path):
    path.write_bytes(path.read_bytes() + b"\0")


def replace_by_noise(path):
    path.write_bytes(bytes(range(256)) * 100)


def flip(place):
    def flip_byte(path):
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    flip_byte.__name__ = f"flip_at_{place}"
    return flip_byte


def write_entry(path, key, binary):
    digest = hashlib.sha256(binary).hexdigest()
    header = f"particles program\nkey {key}\nlength {len(binary)}\nsha256 {digest}\n\n"
    path.write_bytes(header.encode() + binary)


def give_another_key(path):
    binary = path.read_bytes().partition(b"\n\n")[2]
    write_entry(path, "0" * 64, binary)


def give_what_the_driver_refuses(path):
    write_entry(path, path.stem, b"this is no program")


DAMAGES = [
    cut,
    cut_to_header,
    empty,
    append,
    replace_by_noise,
    give_another_key,
    give_what_the_driver_refuses,
    *map(flip, [0, 0.0005, 0.002, 0.1, 0.5, 1]),
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_entry_is_rebuilt(device, folder, damage):
    assert run_with(device, folder) == (1, 0)
    sound = entry(folder).read_bytes()
    damage(entry(folder))
    assert entry(folder).read_bytes() != sound
    assert run_with(device, folder) == (1, 0)
    assert run_with(device, folder) == (0, 1)


def test_the_entry_is_what_the_damages_take_it_for(device, folder):
    run_with(device, folder)
    path = entry(folder)
    write_entry(path, path.stem, path.read_bytes().partition(b"\n\n")[2])
    assert run_with(device, folder) == (0, 1)


def test_a_program_that_computes_wrong_fails_the_self_test(device, folder, tmp_path):
    run_with(device, folder)
    source = testing.kernel_source("runtime/selftest.cl").replace("a * x[i]", "a - x[i]")
    _core.Context.open(device.info, str(tmp_path / "other")).build(source)
    wrong = entry(tmp_path / "other").read_bytes().partition(b"\n\n")[2]
    write_entry(entry(folder), entry(folder).stem, wrong)
    core = _core.Context.open(device.info, str(folder))
    with pytest.raises(
        DeviceError, match=r"^the self-test failed on .*: number 0 should be 0\.0+ "
    ):
        core.run_self_test()
    assert testing.programs_loaded(core) == 1


def test_a_folder_in_place_of_an_entry_is_ignored(device, folder):
    run_with(device, folder)
    path = entry(folder)
    path.unlink()
    path.mkdir()
    assert run_with(device, folder) == (1, 0)
    assert entry(folder) == path


def test_a_file_in_place_of_the_folder_is_ignored(device, folder):
    folder.write_text("not a folder")
    assert run_with(device, folder) == (1, 0)
    assert folder.read_text() == "not a folder"


def test_a_folder_that_cannot_be_made_is_ignored(device):
    assert run_with(device, "/proc/particles") == (1, 0)


def test_a_folder_that_cannot_be_written_is_ignored(device, folder):
    folder.mkdir(mode=0o500)
    assert run_with(device, folder)[0] == 1


KEPT = 64  # programs that nobody holds


@pytest.mark.sampled
def test_programs_are_shared_while_somebody_holds_them_and_the_last_ones_are_kept(device):
    core = _core.Context.open(device.info, "")
    own = pt.Device(device.info, core)

    def push():
        return pt.AdvectionOp(pt.Velocity(pt.Grid(8), "1.5")).core_for(own, np.dtype(np.float32))

    def build(*numbers):
        """Return how many of these programs had to be compiled."""
        before = testing.programs_compiled(core)
        for number in numbers:
            core.build(SOURCE, f"-DNUMBER={number}")
        return testing.programs_compiled(core) - before

    first = push()
    its_own = testing.programs_held(core)
    assert its_own == testing.programs_compiled(core) > 0
    assert build(*range(KEPT)) == KEPT
    assert testing.programs_held(core) == KEPT + its_own
    second = push()
    assert testing.programs_compiled(core) == KEPT + its_own
    del first, second
    assert build(*range(KEPT, KEPT + its_own)) == its_own
    assert testing.programs_held(core) == KEPT  # the operator's is among them, used just before
    assert build(*range(2 * its_own, KEPT)) == 0
    assert build(0) == 1
    assert testing.programs_held(core) == KEPT
