# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles in files of VTK."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_path, shown
from particles.base.disk import StrPath, replacing
from particles.base.kinds import is_a
from particles.io.leading import led
from particles.io.sets import SetSource, column_written, positions_written, record_of
from particles.sets.columns import parts_of
from particles.sets.particle_set import ParticleSet

_STORED = {"float16": "float32", "bool": "uint8"}
"""Of what VTK does not have."""


class _Data(NamedTuple):
    """Numbers of each particle, and how VTK is told."""

    name: str
    dtype: np.dtype[Any]
    components: int
    rows: Callable[[range], npt.NDArray[Any]]

    def header(self, offset: int) -> str:
        kind = {"f": "Float", "i": "Int", "u": "UInt"}[self.dtype.kind]
        return (
            f'<DataArray type="{kind}{8 * self.dtype.itemsize}" Name={quoteattr(self.name)} '
            f'NumberOfComponents="{self.components}" format="appended" offset="{offset}"/>'
        )


def write_vtp(path: StrPath, swarm: ParticleSet) -> None:
    """Write a set of particles as VTK poly data, for ParaView and similar programs.

    Positions are written in float64, within the box, and every attribute as point data. VTK has
    neither float16 nor truth values: these are written as float32 and as 0 or 1. Vectors of two
    components get a third one, 0, as VTK draws vectors of three.

    Parameters
    ----------
    path : str or path-like
        The file, ``.vtp``. An existing one is replaced when the new one is complete.
    swarm : ParticleSet
        The set.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> swarm = pt.ParticleSet(pt.Grid((8, 8)), [[0.1, 0.2]], mass=np.ones(1))
    >>> pt.io.write_vtp("swarm.vtp", swarm)
    """
    if not is_a(swarm, ParticleSet):
        raise TypeError(f"swarm must be a ParticleSet, not {shown(swarm)}")
    target = as_path("path", path, ".vtp")

    def write(_fields: object, sets: Mapping[str, SetSource], _make: object) -> None:
        _write(target, sets["swarm"])

    what = f"write_vtp({shown(str(target))})"
    with swarm._alone:
        led(swarm.grid.ranks, what, write, {}, {"swarm": swarm})


def _write(target: Path, swarm: SetSource) -> None:
    with replacing(target) as file:
        count, every = record_of(swarm).particles, list(_data_of(swarm))
        file.write(_header(count, every).encode())
        for data in every:
            file.write(struct.pack("<Q", count * data.components * data.dtype.itemsize))
            for rows in parts_of(count):
                values = np.ascontiguousarray(data.rows(rows), data.dtype.newbyteorder("<"))
                file.write(values.data)
        file.write(b"\n  </AppendedData>\n</VTKFile>\n")


def _data_of(swarm: SetSource) -> Iterator[_Data]:
    """Yield positions, the attributes, and the vertices, which are what is drawn."""
    record = record_of(swarm)

    def positions(rows: range) -> npt.NDArray[np.float64]:
        places = np.zeros((len(rows), 3))
        places[:, : record.grid.ndim] = positions_written(swarm, rows)
        return places

    yield _Data("Points", np.dtype("float64"), 3, positions)
    for name, (components, dtype) in record.attributes.items():
        stored = np.dtype(_STORED.get(dtype.name, dtype))
        is_flat = components == 2
        yield _Data(
            name,
            stored,
            3 if is_flat else components,
            lambda rows, name=name, is_flat=is_flat: np.pad(  # type: ignore[misc]
                column_written(swarm, name, rows), ((0, 0), (0, 1)) if is_flat else 0
            ),
        )
    integers = np.dtype("int64")
    yield _Data("connectivity", integers, 1, lambda rows: np.arange(rows.start, rows.stop))
    yield _Data("offsets", integers, 1, lambda rows: np.arange(rows.start, rows.stop) + 1)


def _header(count: int, every: list[_Data]) -> str:
    texts, offset = [], 0
    for data in every:
        texts.append(f"        {data.header(offset)}")
        offset += 8 + count * data.components * data.dtype.itemsize
    points, *attributes, connectivity, offsets = texts
    piece = (
        f'    <Piece NumberOfPoints="{count}" NumberOfVerts="{count}" NumberOfLines="0" '
        'NumberOfStrips="0" NumberOfPolys="0">'
    )
    return "\n".join(
        [
            '<?xml version="1.0"?>',
            '<VTKFile type="PolyData" version="1.0"',
            ' byte_order="LittleEndian" header_type="UInt64">',
            "  <PolyData>",
            piece,
            "      <Points>",
            points,
            "      </Points>",
            "      <PointData>",
            *attributes,
            "      </PointData>",
            "      <Verts>",
            connectivity,
            offsets,
            "      </Verts>",
            "    </Piece>",
            "  </PolyData>",
            '  <AppendedData encoding="raw">',
            "_",
        ]
    )
