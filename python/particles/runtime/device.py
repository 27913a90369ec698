# SPDX-License-Identifier: BSD-3-Clause
"""An OpenCL device."""

from __future__ import annotations

import atexit
import threading
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from particles import _core
from particles.base import pyopencl_objects
from particles.base.checks import check_queue
from particles.base.errors import DeviceError
from particles.runtime import drivers, loader
from particles.runtime.cache import program_folder

if TYPE_CHECKING:
    import pyopencl


class Device:
    """An OpenCL device, opened at its first use.

    Devices come from `devices`, `default_device` or `Device.from_pyopencl`.

    Attributes
    ----------
    index : int
        Place in the list of `devices`; -1 for a device that came from PyOpenCL.
    name, platform, driver : str
        Names from the driver.
    is_cpu, is_gpu : bool
        What kind of device it is.
    dtypes : tuple of numpy.dtype
        Possible dtypes of fields.
    compute_units, largest_work_group : int
        Number of compute units, and the most work-items in a work-group.
    memory, largest_allocation, local_memory, cache_size : int
        Bytes of memory: total, the most in one field, shared by a work-group, and the cache.

    Examples
    --------
    >>> import particles as pt
    >>> device = pt.default_device()
    >>> device.is_cpu or device.is_gpu
    True
    """

    def __init__(self, info: _core.DeviceInfo, opened: _core.Context | None = None) -> None:
        self.info = info
        self.index = info.index
        self.name = info.name
        self.platform = info.platform_name
        self.driver = info.driver
        self.is_cpu = info.is_cpu
        self.is_gpu = info.is_gpu
        names = ("float16", "float32", "float64")[: 3 if info.has_double else 2]
        self.dtypes: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, names))
        self.compute_units = info.compute_units
        self.largest_work_group = info.largest_work_group
        self.memory = info.global_memory
        self.largest_allocation = info.largest_allocation
        self.local_memory = info.local_memory
        self.cache_size = info.cache_size
        self._opened = opened
        self._is_known = opened is not None  # to whoever asks for the device of a queue
        self._opening = threading.Lock()

    @classmethod
    def from_pyopencl(cls, queue: pyopencl.CommandQueue) -> Device:
        """Return the device of an in-order PyOpenCL queue, and use this queue and its context.

        Parameters
        ----------
        queue : pyopencl.CommandQueue
            All work is enqueued there, in order with that of PyOpenCL.

        Returns
        -------
        Device
            The same one for the same queue.

        Examples
        --------
        >>> import particles as pt
        >>> device = pt.default_device()
        >>> pt.Device.from_pyopencl(device.queue) is device
        True
        """
        check_queue("queue", queue)
        loader.load()
        pointers = (queue.context.int_ptr, queue.int_ptr)
        with _lock:
            device = _device_of_queue.get(pointers)
            if device is None:
                info = drivers.usable(_core.describe_device(queue.device.int_ptr))
                opened = _core.Context.adopt(info, *pointers, program_folder(info.caches_programs))
                device = _device_of_queue[pointers] = cls(opened.device, opened)
            device.core.check_process()
            return device

    @property
    def devices(self) -> tuple[Device, ...]:
        """Those that it stands for: itself alone, unless it is that of a grid of several.

        :meta private:
        """
        return (self,)

    @property
    def core(self) -> _core.Context:
        """The opened device of the C++ core, which fields and operators are made with.

        :meta private:
        """
        with self._opening:
            if self._opened is None:
                self.info = drivers.usable(self.info)
                self._opened = _core.Context.open(
                    self.info, program_folder(self.info.caches_programs)
                )
            if not self._is_known:  # nor where an interrupt came before
                self.info = self._opened.device
                pointers = (self._opened.context_pointer, self._opened.queue_pointer)
                _device_of_queue[pointers] = self
                self._is_known = True
            return self._opened

    @property
    def has_images(self) -> bool:
        """Whether a velocity can be put into image memory; this opens the device."""
        return self.core.device.has_images

    @property
    def kind(self) -> str:
        """``"CPU"``, ``"GPU"`` or ``"accelerator"``."""
        return "GPU" if self.is_gpu else "CPU" if self.is_cpu else "accelerator"

    @property
    def context(self) -> pyopencl.Context:
        """The OpenCL context as an object of PyOpenCL, not copied."""
        return pyopencl_objects.context_of(self.core)

    @property
    def queue(self) -> pyopencl.CommandQueue:
        """The in-order command queue as an object of PyOpenCL, not copied."""
        return pyopencl_objects.queue_of(self.core)

    def finish(self) -> None:
        """Wait until the device has finished all its work.

        Examples
        --------
        >>> import particles as pt
        >>> pt.default_device().finish()
        """
        self.core.finish()

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Device:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Device belongs to its process and cannot be pickled: pickle its name")

    def __repr__(self) -> str:
        dtypes = ", ".join(dtype.name for dtype in self.dtypes)
        index = f"{self.index}, " if self.index >= 0 else ""
        return f"Device({index}{self.name!r}, {self.kind}, {self.platform} {self.driver}, {dtypes})"


_lock = threading.Lock()
# A device keeps its queue alive, so no other queue can have the address of one that is found here.
_device_of_queue: weakref.WeakValueDictionary[tuple[int, int], Device] = (
    weakref.WeakValueDictionary()
)


@atexit.register
def _finish_all() -> None:
    """Wait for work under way: drivers that still compile for it crash when the process ends."""
    for device in list(_device_of_queue.values()):
        with suppress(DeviceError):  # in a forked process, for which nothing is under way
            device.finish()
