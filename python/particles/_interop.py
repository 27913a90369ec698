# SPDX-License-Identifier: BSD-3-Clause
"""Memory shared with arrays of PyOpenCL; PyOpenCL is imported when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    if not is_a(array.base_data, pyopencl.MemoryObjectHolder):
        raise TypeError(f"array must lie in a buffer, not in {type(array.base_data).__name__}")
    _check_flags(array.base_data.flags)
    components = array.shape[0] if array.ndim > grid.ndim else 1
    if not 1 <= components <= MOST_COMPONENTS:
        raise ValueError(f"array must have 1 to {MOST_COMPONENTS} components, not {components}")
    offset, strides = _element_places(array, int(array.base_data.size))
    array.finish()
    device = Device.from_pyopencl(array.queue)
    if array.dtype not in device.dtypes:
        raise TypeError(f"array must be of float32 on {device.name}, not of {array.dtype}")
    core = _core.Field.adopt(
        device.core,
        grid.core,
        components,
        array.dtype.name,
        name,
        array.base_data.int_ptr,
        offset,
        strides if array.ndim > grid.ndim else (grid.size, *strides),
    )
    return core, device


def _check_flags(given: int) -> None:
    """Refuse a buffer that kernels, or the host, may not read and write."""
    from pyopencl import mem_flags

    for name in ("READ_ONLY", "WRITE_ONLY", "HOST_READ_ONLY", "HOST_WRITE_ONLY", "HOST_NO_ACCESS"):
        if given & getattr(mem_flags, name):
            raise ValueError(
                "array must lie in a buffer that kernels and the host may read and write, not in "
                f"one made with mem_flags.{name}"
            )


def _element_places(array: pyopencl.array.Array, size: int) -> tuple[int, tuple[int, ...]]:
    """Return offset and strides in elements of an array in a buffer of so many bytes."""
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
