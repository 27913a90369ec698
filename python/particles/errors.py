# SPDX-License-Identifier: BSD-3-Clause
"""What is raised when a device, and not an argument, is the problem."""

from particles._core import BuildError, DeviceError, OutOfMemoryError

DeviceError.__doc__ = """An OpenCL device, or the lack of one, stopped the work.

The message names the OpenCL call, its error code and the device.

Examples
--------
>>> import particles as pt
>>> try:
...     device = pt.default_device()
... except pt.DeviceError as error:
...     print("there is nothing to compute on:", error)
"""

BuildError.__doc__ = """A program did not build for a device.

Attributes
----------
log : str
    What the device's compiler wrote.

Examples
--------
>>> import particles as pt
>>> issubclass(pt.BuildError, pt.DeviceError)
True
"""

OutOfMemoryError.__doc__ = """A device has less memory than was asked for.

It is a `MemoryError` too, which is what NumPy raises on the host.

Examples
--------
>>> import particles as pt
>>> issubclass(pt.OutOfMemoryError, MemoryError)
True
"""

__all__ = ["BuildError", "DeviceError", "OutOfMemoryError"]
