# SPDX-License-Identifier: BSD-3-Clause
"""Threads, processes and devices side by side give the bits of one after the other."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles import _core

from tests.support import child
from tests.support.sweeps import box, field, noise
from tests.support.usable import usable_devices
from tests.trust import soak


def transports(device, shared):
    """Several transports, alike in nothing but what they share, if anything."""
    grid = box(33, 16)
    velocity = swirl_on(grid, device)
    advection = pt.AdvectionOp(velocity)
    made = []
    for number in range(4):
        u = field(noise(grid, number), grid, "float32", device)
        if shared == "nothing":
            velocity = swirl_on(grid, device)
        if shared != "advection":
            advection = pt.AdvectionOp(velocity)
        made.append(pt.Splitting(advection, pt.RemeshOp(u), (1, 2)[number % 2]))
    return made


def swirl_on(grid, device):
    x, y = grid.coordinates()
    return field(
        [0.05 * np.sin(6 * y) + 0 * x, 0.05 * np.cos(6 * x) + 0 * y], grid, "float32", device
    )


def results(made):
    return [one.remesh.fields[0].get() for one in made]


def run(one):
    one.run(1.0, 0.05, callback=lambda _: None, every=7)
    return threading.get_ident()


@pytest.mark.parametrize("shared", ["nothing", "velocity", "advection"])
def test_threads_on_one_device(device, shared):
    serial, parallel = (transports(device, shared) for _ in range(2))
    for one in serial:
        run(one)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, parallel))
    for expected, found in zip(results(serial), results(parallel), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_threads_launch_one_kernel(device):
    """Each in a queue of its own: who sets arguments also launches, before another sets them."""
    threads, times = 4, 1000
    source = "__kernel void put(const int n, __global int* to) { to[n] = n; }"
    kernel = _core.testing.Kernel(device.core, source, "put")
    array = _core.Array(device.core, threads * times, 1, "int32", "numbers")
    together = threading.Barrier(threads)

    def put(thread):
        queue = _core.testing.Queue(device.core)
        together.wait()
        for k in range(times):
            queue.launch(kernel, [("n", times * thread + k), ("to", array)])
        queue.finish()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(put, range(threads)))
    found = np.empty((threads * times, 1), np.int32)
    array.read([0, 0], found.shape, [1, 1], found)
    np.testing.assert_array_equal(found[:, 0], np.arange(threads * times))


def test_threads_on_every_device():
    """Each device by a thread of its own, all at once."""
    places = usable_devices()
    serial, parallel = ([transports(place, "velocity")[1] for place in places] for _ in range(2))
    for one in serial:
        run(one)
    with ThreadPoolExecutor(len(places)) as pool:
        list(pool.map(run, parallel))
    for expected, found in zip(results(serial), results(parallel), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_reading_while_another_thread_steps(device):
    """What is read is of one moment between two launches, and the run is not disturbed."""
    serial, disturbed = (transports(device, "velocity")[1] for _ in range(2))
    run(serial)
    u = disturbed.remesh.fields[0]
    ends = threading.Event()
    seen = []

    def read():
        while not ends.is_set():
            seen.append((u.sum(), disturbed.time, u[0, 0]))

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        run(disturbed)
        ends.set()
        reader.result()
    assert all(np.isfinite(found).all() for found in seen)
    np.testing.assert_array_equal(u.get(), serial.remesh.fields[0].get())


CODE = """
import hashlib
import numpy as np
import particles as pt

grid = pt.Grid((33, 16))
x, y = grid.coordinates()
u = pt.Field(grid, device=device)
u[...] = np.sin(7 * x) * np.cos(5 * y)
wind = pt.Velocity(grid, lambda x, y: (0.1 * np.sin(6 * y), 0.1 * np.cos(6 * x)))
pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u)).run(1.0, 0.05)
digest = hashlib.sha256(u.get().tobytes()).hexdigest()
"""


@pytest.mark.sampled
def test_processes_side_by_side(device):
    """Two at once, each with the same programs to build, give what this one gives."""
    code = f"device = {device.index}\n{CODE}\nprint(digest)"
    processes = [child.start(code, PARTICLES_TUNE="off") for _ in range(2)]
    try:
        outputs = [process.communicate(timeout=300) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0, 0], outputs
    here = {"device": device}
    exec(CODE, here)  # noqa: S102
    assert [output.strip() for output, _ in outputs] == [here["digest"]] * 2


@pytest.mark.sampled
def test_after_a_fork_everything_is_refused():
    """In the child, whatever it was made with before, which then ends; the parent goes on."""
    child.check(
        """
        import os, sys
        import numpy as np, particles as pt, pyopencl
        grid = pt.Grid((33, 16))
        u = pt.Field(grid)
        transport = pt.Splitting(
            pt.AdvectionOp(pt.Velocity(grid, lambda x, y: (np.sin(6 * y), np.cos(6 * x)))),
            pt.RemeshOp(u),
        )
        transport.run(0.1, 0.05)
        queue, other = u.device.queue, pyopencl.CommandQueue(u.device.context)
        calls = [
            lambda: transport.run(0.2, 0.05), lambda: transport.step(0.05),
            lambda: transport.sweep(0, 0.05), lambda: u.get(), lambda: u.sum(),
            lambda: u.fill(1), lambda: u[0, 0], lambda: u.copy(), lambda: pt.Field(grid),
            lambda: u.device.finish(), lambda: u.to_pyopencl(), lambda: u.device.queue,
            lambda: u.device.context, lambda: pt.Device.from_pyopencl(queue),
            lambda: pt.Device.from_pyopencl(other),
        ]
        process = os.fork()
        if process == 0:
            refused = 0
            for call in calls:
                try:
                    call()
                except pt.DeviceError as error:
                    refused += "fork" in str(error) or "cut short" in str(error)
            sys.exit(0 if refused == len(calls) else 1 + refused)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        assert status == 0, status
        transport.run(0.2, 0.05)
        assert transport.time == 0.2
        """
    )


@pytest.mark.sampled
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_as_it_is(device):
    """Of the device to the byte; of the host within what allocators round to."""
    (host_before, *device_before), (host_after, *device_after) = soak.soak(device, 1000)
    assert device_after == device_before
    assert host_after - host_before <= 2**20


@pytest.mark.exhaustive
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_stays_as_it_is_for_10_000_steps(device):
    """References to OpenCL's objects, too."""
    program = [sys.executable, "-m", "tests.trust.soak", str(device.index)]
    subprocess.run(program, check=True, timeout=1800, cwd=Path(__file__).parents[2])
