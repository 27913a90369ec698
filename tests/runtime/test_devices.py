# SPDX-License-Identifier: BSD-3-Clause
"""Listing, choosing and describing devices, and PyOpenCL's queues as devices."""

import gc
from pathlib import Path

import numpy as np
import particles as pt
import pyopencl
import pytest
from particles.runtime import devices as device_module
from particles.runtime.device import Device
from particles.runtime.devices import as_device, choose_device

from tests.support import child
from tests.support.stand_ins import stand_in


@pytest.fixture
def list_devices(monkeypatch):
    monkeypatch.delenv("PARTICLES_DEVICE", raising=False)

    def replace(*listed):
        monkeypatch.setattr(device_module, "_listed", list(listed))

    return replace


def test_import_touches_no_device():
    child.check("""
        import sys
        import particles
        from particles import Device, _core, devices
        assert not _core.testing.opencl_is_loaded()
        assert not {"pyopencl", "matplotlib"} & set(sys.modules)
    """)


def test_the_same_devices_are_listed_each_time():
    first, second = pt.devices(), pt.devices()
    assert first is not second
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert [device.index for device in first] == list(range(len(first)))


def test_threads_that_list_at_once_get_the_same_devices():
    child.check("""
        import threading
        import particles as pt
        barrier, lists = threading.Barrier(8), []
        def work():
            barrier.wait()
            lists.append(tuple(pt.devices()))
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert len(lists) == 8 and len(set(lists)) == 1
    """)


def test_a_driver_that_is_registered_twice_is_listed_once(tmp_path):
    drivers = list(Path(pyopencl.__file__).parent.glob(".libs/libpocl*"))
    if not drivers:
        pytest.skip("this PyOpenCL brings no driver that could be registered again")
    for name in ("one.icd", "two.icd"):
        (tmp_path / name).write_text(f"{drivers[0]}\n")
    names = child.check(
        "import particles as pt\nfor d in pt.devices(): print(d.platform, d.driver)",
        OCL_ICD_VENDORS=str(tmp_path),
    ).splitlines()
    assert len(names) == len(set(names)) > 0


def test_a_device_says_what_it_can_do(device):
    assert device.name in repr(device)
    assert device.driver in repr(device)
    assert all(dtype.name in repr(device) for dtype in device.dtypes)
    assert np.dtype(np.float32) in device.dtypes
    assert device.kind in ("CPU", "GPU", "accelerator")
    assert 0 < device.largest_allocation <= device.memory
    assert min(device.compute_units, device.largest_work_group, device.local_memory) > 0


def test_images_are_those_of_single_floats(device):
    """OpenCL demands images of four floats alone."""
    found = pyopencl.get_supported_image_formats(
        device.context, pyopencl.mem_flags.READ_ONLY, pyopencl.mem_object_type.IMAGE3D
    )
    wanted = pyopencl.ImageFormat(pyopencl.channel_order.R, pyopencl.channel_type.FLOAT)
    assert device.has_images == (wanted in found)


@pytest.mark.as_it_is
def test_the_limits_are_those_that_pyopencl_reports(device):
    other = device.queue.device
    assert device.name == other.name.strip()
    assert device.largest_allocation == other.max_mem_alloc_size
    assert device.local_memory == other.local_mem_size
    assert device.compute_units == other.max_compute_units
    assert device.largest_work_group == other.max_work_group_size


def test_the_first_gpu_is_the_default(list_devices):
    cpu, gpu, other = stand_in(0, "A"), stand_in(1, "B", kind="GPU"), stand_in(2, "C", kind="GPU")
    list_devices(cpu, gpu, other)
    assert pt.default_device() is gpu
    assert choose_device().reason == "it is the first GPU"


def test_the_cpu_is_the_default_without_a_gpu(list_devices):
    other, cpu = stand_in(0, "A", kind="accelerator"), stand_in(1, "B")
    list_devices(other, cpu)
    assert pt.default_device() is cpu
    assert choose_device().reason == "it is the first CPU"


