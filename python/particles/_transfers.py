# SPDX-License-Identifier: BSD-3-Clause
"""How values of a field come and go, with NumPy's indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from particles import _core
from particles._check import as_values
from particles._slicing import Axes, Box, as_box, is_advanced, spread_over
from particles.device import Device
from particles.grid import Grid


class Transfers:
    """A field as an array of the host sees it."""

    core: _core.Field
    grid: Grid
    components: int
    device: Device
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def get(self, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Copy the values into an array of the host.

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
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
        if out.shape != self.shape:
            raise ValueError(f"out must have the shape {self.shape}, not {out.shape}")
        if out.dtype != self.dtype:
            raise TypeError(f"out must be of {self.dtype}, not {out.dtype}")
        if not out.flags.writeable:
            raise ValueError("out must be writeable, not read-only")
        if out.flags.c_contiguous and out.flags.aligned:
            self._read(as_box(..., self.shape), out)
        else:
            out[...] = self.get()
        return out

    def set(self, values: npt.ArrayLike) -> None:
        """Copy an array of exactly this shape to the device.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi.set([1, 2, 3])
        >>> phi.sum()
        6.0
        """
        array = self._as_array(values, math.prod(self.shape))
        if array.shape != self.shape:
            raise ValueError(f"values must have the shape {self.shape}, not {array.shape}")
        self[...] = array

    def fill(self, value: float) -> None:
        """Set every value to one number.

        Examples
        --------
        >>> import particles as pt
        >>> phi = pt.Field(pt.Grid(3))
        >>> phi.fill(2)
        >>> phi.sum()
        6.0
        """
        if np.ndim(value) != 0:
            raise ValueError(f"value must be one number, not an array of {np.shape(value)}")
        self[...] = value

    def __getitem__(self, key: object) -> npt.NDArray[Any]:
        if is_advanced(key):
            part: npt.NDArray[Any] = self.get()[key]  # type: ignore[call-overload]
            return part
        box = as_box(key, self.shape)
        values = np.empty(box.count, self.dtype)
        self._read(box, values)
        return box.arranged(values)

    def __setitem__(self, key: object, value: object) -> None:
        if is_advanced(key):
            values = self.get()
            values[key] = as_values(value, self.dtype)  # type: ignore[call-overload]
            self.set(values)
            return
        box = as_box(key, self.shape)
        if isinstance(value, Transfers):
            self._assign_field(box, value)
            return
        array = self._as_array(value, math.prod(box.count))
        if array.ndim == 0 and all(box.count):
            self.core.fill(*self._places(box), float(as_values(array, self.dtype)))
            return
        spread = spread_over(array, box.shape)
        if spread.size:
            host = np.require(box.rearranged(spread), requirements=("C", "A")).reshape(box.count)
            self.core.write(*self._places(box), host)

    def _as_array(self, values: object, size: int) -> npt.NDArray[Any]:
        """Return an array that can be written; whole ones a CPU converts while it copies them."""
        if (
            isinstance(values, np.ndarray)
            and values.size == size
            and values.dtype in self.device.dtypes
            and self.device.is_cpu
        ):
            return np.asarray(values)
        return as_values(values, self.dtype)

    def _assign_field(self, box: Box, value: Transfers) -> None:
        """Copy another field into all of this one, or into one component, on the device."""
        core, components = self.core, self.components
        if components > 1 and (box.count, box.reversed_axes) == ((1, *self.grid.shape), ()):
            core, components = core.component(box.start[0]), 1
        elif box.count != self.shape or box.reversed_axes:
            raise TypeError("a Field can be assigned to a whole field or component, not to a part")
        for what, ours, theirs in (
            ("device", self.device, value.device),
            ("grid", self.grid, value.grid),
            ("number of components", components, value.components),
        ):
            if ours != theirs:
                raise ValueError(f"fields must have the same {what}, not {ours!r} and {theirs!r}")
        core.copy_from(value.core)

    def _places(self, box: Box) -> tuple[Axes, Axes, Axes]:
        """Return start, count and step of the component and of each axis."""
        if self.components > 1:
            return box.start, box.count, box.step
        return (0, *box.start), (1, *box.count), (1, *box.step)

    def _read(self, box: Box, host: npt.NDArray[Any]) -> None:
        if host.size:
            self.core.read(*self._places(box), host)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a Field cannot become an array without a copy; leave copy=False out")
        values = self.get()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __bool__(self) -> bool:
        raise ValueError("a Field is neither true nor false; compare a number made of it")

    def _operate(self, other: object) -> Any:  # noqa: ANN401
        """Leave operators to an array of NumPy on the other side; there are no others."""
        if isinstance(other, np.ndarray | np.generic):
            return NotImplemented
        raise TypeError("a Field has no operators: use np.asarray(field), and `is` for identity")

    def _operate_in_place(self, other: object) -> NoReturn:
        raise TypeError("a Field has no operators: write field[...] = with np.asarray(field)")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _operate
    __add__ = __sub__ = __mul__ = __truediv__ = __pow__ = _operate
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = _operate
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _operate_in_place
    __hash__ = object.__hash__
