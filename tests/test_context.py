# SPDX-License-Identifier: BSD-3-Clause
"""Launching, profiling, and what happens after a fork."""

from concurrent.futures import ThreadPoolExecutor

import child
import particles as pt
import pyopencl
import pytest
from particles import _core
from particles.device import as_device

BYTES_OF_A_SELF_TEST = 3 * 4 * 1000


@pytest.fixture
def core(device):
    device.core.run_self_test()  # the driver may link the kernel now, and does so once
    return _core.Context.open(device.info, "")


def test_a_device_passes_its_self_test(core):
    core.run_self_test()
    assert (core.bytes_held, core.buffers_held) == (0, 0)


def test_a_program_is_compiled_once(core):
    core.run_self_test()
    core.run_self_test()
    assert (core.programs_compiled, core.programs_loaded) == (1, 0)


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
    before = device.core.queue_pointer
    with pt.profile(device):
        device.core.run_self_test()
        assert device.core.queue_pointer != before
    device.core.run_self_test()
    assert device.core.queue_pointer == before
    with pt.profile(device) as p:
        pass
    assert p.kernels == {}
    assert str(p) == "no kernel ran"


def test_a_profile_ends_when_its_block_fails(device):
    with pytest.raises(ValueError, match="no such"), pt.profile(device):
        as_device("no such device")
    with pytest.raises(pt.DeviceError, match="no profile"):
        device.core.stop_profile()


def test_one_profile_at_a_time(device):
    with pt.profile(device), pytest.raises(pt.DeviceError, match="already"):
        device.core.start_profile()


def test_threads_share_a_device(device):
    with pt.profile(device) as p, ThreadPoolExecutor(8) as threads:
        for test in [threads.submit(device.core.run_self_test) for _ in range(200)]:
            test.result()
    assert p.kernels["saxpy"].launches == 200


def test_a_queue_needs_its_own_context(device):
    queue = device.queue
    other = pyopencl.Context([queue.device])
    with pytest.raises(pt.DeviceError, match="another context"):
        _core.Context.adopt(other.int_ptr, queue.int_ptr, "")


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
            actions = [core.run_self_test, core.finish, core.start_profile,
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
                os._exit(0 if "spawn" in str(error) else 5)
            os._exit(6)
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