@pytest.mark.parametrize("wanted", ["1", "Second", "second dev", " 1 "])
def test_the_environment_names_the_default(list_devices, monkeypatch, wanted):
    first, second = stand_in(0, "First device", kind="GPU"), stand_in(1, "Second device")
    list_devices(first, second)
    monkeypatch.setenv("PARTICLES_DEVICE", wanted)
    assert pt.default_device() is second
    assert "PARTICLES_DEVICE" in choose_device().reason


@pytest.mark.parametrize("blank", ["", "  "])
def test_a_blank_environment_names_nothing(list_devices, monkeypatch, blank):
    list_devices(stand_in(0, "First device"), stand_in(1, "Second device", kind="GPU"))
    monkeypatch.setenv("PARTICLES_DEVICE", blank)
    assert choose_device().reason == "it is the first GPU"


@pytest.mark.parametrize("wanted", ["2", "Third"])
def test_a_wrong_environment_is_refused_with_the_choices(list_devices, monkeypatch, wanted):
    list_devices(stand_in(0, "First device"), stand_in(1, "Second device"))
    monkeypatch.setenv("PARTICLES_DEVICE", wanted)
    with pytest.raises(ValueError, match=rf"'{wanted}'.*0: First device.*1: Second device"):
        pt.default_device()


def test_no_device_is_an_error(list_devices):
    pt.devices()
    list_devices()
    with pytest.raises(pt.DeviceError, match="no OpenCL platform has a device"):
        pt.default_device()


def test_an_argument_names_a_device(device):
    assert as_device(None) is pt.default_device()
    assert as_device(device) is device
    assert as_device(device.index) is device
    assert as_device(f"{device.name} {device.platform} {device.driver}") is device


@pytest.mark.parametrize("wanted", [-1, 99, "no such device", "", " "])
def test_a_device_that_is_not_there_is_refused_with_the_choices(wanted):
    with pytest.raises(ValueError, match=rf"device {wanted!r} is none of .*0: "):
        as_device(wanted)


@pytest.mark.parametrize("wanted", [True, 1.0, b"pocl", ("a",)])
def test_an_argument_of_another_type_is_refused(wanted):
    with pytest.raises(TypeError, match=f"not {type(wanted).__name__}"):
        as_device(wanted)


def test_pyopencl_sees_the_same_context_and_queue(device):
    assert device.context.int_ptr == device.core.context_pointer
    assert device.queue.int_ptr == device.core.queue_pointer
    assert device.queue.context == device.context
    assert Device.from_pyopencl(device.queue) is device


def test_a_queue_of_pyopencl_is_a_device(device):
    context = pyopencl.Context([device.queue.device])
    queue = pyopencl.CommandQueue(context)
    wrapped = Device.from_pyopencl(queue)
    assert wrapped is not device
    assert wrapped is Device.from_pyopencl(queue)
    assert wrapped is not Device.from_pyopencl(pyopencl.CommandQueue(context))
    assert (wrapped.name, wrapped.queue, wrapped.context) == (device.name, queue, context)
    wrapped.core.run_self_test()


def test_a_wrapped_queue_lives_as_long_as_its_device(device):
    context = pyopencl.Context([device.queue.device])
    wrapped = Device.from_pyopencl(pyopencl.CommandQueue(context))
    del context
    gc.collect()
    wrapped.core.run_self_test()


def test_a_queue_that_is_out_of_order_is_refused(device):
    properties = pyopencl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    if not device.queue.device.queue_properties & properties:
        pytest.skip(f"{device.name} has no such queues")
    context = pyopencl.Context([device.queue.device])
    queue = pyopencl.CommandQueue(context, properties=properties)
    with pytest.raises(pt.DeviceError, match="out of order"):
        Device.from_pyopencl(queue)
