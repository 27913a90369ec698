# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped and continued."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.base.checks import (
    as_duration,
    as_integer,
    as_path,
    as_real,
    as_values,
    exact,
    shown,
)
from particles.base.disk import StrPath, open_to_read
from particles.base.kinds import is_a
from particles.communication.ranks import Ranks, together
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.fields.parts_of_whole import whole_shape
from particles.formulas.expressions import Expression
from particles.formulas.meaning import meaning
from particles.formulas.opencl import lowered
from particles.formulas.parameters import Parameters
from particles.formulas.printing import readable
from particles.formulas.records import record, recorded
from particles.io.atomic.pages import write
from particles.io.checkpoints_1 import as_in_format_2
from particles.io.contents import as_bytes, describe_grid, read_component, slabs_of_component
from particles.io.pieces import (
    Run,
    fill,
    gathered_sums,
    layout_of,
    replacing_together,
    sums_in_file,
)
from particles.io.sets import (
    Column,
    SetRecord,
    check_part,
    check_record,
    filled,
    of_table,
    parts_written,
    record_of,
    rows_in_order,
)
from particles.operators.diffusion import Diffusion
from particles.operators.remesh import RemeshOp
from particles.operators.source import SourceOp
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.sets.columns import parts_of
from particles.sets.particle_set import ParticleSet
from particles.sets.tables import Table
from particles.stepping.splitting import Splitting
from particles.stepping.stepper import Stepper
from particles.stepping.tracers import Tracers
from particles.stepping.transport import Transport
from particles.stepping.unsplit import Unsplit

_MAGIC, _MAGIC_2, _MAGIC_1 = (b"particles checkpoint %d\n" % number for number in (3, 2, 1))
_Inflow: TypeAlias = dict[tuple[int, str], list[Expression]]

_LONGEST_HEADER = 2**28
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_DIGEST_BYTES = hashlib.sha256().digest_size


def checkpoint(path: StrPath, transport: Splitting | Unsplit | Tracers) -> None:
    """Write the state of a `Splitting`, `Unsplit` or `Tracers` to a file, to continue it later.

    The file has the carried fields, a velocity on a grid, the fields given to the source, the
    viscosities of diffusion, the parameters of formulas, the time, the last step's duration, and
    what has flowed out through open ends. A description of the operators and their formulas is
    compared when they are restored. For `Tracers` it has the particles with all their attributes.

    Parameters
    ----------
    path : str or path-like
        The file. An existing one is replaced when the new one is complete. All ranks of a divided grid
        must call this, and see the same folder.
    transport : Splitting or Unsplit or Tracers
        What to write; the call waits for its device.

    Notes
    -----
    Continued on the same kind of device, a run has the same bits as one that has not been stopped
    and whose `run` ended at this time, too, because runs end with whole steps. The file keeps
    neither the number of steps nor the order of the sums of what has flowed out, which continue
    with another rounding.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(32)
    >>> u = pt.Field(grid)
    >>> transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0)), pt.RemeshOp(u))
    >>> transport.run(until=0.5, dt=0.1)
    >>> pt.io.checkpoint("half.checkpoint", transport)
    """
    _check(transport)
    ranks = transport._grid.ranks
    with transport._alone.or_called(), _alone_with_set(transport):
        runs = [*_runs_of_set(transport), *_runs_of_fields(transport)]
        header = {
            "made of": _made_of(transport),
            "formulas": record(_formulas(transport)),
            "state": _state(transport),
            "pieces": layout_of(runs),
        }
        head = _MAGIC + json.dumps(header).encode() + b"\n"
        if ranks is not None:
            ranks.meet(f"checkpoint({shown(str(path))}) of {hashlib.sha256(head).hexdigest()}")
        with replacing_together(path, ranks) as file:
            with file.together("to write a checkpoint"):
                found = fill(file, len(head), runs)
            digest = hashlib.sha256(head)
            for one in gathered_sums(found, ranks):
                digest.update(one)
            with file.together("to end a checkpoint"):
                if ranks is None or ranks.rank == 0:
                    end = len(head) + sum(run.nbytes for run in runs)
                    write(file.number, digest.digest(), end)
                    write(file.number, head, 0)


