# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of one kind, as many as one likes, in memory of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays import pyopencl_memory
from particles.arrays.operators import Operators
from particles.arrays.overlap import overlap
from particles.arrays.reductions import ArrayReductions
from particles.arrays.slicing import Axes, Selection
from particles.arrays.transfers import Transfers
from particles.base.checks import (
    ARRAY_DTYPES,
    KEY_DTYPES,
    MOST_POINTS,
    as_dtype,
    as_index,
    as_integer,
    as_name,
    as_values,
    both,
    entries,
    shown,
)
from particles.base.guards import Named
from particles.base.kinds import is_a
from particles.runtime.device import Device
from particles.runtime.devices import as_device

if TYPE_CHECKING:
    import pyopencl.array
    from typing_extensions import Self

__all__ = ["Array"]

_MOST_COMPONENTS = 4


class Array(Operators, Named, ArrayReductions):
    """Numbers of one kind in the memory of a device, one to four in each row; initially zero.

    It holds one value or vector for each of many items: masses, velocities, numbers of cells. An
    array is indexed and assigned to like a NumPy array, and converts to one. Only the indexed part is
    copied between host and device. Index arrays and masks copy the whole array. Only reading,
    `get`, the reductions, and `take` with an order that was not made by `argsort`, wait for the
    device.

    Parameters
    ----------
    shape : int or tuple of int
        Number of rows, which may be 0, and, for vectors, of components in each row, 2 to 4.
        Components of a row are adjacent in memory, and rows follow each other without gaps.
    dtype : dtype
        float32, bool, uint8, int32, uint32, int64 or uint64, or float64 where the device has it.
        float16 is for storage only: arithmetic is in float32.
    device : Device, int or str, optional
        By default the one of `default_device`.
    name : str, optional
        For messages.

    Attributes
    ----------
    shape, dtype, device, name
        As above; the shape is a tuple.
    components : int
        Numbers in each row.

    Notes
    -----
    Real numbers are converted as by an assignment to a NumPy array: float64 is rounded to float32.
    Integers must be integers that fit.

    Examples
    --------
    >>> import particles as pt
    >>> mass = pt.Array(4, name="mass")
    >>> mass[...] = [3, 1, 2, 1]
    >>> mass[1:3]
    array([1., 2.], dtype=float32)
    >>> cell = pt.Array(4, "int32")
    >>> cell[...] = [7, 2, 7, 0]
    >>> order = cell.argsort()
    >>> mass.take(order).get()
    array([1., 1., 3., 2.], dtype=float32)
    """

    _ways: ClassVar = {
        **{
            name: f"np.asarray(array).{name}"
            for name in dir(np.ndarray)
            if not name.startswith("_")
        },
        **{name: f"np.{name}(array, ...)" for name in ("quantile", "percentile", "histogram")},
        "median": "np.median(array)",
        **dict.fromkeys(("values", "numpy", "to_numpy"), "np.asarray(array)"),
        "cumsum": "array.exclusive_scan()[1:]",
        "sort": "array[...] = array.take(array.argsort())",
    }
    core: _core.Array
    _known: tuple[int, int] = (-1, 0)  # at that version all values are places of so many rows

    def __init__(
        self,
        shape: int | tuple[int, ...],
        dtype: npt.DTypeLike = "float32",
        device: Device | int | str | None = None,
        name: str | None = None,
    ) -> None:
        rows, components = _as_rows(shape)
        number = as_dtype("dtype", dtype, ARRAY_DTYPES)
        label = as_name("name", name)
        place = as_device(device)
        if number.kind == "f" and number not in place.dtypes:
            raise TypeError(f"dtype must be float32 on {place.name}, which has no {number.name}")
        words = f"array {label}" if label else "an array"
        self._take(_core.Array(place.core, rows, components, number.name, words), place)
        self.name = label

    def _take(
        self, core: _core.Array, device: Device, owner: pyopencl.array.Array | None = None
    ) -> None:
        """Stand for an array of the core; `owner` is the one that its memory came with, if any."""
        self.core = core
        self.device = device
        self.components = core.components
        self.dtype = np.dtype(core.dtype)
        self.shape = (core.count, core.components) if core.components > 1 else (core.count,)
        self._owner = owner

    @classmethod
    def _of(
        cls,
        core: _core.Array,
        device: Device,
        name: str | None = None,
        owner: pyopencl.array.Array | None = None,
    ) -> Array:
        array = cls.__new__(cls)
        array._take(core, device, owner)
        array.name = name
        array._is_made = True
        return array

    def copy(self) -> Array:
        """Return a copy of the array, made on the device.

        Returns
        -------
        Array

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(3)
        >>> a.copy() is a
        False
        """
        here = self._on_one_device()
        here._be_seen()
        result = Array(here.shape, here.dtype, here.device, self.name)
        result.core.copy_from(here.core)
        return result

    def _on_one_device(self) -> Array:
        """Return these numbers on one device, on which they can be put in order."""
        return self

    def component(self, index: int) -> Array:
        """Return one component of all rows as an array in the same memory.

        Parameters
        ----------
        index : int
            Which one; negative ones count from the last.

        Returns
        -------
        Array

        Examples
        --------
        >>> import particles as pt
        >>> velocity = pt.Array((3, 2))
        >>> velocity.component(1).fill(2)
        >>> velocity[0]
        array([0., 2.], dtype=float32)
        """
        number = as_index("index", index, self.components)
        name = self.name and f"{self.name}[:, {number}]"
        view = Array._of(self.core.component(number), self.device, name, self._owner)
        self._add_view(view)
        return view

    def exclusive_scan(self) -> Array:
        """Return the sum of all numbers before each one, and the sum of all: 0, a0, a0 + a1, and so on.

        If the numbers count the items of each kind, this gives the indices at which each kind
        begins and ends in an array that is sorted by kind.

        Returns
        -------
        Array
            Longer by one, with the same dtype. Sums that exceed the dtype wrap around.

        Examples
        --------
        >>> import particles as pt
        >>> count = pt.Array(3, "int32")
        >>> count[...] = [2, 0, 3]
        >>> count.exclusive_scan().get()
        array([0, 2, 2, 5], dtype=int32)
        """
        here = self._on_one_device()
        source = here._packed_integers("what is scanned")
        target = Array(len(here) + 1, here.dtype, here.device)
        _core.scan(source, target.core)
        return target

    def argsort(self) -> Array:
        """Return the indices that sort the numbers in ascending order; equal ones stay in order.

        The order is the same on every device. The device sorts without waiting, in memory that
        this array keeps for the next time: 16 bytes for each key of 32 bits, 32 for each of 64.

        Returns
        -------
        Array
            int32, or int64 for 2^31 numbers or more.

        Examples
        --------
        >>> import particles as pt
        >>> key = pt.Array(4, "uint32")
        >>> key[...] = [5, 3, 5, 1]
        >>> key.argsort().get()
        array([3, 1, 0, 2], dtype=int32)
        """
        here = self._on_one_device()
        keys = here._packed_integers("what is sorted by")
        order = Array(len(here), "int32" if len(here) < 2**31 else "int64", here.device)
        _core.sort(keys, order.core)
        order._known = (order.core.version, len(here))
        return order

    def take(self, order: Array | npt.ArrayLike) -> Array:
        """Return the rows with these indices, in this order, as a new array.

        Parameters
        ----------
        order : Array or array_like of int
            Indices of rows, from 0 on; each may occur any number of times. An array on the device
            has the dtype int32, uint32, int64 or uint64.

        Returns
        -------
        Array

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(4)
        >>> a[...] = [10, 11, 12, 13]
        >>> a.take([3, 3, 0]).get()
        array([13., 13., 10.], dtype=float32)
        """
        here = self._on_one_device()
        places = here._as_places(order)
        here._be_seen()
        rows = (len(places), *here.shape[1:])
        result = Array(rows, here.dtype, here.device, self.name)
        _core.permute(here.core, places._packed(), result.core)
        return result

    def sorted_by(self, keys: Array) -> Array:
        """Return the rows sorted by keys; rows with equal keys stay in order.

        The result is that of ``array.take(keys.argsort())``, but the rows move together with their
        keys. For unsorted rows of 16 bytes this takes 0.6 times as long (``python -m benchmarks.arrays``).

        Parameters
        ----------
        keys : Array
            One for each row: int32, uint32, int64 or uint64. They are not changed.

        Returns
        -------
        Array

        Examples
        --------
        >>> import particles as pt
        >>> mass, key = pt.Array(3), pt.Array(3, "int32")
        >>> mass[...], key[...] = [10, 20, 30], [5, -1, 3]
        >>> mass.sorted_by(key).get()
        array([20., 30., 10.], dtype=float32)
        """
        if not is_a(keys, Array):
            raise TypeError(f"keys must be an Array, not {shown(keys)}")
        keys, here = keys._on_one_device(), self._on_one_device()
        if keys.device != here.device:
            raise ValueError(f"keys must be on {here.device!r}, not on {keys.device!r}")
        if len(keys) != len(here):
            raise ValueError(f"keys must be one for each of {len(here)} rows, not {len(keys)}")
        core = keys._packed_integers("keys")
        here._be_seen()
        result = Array(here.shape, here.dtype, here.device, self.name)
        _core.sort_rows(core, here.core, result.core)
        return result

    def to_pyopencl(self) -> pyopencl.array.Array:
        """Return the array as one of PyOpenCL, without a copy.

        It works in the device's queue, in order with all other work on this array. In another
        queue (`with_queue`) it waits for the work enqueued so far. For later work, wait by
        `Device.finish`, or by an event in the other direction.

        Returns
        -------
        pyopencl.array.Array

        Examples
        --------
        >>> import particles as pt
        >>> a = pt.Array(3)
        >>> a[...] = a.to_pyopencl() + 1
        >>> a.get()
        array([1., 1., 1.], dtype=float32)
        """
        self._be_seen()
        return pyopencl_memory.to_array(self, self.core, (self.core.stride, 1)[: self.ndim])

    @classmethod
    def from_pyopencl(cls, array: pyopencl.array.Array, name: str | None = None) -> Array:
        """Return an array in the memory of one of PyOpenCL, without a copy.

        Parameters
        ----------
        array : pyopencl.array.Array
            With one axis, or with a second axis of 2 to 4 components that are adjacent in memory. It
            may begin inside its buffer, and have gaps between its rows. All work on the array uses
            its queue and its context, and waits for work of other queues that is in the array's
            ``events``.
        name : str, optional
            For messages.

        Returns
        -------
        Array

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> import pyopencl.array
        >>> queue = pt.default_device().queue
        >>> array = pyopencl.array.to_device(queue, np.arange(5))
        >>> pt.Array.from_pyopencl(array).sum()
        10
        """
        label = as_name("name", name)
        pyopencl_memory.check_is_array(array, ARRAY_DTYPES)
        _check_is_rows(array)
        device = pyopencl_memory.device_of(array)
        words = f"array {label}" if label else "an array"
        return cls._of(_adopted(array, device, words), device, label, array)

    def _change(self, symbol: str, other: object) -> Self:
        """Refuse: an array of NumPy would take the place of this one, which would not change."""
        return self._refuse()

    def _instead(self) -> str:
        return (
            "an Array has no operators: compute with np.asarray(array), and assign what comes of it "
            "by array[...] = values"
        )

    def _packed(self) -> _core.Array:
        return self.core if self.core.stride == self.components else self.copy().core

    def _check_integers(self, what: str) -> None:
        if self.dtype not in KEY_DTYPES or self.components > 1:
            raise TypeError(
                f"{what} must be of one component of int32, uint32, int64 or uint64, not "
                f"{self.dtype.name} of the shape {self.shape}"
            )

    def _packed_integers(self, what: str) -> _core.Array:
        self._check_integers(what)
        self._be_seen()
        return self._packed()

    def _as_places(self, order: object) -> Array:
        """Return numbers of rows on the device, all of which there are."""
        if is_a(order, Array):
            order = order._on_one_device()
            if order.device != self.device:
                raise ValueError(f"order must be on {self.device!r}, not on {order.device!r}")
            order._check_integers("order")
            places = order
        else:
            values = as_values(order, np.dtype(np.int64), "order")
            if values.ndim != 1:
                raise ValueError(f"order must have one axis, not the shape {values.shape}")
            places = Array(len(values), np.int64, self.device)
            places[...] = values
        version, known = places._known
        is_known = version == places.core.version and not places.core.is_shared
        if len(places) and not (is_known and known <= len(self)):
            least, greatest = places.min(), places.max()
            if least < 0 or greatest >= len(self):
                wrong = least if least < 0 else greatest
                raise IndexError(f"order must be indices from 0 to {len(self) - 1}, not {wrong}")
        return places

    def _is_same_kind(self, value: Transfers) -> TypeGuard[Array]:
        return is_a(value, Array)

    def _assign_whole(self, selection: Selection, value: Transfers) -> None:
        assert self._is_same_kind(value)
        core, shape = self._selected(selection)
        are_real = self.dtype.kind == value.dtype.kind == "f"
        for what, ours, theirs in (
            ("device", self.device, value.device),
            ("shape", shape, value.shape),
            ("dtype", value.dtype if are_real else self.dtype, value.dtype),
        ):
            if ours != theirs:
                raise ValueError(f"arrays must have the same {what}, not {both(ours, theirs)}")
        self._check_overflow_before(value)
        self._look_before(selection, np.nan)  # or whatever it is
        given = value.core
        if overlap(core, given):
            given = value.copy().core
        core.copy_from(given)
        self._forget_after(selection)
        if value.size:
            self._warn_of_overflow(value)

    def _selected(self, selection: Selection) -> tuple[_core.Array, tuple[int, ...]]:
        """Return what an index selects, the whole or one component, and its shape."""
        if not selection.reversed_axes and selection.count == self.shape:
            return self.core, self.shape
        if (
            not selection.reversed_axes
            and self.components > 1
            and selection.count == (len(self), 1)
        ):
            return self.core.component(selection.start[1]), (len(self),)
        raise TypeError("an Array can be assigned to a whole array or component, not to a part")

    def _guest_of(self, selection: Selection, array: Any) -> Transfers | None:  # noqa: ANN401
        is_alike = selection.count == self.shape == array.shape and not selection.reversed_axes
        is_alike = is_alike and array.dtype in {self.dtype, *self._convertible()}
        if not is_alike or array.context.int_ptr != self.device.core.context_pointer:
            return None
        try:
            _check_is_rows(array)
            guest = Array._of(_adopted(array, self.device, "values"), self.device, None, array)
        except (TypeError, ValueError):
            return None
        pyopencl_memory.wait_for(array, self.device)
        return guest

    def _convertible(self) -> tuple[np.dtype[Any], ...]:
        return self.device.dtypes if self.dtype.kind == "f" else ()

    def _axis_names(self) -> list[str]:
        return ["the row", "the component"][: self.ndim]

    def _places(self, selection: Selection) -> tuple[Axes, Axes, Axes]:
        if self.components > 1:
            return selection.start, selection.count, selection.step
        return (*selection.start, 0), (*selection.count, 1), (*selection.step, 1)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"Array({name}{self.shape}, {self.dtype.name}, {self.device.name})"


