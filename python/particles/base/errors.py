# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings of devices and of computed values."""

from __future__ import annotations

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


class NotFiniteError(FloatingPointError, ValueError):
    """A field or a velocity is NaN or infinite somewhere; the message says where.

    Attributes
    ----------
    field : str
        The name of the field or velocity.
    component : int
        Its component.
    index : tuple of int
        The first point of the grid where it is not finite.
    place : tuple of float
        The coordinates of that point.
    value : float
        The value there.
    step : int
        Number of steps done when it was found.
    time : float
        Time of the fields.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(8)
    >>> u = pt.Field(grid, name="u")
    >>> u[3] = float("inf")
    >>> transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, "1")), pt.RemeshOp(u))
    >>> try:
    ...     transport.run(until=0.5, dt=0.5)
    ... except pt.NotFiniteError as error:
    ...     print(error.field, error.step, error.time)
    field 'u' 0 0.0
    """

    __module__ = "particles"

    field: str
    component: int
    index: tuple[int, ...]
    place: tuple[float, ...]
    value: float
    step: int
    time: float


class NotFiniteWarning(RuntimeWarning):
    """Values read from a field are NaN or infinite somewhere after steps without a check.

    Examples
    --------
    >>> import warnings
    >>> import particles as pt
    >>> warnings.simplefilter("ignore", pt.NotFiniteWarning)
    """

    __module__ = "particles"


__all__ = [
    "BuildError",
    "DeviceError",
    "NotFiniteError",
    "NotFiniteWarning",
    "OutOfMemoryError",
]
