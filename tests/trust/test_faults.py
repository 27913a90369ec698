# SPDX-License-Identifier: BSD-3-Clause
"""Every call of OpenCL may fail: then there is an exception or a right result, and all goes on."""

import json

import particles as pt
import pytest
from particles.runtime import loader

from tests.support import child

CHILD = """
import json, sys
from tests.trust import faults
library, real, index, every = sys.argv[1:]
print(json.dumps(faults.main(library, real, index, every == "True")))
"""


def real_library():
    pt.devices()
    return loader.attempts[-1].path


def try_all(device, library, every):
    arguments = library, real_library(), device.index, every
    output = child.check(CHILD, *arguments, timeout=3600 if every else 1800)
    print(output)
    found = json.loads(output.splitlines()[-1])
    assert found["wrong"] == []
    images = ["clGetSupportedImageFormats", "clCreateImage", "clEnqueueCopyBufferToImage"]
    assert found["never called"] == ([] if device.has_images else images)
    assert found["exceptions"] > 100


@pytest.mark.slow
@pytest.mark.one_device
def test_every_call_may_fail(device, library):
    try_all(device, library, every=False)


@pytest.mark.exhaustive
def test_every_use_of_every_call_may_fail(device, library):
    if device.info.is_pocl and "3.0" in device.driver:
        pytest.skip("it builds nothing more in a process in which a build of its own has failed")
    try_all(device, library, every=True)


def in_child(device, library, code, *arguments):
    """Run code in a child process where `faults` and `device` are the names of what it uses."""
    prepared = f"""
import sys
import pyopencl
from tests.trust import faults as library
faults = library.Faults(*sys.argv[1:3])
import particles as pt
device = pt.devices()[{device.index}]
"""
    return child.check(prepared + code, library, real_library(), *arguments)


def test_a_driver_need_not_keep_the_names_of_arguments(device, library):
    """Then they are not checked."""
    in_child(
        device,
        library,
        """
not_available = -19
with faults.injected(library.ONCE, "clGetKernelArgInfo", 1, not_available):
    u = pt.Field(pt.Grid(8), device=device)
    u[...] = range(8)
    assert u.sum() == 28
assert faults.calls["clGetKernelArgInfo"] > 0
""",
    )


@pytest.mark.sampled
def test_a_build_that_fails_tells_the_log(device, library):
    in_child(
        device,
        library,
        """
try:
    device.core.build("__kernel void f() { no such thing }")
except pt.BuildError as error:
    assert "CL_BUILD_PROGRAM_FAILURE" in str(error)
    assert error.log and error.log in str(error)
else:
    raise AssertionError("it was built")
with faults.injected(library.ONCE, "clBuildProgram", 1, library.NOT_BUILT):
    try:
        device.core.build("__kernel void f() {}")
    except pt.BuildError as error:
        assert isinstance(error.log, str)
    else:
        # Such a program is tried twice.
        assert pt._core.testing.reads_header(device.info), "the failure was not noticed"
device.core.build("__kernel void f() {}")
""",
    )


def test_a_kernel_that_fails_is_named_by_the_next_wait_and_stops_transports(device, library):
    in_child(
        device,
        library,
        """
from tests.io.test_checkpoint import plain
one, other = plain(device), plain(device)
one.step(0.02)
device.finish()
with faults.injected(library.LATER, "clEnqueueNDRangeKernel", 1, library.NO_RESOURCES):
    one.step(0.02)
    try:
        one.remesh.fields[0].get()
    except pt.OutOfMemoryError as error:
        assert "sweep_chain failed with CL_OUT_OF_RESOURCES" in str(error), error
    else:
        raise AssertionError("the failure was not noticed")
for transport in one, other:  # nobody knows what else has been lost
    try:
        transport.step(0.02)
    except pt.DeviceError as error:
        assert "a step was cut short" in str(error), error
    else:
        raise AssertionError("it went on")
plain(device).step(0.02)
""",
    )


@pytest.mark.sampled
def test_a_flow_is_measured_anew_after_a_failure(device, library):
    in_child(
        device,
        library,
        """
grid = pt.Grid((16, 12))
velocity = pt.Velocity(grid, lambda x, y, t: (1 + t * x, 3 + 2 * t * y))

def measures():
    advection = pt.AdvectionOp(velocity, device=device)
    transport = pt.Unsplit(advection, pt.RemeshOp(pt.Field(grid, device=device)))
    return lambda: advection.strain(0.5), lambda: transport._gauge.of_steps([1.0, 2.0], 0.0)

for measure, untouched in zip(measures(), measures(), strict=True):
    with faults.injected(library.ONCE, "clEnqueueNDRangeKernel", 2, library.NO_RESOURCES):
        try:
            measure()
        except pt.OutOfMemoryError:
            pass
        else:
            raise AssertionError("the failure was not noticed")
    assert measure() == untouched() != (0, 0), (measure(), untouched())
""",
    )


def test_more_than_the_device_has_is_refused(device):
    n = 1 + device.memory // 4
    with pytest.raises(pt.OutOfMemoryError, match=r"needs .* and .* (allows|has) .*"):
        pt.Field(pt.Grid(n), device=device)
    half = pt.Grid(device.largest_allocation // 8)
    fields = []
    with pytest.raises(pt.OutOfMemoryError, match=r"needs .* are in use here already"):
        fields.extend(pt.Field(half, device=device) for _ in range(1000))
    del fields
    pt.Field(half, device=device)


def test_pages_that_the_operating_system_does_not_give(device):
    if not device.is_cpu:
        pytest.skip("its memory is its own")
    child.check(
        """
        import resource, sys
        import particles as pt
        device = pt.devices()[int(sys.argv[1])]
        small, large = pt.Grid((10, 10)), pt.Grid(2**26)
        total = pt.Field(small, device=device).sum()
        limits = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (pages + 2**26, limits[1]))
        for _ in range(3):
            try:
                pt.Field(large, device=device)
            except pt.OutOfMemoryError as error:
                assert "which the operating system does not give" in str(error), error
            else:
                raise AssertionError("there was memory")
            assert pt._core.testing.buffers_held(device.core) == 0
        assert pt.Field(small, device=device).sum() == total
        resource.setrlimit(resource.RLIMIT_AS, limits)
        assert pt.Field(large, device=device).nbytes == 2**28
        """,
        device.index,
    )


@pytest.mark.sampled
def test_devices_that_could_not_be_listed_once_are_listed_later(library):
    child.check(
        """
import sys
import pyopencl
from tests.trust import faults as library
faults = library.Faults(*sys.argv[1:])
import particles as pt
with faults.injected(library.ONCE, "clGetPlatformIDs", 1, library.NO_HOST_MEMORY):
    assert pt.devices() == []
assert pt.devices() and pt.devices()[0] is pt.devices()[0]
""",
        library,
        real_library(),
    )
