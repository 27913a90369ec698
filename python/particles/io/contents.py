# SPDX-License-Identifier: BSD-3-Clause
"""What is in files of fields, written and read a slab at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_mapping, as_real, exact, refusal, shown
from particles.base.kinds import is_a
from particles.communication.cuts import pair_of
from particles.communication.ranks import Ranks
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.io.leading import Source
from particles.sets.particle_set import ParticleSet

Index: TypeAlias = tuple[Any, ...]

SLAB_BYTES = 2**24
LONGEST_NAME = 255  # bytes
RESERVED = ("contents", "origin", "spacing", "boundary", "time", "moments")


class Contents(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    fields : dict of str to Field or ParticleSet
        The fields and sets, by name.
    time : float or None
        Time of the fields, if it was given.

    Examples
    --------
    >>> import particles as pt
    >>> pt.io.save("u.npz", pt.Field(pt.Grid(4), name="u"), time=2.0)
    >>> contents = pt.io.load("u.npz")
    >>> contents.time, contents.fields["u"].shape
    (2.0, (4,))
    """

    fields: dict[str, Any]
    time: float | None


class Named(NamedTuple):
    """What is to be written, by name: fields of one grid, and sets of any."""

    fields: dict[str, Field]
    sets: dict[str, ParticleSet]

    @property
    def ranks(self) -> Ranks | None:
        """The ranks that have parts of these; None where this one has all."""
        grids = [field.grid for field in self.fields.values()]
        grids += [swarm.grid for swarm in self.sets.values()]
        return next((grid.ranks for grid in grids if grid.ranks is not None), None)

    @property
    def told(self) -> list[str]:
        """Names, for messages."""
        return [*self.fields, *self.sets]


def alone_with(sets: Iterable[ParticleSet], call: Callable[[], None]) -> None:
    """Call while nobody else changes some sets."""
    different = [*{id(swarm): swarm for swarm in sets}.values()]
    if not different:
        call()
        return
    with different[0]._alone:
        alone_with(different[1:], call)


def as_fields(fields: object) -> dict[str, Field]:
    """Return fields of one grid under names that can stand in a file."""
    expected = "fields must be a Field, or a dict of Fields by name such as {'u': u}"
    if is_a(fields, ParticleSet):
        raise TypeError(f"{refusal(expected, fields)}: write_vtp writes particles")
    named = _as_mapping(fields, expected, (Field,))
    grids = {field.grid for field in named.values()}
    if len(grids) > 1:
        raise ValueError(f"fields must be on one grid, not on {' and '.join(map(repr, grids))}")
    return named


def as_named(fields: object) -> Named:
    """Return fields of one grid, and sets, under names that can stand in a file."""
    expected = "fields must be a Field, a ParticleSet, or a dict of them by name such as {'u': u}"
    named = _as_mapping(fields, expected, (Field, ParticleSet))
    own = {name: one for name, one in named.items() if is_a(one, Field)}
    sets = {name: one for name, one in named.items() if is_a(one, ParticleSet)}
    return Named(as_fields(own) if own else {}, sets)


def _as_mapping(fields: object, expected: str, kinds: tuple[type, ...]) -> dict[str, Any]:
    is_one = any(is_a(fields, kind) for kind in kinds)
    named = as_mapping({fields.name or _names_of(fields): fields} if is_one else fields, expected)  # type: ignore[attr-defined]
    if not named:
        raise TypeError(refusal(expected, fields))
    for name, field in named.items():
        if not any(is_a(field, kind) for kind in kinds):
            raise TypeError(f"{refusal(expected, field)} in it")
        if not _is_name(name):
            raise ValueError(
                f"fields must have names that can be stored in a file, not {shown(name)}"
            )
        if name in RESERVED:
            raise ValueError(
                f"fields must not be named {', '.join(RESERVED)}, but one is {shown(name)}"
            )
    return {exact(name): field for name, field in named.items()}


def _names_of(one: object) -> str:
    """Return what a field or set without a name is called."""
    return "particles" if is_a(one, ParticleSet) else "values"


def _is_name(name: object) -> bool:
    """Whether every kind of file can have a part of that name."""
    text = exact(name) if is_a(name, str) else ""
    is_plain = bool(text.strip(".")) and text.isprintable() and "/" not in text
    return is_plain and len(text.encode()) <= LONGEST_NAME


def as_time(time: object) -> float | None:
    """Return a finite time or None."""
    return None if time is None else as_real("time", time)


def slabs(field: Source) -> Iterator[Index]:
    """Give indices of slabs that make up a field in C order."""
    for component in range(field.components):
        yield from slabs_of_component(field, component)


def slabs_of_component(field: Source, component: int) -> Iterator[Index]:
    """Give those of one component."""
    for part in _rows(field, field.grid.shape[0]):
        yield (component, part) if field.components > 1 else (part,)


def layers(field: Source) -> Iterator[slice]:
    """Give parts of the last axis that make up a field."""
    yield from _rows(field, field.grid.shape[-1], field.components)


def _rows(field: Source, count: int, components: int = 1) -> list[slice]:
    bytes_of_row = field.nbytes // field.components * components // count
    step = max(1, SLAB_BYTES // bytes_of_row)
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, step)]


def as_bytes(values: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of values in C order, those of the array itself if it is so ordered."""
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def shape_of_slab(field: Source, part: slice) -> tuple[int, ...]:
    """Return the shape of one of the `slabs`."""
    return (part.stop - part.start, *field.grid.shape[1:])


def read_slabs(file: Any, field: Source) -> None:  # noqa: ANN401  any binary file that reads
    """Fill a field from where a file stands."""
    for component in range(field.components):
        read_component(file, field, component)


def read_component(file: Any, field: Source, component: int) -> None:  # noqa: ANN401
    """Fill one component."""
    for index in slabs_of_component(field, component):
        shape = shape_of_slab(field, index[-1])
        content = file.read(int(np.prod(shape)) * field.dtype.itemsize)
        field[index] = np.frombuffer(content, field.dtype).reshape(shape)


def write_slabs(file: Any, field: Source) -> None:  # noqa: ANN401  any binary file that writes
    """Write the values of a field in C order."""
    for index in slabs(field):
        file.write(as_bytes(field[index]))


def describe_grid(grid: Grid) -> dict[str, list[Any]]:
    """Return what makes a grid, in lists; a boundary is a pair for each axis."""
    ends = [list(pair_of(entry)) for entry in grid.boundary]
    return {"origin": list(grid.origin), "spacing": list(grid.spacing), "boundary": ends}
