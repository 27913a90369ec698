# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped and continued."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_duration, as_path, as_real, as_values, shown
from particles.base.disk import Place, open_to_read, replacing
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.formulas.parameters import Parameters
from particles.io.contents import describe_grid, read_slabs, write_slabs
from particles.operators.diffusion import Diffusion
from particles.operators.source import SourceOp
from particles.operators.velocity import Velocity
from particles.operators.velocity_series import VelocitySeries
from particles.stepping.splitting import Splitting
from particles.stepping.stepper import Stepper
from particles.stepping.unsplit import Unsplit

_MAGIC = b"particles checkpoint 1\n"
_IN_OPENCL = ("inflow", "velocity", "source", "diffusion")  # code that its user has not written
_LONGEST_HEADER = 2**28
_DIGEST_BYTES = hashlib.sha256().digest_size


def checkpoint(path: Place, transport: Splitting | Unsplit) -> None:
    """Write the state of a `Splitting` or `Unsplit` to a file, to continue it later.

    The file has the carried fields, a velocity on a grid, the fields given to the source, the
    viscosities of diffusion, the parameters of formulas, the time, the last step's duration, and
    what has flowed out through open ends. A description of the operators is compared when they are
    restored.

    Parameters
    ----------
    path : str or path-like
        The file. An existing one is replaced when the new one is complete.
    transport : Splitting or Unsplit
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
    with transport._alone.or_called():
        header = {"made of": _made_of(transport), "state": _state(transport)}
        with replacing(path) as file:
            hashed = _Hashed(file)
            hashed.write(_MAGIC)
            hashed.write(json.dumps(header).encode() + b"\n")
            for field in _fields(transport):
                write_slabs(hashed, field)
            file.write(hashed.sum.digest())


def restore(path: Place, transport: Splitting | Unsplit) -> None:
    """Restore the state of a `Splitting` or `Unsplit` from a file of `checkpoint`.

    Nothing is changed unless the file is complete and from a transport with the same operators. The
    file is read twice, first to check it.

    Parameters
    ----------
    path : str or path-like
        The file.
    transport : Splitting or Unsplit
        What to restore: made like the one that was written, with any values in its fields.

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
    path = as_path("path", path)
    with transport._alone, open_to_read(path) as file:
        _check_sum(file, path)
        file.seek(len(_MAGIC))
        state = _read_state(file, path, transport)
        for parameters, values in zip(_parameters(transport), state.parameters, strict=True):
            parameters.set_all(values)
        transport._leave()
        for field in _fields(transport):
            read_slabs(file, field)
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
    parameters: list[list[float]]


class _Hashed:
    """A file to write into, and the sum of what has been written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sum = hashlib.sha256()

    def write(self, content: bytes | memoryview) -> None:
        self.sum.update(content)
        self._file.write(content)


def _check(transport: object) -> None:
    if not is_a(transport, Splitting | Unsplit):
        raise TypeError(f"transport must be a Splitting or Unsplit, not {shown(transport)}")


def _check_sum(file: BinaryIO, path: Place) -> None:
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError(f"{path} is not a checkpoint that this version reads")
    left = os.fstat(file.fileno()).st_size - len(_MAGIC) - _DIGEST_BYTES
    digest = hashlib.sha256(_MAGIC)
    while left > 0 and (content := file.read(min(left, 2**18))):
        digest.update(content)
        left -= len(content)
    if file.read() != digest.digest():
        raise ValueError(f"{path} is damaged or cut short: its SHA-256 sum does not match")


def _read_state(file: BinaryIO, path: Place, transport: Stepper) -> _State:
    """Read the header, after which the fields' values and the sum must make up the file."""
    damage = f"{path} is damaged, though its sum is right: "
    try:
        header = json.loads(file.readline(_LONGEST_HEADER))
        theirs, state = dict(header["made of"]), header["state"]
        last_dt = state["last_dt"]
        found = _State(
            as_real("time", state["time"]),
            None if last_dt is None else as_duration("last_dt", last_dt),
            as_values(state["outflow"], name="outflow") if "outflow" in state else None,
            [
                [as_real("viscosity", value) for value in values]
                for values in state.get("viscosities", ())
            ],
            [
                [as_real("parameter", value) for value in values]
                for values in state.get("parameters", ())
            ],
        )
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{damage}{shown(error)}") from None
    _compare(path, theirs, json.loads(json.dumps(_made_of(transport))))
    outflow = _outflow(transport)
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
    expected_counts = [len(parameters) for parameters in _parameters(transport)]
    if [len(values) for values in found.parameters] != expected_counts:
        raise ValueError(f"{damage}parameters must be {expected_counts}")
    values = os.fstat(file.fileno()).st_size - file.tell() - _DIGEST_BYTES
    expected = sum(field.nbytes for field in _fields(transport))
    if values != expected:
        raise ValueError(f"{damage}it has {values} bytes of values, not {expected}")
    return found


