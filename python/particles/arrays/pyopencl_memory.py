# SPDX-License-Identifier: BSD-3-Clause
"""Memory shared with arrays of PyOpenCL; PyOpenCL is imported when first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from particles import _core
from particles.base import pyopencl_objects
from particles.base.checks import as_integer, shown
from particles.base.kinds import is_a
from particles.runtime.device import Device

if TYPE_CHECKING:
    import pyopencl.array


class Owner(Protocol):
    """Who has values in memory of a device; `_owner` is the array that it came with, if any."""

    device: Device
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    _owner: Any


def to_array(
    owner: Owner, core: _core.Array | _core.Field, strides: Sequence[int]
) -> pyopencl.array.Array:
    """Return the memory as an array with these strides, which count elements."""
    pyopencl_objects.ensure_installed()
    import pyopencl.array

    queue = owner.device.queue
    core.mark_shared()
    itemsize = owner.dtype.itemsize
    written = pyopencl.enqueue_marker(queue)
    queue.flush()
    guest = owner._owner
    memory = pyopencl.Buffer.from_int_ptr(core.memory, retain=True) if guest is None else None
    return pyopencl.array.Array(
        queue,
        owner.shape,
        owner.dtype,
        data=guest.base_data if memory is None else memory,
        offset=core.offset * itemsize,
        strides=tuple(stride * itemsize for stride in strides),
        events=[written],
    )


def to_packed(owner: Owner, fill: Callable[[pyopencl.array.Array], None]) -> pyopencl.array.Array:
    """Return an array of its own on the device, in C order without gaps, and have it filled."""
    pyopencl_objects.ensure_installed()
    import pyopencl.array

    queue = owner.device.queue
    array = pyopencl.array.empty(queue, owner.shape, owner.dtype)
    fill(array)
    array.add_event(pyopencl.enqueue_marker(queue))
    queue.flush()
    return array


def device_of(array: pyopencl.array.Array) -> Device:
    """Return the device of an array that can be adopted, when all is done that is to be done with it."""
    if array.queue is None:
        raise ValueError("array must have a queue, not None; see its method with_queue")
    element_places(array)
    array.finish()
    device = Device.from_pyopencl(array.queue)
    if array.dtype.kind == "f" and array.dtype not in device.dtypes:
        raise TypeError(f"array must be of float32 on {device.name}, not of {array.dtype}")
    return device


def check_is_array(array: object, dtypes: Sequence[np.dtype[Any]]) -> None:
    """Refuse what is no array of PyOpenCL of one of these dtypes."""
    import pyopencl.array

    if not is_a(array, pyopencl.array.Array):
        raise TypeError(f"array must be a pyopencl.array.Array, not {type(array).__name__}")
    if array.dtype not in dtypes:
        *others, last = (dtype.name for dtype in dtypes)
        raise TypeError(f"array must be of {', '.join(others)} or {last}, not {array.dtype}")


def wait_for(array: Any, device: Device) -> None:  # noqa: ANN401  of PyOpenCL
    """Have a device's queue wait for what is to be done with an array."""
    import pyopencl

    if array.events:
        pyopencl.enqueue_barrier(device.queue, wait_for=array.events)
    if array.queue is not None and not is_in_order_with(array, device):
        array.queue.finish()


def is_in_order_with(array: pyopencl.array.Array, device: Device) -> bool:
    """Whether an array's queue is the one of a device."""
    return array.queue is not None and array.queue.int_ptr == device.core.queue_pointer


def _check_flags(given: int) -> None:
    """Refuse a buffer that kernels, or the host, may not read and write."""
    from pyopencl import mem_flags

    for name in ("READ_ONLY", "WRITE_ONLY", "HOST_READ_ONLY", "HOST_WRITE_ONLY", "HOST_NO_ACCESS"):
        if given & getattr(mem_flags, name):
            raise ValueError(
                "array must lie in a buffer that kernels and the host may read and write, not in "
                f"one made with mem_flags.{name}"
            )


def element_places(array: pyopencl.array.Array) -> tuple[int, tuple[int, ...]]:
    """Return offset and strides in elements of an array in a buffer of all rights."""
    import pyopencl

    if not is_a(array.base_data, pyopencl.MemoryObjectHolder):
        raise TypeError(f"array must lie in a buffer, not in {type(array.base_data).__name__}")
    _check_flags(array.base_data.flags)
    size = int(array.base_data.size)
    itemsize = array.dtype.itemsize
    offset = as_integer("array's offset", array.offset)
    given = tuple(as_integer("array's strides", stride) for stride in array.strides)
    if len(given) != array.ndim:
        raise ValueError(f"array must have a stride for each of {array.ndim} axes, not {given}")
    # Axes of length 1 have no stride that matters.
    strides = [stride if n > 1 else itemsize for stride, n in zip(given, array.shape, strict=True)]
    if offset < 0 or offset % itemsize or any(s <= 0 or s % itemsize for s in strides):
        raise ValueError(
            "array must have strides and an offset that are positive multiples of its item size "
            f"{itemsize}, not {shown(given)} and {shown(offset)}"
        )
    reach = 0
    for stride, n in sorted((s, n) for s, n in zip(strides, array.shape, strict=True) if n > 1):
        if stride <= reach:
            raise ValueError(f"array must not overlap itself, as it does with {array.strides}")
        reach += stride * (n - 1)
    end = offset + reach + itemsize
    if end > size:
        raise ValueError(f"array must lie within its buffer of {size} bytes, not reach to {end}")
    return offset // itemsize, tuple(stride // itemsize for stride in strides)
