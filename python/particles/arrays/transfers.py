# SPDX-License-Identifier: BSD-3-Clause
"""How values in memory of a device come and go, with NumPy's indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays import dlpack
from particles.arrays.check_on_read import Seen
from particles.arrays.overlap import may_overlap
from particles.arrays.pyopencl_memory import is_in_order_with
from particles.arrays.slicing import (
    Axes,
    Selection,
    as_selection,
    for_numpy,
    is_advanced,
    order_of,
    selected_axes,
    spread_over,
)
from particles.base.checks import as_array, as_values, shown
from particles.base.guards import meant
from particles.base.kinds import is_a, with_article
from particles.base.pyopencl_objects import is_array
from particles.runtime.device import Device

if TYPE_CHECKING:
    from typing_extensions import Self


@contextmanager
def _named_errors(indexed: Transfers) -> Iterator[None]:
    """Say of what an index is, where NumPy refuses it."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  a stranger's object may raise anything
        kind = next((k for k in (IndexError, ValueError) if isinstance(error, k)), TypeError)
        raise kind(
            f"index must fit {with_article(type(indexed)).lower()} of the shape {indexed.shape}, but {error}"
        ) from None


class Transfers(Seen):
    """Values in memory of a device as an array of the host sees them."""

    core: _core.Array | _core.Field
    components: int
    device: Device
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    _owner: Any = None  # the array that the memory came with, if any

    @property
    def ndim(self) -> int:
        """Number of axes, including the axis of components if there are several."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all values; the device may use slightly more."""
        return self.size * self.dtype.itemsize

    def get(self, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Copy the values to a NumPy array on the host.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Filled instead of a new array; of the same shape and dtype.

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
            self._read(as_selection(..., self.shape), out)
        else:
            out[...] = self.get()
        return out

    def set(self, values: npt.ArrayLike) -> None:
        """Copy an array of exactly this shape to the device.

        Parameters
        ----------
        values : array_like
            Of the same shape; converted to the dtype.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi.set([1, 2, 3])
        >>> phi.sum()
        6.0
        """
        array = self._as_array(values, self.size)
        if array.shape != self.shape:
            order = order_of(array.shape, self.shape, self._names_of(...))
            raise ValueError(f"values must have the shape {self.shape}, not {array.shape}{order}")
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
            shared = self._on_host()
            whole = self.get() if shared is None else shared
            with _named_errors(self):
                part: npt.NDArray[Any] = whole[for_numpy(key)]
            return part
        selection = as_selection(key, self.shape)
        values = np.empty(selection.count, self.dtype)
        self._read(selection, values)
        return selection.arranged(values)

    def __setitem__(self, key: object, value: object) -> None:
        if is_advanced(key):
            given, shared = as_values(value, self.dtype), self._on_host()
            values = self.get() if shared is None else shared
            with _named_errors(self):
                values[for_numpy(key)] = given
            if shared is not None:
                self.core.touch()
                return
            key, value = ..., values
        selection = as_selection(key, self.shape)
        if is_a(value, Transfers) and self._is_same_kind(value):
            self._assign_whole(selection, value)
            return
        if is_array(value) and self._assign_on_device(selection, value):
            return
        array = self._as_array(value, math.prod(selection.count))
        if array.ndim == 0 and all(selection.count):
            number = as_values(array, self.dtype).item()
            self._look_before(selection, number)
            self.core.fill(*self._places(selection), number)
            self._forget_after(selection)
            return
        spread = spread_over(array, selection.shape, self._names_of(key))
        if spread.size:
            host = np.require(selection.rearranged(spread), requirements=("C", "A")).reshape(
                selection.count
            )
            if may_overlap(self.core, host):
                host = host.copy()
            self._look_before(selection, host)
            self.core.write(*self._places(selection), host)
            self._forget_after(selection)
            self._warn_of_overflow(host)

    def _as_array(self, values: object, size: int) -> npt.NDArray[Any]:
        """Return an array that can be written; whole ones a CPU converts while it copies them."""
        if (
            is_a(values, np.ndarray)
            and values.size == size
            and {self.dtype, values.dtype} <= {*self.device.dtypes}
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

    def _assign_on_device(self, selection: Selection, array: Any) -> bool:  # noqa: ANN401
        """Copy an array of PyOpenCL as if it were one of these, if it can be; return whether."""
        guest = self._guest_of(selection, array)
        if guest is None:
            return False
        self._assign_whole(selection, guest)
        if not is_in_order_with(array, self.device):
            self.device.finish()  # before its own queue writes to it again
        return True

    def _check_overflow_before(self, value: Transfers) -> None:
        """Have NumPy raise what it raises of values that the device would convert."""
        value._be_seen()
        if self._is_narrower(value) and np.geterr()["over"] not in ("warn", "ignore"):
            as_values(value.get(), self.dtype)

    def _is_same_kind(self, value: Transfers) -> bool:
        """Whether values can be assigned to these on the device."""
        raise NotImplementedError

    def _assign_whole(self, selection: Selection, value: Transfers) -> None:
        """Copy values of the same kind to those that an index selects, on the device."""
        raise NotImplementedError

    def _guest_of(self, selection: Selection, array: Any) -> Transfers | None:  # noqa: ANN401
        """Return an array of PyOpenCL as one of this kind that can be assigned, or None."""
        raise NotImplementedError

    def _places(self, selection: Selection) -> tuple[Axes, Axes, Axes]:
        """Return start, count and step of each axis of the core."""
        raise NotImplementedError

    def _names_of(self, key: object) -> list[str]:
        """Return what the axes stand for that a basic index leaves."""
        names = self._axis_names()
        selected = selected_axes(key, len(names))
        return [
            names[one[0]] if one else "new" for one in selected if not one or is_a(one[1], slice)
        ]

    def _axis_names(self) -> list[str]:
        """Return what each axis stands for."""
        raise NotImplementedError

    def _look_before(self, selection: Selection, values: float | npt.NDArray[Any]) -> None:
        """See what was there before values that are not finite are written beside it."""
        if selection.count != self.shape and not np.isfinite(values).all():
            self._be_seen()

    def _forget_after(self, selection: Selection) -> None:
        """Let nobody look for what was there before all of it was replaced."""
        if selection.count == self.shape:
            self._be_replaced()

    def _read(self, selection: Selection, host: npt.NDArray[Any]) -> None:
        self._be_seen()
        if host.size:
            self.core.read(*self._places(selection), host)

    def _on_host(self) -> npt.NDArray[Any] | None:
        """Return the values where they lie, once all work is done, if the host shares the memory."""
        values = self.core.host_values()
        if values is not None:
            self._be_seen()
            self.device.finish()
        return values

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(
                f"{with_article(type(self))} cannot become an array without a copy: leave copy=False out, "
                f"or share the memory of a CPU by np.from_dlpack({type(self).__name__.lower()})"
            )
        values = self.get()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __contains__(self, value: object) -> bool:
        return value in self.get()

    def __bool__(self) -> bool:
        raise ValueError(
            f"{with_article(type(self))} has no truth value: use a number, such as its max() > 0"
        )

    def _compare(self, other: object) -> Any:  # noqa: ANN401
        if is_a(other, np.ndarray | np.generic):
            return NotImplemented
        word = type(self).__name__.lower()
        raise TypeError(
            f"{with_article(type(self))} cannot be compared: use np.asarray({word}), or `is` for identity"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare
    __hash__ = object.__hash__

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def copy(self) -> Self:
        """Return a copy, made on the device."""
        raise NotImplementedError

    def __reduce__(self) -> NoReturn:
        word = type(self).__name__.lower()
        raise TypeError(
            f"{with_article(type(self))} is on a device and cannot be pickled: pickle np.asarray({word})"
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the values lie, as DLPack says it: (1, 0) is the host."""
        return dlpack.place_of(self)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:  # noqa: ANN401  a capsule
        """Hand the values to another library, without a copy where the device shares the memory.

        This waits for the device. What the library writes is seen by whatever is done with the
        values later; before it reads what they have become, call `Device.finish`. The memory
        lives as long as either needs it. Rows of a field are padded: a library that takes nothing
        but packed arrays, as JAX does, needs a copy, ``np.asarray(field)``.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> np.from_dlpack(phi, device="cpu")  # on a GPU a copy
        array([0., 0., 0.], dtype=float32)
        """
        return dlpack.export(self, stream, max_version, dl_device, copy)


def _overlaps_itself(array: npt.NDArray[Any]) -> bool:
    """Whether two elements may lie in the same memory."""
    reach = array.itemsize
    for stride, length in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if array.size and length > 1 and stride < reach:
            return True
        reach += stride * (length - 1)
    return False


def refuse_choices(kind: str, reduction: str, **choices: object) -> None:
    """Refuse what NumPy's functions let one choose, and reductions on a device do not."""
    _, *known = signature(getattr(np, reduction)).parameters
    for name, choice in choices.items():
        if name not in known:
            raise TypeError(
                f"{kind.title()}.{reduction}() got an unexpected keyword argument {name!r}"
                f"{meant(name, known)}"
            )
        if choice is not None:
            raise TypeError(
                f"{name} cannot be chosen: use "
                f"np.{reduction}(np.asarray({kind}), {name}={shown(choice)})"
            )