def restore(path: StrPath, transport: Splitting | Unsplit | Tracers) -> None:
    """Restore the state of a `Splitting`, `Unsplit` or `Tracers` from a file of `checkpoint`.

    Nothing is changed unless the file is complete and from a transport with the same operators. The
    file is read twice, first to check it. Files of earlier versions can be restored, too, and those
    of any number of ranks by any number; all ranks of a divided grid must call this.

    Formulas are the same whatever the order of their terms, factors and conditions, and kernels
    whatever their names: ``cos(t) * sin(x)`` is ``sin(x) * cos(t)``. A run with formulas written in
    another order differs by rounding.

    Parameters
    ----------
    path : str or path-like
        The file.
    transport : Splitting or Unsplit or Tracers
        What to restore: made like the one that was written, with any values in its fields. A set gets
        as many particles as there were.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(32)
    >>> def transport_of(u):
    ...     wind = pt.Velocity(grid, lambda x: 1.0)
    ...     return pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    >>> u, v = pt.Field(grid), pt.Field(grid)
    >>> u[3] = 1
    >>> transport = transport_of(u)
    >>> transport.run(until=0.5, dt=0.1)
    >>> pt.io.checkpoint("half.checkpoint", transport)
    >>> continued = transport_of(v)
    >>> pt.io.restore("half.checkpoint", continued)
    >>> continued.time, bool((v.get() == u.get()).all())
    (0.5, True)
    """
    _check(transport)
    path, ranks = as_path("path", path), transport._grid.ranks
    with transport._alone, ExitStack() as opened:
        with together(ranks, "to open a checkpoint"):
            file = opened.enter_context(open_to_read(path))
            head = _read_head(file, path)
        if ranks is not None:
            ranks.meet(f"restore({shown(str(path))}) of {head.digest}")
        _check_sum(file, path, head, ranks)
        outflow = _outflow(transport)
        with together(ranks, "to compare a checkpoint"):
            state = _read_state(file, path, transport, head, outflow)
            particles = (
                _read_set(file, path, transport.swarm, state) if is_a(transport, Tracers) else None
            )
        if particles is not None:
            particles._go_home()
        for what, parameters in _parameters(transport).items():
            parameters.set_all([state.parameters[what][name] for name in parameters])
        transport._leave()
        with together(ranks, "to read the fields of a checkpoint"):
            slabs = _read_fields(file, transport)
        for field, values in slabs:
            field._take_slab(values)
        if is_a(transport, Tracers) and particles is not None:
            transport.swarm._take_over(particles)
        if is_a(transport, Splitting) and state.outflow is not None:
            transport.outflow = state.outflow
        for diffusion, viscosities in zip(_diffusions(transport), state.viscosities, strict=True):
            is_one = not isinstance(diffusion.viscosity, tuple) and len({*viscosities}) == 1
            diffusion.viscosity = viscosities[0] if is_one else viscosities
        transport._arrive(state.time, state.last_dt)


class _State(NamedTuple):
    """What is restored besides fields."""

    time: float
    last_dt: float | None
    outflow: npt.NDArray[np.float64] | None
    viscosities: list[list[float]]
    parameters: dict[str, dict[str, float]]
    particles: int | None
    left: tuple[tuple[int, int], ...]
    names: list[str | None]


class _Head(NamedTuple):
    """The first lines of a file, and which pieces of what follows have sums; None where one has all."""

    magic: bytes
    content: bytes
    pieces: list[list[int]] | None

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def _check(transport: object) -> None:
    if not is_a(transport, Splitting | Unsplit | Tracers):
        hint = ": save keeps a set" if is_a(transport, ParticleSet) else ""
        raise TypeError(
            f"transport must be a Splitting, Unsplit or Tracers, not {shown(transport)}{hint}"
        )


