# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of time series in HDF5 for programs that make pictures."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from particles.grid import Grid


def describe(name: str, file: Any, grid: Grid) -> bytes:  # noqa: ANN401  h5py has no types
    """Return XDMF of an open file of a `Series` under a name.

    Axes are in XDMF's order, z, y, x; an axis that is missing has one point.
    """
    root = Element("Xdmf", Version="3.0")
    domain = SubElement(root, "Domain")
    series = SubElement(domain, "Grid", Name="series", GridType="Collection")
    series.set("CollectionType", "Temporal")
    for number, time in enumerate(file["time"][()].tolist()):
        moment = SubElement(series, "Grid", Name=f"time {number}", GridType="Uniform")
        SubElement(moment, "Time", Value=repr(time))
        _add_points(moment, grid)
        for field in file:
            if field != "time":
                _add_field(moment, f"{name}:/{field}", file[field], number, grid)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _backwards(grid: Grid, values: tuple[Any, ...], missing: object) -> str:
    return " ".join(map(repr, (*(missing,) * (3 - grid.ndim), *values[::-1])))


def _add_points(moment: Element, grid: Grid) -> None:
    shape = _backwards(grid, grid.shape, 1)
    SubElement(moment, "Topology", TopologyType="3DCoRectMesh", Dimensions=shape)
    geometry = SubElement(moment, "Geometry", GeometryType="ORIGIN_DXDYDZ")
    for values in _backwards(grid, grid.first, 0.0), _backwards(grid, grid.spacing, 1.0):
        _add_item(geometry, "3", "XML").text = values


def _add_field(moment: Element, path: str, dataset: Any, number: int, grid: Grid) -> None:  # noqa: ANN401
    """Add the values of one time: three components as a vector, others one by one."""
    name = path.rpartition("/")[2]
    components = dataset.shape[1 + grid.ndim :]
    if components in ((), (3,)):
        parts = [(name, (0,) * len(components), components)]
    else:
        parts = [(f"{name}[{k}]", (k,), (1,)) for k in range(*components)]
    for label, component, count in parts:
        shape = (*_backwards(grid, grid.shape, 1).split(), *(["3"] if count == (3,) else []))
        kind = "Vector" if count == (3,) else "Scalar"
        attribute = SubElement(moment, "Attribute", Name=label, AttributeType=kind, Center="Node")
        slab = SubElement(attribute, "DataItem", ItemType="HyperSlab", Dimensions=" ".join(shape))
        start = (number, *(0,) * grid.ndim, *component)
        stride = (1,) * len(start)
        extent = (1, *grid.shape[::-1], *count)
        bounds = _add_item(slab, f"3 {len(start)}", "XML")
        bounds.text = " ".join(map(str, (*start, *stride, *extent)))
        item = _add_item(slab, " ".join(map(str, dataset.shape)), "HDF")
        item.set("NumberType", "Float")
        item.set("Precision", str(dataset.dtype.itemsize))
        item.text = path


def _add_item(parent: Element, shape: str, form: str) -> Element:
    return SubElement(parent, "DataItem", Dimensions=shape, Format=form)