def _as_rows(shape: object) -> tuple[int, int]:
    """Return the numbers of rows and of components."""
    several = entries(shape)
    if several is None:
        return as_integer("shape", shape, 0, MOST_POINTS), 1
    if not 1 <= len(several) <= 2:
        raise ValueError(
            f"shape must have one or two axes, not {len(several)}: {shown(shape)}; values are put into "
            "an array by array[...] = values"
        )
    rows = as_integer("shape", several[0], 0, MOST_POINTS)
    if len(several) == 1:
        return rows, 1
    return rows, as_integer("components in shape", several[1], 2, _MOST_COMPONENTS)


def _check_is_rows(array: pyopencl.array.Array) -> None:
    is_rows = array.ndim == 1 or (
        array.ndim == 2
        and 2 <= array.shape[1] <= _MOST_COMPONENTS
        and array.strides[1] == array.dtype.itemsize
    )
    if not is_rows:
        raise ValueError(
            "array must have one axis, or a second one of 2 to 4 components that are neighbours in "
            f"memory, not the shape {array.shape} with the strides {array.strides}"
        )


def _adopted(array: pyopencl.array.Array, device: Device, words: str) -> _core.Array:
    offset, strides = pyopencl_memory.element_places(array)
    memory: Any = array.base_data
    components = array.shape[1] if array.ndim > 1 else 1
    stride = strides[0] if array.shape[0] > 1 else components
    return _core.Array.adopt(
        device.core,
        array.shape[0],
        components,
        array.dtype.name,
        words,
        memory.int_ptr,
        offset,
        stride,
    )
