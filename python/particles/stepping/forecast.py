# SPDX-License-Identifier: BSD-3-Clause
"""How much of a device's memory a transport takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from particles import _core
from particles.base.errors import OutOfMemoryError
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.operators.advection import AdvectionOp
from particles.operators.remesh import RemeshOp
from particles.runtime.crew import found_of_each, parts_of
from particles.runtime.memory import Memory


class Forecast(NamedTuple):
    """What a transport is made of; the order of an unsplit one is None."""

    advection: AdvectionOp | None
    remesh: RemeshOp
    cores: tuple[_core.AdvectionOp | None, _core.RemeshOp]
    order: int | None
    given: tuple[Field, ...] = ()  # to the source alone
    diffusions: Sequence[_core.Diffusion] = ()

    def memory(self, grid: Grid | None = None) -> Memory:
        """Return what it takes, or would take on another grid."""
        there = grid or self.remesh.grid
        rows: dict[str, int] = {}
        made_of = *self.cores, self.order, self.diffusions, there.core
        parts = found_of_each(_core.memory_forecast, *made_of)
        for name, size in chain(*(part.items() for part in parts), self._given_memory(there)):
            rows[name] = rows.get(name, 0) + size
        return Memory(rows, self.remesh.fields[0].device.memory)

    def _given_memory(self, grid: Grid) -> Iterator[tuple[str, int]]:
        """Give what the source alone has of fields, and what a look at them takes."""
        once = {(field.core.memory, field.core.offset): field for field in self.given}
        looked_at = set()  # views of a field share what a reduction takes
        for (memory, _), field in once.items():
            is_new = memory not in looked_at
            looked_at.add(memory)
            for device, part in zip(field.device.devices, parts_of(grid.core), strict=True):
                dry = _core.Context.dry(device.info)
                held = _core.Field(dry, part, field.components, field.dtype.name, "")
                size = dry.bytes_held
                yield f"given field {field.name or ''}".rstrip(), size
                if is_new:
                    held.summary()
                    yield "partial results of a reduction", dry.bytes_held - size

    def greatest_shape(self) -> tuple[int, ...]:
        """Return the greatest shape of about the same proportions that the device has memory for."""
        fits, not_fits = 0, 1024  # parts of the shape
        while not_fits - fits > 1:
            middle = (fits + not_fits) // 2
            grid = Grid(self._shape(middle / 1024), boundary=self.remesh.grid.boundary, comm="self")
            if self._fits(grid):
                fits = middle
            else:
                not_fits = middle
        return self._shape(fits / 1024)

    def _fits(self, grid: Grid) -> bool:
        try:
            return self.memory(grid).fits
        except ValueError:  # it is too small for the form that sweeps shall have
            return True

    def _shape(self, share: float) -> tuple[int, ...]:
        """Return whole multiples of the ratio of a coarse velocity."""
        own = self.remesh.grid.shape
        coarse = own if self.advection is None else self.advection.velocity.grid.shape
        ratios = [n // m for n, m in zip(own, coarse, strict=True)]
        return tuple(
            max(1, int(share * n) // ratio) * ratio for n, ratio in zip(own, ratios, strict=True)
        )


@contextmanager
def told_in_full(forecast: Forecast) -> Iterator[None]:
    """Have an error for want of memory list what is needed, and say what would fit."""
    try:
        yield
    except OutOfMemoryError as error:
        text = f"{error}; all that is needed:\n{forecast.memory()}"
        if not forecast.remesh.grid.is_cut:
            text += f"\na grid of {forecast.greatest_shape()} fits"
        raise OutOfMemoryError(text) from None
