# SPDX-License-Identifier: BSD-3-Clause
"""Memory shared with arrays of PyOpenCL; PyOpenCL is imported when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from particles import _core, _pyopencl
from particles._check import DTYPES, MOST_COMPONENTS, as_integer, shown
from particles._kinds import is_a
from particles.device import Device
from particles.grid import Grid

if TYPE_CHECKING:
    import pyopencl.array

    from particles.field import Field


def to_array(field: Field, owner: pyopencl.array.Array | None) -> pyopencl.array.Array:
    """Return the field's memory as an array; `owner` is the array it came from, if any."""
    _pyopencl.ensure_installed()
    import pyopencl.array

    queue = field.device.queue
    field.core.mark_shared()
    strides = field.core.strides[-field.ndim :]
    itemsize = field.dtype.itemsize
    written = pyopencl.enqueue_marker(queue)
    queue.flush()
    memory = pyopencl.Buffer.from_int_ptr(field.core.memory, retain=True)
    return pyopencl.array.Array(
        queue,
        field.shape,
        field.dtype,
        data=memory if owner is None else owner.base_data,
        offset=field.core.offset * itemsize,
        strides=tuple(stride * itemsize for stride in strides),
        events=[written],
    )


def to_packed(field: Field) -> pyopencl.array.Array:
    """Return a copy of the values on the device, in C order without gaps."""
    _pyopencl.ensure_installed()
    import pyopencl.array

    queue = field.device.queue
    array = pyopencl.array.empty(queue, field.shape, field.dtype)
    _adopted(array, field.grid, "packed values", field.device.core).copy_from(field.core)
    array.add_event(pyopencl.enqueue_marker(queue))
    queue.flush()
    return array


def guest_of(
    array: Any,  # noqa: ANN401  of PyOpenCL
    grid: Grid,
    components: int,
    device: Device,
) -> Field | None:
    """Return an array as a field that a device can read, after what was to be done with it.

    It is None where the array is of another shape, dtype or context, or is not laid out as a field.
    """
    import pyopencl

    from particles.field import Field

    shape = (components, *grid.shape) if components > 1 else grid.shape
    is_alike = array.shape == shape and array.dtype in device.dtypes
    if not is_alike or array.context.int_ptr != device.core.context_pointer:
        return None
    guest = Field.__new__(Field)
    try:
        guest._take(_adopted(array, grid, "", device.core), grid, device, array)
    except (TypeError, ValueError):
        return None
    if array.events:
        pyopencl.enqueue_barrier(device.queue, wait_for=array.events)
    if array.queue is not None and not is_in_order_with(array, device):
        array.queue.finish()
    return guest


def is_in_order_with(array: pyopencl.array.Array, device: Device) -> bool:
    """Whether an array's queue is the one of a device."""
    return array.queue is not None and array.queue.int_ptr == device.core.queue_pointer


def adopt_array(array: pyopencl.array.Array, grid: Grid, name: str) -> tuple[_core.Field, Device]:
    """Return a field in the array's memory, and its device."""
    import pyopencl
    import pyopencl.array

    if not is_a(array, pyopencl.array.Array):
        raise TypeError(f"array must be a pyopencl.array.Array, not {type(array).__name__}")
    if array.dtype not in DTYPES:
        raise TypeError(f"array must be of float16, float32 or float64, not {array.dtype}")
    if array.shape[-grid.ndim :] != grid.shape or array.ndim > grid.ndim + 1:
        raise ValueError(
            f"array must have the grid's shape {grid.shape}, with or without an axis of components "
            f"in front, not {array.shape}"
        )
    if array.queue is None:
        raise ValueError("array must have a queue, not None; see its method with_queue")
    components = array.shape[0] if array.ndim > grid.ndim else 1
    if not 1 <= components <= MOST_COMPONENTS:
        raise ValueError(f"array must have 1 to {MOST_COMPONENTS} components, not {components}")
    _element_places(array)
    array.finish()
    device = Device.from_pyopencl(array.queue)
    if array.dtype not in device.dtypes:
        raise TypeError(f"array must be of float32 on {device.name}, not of {array.dtype}")
    return _adopted(array, grid, name, device.core), device


def _adopted(
    array: pyopencl.array.Array, grid: Grid, name: str, context: _core.Context
) -> _core.Field:
    """Return a field in the memory of an array of the grid's shape, or with components in front."""
    offset, strides = _element_places(array)
    memory: Any = array.base_data
    return _core.Field.adopt(
        context,
        grid.core,
        array.shape[0] if array.ndim > grid.ndim else 1,
        array.dtype.name,
        name,
        memory.int_ptr,
        offset,
        strides if array.ndim > grid.ndim else (grid.size, *strides),
    )


def _check_flags(given: int) -> None:
    """Refuse a buffer that kernels, or the host, may not read and write."""
    from pyopencl import mem_flags

    for name in ("READ_ONLY", "WRITE_ONLY", "HOST_READ_ONLY", "HOST_WRITE_ONLY", "HOST_NO_ACCESS"):
        if given & getattr(mem_flags, name):
            raise ValueError(
                "array must lie in a buffer that kernels and the host may read and write, not in "
                f"one made with mem_flags.{name}"
            )


def _element_places(array: pyopencl.array.Array) -> tuple[int, tuple[int, ...]]:
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