def _alone_with_set(transport: Stepper) -> AbstractContextManager[None]:
    return transport.swarm._alone if is_a(transport, Tracers) else nullcontext()


def _read_set(file: BinaryIO, path: StrPath, swarm: ParticleSet, state: _State) -> ParticleSet:
    """Read the particles into another set, like the one that is to have them."""

    def read(_: str, column: Column, rows: range) -> npt.NDArray[Any]:
        shape = column.shape_of(len(rows))
        content = file.read(int(np.prod(shape)) * column.dtype.itemsize)
        return np.frombuffer(content, column.dtype).reshape(shape)

    record = _record_in(swarm, state)
    try:
        if swarm.grid.is_divided:
            return _read_share(file, swarm, record)
        return filled(record, swarm.grid, swarm.device, swarm.name, read)
    except ValueError as error:
        raise ValueError(f"{path} is damaged, though its sum is right: {error}") from None


def _read_share(file: BinaryIO, swarm: ParticleSet, record: SetRecord) -> ParticleSet:
    """Read a share of the particles of all ranks; the file stands behind all of them then."""
    begin, end = _ends_of_shares(record.particles, swarm.grid.ranks)[:2]
    table, place = {}, file.tell()
    for label, column in record.columns().items():
        row = column.components * column.dtype.itemsize
        file.seek(place + row * begin)
        content = file.read(row * (end - begin))
        table[label] = np.frombuffer(content, column.dtype).reshape(-1, column.components)
        if end > begin:
            check_part(record, label, table[label])
        place += row * record.particles
    file.seek(place)
    numbers = np.arange(begin, end)
    return of_table(record, swarm.grid, table, numbers, swarm.device, swarm.name)


