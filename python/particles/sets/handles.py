# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a set's particles, looked up at each use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.arrays.array import Array
from particles.arrays.operators import IN_PLACE, Operators
from particles.arrays.reductions import ArrayReductions, OnHost
from particles.arrays.slicing import Selection, as_selection, for_numpy, is_advanced, spread_over
from particles.base import pyopencl_objects
from particles.base.checks import as_values, numeric
from particles.base.guards import Alone
from particles.base.kinds import is_a
from particles.fields.grid import Grid
from particles.runtime.device import Device
from particles.sets.columns import Columns
from particles.sets.several import SeveralArrays, sum_of_parts

if TYPE_CHECKING:
    import pyopencl.array
    from typing_extensions import Self


_DOUBLE = np.dtype(np.float64)
INSTEAD = (
    "assign by swarm.positions[...] = values, or move particles by "
    'swarm.update(lambda p: {"position": p.position + ...})'
)
"""How positions change."""


class Owner(Protocol):
    """Whose particles these are; its columns are replaced when it changes."""

    grid: Grid
    device: Device
    dtype: np.dtype[Any]
    _alone: Alone

    @property
    def _columns(self) -> Columns: ...

    def __len__(self) -> int: ...

    def update(self, formula: Callable[..., Any], /, **numbers: float) -> None:
        """Set attributes by a formula."""

    def _positions_at(
        self, rows: range, out: npt.NDArray[np.float64] | None = None
    ) -> npt.NDArray[np.float64]: ...

    def _put(
        self,
        rows: range,
        positions: npt.NDArray[np.float64],
        is_assigned: npt.NDArray[np.bool_],
    ) -> None: ...


class _OfAllRanks:
    """Has reductions be over all particles of a set, those of other ranks included."""

    _swarm: Owner

    def _told(self) -> str:
        """Say what is reduced, which all ranks must do alike."""
        raise NotImplementedError

    def _total(self, what: str, own: float, dtype: np.dtype[Any]) -> float:
        if self._swarm.grid.ranks is None:
            return own
        return sum_of_parts(self._of_every_rank(what, own), dtype)

    def _extremes_of_all(
        self, what: str, own: list[float] | None, dtype: np.dtype[Any]
    ) -> list[float] | None:
        if self._swarm.grid.ranks is None:
            return own
        found = [one for one in self._of_every_rank(what, own) if one is not None]
        if not found:
            return None
        of = np.min if what == "min" else np.max
        extremes: list[float] = of(np.array(found, numeric(dtype)), axis=0).tolist()
        return extremes

    def _of_every_rank(self, name: str, own: float | list[float] | None) -> list[Any]:
        ranks = self._swarm.grid.ranks
        assert ranks is not None
        return ranks.every(f"{name} of {self._told()}", own)


