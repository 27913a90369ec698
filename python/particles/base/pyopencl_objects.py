# SPDX-License-Identifier: BSD-3-Clause
"""Objects of PyOpenCL for what the core has opened; PyOpenCL is imported when first needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.kinds import is_a

if TYPE_CHECKING:
    import pyopencl


def ensure_installed() -> None:
    """Refuse clearly where PyOpenCL, which not every platform is given, is missing."""
    try:
        import pyopencl  # noqa: F401
    except ImportError as error:
        raise ImportError(f"this needs PyOpenCL: pip install pyopencl ({error})") from error


def context_of(core: _core.Context) -> pyopencl.Context:
    """Return the context, not copied."""
    ensure_installed()
    import pyopencl

    return pyopencl.Context.from_int_ptr(core.context_pointer, retain=True)


def queue_of(core: _core.Context) -> pyopencl.CommandQueue:
    """Return the queue, not copied."""
    ensure_installed()
    import pyopencl

    return pyopencl.CommandQueue.from_int_ptr(core.queue_pointer, retain=True)


def is_array(value: object) -> bool:
    """Whether a value is an array of PyOpenCL."""
    module = sys.modules.get("pyopencl.array")
    return module is not None and is_a(value, module.Array)


def on_host(array: Any, name: str) -> npt.NDArray[Any]:  # noqa: ANN401
    """Return a copy of an array of PyOpenCL, of whatever strides, dtype and context."""
    import pyopencl

    if not is_a(array.base_data, pyopencl.MemoryObjectHolder):
        raise TypeError(f"{name} must lie in a buffer, not in {type(array.base_data).__name__}")
    for flag in ("HOST_NO_ACCESS", "HOST_WRITE_ONLY"):
        if array.base_data.flags & getattr(pyopencl.mem_flags, flag):
            raise ValueError(
                f"{name} must lie in a buffer that the host may read, not in one made with "
                f"mem_flags.{flag}"
            )
    if not array.size:
        return np.empty(array.shape, array.dtype)
    ends = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    low = array.offset + sum(end for end in ends if end < 0)
    high = array.offset + sum(end for end in ends if end > 0) + array.dtype.itemsize
    if low < 0 or high > array.base_data.size:
        raise ValueError(
            f"{name} must lie within their buffer of {array.base_data.size} bytes, not reach from "
            f"{low} to {high}"
        )
    copied = np.empty(high - low, np.uint8)
    queue: Any = array.queue or pyopencl.CommandQueue(array.context)
    memory: Any = array.base_data
    pyopencl.enqueue_copy(queue, copied, memory, src_offset=low, wait_for=array.events).wait()
    values: npt.NDArray[Any] = np.ndarray(
        array.shape, array.dtype, copied, array.offset - low, array.strides
    )
    return values
