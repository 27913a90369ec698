# SPDX-License-Identifier: BSD-3-Clause
"""Fields in files of VTK."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np

from particles.base.checks import arithmetic, as_path, shown
from particles.base.disk import StrPath, replacing
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.io.contents import Named, as_bytes, as_fields, layers
from particles.io.leading import Source, led


def write_vti(path: StrPath, fields: Field | Mapping[str, Field]) -> None:
    """Write fields of one grid as VTK image data, for ParaView and similar programs.

    Values are stored as point data, at the points of the grid. VTK has no float16: such fields are
    written as float32. A field of two components gets a third one, 0: VTK draws vectors of three.

    Parameters
    ----------
    path : str or path-like
        The file, ``.vti``. An existing one is replaced when the new one is complete.
    fields : Field or dict of str to Field
        One field, under its name or ``"values"``, or several by name.

    Examples
    --------
    >>> import particles as pt
    >>> u = pt.Field(pt.Grid((8, 8, 8)), name="u")
    >>> pt.io.write_vti("u.vti", u)
    """
    named, target = as_fields(fields), as_path("path", path, ".vti")

    def write(sources: Mapping[str, Source], _sets: object, _make: object) -> None:
        grid = next(iter(sources.values())).grid
        with replacing(target) as file:
            file.write(_header(grid, sources).encode())
            for field in sources.values():
                file.write(struct.pack("<Q", _bytes_of(field)))
                _write_values(file, field)
            file.write(b"\n  </AppendedData>\n</VTKFile>\n")

    ranks = Named(named, {}).ranks
    led(ranks, f"write_vti({shown(str(target))}) of {[*named]}", write, named, {})


def _stored(field: Source) -> np.dtype[Any]:
    dtype: np.dtype[Any] = arithmetic(field.dtype).newbyteorder("<")
    return dtype


def _components_of(field: Source) -> int:
    return 3 if field.components == 2 else field.components


def _bytes_of(field: Source) -> int:
    return field.size // field.components * _components_of(field) * _stored(field).itemsize


def _write_values(file: BinaryIO, field: Source) -> None:
    """Write values with the components of a point together, and the first axis the fastest."""
    stored, missing = _stored(field), _components_of(field) - field.components
    for part in layers(field):
        values = field[..., part].T.astype(stored)
        if missing:
            values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])
        file.write(as_bytes(values))


def _header(grid: Grid, named: Mapping[str, Source]) -> str:
    missing = 3 - grid.ndim
    extent = " ".join(f"0 {n - 1}" for n in (*grid.shape, *(1,) * missing))
    origin = " ".join(map(repr, (*grid.first, *(0.0,) * missing)))
    spacing = " ".join(map(repr, (*grid.spacing, *(1.0,) * missing)))
    arrays, offset = [], 0
    for name, field in named.items():
        arrays.append(
            f'        <DataArray type="Float{8 * _stored(field).itemsize}" Name={quoteattr(name)} '
            f'NumberOfComponents="{_components_of(field)}" format="appended" offset="{offset}"/>'
        )
        offset += 8 + _bytes_of(field)
    return "\n".join(
        [
            '<?xml version="1.0"?>',
            '<VTKFile type="ImageData" version="1.0"',
            ' byte_order="LittleEndian" header_type="UInt64">',
            f'  <ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">',
            f'    <Piece Extent="{extent}">',
            "      <PointData>",
            *arrays,
            "      </PointData>",
            "    </Piece>",
            "  </ImageData>",
            '  <AppendedData encoding="raw">',
            "_",
        ]
    )
