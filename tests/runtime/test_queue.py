# SPDX-License-Identifier: BSD-3-Clause
"""Several queues of one context, and of several."""

import numpy as np
import pytest
from particles import _core

from tests.support import child
from tests.support.usable import usable_devices
from tests.trust.test_faults import in_child

# Long enough for another queue to be at work meanwhile, and in no order that could be exchanged.
AFFINE = """
__kernel void affine(const int factor, const int term, __global int* x) {
  const int x0 = x[0];
  volatile int wait = 0;
  for (int i = 0; i < 20000; i++) wait += i;
  x[0] = x0 * factor + term;
}
"""
Queue = _core.testing.Queue


def number_of(array):
    host = np.empty((1, 1), np.int32)
    array.read([0, 0], [1, 1], [1, 1], host)
    return host.item()


def start(core):
    """Return an array of one number, 1."""
    array = _core.Array(core, 1, 1, "int32", "number")
    array.write([0, 0], [1, 1], [1, 1], np.ones((1, 1), np.int32))
    return array


def affine(queue, factor, term, array):
    queue.launch(AFFINE, "affine", [("factor", factor), ("term", term), ("x", array)])


def in_turns(core, turns):
    """Let the context's own queue and another one change a number in turns; return it."""
    own, other, array = Queue.of(core), Queue(core), start(core)
    for _ in range(turns):
        affine(own, 3, 1, array)
        other.wait_for(own.mark())
        affine(other, 5, 2, array)
        own.wait_for(other.mark())
    own.finish()
    other.finish()
    return number_of(array)


def test_events_put_the_work_of_two_queues_in_order(device):
    expected = 1
    for _ in range(40):
        expected = 5 * (3 * expected + 1) + 2
    assert in_turns(device.core, 40) == (expected + 2**31) % 2**32 - 2**31


def test_queues_of_several_contexts_and_devices_work_side_by_side(device):
    cores = [*(one.core for one in usable_devices()), _core.Context.open(device.info, "")]
    queues = [Queue(core) for core in cores for _ in range(2)]
    arrays = [start(core) for core in cores for _ in range(2)]
    for turn in range(20):
        for queue, array in zip(queues, arrays, strict=True):
            affine(queue, 3, turn, array)
    for queue in queues:
        queue.finish()
    expected = 1
    for turn in range(20):
        expected = 3 * expected + turn
    assert {number_of(array) for array in arrays} == {(expected + 2**31) % 2**32 - 2**31}


def test_a_queue_without_memory_does_nothing(device):
    queue = Queue(_core.Context.dry(device.info))
    queue.launch("no program", "none", [("n", 1)])
    queue.wait_for(queue.mark())
    queue.finish()


@pytest.mark.sampled
def test_what_fails_in_one_queue_is_noticed_there_alone(device, library):
    in_child(
        device,
        library,
        """
from tests.runtime.test_queue import Queue, affine, number_of, start
core = device.core
own, failing, other = Queue.of(core), Queue(core), Queue(core)
arrays = start(core), start(core)
affine(other, 1, 0, arrays[0])  # which builds it
other.finish()
with faults.injected(library.LATER, "clEnqueueNDRangeKernel", 1, library.NO_RESOURCES):
    affine(failing, 2, 0, arrays[0])
    affine(other, 7, 0, arrays[1])
    other.finish()
    own.finish()
    try:
        failing.finish()
    except pt.OutOfMemoryError as error:
        assert "affine failed with CL_OUT_OF_RESOURCES" in str(error), error
    else:
        raise AssertionError("the failure was not noticed")
assert (own.commands_lost, failing.commands_lost, other.commands_lost) == (0, 1, 0)
affine(failing, 11, 0, arrays[1])  # it goes on
failing.finish()
assert [number_of(array) for array in arrays] == [1, 77]
""",
    )


def test_after_a_fork_a_queue_is_refused(device):
    child.check(
        """
        import os, sys
        import particles as pt
        from particles import _core
        queue = _core.testing.Queue(pt.devices()[int(sys.argv[1])].core)
        if os.fork():
            sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
        for call in queue.mark, queue.finish:
            try:
                call()
            except pt.DeviceError as error:
                assert "forked" in str(error)
            else:
                os._exit(1)
        os._exit(0)
        """,
        device.index,
    )
