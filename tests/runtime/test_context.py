# SPDX-License-Identifier: BSD-3-Clause
"""Launching, profiling, and what a process of its own may do to a device or find there."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import particles as pt
import pyopencl
import pyopencl.array
import pytest
from particles import _core
from particles._core import testing
from particles.runtime.device import Device
from particles.runtime.devices import as_device

from tests.support import child

BYTES_OF_A_SELF_TEST = 3 * 4 * 1000


@pytest.fixture
def core(device):
    device.core.run_self_test()  # the driver may link the kernel now, and does so once
    return _core.Context.open(device.info, "")


def test_a_device_passes_its_self_test(core):
    core.run_self_test()
    assert (core.bytes_held, testing.buffers_held(core)) == (0, 0)


def test_a_program_is_compiled_once(core):
    core.run_self_test()
    core.run_self_test()
    assert (testing.programs_compiled(core), testing.programs_loaded(core)) == (1, 0)


def test_a_profile_counts_every_launch(device):
    launches = 700  # more than are kept under way at once
    with pt.profile(device) as p:
        for _ in range(launches):
            device.core.run_self_test()
    time = p.kernels["saxpy"]
    assert list(p.kernels) == ["saxpy"]
    assert time.launches == launches
    assert time.bytes == launches * BYTES_OF_A_SELF_TEST
    assert 0 < time.seconds == p.seconds
    assert time.gigabytes_per_second == pytest.approx(time.bytes / time.seconds / 1e9)


def test_a_profile_is_a_table(device):
    with pt.profile(device) as p:
        device.core.run_self_test()
    header, row = str(p).splitlines()
    assert header.split() == ["kernel", "launches", "seconds", "share", "GB/s"]
    assert row.split()[:2] == ["saxpy", "1"]
    assert row.split()[3] == "100.0%"


def test_nothing_is_left_of_a_profile(device):
    with pt.profile(device):
        device.core.run_self_test()
    device.core.run_self_test()
    with pt.profile(device) as p:
        pass
    assert p.kernels == {}
    assert str(p) == "no kernel ran"


def test_a_profile_leaves_the_queue_alone(device):
    before = device.core.queue_pointer
    with pt.profile(device):
        device.core.run_self_test()
        assert device.core.queue_pointer == before
        assert Device.from_pyopencl(device.queue) is device
    assert device.core.queue_pointer == before


CONTEXTS = []  # a queue of Intel's driver does not keep its context alive


def make_queue(device, **properties):
    CONTEXTS.append(pyopencl.Context([device.queue.device]))
    return pyopencl.CommandQueue(CONTEXTS[-1], **properties)


def test_a_profile_of_an_adopted_queue_keeps_its_order(device):
    queue = make_queue(device, properties=pyopencl.command_queue_properties.PROFILING_ENABLE)
    add = pyopencl.Program(queue.context, SLOW_ADDITION).build().add
    grid = pt.Grid((64, 64))
    array = pyopencl.array.zeros(queue, grid.shape, np.float32)
    field = pt.Field.from_pyopencl(array, grid)
    queue.finish()
    with pt.profile(field.device) as p:
        add(queue, (grid.size,), None, array.data)
        assert field.sum() == TURNS * grid.size
        field.fill(2)
        add(queue, (grid.size,), None, array.data)
        assert (array.get() == 2 + TURNS).all()
    assert p.kernels
    assert "add" not in p.kernels


TURNS = 20_000
SLOW_ADDITION = f"""
__kernel void add(__global volatile float* values) {{
  for (int turn = 0; turn < {TURNS}; ++turn) values[get_global_id(0)] += 1;
}}
"""


def test_a_queue_that_times_nothing_has_no_profile(device):
    plain = Device.from_pyopencl(make_queue(device))
    with (
        pytest.raises(pt.DeviceError, match=r"must be made with properties=.*PROFILING_ENABLE"),
        pt.profile(plain),
    ):
        raise AssertionError("the profile started")
    plain.core.run_self_test()
    assert plain.core.stop_profile(1) == {}


def test_a_profile_ends_when_its_block_fails(device):
    with pytest.raises(ValueError, match="no such"), pt.profile(device):
        as_device("no such device")
    with pt.profile(device):
        pass


def test_one_profile_at_a_time(device):
    with pt.profile(device) as p:
        with pytest.raises(pt.DeviceError, match="already"), pt.profile(device):
            raise AssertionError("the profile started")
        device.core.run_self_test()
    assert p.kernels


def test_threads_share_a_device(device):
    with pt.profile(device) as p, ThreadPoolExecutor(8) as threads:
        for test in [threads.submit(device.core.run_self_test) for _ in range(200)]:
            test.result()
    assert p.kernels["saxpy"].launches == 200


def test_a_queue_needs_its_own_context(device):
    queue = device.queue
    other = pyopencl.Context([queue.device])
    with pytest.raises(pt.DeviceError, match="another context"):
        _core.Context.adopt(device.info, other.int_ptr, queue.int_ptr, "")


def test_a_forked_process_is_refused_and_ends(device):
    child.check(
        """
        import os, sys
        import particles as pt

        def is_refused(action):
            try:
                action()
            except pt.DeviceError as error:
                return "fork" in str(error)
            return False

        device = pt.devices()[int(sys.argv[1])]
        device.core.run_self_test()
        process = os.fork()
        if process == 0:
            core = device.core
            actions = [core.run_self_test, core.finish, lambda: core.start_profile(1),
                       lambda: core.build("__kernel void f() {}")]
            refused = all(map(is_refused, actions))
            del core, actions, device
            sys.exit(0 if refused else 5)
        assert os.waitpid(process, 0)[1] == 0
        device.core.run_self_test()
        """,
        device.index,
    )


def test_a_device_found_before_a_fork_is_not_opened_after_it(device):
    child.check(
        """
        import os, sys
        import particles as pt
        device = pt.devices()[int(sys.argv[1])]
        process = os.fork()
        if process == 0:
            try:
                device.core
            except pt.DeviceError as error:
                sys.exit(0 if "spawn" in str(error) else 5)
            sys.exit(6)
        assert os.waitpid(process, 0)[1] == 0
        """,
        device.index,
    )


def test_a_process_may_end_with_work_under_way(device):
    child.check(
        """
        import sys
        import particles as pt
        device = pt.devices()[int(sys.argv[1])]
        fields = [pt.Field(pt.Grid((128, 128, 128)), device=device)]
        for _ in range(20):
            fields.append(fields[-1].copy())
        """,
        device.index,
    )


def cut(entry):
    entry.write_bytes(entry.read_bytes()[:-1])


def flip_in_the_middle(entry):
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)


def replace_by_noise(entry):
    entry.write_bytes(bytes(range(256)) * 100)


@pytest.mark.sampled
@pytest.mark.parametrize("damage", [cut, flip_in_the_middle, replace_by_noise])
def test_a_new_process_does_without_damaged_programs(device, tmp_path, damage):
    assert child.check(SUM_WITH_KEPT_PROGRAMS, device.index, tmp_path).split()[2:] == ["0"]
    entries = list(tmp_path.iterdir())
    for entry in entries:
        damage(entry)
    total, compiled, loaded = child.check(SUM_WITH_KEPT_PROGRAMS, device.index, tmp_path).split()
    assert float(total) == sum(range(60))
    assert (int(compiled), int(loaded)) == (len(entries), 0)


SUM_WITH_KEPT_PROGRAMS = """
import sys
import numpy as np
import particles as pt
from particles import _core
from particles._core import testing
info = pt.devices()[int(sys.argv[1])].info
device = pt.Device(info, _core.Context.open(info, sys.argv[2]))
field = pt.Field(pt.Grid((6, 10)), device=device)
field[...] = np.arange(60).reshape(6, 10)
print(field.sum(), testing.programs_compiled(device.core), testing.programs_loaded(device.core))
"""