class Attribute(_OfAllRanks, Array):
    """An `Array` that is one attribute of a set, whatever is added, removed or sorted.

    Of a set on several ranks, all ranks must call `sum` and the other reductions; all get the same.

    Memory that was handed to others, by DLPack, by PyOpenCL or as a component, is that of before:
    the set takes other memory when it changes.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> swarm = pt.ParticleSet(pt.Grid(4), [[0.1], [0.6]], mass=np.float32([1, 2]))
    >>> mass = swarm["mass"]
    >>> swarm.remove(lambda p: p.x > 0.5)
    >>> mass.get()
    array([1.], dtype=float32)
    """

    def __init__(self, swarm: Owner, name: str) -> None:
        self._swarm = swarm
        self._attribute = name

    @property
    def core(self) -> _core.Array:  # type: ignore[override]
        """The rows that are in use."""
        columns = self._swarm._columns
        if self._attribute not in columns.attributes:
            raise RuntimeError(f"the set has no attribute {self._attribute} any more")
        return columns.used(columns.attributes[self._attribute])

    @property  # type: ignore[misc]
    def name(self) -> str:  # type: ignore[override]
        """That of the attribute."""
        return self._attribute

    @property
    def device(self) -> Device:  # type: ignore[override]
        """That of the set."""
        return self._swarm.device

    @property
    def components(self) -> int:  # type: ignore[override]
        """Numbers of each particle."""
        return self.core.components

    @property
    def dtype(self) -> np.dtype[Any]:  # type: ignore[override]
        """What the numbers are."""
        return np.dtype(self.core.dtype)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The number of particles, and of components if there are several."""
        core = self.core
        return (core.count, core.components) if core.components > 1 else (core.count,)

    def __setitem__(self, key: object, value: object) -> None:
        with self._swarm._alone:
            super().__setitem__(key, value)

    def _change(self, symbol: str, other: object) -> Self:
        """Compute in place: on the device with a number or an attribute of the set, else here."""
        own, shape, operation = self._attribute, self.shape, IN_PLACE[symbol]
        if self.dtype.kind == "b" or (self.dtype.kind in "iu" and symbol == "/"):
            raise TypeError(
                f"{own} is {self.dtype}, which does not hold the result: see swarm.update"
            )
        if is_a(other, Attribute):
            if other._swarm is not self._swarm:
                raise ValueError("other must be an attribute of the same set, not of another one")
            if not np.can_cast(other.dtype, self.dtype, "same_kind"):
                raise TypeError(f"other must be such that {self.dtype} holds it, not {other.dtype}")
            if other.components not in (1, self.components):
                raise ValueError(
                    f"other must have as many components as {own}, {self.components}, or one, not "
                    f"{other.components}"
                )
            name = other._attribute
            self._swarm.update(lambda p: {own: operation(getattr(p, own), getattr(p, name))})
            return self
        values = as_values(other, self.dtype if self.dtype.kind in "iu" else _DOUBLE, "other")
        if values.ndim == 0:
            number = values.item()
            self._swarm.update(
                lambda p, other: {own: operation(getattr(p, own), other)}, other=number
            )
            return self
        try:
            fits = np.broadcast_shapes(values.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"other of the shape {values.shape} cannot be broadcast to {shape}")
        self[...] = _computed(operation, self.get(), values)
        return self

    def _instead(self) -> str:
        return (
            f'operators make no new attribute: change this one by swarm["{self.name}"] *= 2, any by '
            "swarm.update(lambda p: ...), or compute on the host with np.asarray(attribute)"
        )

    def _told(self) -> str:
        return f"attribute {self.name} of {self.dtype}"

    @classmethod
    def from_pyopencl(cls, array: pyopencl.array.Array, name: str | None = None) -> NoReturn:
        """Refuse: the set has the memory of its attributes.

        Examples
        --------
        >>> import particles as pt
        >>> import pyopencl.array
        >>> swarm = pt.ParticleSet(pt.Grid(4), [[0.1], [0.6]], mass=[1.0, 2])
        >>> swarm["mass"][...] = pyopencl.array.zeros(swarm.device.queue, 2, "float64")
        >>> swarm["mass"].get()
        array([0., 0.])
        """
        raise TypeError(
            "no attribute can be made in the memory of another array: copy it by swarm[name] = array, or "
            "use particles.Array.from_pyopencl for an array that no set has"
        )

    def component(self, index: int) -> Array:
        """Return one component of all particles as an array in the memory that they have now.

        Parameters
        ----------
        index : int
            Which one; negative ones count from the last.

        Returns
        -------
        Array
        """
        if self._is_on_several():
            raise NotImplementedError(
                "component does not work on an attribute of several devices (devices), as it has no "
                "memory that all have: use attribute[:, index]"
            )
        view = super().component(index)
        view.core.mark_shared()
        return view

    def _is_on_several(self) -> bool:
        return is_a(self.core, SeveralArrays)

    def _on_one_device(self) -> Array:
        if not self._is_on_several():
            return self
        found = Array(self.shape, self.dtype, self.device.devices[0], self.name)
        found[...] = self.get()
        return found

    def __repr__(self) -> str:
        if self._attribute not in self._swarm._columns.attributes:
            return f"Attribute({self.name!r}, deleted, {self.device.name})"
        return f"Attribute({self.name!r}, {self.shape}, {self.dtype.name}, {self.device.name})"


class ParticlePositions(Operators, _OfAllRanks, ArrayReductions):
    """Where a set's particles are, as float64 (N, d); the host computes it.

    It is indexed and assigned to like a NumPy array, and converts to one; whoever gets it gets a
    copy. What is assigned lies within the box, or anywhere along a periodic axis.

    It has the reductions of an `Array`. Of a set on several ranks, all ranks must call these; all get
    the same.

    Examples
    --------
    >>> import particles as pt
    >>> swarm = pt.ParticleSet(pt.Grid((4, 4)), [[0.1, 0.2], [0.6, 0.7]])
    >>> swarm.positions[:, 0] = [0.3, 1.25]
    >>> swarm.positions[1]
    array([0.25, 0.7 ])
    >>> swarm.positions.mean(axis=0), swarm.positions.count(upper=0.5)
    (array([0.275, 0.45 ]), 3)
    """

    _ways: ClassVar = {
        **{
            name: f"np.asarray(swarm.positions).{name}"
            for name in dir(np.ndarray)
            if not name.startswith("_")
        },
        "component": "swarm.positions[:, index]",
        "from_pyopencl": "swarm.positions[...] = array",
    }
    name = "position"
    dtype = np.dtype(np.float64)

    def __init__(self, swarm: Owner) -> None:
        self._swarm = swarm
        self.device = swarm.device
        self.components = swarm.grid.ndim

    @property
    def core(self) -> _core.Array:  # type: ignore[override]
        """The offsets, which say how many there are."""
        columns = self._swarm._columns
        return columns.used(columns.offsets)

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The number of particles, and of axes."""
        return len(self._swarm), self.components

    def _read(self, selection: Selection, host: npt.NDArray[Any]) -> None:
        if host.size and selection.count[1] == self.components:
            self._swarm._positions_at(_rows_of(selection), host)
        elif host.size:
            along = slice(selection.start[1], None, selection.step[1])
            host[...] = self._swarm._positions_at(_rows_of(selection))[:, along][
                :, : selection.count[1]
            ]

    def _on_host(self) -> None:
        """Nowhere do positions lie."""

    def __setitem__(self, key: object, value: object) -> None:
        given, axes = as_values(value), self.components
        part: Any
        if is_advanced(key):
            numbers = np.arange(self.size).reshape(self.shape)[for_numpy(key)]
            spread = spread_over(given, numbers.shape)
            rows, part = range(0), None
            if numbers.size:
                rows = range(numbers.min() // axes, numbers.max() // axes + 1)
                part = np.unravel_index(numbers - rows.start * axes, (len(rows), axes))
        else:
            selection = as_selection(key, self.shape)
            spread = selection.rearranged(spread_over(given, selection.shape))
            rows = _rows_of(selection) if spread.size else range(0)
            last = selection.start[1] + (selection.count[1] - 1) * selection.step[1]
            part = np.s_[:, selection.start[1] : last + 1 : selection.step[1]]
        if not spread.size and self._swarm.grid.ranks is None:
            return
        if not is_advanced(key) and spread.shape == (len(rows), axes):
            self._swarm._put(rows, spread, np.broadcast_to(True, spread.shape))
            return
        positions, is_assigned = np.zeros((len(rows), axes)), np.zeros((len(rows), axes), bool)
        if spread.size:
            positions[part], is_assigned[part] = spread, True
        self._swarm._put(rows, positions, is_assigned)

    def _change(self, symbol: str, other: object) -> Self:
        """Refuse to change in place: only a formula adds within cells."""
        return self._refuse()

    def _instead(self) -> str:
        return (
            f"positions have no operators: {INSTEAD}, or compute with np.asarray(swarm.positions)"
        )

    def copy(self) -> Any:  # noqa: ANN401
        """Return a copy, which is an array of NumPy."""
        return self.get()

    def _core(self, column: int | None) -> OnHost:
        return OnHost(self.get() if column is None else self[:, column])

    def _told(self) -> str:
        return "positions"

    def to_pyopencl(self) -> pyopencl.array.Array:
        """Return a copy on the device, as an array of PyOpenCL."""
        pyopencl_objects.ensure_installed()
        import pyopencl.array

        return pyopencl.array.to_device(self.device.queue, self.get())

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the values are handed over: the host."""
        return np.empty(0).__dlpack_device__()

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:  # noqa: ANN401  a capsule
        """Hand a copy of the positions to another library."""
        if copy is False:
            raise BufferError(
                "positions are computed, so they can only be copied: leave out copy=False"
            )
        if stream is not None or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("positions are handed over on the host, to no stream")
        return self.get().__dlpack__()

    def __repr__(self) -> str:
        return f"ParticlePositions({self.shape}, float64 of {self._swarm.dtype.name} in cells)"


def _rows_of(selection: Selection) -> range:
    return range(
        selection.start[0],
        selection.start[0] + selection.count[0] * selection.step[0],
        selection.step[0],
    )


def _computed(
    operation: Callable[[Any, Any], Any], own: npt.NDArray[Any], other: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    """Return what comes of two arrays; integers stay in their range, as in a formula."""
    if own.dtype.kind not in "iu":
        return np.asarray(operation(own, other))
    limits = np.iinfo(own.dtype)
    with np.errstate(all="ignore"):
        exact = operation(own, other)
        if operation is IN_PLACE["%"]:  # in range, whatever rounding makes of it
            return np.asarray(exact)
        rounded = operation(own.astype(_DOUBLE), other.astype(_DOUBLE))
        is_beyond = np.abs(exact.astype(_DOUBLE) - rounded) >= limits.max / 2
    nearest = np.where(rounded > 0, limits.max, limits.min).astype(own.dtype)
    return np.where(is_beyond, nearest, exact)
