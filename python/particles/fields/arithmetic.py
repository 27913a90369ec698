# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic with fields: in place on the device, with copies on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.operators import IN_PLACE, Operators
from particles.arrays.overlap import overlap
from particles.arrays.slicing import Selection, as_selection, is_advanced, order_of
from particles.base.checks import REAL_DTYPES, arithmetic, as_array, as_values, is_function, shown
from particles.base.kinds import is_a
from particles.fields.data_arrays import is_named
from particles.fields.grid import Grid, check_resolution
from particles.fields.several import made_field, of_rows
from particles.fields.transfers import FieldTransfers
from particles.formulas.expressions import (
    MOST_FACTORS,
    check_numbers,
    expression,
    parameter,
    reads,
    real,
    variable,
)
from particles.formulas.opencl import opencl_results
from particles.formulas.tracing import COORDINATES, Signature, places, traced

if TYPE_CHECKING:
    from typing_extensions import Self

# Where each lies takes 48 of the 1024 bytes that every device has for arguments.
_MOST_OPERANDS = 12


class Arithmetic(Operators, FieldTransfers):
    """What is computed with a field, point by point."""

    name: str | None

    def assign(self, formula: Callable[..., Any], *fields: Arithmetic) -> None:
        """Set every value to a formula of fields at the same point, on the device.

        Everything is computed in one pass, and only this field is written. Numbers in the
        formula are passed to the kernel, so a formula that differs from an earlier one only in
        its numbers compiles nothing.

        Parameters
        ----------
        formula : callable
            A function of the components of the fields, one after the other, by any names, and of
            any of the coordinates ``x``, ``y``, ``z``, by these (:doc:`/howto/formulas`); it
            returns one value for each component of this field. It is called once, with symbols, like the formula of a
            `Velocity`. It is computed in float32, or in float64 where any of the fields, this one
            included, is of that; coordinates too.
        *fields : Field
            On the grid and device of this one, which may be among them; of any dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import particles as pt
        >>> grid = pt.Grid(4)
        >>> u, v, w = pt.Field(grid), pt.Field(grid), pt.Field(grid)
        >>> u[...], v[...] = 2, [0, 1, 2, 3]
        >>> w.assign(lambda u, v, x: u * v + np.sin(np.pi * x) ** 2, u, v)
        >>> w.get()
        array([0. , 2.5, 5. , 6.5], dtype=float32)
        """
        if len(fields) > _MOST_OPERANDS:
            raise ValueError(f"fields must be at most {_MOST_OPERANDS}, not {len(fields)}")
        for field in fields:
            if not is_a(field, Arithmetic):
                raise TypeError(f"fields must be Fields, not {shown(field)}")
            self._check_alike(field)
        if not is_function(formula):
            raise TypeError(f"formula must be a function of values, not {shown(formula)}")
        self._compute("formula", as_selection(..., self.shape), formula, fields)

    def _evaluate(self, key: object, formula: Callable[..., Any]) -> None:
        if is_advanced(key):
            raise TypeError(
                "a formula can be assigned to slices, not by an index of arrays or truth values"
            )
        self._compute("values", as_selection(key, self.shape), formula, ())

    def _compute(
        self,
        name: str,
        selection: Selection,
        formula: Callable[..., Any],
        operands: Sequence[Arithmetic],
    ) -> None:
        """Set elements to what a formula makes of all components of operands and of the place."""
        start, count, step = self._places(selection)
        names = tuple(f"u{k}" for k in range(sum(field.components for field in operands)))
        signature = Signature(
            "field",
            name,
            "values and coordinates" if names else "the coordinates",
            names,
            places(self.grid.ndim),
            ("",) * count[0],
            (f"for {len(names)} components of the fields " if names else "")
            + f"on a grid of {self.grid.ndim} dimensions",
            labels=[field.name for field in operands for _ in range(field.components)],
        )
        results = traced(formula, signature)
        dtype = _computed_in(self.dtype, *(field.dtype for field in operands))
        check_numbers(name, results, dtype)
        if reads(results, *COORDINATES):
            check_resolution(self.grid, dtype)
        if not all(selection.count):
            return
        text, numbers = opencl_results(results, names)
        given = [self._unchanged(field, field._is_of(self)) for field in operands]
        self._look_before(selection, np.nan)
        self.core.assign(start, count, step, given, text, numbers, dtype.name, by_component=False)
        if not any(field._is_of(self) for field in operands):
            self._forget_after(selection)

    def _change(self, symbol: str, other: object) -> Self:
        """Compute in place with a number, a field, or an array that can be broadcast."""
        if is_named(other):
            other = self._by_names(..., other)
        if is_a(other, Arithmetic):
            self._check_alike(other, None if other.components == 1 else self.components)
            is_same = other._is_of(self) and other.core.origin == self.core.origin
            operand = self._unchanged(other, is_same and other.components == self.components)
            return self._apply(symbol, (operand,), _computed_in(self.dtype, other.dtype))
        array = as_array(other, "other")
        if array.ndim == 0:
            dtype = arithmetic(self.dtype)
            return self._apply(symbol, (), dtype, float(as_values(other, dtype, "other")))
        uploaded = self._uploaded(array)
        return self._apply(symbol, (uploaded,), _computed_in(self.dtype, np.dtype(uploaded.dtype)))

    def _apply(
        self,
        symbol: str,
        operands: Sequence[_core.Field],
        dtype: np.dtype[Any],
        number: float | None = None,
    ) -> Self:
        exponent = number if symbol == "**" and _is_of_products(number) else None
        text, numbers = _text_of(symbol, bool(operands), exponent)
        if number is not None and exponent is None:
            numbers = (*numbers, number)
        places = self._places(as_selection(..., self.shape))
        given = [self.core, *operands]
        self.core.assign(*places, given, text, numbers, dtype.name, by_component=True)
        return self

    def _uploaded(self, array: npt.NDArray[Any]) -> _core.Field:
        """Return an array on the device, with one point or component where it is broadcast."""
        wide = np.result_type(array.dtype, self.dtype)
        dtype = next((known for known in self.device.dtypes if known == wide), REAL_DTYPES[0])
        values = as_values(array, dtype, "other")
        try:
            fits = np.broadcast_shapes(values.shape, self.shape) == self.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"other of the shape {values.shape} cannot be broadcast to {self.shape}"
                f"{order_of(values.shape, self.shape, self._axis_names())}"
            )
        shape = (1,) * (self.grid.ndim + 1 - values.ndim) + values.shape
        return of_rows(self.core, self.device.core, values.reshape(shape), _sent)

    def _unchanged(self, field: Arithmetic, is_same: bool) -> _core.Field:
        """Return a field to read while this one is written, copied where they overlap."""
        if not field._is_of(self):
            field._be_seen()
        if is_same or not overlap(field.core, self.core):
            return field.core
        core = made_field(
            field.device.core, field.grid.core, field.components, field.dtype.name, "a copy"
        )
        core.copy_from(field.core)
        return core

    def _is_of(self, other: Arithmetic) -> bool:
        """Whether both are one field or components of one."""
        one, another = (f if f._whole is None else f._whole for f in (self, other))
        return one is another

    def __array_ufunc__(
        self,
        ufunc: np.ufunc,
        method: str,
        *inputs: object,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Compute with copies of the values, on the host; the result is an array."""
        changed = (*options.get("out", ()), *(inputs[:1] if method == "at" else ()))
        if any(is_a(target, FieldTransfers) for target in changed):
            raise TypeError(
                f"a Field cannot take the result of {ufunc.__name__}: write field[...] = "
                f"np.{ufunc.__name__}(...)"
            )
        arrays = [np.asarray(one) if is_a(one, FieldTransfers) else one for one in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def _instead(self) -> str:
        return (
            "operators make no new Field: change one by u += v, set another one by "
            "w.assign(lambda u, v: u + v, u, v), or compute on the host with np.asarray(u)"
        )


def _sent(context: _core.Context, values: npt.NDArray[Any]) -> _core.Field:
    """Return an array, with components in front, on a device."""
    shape = values.shape
    grid = Grid(shape[1:], comm="self").core
    core = _core.Field(context, grid, shape[0], values.dtype.name, "values on their way")
    host = np.require(values, requirements=("C", "A"))
    core.write((0,) * len(shape), shape, (1,) * len(shape), host)
    return core


def _computed_in(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the widest of what numbers of several dtypes are while they are computed with."""
    return max(map(arithmetic, dtypes), key=lambda dtype: dtype.itemsize)


def _is_of_products(exponent: float | None) -> bool:
    """Whether a power is one of products or a root, which are part of a program."""
    return exponent == 0.5 or (
        exponent is not None and exponent.is_integer() and abs(exponent) <= MOST_FACTORS
    )


@lru_cache(maxsize=64)
def _text_of(
    symbol: str, with_operand: bool, exponent: float | None
) -> tuple[str, tuple[float, ...]]:
    """Return the program of an operator, and its own numbers."""
    if exponent is not None:
        other = expression(exponent)
    else:
        other = variable("v") if with_operand else parameter("other")
    result = real(IN_PLACE[symbol](variable("u"), other))
    parameters = () if with_operand or exponent is not None else ("other",)
    return opencl_results([result], ("u", "v"), parameters)
