# SPDX-License-Identifier: BSD-3-Clause
"""How values of a field come and go, with NumPy's indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from particles import _core, _interop
from particles._check import as_array, as_values, is_function
from particles._kinds import is_a
from particles._overlap import may_overlap, overlap
from particles._pyopencl import is_array
from particles._seen import Seen
from particles._slicing import (
    Axes,
    Box,
    as_box,
    for_numpy,
    is_advanced,
    selected_axes,
    spread_over,
)
from particles._xarray import axes_of, by_names, is_named
from particles.device import Device
from particles.grid import Grid


@contextmanager
def _named_errors(shape: tuple[int, ...]) -> Iterator[None]:
    """Say of what an index is, where NumPy refuses it."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  a stranger's object may raise anything
        kind = next((k for k in (IndexError, ValueError) if isinstance(error, k)), TypeError)
        raise kind(f"index must fit a field of the shape {shape}, but {error}") from None


class Transfers(Seen):
    """A field as an array of the host sees it."""

    core: _core.Field
    grid: Grid
    components: int
    device: Device
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def get(self, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Copy the values to a NumPy array on the host.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Filled instead of a new array; of the field's shape and dtype.

        Returns
        -------
        numpy.ndarray
            `out`, or a new C-ordered array.

        Examples
        --------
        >>> import particles as pt
        >>> pt.Field(pt.Grid(3)).get()
        array([0., 0., 0.], dtype=float32)
        """
        if out is None:
            out = np.empty(self.shape, self.dtype)
        if np.ma.isMaskedArray(out) or not is_a(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
        if out.shape != self.shape:
            raise ValueError(f"out must have the shape {self.shape}, not {out.shape}")
        if out.dtype != self.dtype:
            raise TypeError(f"out must be of {self.dtype}, not {out.dtype}")
        if not out.flags.writeable:
            raise ValueError("out must be writeable, not read-only")
        if _overlaps_itself(out):
            raise ValueError(f"out must not overlap itself, as it does with strides {out.strides}")
        if out.flags.c_contiguous and out.flags.aligned and not may_overlap(self.core, out):
            self._read(as_box(..., self.shape), out)
        else:
            out[...] = self.get()
        return out

    def set(self, values: npt.ArrayLike) -> None:
        """Copy an array of exactly this shape to the device.

        Parameters
        ----------
        values : array_like
            Of the field's shape; converted to its dtype.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi.set([1, 2, 3])
        >>> phi.sum()
        6.0
        """
        given = self._by_names(..., values) if is_named(values) else values
        array = self._as_array(given, math.prod(self.shape))
        if array.shape != self.shape:
            raise ValueError(f"values must have the shape {self.shape}, not {array.shape}")
        self[...] = array

    def fill(self, value: float) -> None:
        """Set every value to one number.

        Parameters
        ----------
        value : float
            The number.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi.fill(2)
        >>> phi.sum()
        6.0
        """
        number = as_values(value, self.dtype, "value")
        if number.ndim != 0:
            raise ValueError(f"value must be one number, not an array of {number.shape}")
        self[...] = number

    def __getitem__(self, key: object) -> npt.NDArray[Any]:
        if is_advanced(key):
            with _named_errors(self.shape):
                part: npt.NDArray[Any] = self.get()[for_numpy(key)]
            return part
        box = as_box(key, self.shape)
        values = np.empty(box.count, self.dtype)
        self._read(box, values)
        return box.arranged(values)

    def __setitem__(self, key: object, value: object) -> None:
        if is_function(value):
            self._evaluate(key, value)
            return
        if is_named(value):
            value = self._by_names(key, value)
        if is_advanced(key):
            values, given = self.get(), as_values(value, self.dtype)
            with _named_errors(self.shape):
                values[for_numpy(key)] = given
            self.set(values)
            return
        box = as_box(key, self.shape)
        if is_a(value, Transfers):
            self._assign_field(box, value)
            return
        if is_array(value) and self._assign_on_device(box, value):
            return
        array = self._as_array(value, math.prod(box.count))
        if array.ndim == 0 and all(box.count):
            number = float(as_values(array, self.dtype))
            self._look_before(box, number)
            self.core.fill(*self._places(box), number)
            self._forget_after(box)
            return
        spread = spread_over(array, box.shape)
        if spread.size:
            host = np.require(box.rearranged(spread), requirements=("C", "A")).reshape(box.count)
            if may_overlap(self.core, host):
                host = host.copy()
            self._look_before(box, host)
            self.core.write(*self._places(box), host)
            self._forget_after(box)
            self._warn_of_overflow(host)

    def _by_names(self, key: object, values: Any) -> npt.NDArray[Any]:  # noqa: ANN401
        """Return values whose axes have names in the order of what an index selects."""
        if is_advanced(key):
            if values.ndim:
                raise TypeError(
                    "values with names of dimensions can be assigned to whole axes and slices, not "
                    "to arrays of indices: give their attribute values"
                )
            return by_names(values, [])
        as_box(key, self.shape)
        axes = axes_of(self.grid, self.components)
        selected = selected_axes(key, len(axes))
        return by_names(values, [one and axes[one[0]].part(one[1]) for one in selected])

    def _evaluate(self, key: object, formula: Callable[..., Any]) -> None:
        """Set the elements that an index selects to what a formula makes of their coordinates."""
        raise NotImplementedError

    def _as_array(self, values: object, size: int) -> npt.NDArray[Any]:
        """Return an array that can be written; whole ones a CPU converts while it copies them."""
        if (
            is_a(values, np.ndarray)
            and values.size == size
            and values.dtype in self.device.dtypes
            and self.device.is_cpu
            and (np.geterr()["over"] in ("warn", "ignore") or not self._is_narrower(values))
        ):
            return as_array(values)
        return as_values(values, self.dtype)

    def _is_narrower(self, values: npt.NDArray[Any] | Transfers) -> bool:
        return self.dtype.itemsize < values.dtype.itemsize

    def _warn_of_overflow(self, values: npt.NDArray[Any] | Transfers) -> None:
        """Warn as NumPy does of what has become infinite, where the device converted it."""
        if not self._is_narrower(values) or np.geterr()["over"] == "ignore":
            return
        if not math.isfinite(self.core.max_abs()):
            as_values(values.get() if is_a(values, Transfers) else values, self.dtype)

    def _assign_on_device(self, box: Box, array: Any) -> bool:  # noqa: ANN401
        """Copy an array of PyOpenCL as if it were a field, if it can be one; return whether."""
        components = self._components_of(box)
        if not components:
            return False
        guest = _interop.guest_of(array, self.grid, components, self.device)
        if guest is None:
            return False
        self._assign_field(box, guest)
        if not _interop.is_in_order_with(array, self.device):
            self.device.finish()  # before its own queue writes to it again
        return True

    def _components_of(self, box: Box) -> int:
        """Return how many components are selected, each of them whole; 0 if there is a part."""
        if self.components > 1 and (box.count, box.reversed_axes) == ((1, *self.grid.shape), ()):
            return 1
        return 0 if box.count != self.shape or box.reversed_axes else self.components

    def _assign_field(self, box: Box, value: Transfers) -> None:
        """Copy another field into all of this one, or into one component, on the device."""
        core, components = self.core, self._components_of(box)
        if components < self.components and components:
            core = core.component(box.start[0])
        elif not components:
            raise TypeError("a Field can be assigned to a whole field or component, not to a part")
        self._check_alike(value, components)
        value._be_seen()
        if self._is_narrower(value) and np.geterr()["over"] not in ("warn", "ignore"):
            as_values(value.get(), self.dtype)
        self._look_before(box, math.nan)  # or whatever it is
        given = value.core
        if overlap(core, given):
            given = _core.Field(
                self.device.core,
                self.grid.core,
                components,
                value.dtype.name,
                "values on their way",
            )
            given.copy_from(value.core)
        core.copy_from(given)
        self._forget_after(box)
        self._warn_of_overflow(value)

    def _check_alike(self, other: Transfers, components: int | None = None) -> None:
        """Refuse a field of another device or grid, or of another number of components."""
        for what, ours, theirs in (
            ("device", self.device, other.device),
            ("grid", self.grid, other.grid),
            ("number of components", components or other.components, other.components),
        ):
            if ours != theirs:
                raise ValueError(f"fields must have the same {what}, not {ours!r} and {theirs!r}")

    def _look_before(self, box: Box, values: float | npt.NDArray[Any]) -> None:
        """See what was there before values that are not finite are written beside it."""
        if box.count != self.shape and not np.isfinite(values).all():
            self._be_seen()

    def _forget_after(self, box: Box) -> None:
        """Let nobody look for what was there before all of it was replaced."""
        if box.count == self.shape:
            self._be_replaced()

    def _places(self, box: Box) -> tuple[Axes, Axes, Axes]:
        """Return start, count and step of the component and of each axis."""
        if self.components > 1:
            return box.start, box.count, box.step
        return (0, *box.start), (1, *box.count), (1, *box.step)

    def _read(self, box: Box, host: npt.NDArray[Any]) -> None:
        self._be_seen()
        if host.size:
            self.core.read(*self._places(box), host)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(
                "a Field cannot become an array without a copy: leave copy=False out, "
                "or share the memory of a CPU by np.from_dlpack(field)"
            )
        values = self.get()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __bool__(self) -> bool:
        raise ValueError("a Field is neither true nor false; compare a number made of it")


def _overlaps_itself(array: npt.NDArray[Any]) -> bool:
    """Whether two elements may lie in the same memory."""
    reach = array.itemsize
    for stride, length in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if length > 1 and stride < reach:
            return True
        reach += stride * (length - 1)
    return False