def _compare(path: Place, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    for what in ours | theirs:
        one, other = theirs.get(what), ours.get(what)
        if one != other:
            found = "another" if what in _IN_OPENCL else f"{shown(one)}, not {shown(other)}"
            raise ValueError(f"transport must match the one in {path}, whose {what} is {found}")


def _fields(transport: Stepper) -> list[Field]:
    """Return what is written, each field once."""
    moving = () if transport.advection is None else transport.advection.fields
    fields = (*transport.remesh.fields, *moving, *_given(transport))
    return list({id(field): field for field in fields}.values())


def _given(transport: Stepper) -> tuple[Field, ...]:
    source = transport.source if is_a(transport, Splitting) else None
    return () if source is None else source.given


def _diffusions(transport: Stepper) -> tuple[Diffusion, ...]:
    return transport.diffusion if is_a(transport, Splitting) else ()


def _parameters(transport: Stepper) -> list[Parameters]:
    """Return those of the formulas that have any."""
    moving = None if transport.advection is None else transport.advection.velocity
    source = transport.source if is_a(transport, Splitting) else None
    formulas = [one for one in (moving, source) if is_a(one, Velocity | SourceOp)]
    return [formula.parameters for formula in formulas if formula.parameters]


def _state(transport: Stepper) -> dict[str, Any]:
    state: dict[str, Any] = {"time": transport.time, "last_dt": transport.last_dt}
    if diffusions := _diffusions(transport):
        state["viscosities"] = [diffusion.viscosities for diffusion in diffusions]
    if formulas := _parameters(transport):
        state["parameters"] = [list(parameters.values()) for parameters in formulas]
    outflow = _outflow(transport)
    return state if outflow is None else {**state, "outflow": outflow.tolist()}


def _outflow(transport: Stepper) -> npt.NDArray[np.float64] | None:
    """Return what has left, None where nothing is counted."""
    if is_a(transport, Splitting) and transport.remesh.conservative:
        return transport.outflow
    return None


def _made_of(transport: Stepper) -> dict[str, Any]:
    """Return, by name, all on which the bits of a step depend but values and device."""
    advection, remesh, arrays = transport.advection, transport.remesh, _fields(transport)
    made_of = {
        "class": type(transport).__name__,
        "grid": {"shape": remesh.grid.shape, **describe_grid(remesh.grid)},
        "dtype": remesh.fields[0].dtype.name,
        "fields' components": [field.components for field in remesh.fields],
        "kernel": remesh.kernel.name,
        "kernel's pieces": [list(map(str, piece)) for piece in remesh.kernel.pieces],
        "limiter": remesh.limiter,
        "conservative": remesh.conservative,
        "inflow": remesh.inflows.sources,
        "arrays": [(field.shape, field.dtype.name) for field in arrays],
        "source's arrays": _places(_given(transport), arrays),
    }
    if advection is not None:
        made_of |= {
            "scheme": advection.scheme,
            "interpolation": advection.interpolation,
            "velocity": _kind_of_velocity(advection.velocity),
            "velocity's arrays": _places(advection.fields, arrays),
            "velocity's grid": {
                "shape": advection.velocity.grid.shape,
                **describe_grid(advection.velocity.grid),
            },
        }
        if is_a(advection.velocity, Velocity) and advection.velocity.parameters:
            made_of["velocity's parameters"] = list(advection.velocity.parameters)
    if is_a(transport, Splitting):
        source = transport.source
        made_of |= {
            "order": transport.order,
            "source": None if source is None else source.text,
            "source's fields": [] if source is None else _places(source.fields, remesh.fields),
        }
        if source is not None and source.parameters:
            made_of["source's parameters"] = list(source.parameters)
        if transport.diffusion:
            made_of["diffusion"] = [
                [_places(one.fields, remesh.fields), one.inflows and one.inflows.sources]
                for one in transport.diffusion
            ]
    return made_of


def _places(some: Sequence[Field], fields: Sequence[Field]) -> list[int]:
    return [k for one in some for k, field in enumerate(fields) if field is one]


def _kind_of_velocity(velocity: Field | Velocity | VelocitySeries) -> Any:  # noqa: ANN401  JSON
    if is_a(velocity, Velocity):
        return [velocity.source(axis) for axis in range(velocity.grid.ndim)]
    if is_a(velocity, VelocitySeries):
        return ["series", *velocity.times]
    return "field"
