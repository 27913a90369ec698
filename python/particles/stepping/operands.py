# SPDX-License-Identifier: BSD-3-Clause
"""Operators that a stepper can be made of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from particles.arrays.overlap import overlap
from particles.base.checks import arithmetic, as_sequence, refusal, shown
from particles.base.kinds import is_a
from particles.fields.field import Field
from particles.operators.advection import AdvectionOp
from particles.operators.diffusion import Diffusion
from particles.operators.remesh import RemeshOp
from particles.operators.source import SourceOp


def check_operators(advection: object, remesh: object) -> RemeshOp:
    """Refuse what particles cannot be moved and remeshed by."""
    if not is_a(advection, AdvectionOp):
        raise TypeError(f"advection must be an AdvectionOp, not {shown(advection)}")
    operator = as_remesh(remesh)
    _check_carried(advection, operator)
    return operator


def check_divided(what: str, advection: AdvectionOp | None, remesh: RemeshOp) -> None:
    """Refuse ranks of a divided grid that make other transports, or have other drivers."""
    grid, device = remesh.grid, remesh.fields[0].device
    if grid.ranks is None:
        return
    how = "" if advection is None else f"{advection.scheme}, {advection.interpolation}, "
    how += f"{remesh.kernel.name}, {remesh.limiter}, {remesh.conservative}"
    carried = ", ".join(f"{field.components} of {field.dtype}" for field in remesh.fields)
    driver = f"{device.name}, {device.platform} {device.driver}"
    grid.ranks.meet(f"{what} of {carried} by {how} on {driver}")


def as_remesh(remesh: object) -> RemeshOp:
    """Refuse what is no RemeshOp."""
    if not is_a(remesh, RemeshOp):
        raise TypeError(f"remesh must be a RemeshOp, not {shown(remesh)}")
    return remesh


def given_alone(
    advection: AdvectionOp | None, remesh: RemeshOp, source: SourceOp | None
) -> tuple[Field, ...]:
    """Return what the source alone has of fields: carried ones and velocities are others' too."""
    moving = () if advection is None else advection.fields
    others = {field.core.memory for field in (*remesh.fields, *moving)}
    given = () if source is None else source.given
    return tuple(field for field in given if field.core.memory not in others)


def check_changes(remesh: RemeshOp, source: object, diffusions: Sequence[Diffusion]) -> None:
    """Refuse what is no source or diffusion, and one of fields that are not carried."""
    if source is not None and not is_a(source, SourceOp):
        raise TypeError(f"source must be a SourceOp or None, not {shown(source)}")
    if source is not None:
        _check_changed("source must change only", source.fields, remesh)
    for diffusion in diffusions:
        _check_changed("diffusion must change only", diffusion.fields, remesh)


def _check_changed(what: str, fields: Sequence[Field], remesh: RemeshOp) -> None:
    for field in fields:
        if not any(field is carried for carried in remesh.fields):
            raise ValueError(f"{what} carried fields, not {shown(field)}")


def as_diffusions(diffusion: object) -> tuple[Diffusion, ...]:
    """Return none, one or several as a tuple."""
    if diffusion is None:
        return ()
    expected = "diffusion must be a Diffusion, a sequence of them or None"
    every = [diffusion] if is_a(diffusion, Diffusion) else as_sequence(diffusion, expected)
    for one in every:
        if not is_a(one, Diffusion):
            raise TypeError(f"{refusal(expected, one)} in it")
    fields = [field for one in every for field in one.fields]
    for k, field in enumerate(fields):
        if any(field is other for other in fields[:k]):
            raise ValueError(f"diffusion must spread each field once, but {shown(field)} is in two")
    return tuple(every)


def _check_carried(advection: AdvectionOp, remesh: RemeshOp) -> None:
    """Refuse a velocity that cannot carry the fields."""
    if advection.grid != remesh.grid:
        raise ValueError(
            f"the velocity must be on the grid of the fields, not on {advection.grid} "
            f"with the fields on {remesh.grid}"
        )
    for velocity, field in product(advection.fields, remesh.fields):
        if velocity.dtype != arithmetic(field.dtype):
            raise TypeError(
                f"the velocity must be of {arithmetic(field.dtype)}, not {velocity.dtype}, "
                f"with the fields in {field.dtype}"
            )
        if velocity.device is not field.device:
            raise ValueError(
                f"the velocity must be on the device of the fields, not on {velocity.device} "
                f"with the fields on {field.device}"
            )
        if overlap(velocity.core, field.core):
            raise ValueError(
                "the velocity must have memory of its own, not that of a carried field"
            )
