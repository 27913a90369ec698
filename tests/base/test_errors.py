# SPDX-License-Identifier: BSD-3-Clause
"""What the device's errors are, say and carry."""

import gc
import pickle

import particles as pt
import pytest
from particles._core import testing

BROKEN = "__kernel void f(__global float* a) { a[0] = no_such_name; }"


def test_the_errors_are_what_python_calls_them():
    assert issubclass(pt.DeviceError, RuntimeError)
    assert issubclass(pt.BuildError, pt.DeviceError)
    assert issubclass(pt.OutOfMemoryError, (pt.DeviceError, MemoryError))
    assert all(e.__module__ == "particles" for e in (pt.DeviceError, pt.BuildError))


def test_errors_pass_between_processes():
    error = pickle.loads(pickle.dumps(pt.OutOfMemoryError("too much")))
    assert isinstance(error, pt.OutOfMemoryError)
    assert str(error) == "too much"


def test_a_program_that_does_not_build_says_why(device):
    with pytest.raises(pt.BuildError) as caught:
        device.core.build(BROKEN, "-DUNUSED=3")
    message = str(caught.value)
    assert "no_such_name" in caught.value.log
    assert caught.value.log in message
    for words in ("clBuildProgram", "CL_BUILD_PROGRAM_FAILURE (-11)", device.name, "-DUNUSED=3"):
        assert words in message


def test_a_program_that_did_not_build_fails_again_and_others_build(device):
    before = testing.programs_compiled(device.core)
    for _ in range(2):
        with pytest.raises(pt.BuildError):
            device.core.build(BROKEN)
    device.core.build(BROKEN, "-Dno_such_name=1")
    assert testing.programs_compiled(device.core) == before + 1


def test_options_that_the_compiler_refuses_are_named(device):
    with pytest.raises(pt.DeviceError, match="-not-an-option") as caught:
        device.core.build("__kernel void f() {}", "-not-an-option")
    assert device.name in str(caught.value)


def test_a_field_beyond_the_largest_allocation_says_the_sizes(device):
    points = device.largest_allocation // 4 + 1
    gc.collect()  # what other tests have left
    held = device.core.bytes_held
    with pytest.raises(pt.OutOfMemoryError) as caught:
        pt.Field(pt.Grid((points,)), name="density", device=device)
    for words in ("density", "bytes", device.name, "in one buffer"):
        assert words in str(caught.value)
    assert device.core.bytes_held == held
