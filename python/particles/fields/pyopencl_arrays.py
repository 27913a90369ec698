# SPDX-License-Identifier: BSD-3-Clause
"""Fields in the memory of arrays of PyOpenCL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from particles import _core
from particles.arrays.pyopencl_memory import check_is_array, device_of, element_places, wait_for
from particles.base.checks import DTYPES, MOST_COMPONENTS
from particles.fields.grid import Grid
from particles.runtime.device import Device

if TYPE_CHECKING:
    import pyopencl.array


def guest_of(
    array: Any,  # noqa: ANN401  of PyOpenCL
    grid: Grid,
    components: int,
    device: Device,
) -> _core.Field | None:
    """Return an array as a field of the core that a device can read, after what uses it now.

    It is None where the array is of another shape, dtype or context, or is not laid out as a field.
    """
    shape = (components, *grid.shape) if components > 1 else grid.shape
    is_alike = array.shape == shape and array.dtype in device.dtypes
    if not is_alike or array.context.int_ptr != device.core.context_pointer:
        return None
    try:
        guest = adopted(array, grid, "", device.core)
    except (TypeError, ValueError):
        return None
    wait_for(array, device)
    return guest


def adopt_array(array: pyopencl.array.Array, grid: Grid, name: str) -> tuple[_core.Field, Device]:
    """Return a field in the array's memory, and its device."""
    check_is_array(array, DTYPES)
    if array.shape[-grid.ndim :] != grid.shape or array.ndim > grid.ndim + 1:
        raise ValueError(
            f"array must have the grid's shape {grid.shape}, with or without an axis of components "
            f"in front, not {array.shape}"
        )
    components = array.shape[0] if array.ndim > grid.ndim else 1
    if not 1 <= components <= MOST_COMPONENTS:
        raise ValueError(f"array must have 1 to {MOST_COMPONENTS} components, not {components}")
    device = device_of(array)
    return adopted(array, grid, name, device.core), device


def adopted(
    array: pyopencl.array.Array, grid: Grid, name: str, context: _core.Context
) -> _core.Field:
    """Return a field in the memory of an array of the grid's shape, or with components in front."""
    offset, strides = element_places(array)
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
