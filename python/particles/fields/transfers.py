# SPDX-License-Identifier: BSD-3-Clause
"""How values of a field come and go: by places of points, by names of axes, from other fields."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy.typing as npt

from particles import _core
from particles.arrays.overlap import overlap
from particles.arrays.slicing import Axes, Selection, as_selection, is_advanced, selected_axes
from particles.arrays.transfers import Transfers
from particles.base.checks import both, is_function
from particles.base.kinds import is_a
from particles.fields.data_arrays import AXES, axes_of, by_names, is_named
from particles.fields.grid import Grid
from particles.fields.several import made_field


class FieldTransfers(Transfers):
    """A field as an array of the host sees it."""

    core: _core.Field
    grid: Grid

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
        super().set(self._by_names(..., values) if is_named(values) else values)

    def __setitem__(self, key: object, value: object) -> None:
        if is_function(value):
            self._evaluate(key, value)
        else:
            super().__setitem__(key, self._by_names(key, value) if is_named(value) else value)

    def _by_names(self, key: object, values: Any) -> npt.NDArray[Any]:  # noqa: ANN401
        """Return values whose axes have names in the order of what an index selects."""
        if is_advanced(key):
            if values.ndim:
                raise TypeError(
                    "values with names of dimensions can be assigned to whole axes and slices, not "
                    "to arrays of indices: give their attribute values"
                )
            return by_names(values, [])
        as_selection(key, self.shape)
        axes = axes_of(self.grid, self.components)
        selected = selected_axes(key, len(axes))
        return by_names(values, [one and axes[one[0]].part(one[1]) for one in selected])

    def _axis_names(self) -> list[str]:
        return ["the component"] * (self.components > 1) + list(AXES[: self.grid.ndim])

    def _evaluate(self, key: object, formula: Callable[..., Any]) -> None:
        """Set the elements that an index selects to what a formula makes of their coordinates."""
        raise NotImplementedError

    def _components_of(self, selection: Selection) -> int:
        """Return how many components are selected, each of them whole; 0 if there is a part."""
        if self.components > 1 and (selection.count, selection.reversed_axes) == (
            (1, *self.grid.shape),
            (),
        ):
            return 1
        return 0 if selection.count != self.shape or selection.reversed_axes else self.components

    def _is_same_kind(self, value: Transfers) -> TypeGuard[FieldTransfers]:
        return is_a(value, FieldTransfers)

    def _assign_whole(self, selection: Selection, value: Transfers) -> None:
        assert self._is_same_kind(value)
        core, components = self.core, self._components_of(selection)
        if components < self.components and components:
            core = core.component(selection.start[0])
        elif not components:
            raise TypeError("a Field can be assigned to a whole field or component, not to a part")
        self._check_alike(value, components)
        self._check_overflow_before(value)
        self._look_before(selection, math.nan)  # or whatever it is
        given = value.core
        if overlap(core, given):
            given = made_field(
                self.device.core,
                self.grid.core,
                components,
                value.dtype.name,
                "values on their way",
            )
            given.copy_from(value.core)
        core.copy_from(given)
        self._forget_after(selection)
        self._warn_of_overflow(value)

    def _check_alike(self, other: FieldTransfers, components: int | None = None) -> None:
        """Refuse a field of another device or grid, or of another number of components."""
        for what, ours, theirs in (
            ("device", self.device, other.device),
            ("grid", self.grid, other.grid),
            ("number of components", components or other.components, other.components),
        ):
            if ours != theirs:
                raise ValueError(f"fields must have the same {what}, not {both(ours, theirs)}")

    def _places(self, selection: Selection) -> tuple[Axes, Axes, Axes]:
        """Return start, count and step of the component and of each axis."""
        if self.components > 1:
            return selection.start, selection.count, selection.step
        return (0, *selection.start), (1, *selection.count), (1, *selection.step)