def _ends_of_shares(count: int, ranks: Ranks | None) -> tuple[int, int, list[int]]:
    """Return which particles this rank writes, in whole pieces, and where those of all begin."""
    rank, size = (0, 1) if ranks is None else (ranks.rank, ranks.size)
    piece = _piece_of(count)
    pieces = -(-count // piece)
    ends = [min(pieces * r // size * piece, count) for r in range(size + 1)]
    return ends[rank], ends[rank + 1], ends


def _piece_of(count: int) -> int:
    """Return of how many particles there is a sum."""
    return max((len(rows) for rows in parts_of(count)), default=1)


def _record_in(swarm: ParticleSet, state: _State) -> SetRecord:
    """Return what the set of a file is made of, which is like ours but for what changes."""
    return record_of(swarm)._replace(particles=state.particles or 0, left=state.left)


def _runs_of_set(transport: Stepper) -> Iterator[Run]:
    """Give the columns of a set, and their parts, of which there are sums."""
    if not is_a(transport, Tracers):
        return
    swarm = transport.swarm
    record = record_of(swarm)
    columns, count, begin = record.columns(), record.particles, 0
    known: Table | None = None
    if swarm.grid.is_divided:  # ranks put what they have into the set's order
        begin, _, ends = _ends_of_shares(count, swarm.grid.ranks)
        known = rows_in_order(swarm, tuple(columns), ends)
    for label, column in columns.items():
        row = column.components * column.dtype.itemsize
        parts = partial(parts_written, swarm, label)
        if known is not None:
            parts = partial(_one_part, known[label])
        yield Run(
            row * _piece_of(count),
            row * count,
            row * begin,
            lambda parts=parts: map(as_bytes, parts()),  # type: ignore[misc]
        )


def _one_part(values: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    if len(values):
        yield values


def _runs_of_fields(transport: Stepper) -> Iterator[Run]:
    """Give the components of all fields; there are sums of planes that one rank has on any number.

    A field that is not divided is written by the first rank.
    """
    ranks = transport._grid.ranks
    for field in _fields(transport):
        whole, grid = field.grid.whole.shape, field.grid.slabs
        values = None if grid is field.grid else field._slab("a checkpoint")
        plane = math.prod(whole[1:]) * field.dtype.itemsize
        is_here = grid.is_divided or ranks is None or ranks.rank == 0
        for component in range(field.components):
            yield Run(
                plane * _core.unit_of_planes(whole[0]),
                plane * whole[0],
                plane * grid.begin[0],
                partial(_parts_of_component, field, component, values) if is_here else tuple,
            )


def _parts_of_component(
    field: Field, component: int, values: npt.NDArray[Any] | None
) -> Iterator[memoryview]:
    """Give the bytes of own planes, which the host has already where they are not those of blocks."""
    if values is not None:
        yield as_bytes(values[component])
        return
    for index in slabs_of_component(field, component):
        yield as_bytes(field[index])


def _read_fields(file: BinaryIO, transport: Stepper) -> list[tuple[Field, npt.NDArray[Any]]]:
    """Read one's own values of all fields, from where a file stands.

    Return fields on blocks that are cut along two axes, with the planes that are to become these.
    """
    place, found = file.tell(), []
    for field in _fields(transport):
        whole, grid = field.grid.whole.shape, field.grid.slabs
        plane = math.prod(whole[1:]) * field.dtype.itemsize
        values = np.empty(
            (field.components, *grid.shape) if grid is not field.grid else 0, field.dtype
        )
        for component in range(field.components):
            file.seek(place + plane * grid.begin[0])
            if values.size:
                content = file.read(plane * grid.shape[0])
                values[component] = np.frombuffer(content, field.dtype).reshape(grid.shape)
            else:
                read_component(file, field, component)
            place += plane * whole[0]
        if values.size:
            found.append((field, values))
    return found


def _read_head(file: BinaryIO, path: StrPath) -> _Head:
    """Read the lines before the values, of which the sum is not yet known to be right."""
    magic = file.read(len(_MAGIC))
    if magic not in (_MAGIC, _MAGIC_2, _MAGIC_1):
        raise ValueError(f"{path} is not a checkpoint that this version reads")
    line = file.readline(_LONGEST_HEADER)
    if magic != _MAGIC:
        return _Head(magic, magic + line, None)
    rest = os.fstat(file.fileno()).st_size - file.tell() - _DIGEST_BYTES
    try:
        pieces = [[int(one) for one in run] for run in json.loads(line)["pieces"]]
        if sum(nbytes for _, nbytes in pieces) != rest or not all(
            piece > 0 and nbytes >= 0 for piece, nbytes in pieces
        ):
            raise ValueError(rest)
    except _DAMAGE:
        raise _damaged(path) from None
    return _Head(magic, magic + line, pieces)


def _check_sum(file: BinaryIO, path: StrPath, head: _Head, ranks: Ranks | None) -> None:
    """Refuse a file that is not as it was written."""
    digest = hashlib.sha256(head.content)
    if head.pieces is not None:
        for one in sums_in_file(file, len(head.content), head.pieces, ranks):
            digest.update(one)
    with together(ranks, "to check a checkpoint"):
        if head.pieces is None and ranks is not None and ranks.rank > 0:
            return  # the sum of all is made by one
        end = os.fstat(file.fileno()).st_size - _DIGEST_BYTES
        if head.pieces is None:
            rest = end - len(head.content)
            while rest > 0 and (content := file.read(min(rest, 2**18))):
                digest.update(content)
                rest -= len(content)
        file.seek(max(end, 0))
        if file.read() != digest.digest():
            raise _damaged(path)


def _damaged(path: StrPath) -> ValueError:
    return ValueError(f"{path} is damaged or cut short: its SHA-256 sum does not match")


def _read_state(
    file: BinaryIO,
    path: StrPath,
    transport: Stepper,
    head: _Head,
    outflow: npt.NDArray[np.float64] | None,
) -> _State:
    """Read the header, after which the fields' values and the sum must make up the file."""
    damage = f"{path} is damaged, though its sum is right: "
    try:
        header = json.loads(head.content[len(head.magic) :])
        made_of, state = dict(header["made of"]), header["state"]
        if head.magic == _MAGIC_1:
            made_of, formulas, state = as_in_format_2(made_of, state)
        else:
            formulas = recorded(header["formulas"])
        last_dt = state["last_dt"]
        found = _State(
            as_real("time", state["time"]),
            None if last_dt is None else as_duration("last_dt", last_dt),
            as_values(state["outflow"], name="outflow") if "outflow" in state else None,
            [
                [as_real("viscosity", value) for value in values]
                for values in state.get("viscosities", ())
            ],
            {
                what: {name: as_real("parameter", value) for name, value in values.items()}
                for what, values in state.get("parameters", {}).items()
            },
            None if "particles" not in state else as_integer("particles", state["particles"], 0),
            tuple((int(low), int(high)) for low, high in state.get("left", ())),
            [None if name is None else exact(name) for name in state.get("names", ())],
        )
        if is_a(transport, Tracers) and made_of.get("class") == "Tracers":
            check_record(_record_in(transport.swarm, found))
    except _DAMAGE as error:
        raise ValueError(f"{damage}{shown(error)}") from None
    _compare(path, made_of, json.loads(json.dumps(_made_of(transport))))
    ours = _formulas(transport)
    if head.magic == _MAGIC_1:
        ours = dict(zip(ours, lowered([*ours.values()]), strict=True))
    _compare_formulas(path, formulas, ours)
    _compare_order(path, found.names, [field.name for field in _fields(transport)])
    shapes = [np.shape(one) if one is not None else None for one in (found.outflow, outflow)]
    if shapes[0] != shapes[1] or (
        found.outflow is not None and not np.isfinite(found.outflow).all()
    ):
        raise ValueError(f"{damage}outflow must be finite and of the shape {shapes[1]}")
    expected_counts = [len(diffusion.viscosities) for diffusion in _diffusions(transport)]
    if [len(values) for values in found.viscosities] != expected_counts or any(
        value < 0 for values in found.viscosities for value in values
    ):
        raise ValueError(f"{damage}viscosities must be of {expected_counts} components")
    names = {what: {*parameters} for what, parameters in _parameters(transport).items()}
    if {what: {*values} for what, values in found.parameters.items()} != names:
        raise ValueError(f"{damage}parameters must be {names}")
    file.seek(len(head.content))
    values = os.fstat(file.fileno()).st_size - file.tell() - _DIGEST_BYTES
    expected = sum(
        math.prod(whole_shape(field)) * field.dtype.itemsize for field in _fields(transport)
    )
    if is_a(transport, Tracers):
        expected += _record_in(transport.swarm, found).nbytes
    if values != expected:
        raise ValueError(f"{damage}it has {values} bytes of values, not {expected}")
    return found


def _compare(path: StrPath, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Refuse what is made otherwise; the name of a kernel does not matter."""
    is_same_kernel = theirs.get("kernel's pieces") == ours["kernel's pieces"]
    for what in ours | theirs:
        one, other = theirs.get(what), ours.get(what)
        if one != other and not (what == "kernel" and is_same_kernel):
            raise ValueError(
                f"transport must match the one in {path}, whose {what} is {shown(one)}, "
                f"not {shown(other)}"
            )


def _compare_formulas(
    path: StrPath, theirs: dict[str, Expression], ours: dict[str, Expression]
) -> None:
    for what in ours | theirs:
        pair = theirs.get(what), ours.get(what)
        meanings = {formula if formula is None else meaning(formula) for formula in pair}
        if len(meanings) == 2:
            one, other = ("nothing" if formula is None else readable(formula) for formula in pair)
            found = f"{one}, not {other}" if one != other else f"another one, {one}"
            raise ValueError(f"transport must match the one in {path}, whose {what} is {found}")


def _compare_order(path: StrPath, theirs: Sequence[str | None], ours: Sequence[str | None]) -> None:
    """Refuse to give a field what another one had that has its name; older files have no names."""
    for one, other in zip(theirs, ours, strict=False):
        if other is not None and one != other and other in theirs:
            raise ValueError(
                f"transport must have its fields in the order of the one in {path}, "
                f"{shown(theirs)}, not {shown(ours)}"
            )


def _fields(transport: Stepper) -> list[Field]:
    """Return what is written, each field once."""
    carried = transport.fields if is_a(transport, Transport) else ()
    fields = (*carried, *_moving(transport), *_given(transport))
    return list({id(field): field for field in fields}.values())


def _velocity(transport: Stepper) -> Field | Velocity | VelocitySeries | None:
    if is_a(transport, Tracers):
        return transport.velocity
    if is_a(transport, Transport) and transport.advection is not None:
        return transport.advection.velocity
    return None


def _moving(transport: Stepper) -> tuple[Field, ...]:
    """Return the fields of a velocity."""
    velocity = _velocity(transport)
    if is_a(velocity, VelocitySeries):
        return velocity.fields
    return (velocity,) if is_a(velocity, Field) else ()


def _given(transport: Stepper) -> tuple[Field, ...]:
    source = transport.source if is_a(transport, Splitting) else None
    return () if source is None else source.given


def _diffusions(transport: Stepper) -> tuple[Diffusion, ...]:
    return transport.diffusion if is_a(transport, Splitting) else ()


def _parameters(transport: Stepper) -> dict[str, Parameters]:
    """Return those of the formulas that have any."""
    source = transport.source if is_a(transport, Splitting) else None
    found = {"velocity": _velocity(transport), "source": source}
    return {
        what: one.parameters
        for what, one in found.items()
        if is_a(one, Velocity | SourceOp) and one.parameters
    }


def _state(transport: Stepper) -> dict[str, Any]:
    state: dict[str, Any] = {"time": transport.time, "last_dt": transport.last_dt}
    state["names"] = [field.name for field in _fields(transport)]
    if diffusions := _diffusions(transport):
        state["viscosities"] = [diffusion.viscosities for diffusion in diffusions]
    if formulas := _parameters(transport):
        state["parameters"] = {what: dict(parameters) for what, parameters in formulas.items()}
    if is_a(transport, Tracers):
        record = record_of(transport.swarm)
        state |= {"particles": record.particles, "left": record.left}
    outflow = _outflow(transport)
    return state if outflow is None else {**state, "outflow": outflow.tolist()}


def _outflow(transport: Stepper) -> npt.NDArray[np.float64] | None:
    """Return what has left, None where nothing is counted."""
    if is_a(transport, Splitting) and transport.remesh.conservative:
        return transport.outflow
    return None


def _made_of(transport: Stepper) -> dict[str, Any]:
    """Return, by name, all on which the bits of a step depend but values, formulas and device."""
    arrays = _fields(transport)
    if is_a(transport, Tracers):
        made_of = _made_of_tracers(transport, arrays)
    elif is_a(transport, Transport):
        made_of = _made_of_transport(transport, arrays)
    for what, parameters in _parameters(transport).items():
        made_of[f"{what}'s parameters"] = sorted(parameters)
    return made_of | {
        "source's arrays": _places(_given(transport), arrays),
        "arrays": [(whole_shape(field), field.dtype.name) for field in arrays],
    }


def _made_of_tracers(tracers: Tracers, arrays: list[Field]) -> dict[str, Any]:
    swarm, velocity = tracers.swarm, tracers.velocity
    pieces = [list(map(str, piece)) for piece in tracers.kernel.pieces]
    return {
        "class": "Tracers",
        "grid": _described(swarm.grid),
        "dtype": swarm.dtype.name,
        "leaving": swarm.leaving,
        "attributes": [[name, one[0], one[1].name] for name, one in swarm._types().items()],
        "velocity": _kind_of_velocity(velocity),
        "scheme": tracers.scheme,
        "kernel": tracers.kernel.name,
        "kernel's pieces": [] if is_a(velocity, Velocity) else pieces,
        "velocity's arrays": _places(_moving(tracers), arrays),
        "velocity's grid": _described(velocity.grid),
    }


def _made_of_transport(transport: Transport, arrays: list[Field]) -> dict[str, Any]:
    advection, remesh = transport.advection, transport.remesh
    made_of = {
        "class": type(transport).__name__,
        "grid": _described(remesh.grid),
        "dtype": remesh.fields[0].dtype.name,
        "fields' components": [field.components for field in remesh.fields],
        "kernel": remesh.kernel.name,
        "kernel's pieces": [list(map(str, piece)) for piece in remesh.kernel.pieces],
        "limiter": remesh.limiter,
        "conservative": remesh.conservative,
    }
    if advection is not None:
        made_of |= {
            "velocity": _kind_of_velocity(advection.velocity),
            "scheme": advection.scheme,
            "interpolation": advection.interpolation,
            "velocity's arrays": _places(advection.fields, arrays),
            "velocity's grid": _described(advection.velocity.grid),
        }
    if is_a(transport, Splitting):
        source = transport.source
        made_of |= {
            "order": transport.order,
            "source": None if source is None else "a formula",
            "source's fields": [] if source is None else _places(source.fields, remesh.fields),
        }
        if transport.diffusion:
            made_of["diffusion"] = [_places(d.fields, remesh.fields) for d in transport.diffusion]
    return made_of


def _described(grid: Grid) -> dict[str, Any]:
    return {"shape": grid.whole.shape, **describe_grid(grid)}


def _places(some: Sequence[Field], fields: Sequence[Field]) -> list[int]:
    return [k for one in some for k, field in enumerate(fields) if field is one]


def _kind_of_velocity(velocity: Field | Velocity | VelocitySeries) -> Any:  # noqa: ANN401  JSON
    if is_a(velocity, VelocitySeries):
        return ["series", *velocity.times]
    return "a formula" if is_a(velocity, Velocity) else "field"


def _formulas(transport: Stepper) -> dict[str, Expression]:
    """Return by name all formulas on which a step depends."""
    velocity = _velocity(transport)
    several: dict[str, Sequence[Expression]] = {}
    if is_a(velocity, Velocity):
        several["velocity"] = velocity.components
    if is_a(transport, Splitting) and transport.source is not None:
        several["source"] = transport.source.rates
    found = {f"{what}[{k}]": one for what, every in several.items() for k, one in enumerate(every)}
    if not is_a(transport, Transport):
        return found
    found |= _by_component("inflow", transport.remesh.inflows.formulas)
    for number, diffusion in enumerate(_diffusions(transport)):
        inflow = _inflow_of(diffusion, transport.remesh)
        found |= _by_component(f"diffusion[{number}]'s inflow", inflow)
    return found


def _inflow_of(diffusion: Diffusion, remesh: RemeshOp) -> _Inflow:
    """Return what flows in where a field diffuses: its own, or what flows in where it moves."""
    if diffusion.inflows is not None:
        return diffusion.inflows.formulas
    owners = [field for field in remesh.fields for _ in range(field.components)]
    own = [k for field in diffusion.fields for k in _places([field], owners)]
    return {side: [every[k] for k in own] for side, every in remesh.inflows.formulas.items()}


def _by_component(what: str, inflow: _Inflow) -> dict[str, Expression]:
    return {
        f"{what}[{k}] at {side}": formula
        for side, every in inflow.items()
        for k, formula in enumerate(every)
    }
