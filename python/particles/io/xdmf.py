# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of time series in HDF5 for programs that make pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from particles.fields.grid import Grid

_NUMBERS = {
    **dict.fromkeys(("float32", "float64"), "Float"),
    **dict.fromkeys(("int32", "int64"), "Int"),
    **dict.fromkeys(("uint32", "uint64"), "UInt"),
    "uint8": "UChar",
}


class Attribute(NamedTuple):
    """Values as XDMF takes them, numbers or vectors of three.

    Attributes
    ----------
    name, source : str
        Of these values, and of the dataset that they are a part of.
    part : tuple
        Which ones of the values of one time.
    shape : tuple of int
        Of one number or vector.
    """

    name: str
    source: str
    part: tuple[Any, ...]
    shape: tuple[int, ...]


def names(file: Any) -> list[str]:  # noqa: ANN401  h5py has no types
    """Return the names of the fields in an open file of a `Series`."""
    return [
        name
        for name in file
        if name not in ("time", "moments") and "counts" not in file[name].attrs
    ]


def attributes(file: Any, axes: int) -> Iterator[Attribute]:  # noqa: ANN401
    """Give the values of fields at one time."""
    for name in names(file):
        yield from _parts(name, file[name].shape[1 + axes :])


def attributes_of_set(group: Any) -> Iterator[Attribute]:  # noqa: ANN401
    """Give what is known of the particles of a set at one time, but for where they are."""
    for label, dataset in group.items():
        if "." not in label and label != "positions":
            yield from _parts(label, dataset.shape[1:])


def _parts(name: str, components: tuple[int, ...]) -> Iterator[Attribute]:
    """Give two or three components as a vector, of two with a third one of zeros; more one by one."""
    if components in ((), (2,), (3,)):
        yield Attribute(name, name, (...,), (3,) if components else ())
    else:
        for k in range(*components):
            yield Attribute(f"{name}[{k}]", name, (..., k), ())


def points_of(grid: Grid) -> tuple[int, ...]:
    """Return the points in XDMF's order, z, y, x; an axis that is missing has one."""
    return _backwards(grid, grid.shape, 1)


def describe(name: str, file: Any, grid: Grid | None, sets: Sequence[str] = ()) -> bytes:  # noqa: ANN401
    """Return XDMF of an open file of a `Series` under a name: of its fields, and of each set."""
    root = Element("Xdmf", Version="3.0")
    domain = SubElement(root, "Domain")
    if grid is not None:
        _add_fields(_add_series(domain, "series"), name, file, grid)
    for one in sets:
        _add_set(_add_series(domain, one), name, file, one)
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add_series(domain: Element, name: str) -> Element:
    series = SubElement(domain, "Grid", Name=name, GridType="Collection")
    series.set("CollectionType", "Temporal")
    return series


def _add_set(series: Element, name: str, file: Any, one: str) -> None:  # noqa: ANN401
    """Add the particles of each time: where they are, and what is known of each."""
    group = file[one]
    counts = group["places.counts"][()].tolist()
    for number, (time, count) in enumerate(zip(file["time"][()].tolist(), counts, strict=True)):
        instant = SubElement(series, "Grid", Name=f"time {number}", GridType="Uniform")
        SubElement(instant, "Time", Value=repr(time))
        topology = SubElement(instant, "Topology", TopologyType="Polyvertex")
        topology.set("NumberOfElements", str(count))
        topology.set("NodesPerElement", "1")
        geometry = SubElement(instant, "Geometry", GeometryType="XYZ")
        path = f"{name}:/moments/{number}/{one}"
        _add_item(geometry, (count, 3), "HDF", 8).text = f"{path}/positions"
        for shown in attributes_of_set(group):
            dtype = group[shown.source].dtype
            item = _add_attribute(instant, shown, dtype.itemsize, (count,))
            item.set("NumberType", _NUMBERS[dtype.name])
            item.text = f"{path}/{shown.name}"


def _add_fields(series: Element, name: str, file: Any, grid: Grid) -> None:  # noqa: ANN401
    shown = [(one, file[one.source].dtype.itemsize) for one in attributes(file, grid.ndim)]
    for number, time in enumerate(file["time"][()].tolist()):
        instant = SubElement(series, "Grid", Name=f"time {number}", GridType="Uniform")
        SubElement(instant, "Time", Value=repr(time))
        _add_points(instant, grid)
        for attribute, itemsize in shown:
            item = _add_attribute(instant, attribute, itemsize, points_of(grid))
            item.text = f"{name}:/moments/{number}/{attribute.name}"


def _add_attribute(
    instant: Element, attribute: Attribute, itemsize: int, places: tuple[int, ...]
) -> Element:
    kind = "Vector" if attribute.shape else "Scalar"
    entry = SubElement(instant, "Attribute", Name=attribute.name, AttributeType=kind)
    entry.set("Center", "Node")
    return _add_item(entry, (*places, *attribute.shape), "HDF", itemsize)


def _backwards(grid: Grid, values: tuple[Any, ...], missing: object) -> tuple[Any, ...]:
    return (*(missing,) * (3 - grid.ndim), *values[::-1])


def _text(values: tuple[Any, ...]) -> str:
    return " ".join(map(repr, values))


def _add_points(instant: Element, grid: Grid) -> None:
    shape = _text(points_of(grid))
    SubElement(instant, "Topology", TopologyType="3DCoRectMesh", Dimensions=shape)
    geometry = SubElement(instant, "Geometry", GeometryType="ORIGIN_DXDYDZ")
    for values in _backwards(grid, grid.first, 0.0), _backwards(grid, grid.spacing, 1.0):
        _add_item(geometry, (3,), "XML", 8).text = _text(values)


def _add_item(parent: Element, shape: tuple[int, ...], form: str, itemsize: int) -> Element:
    item = SubElement(parent, "DataItem", Dimensions=_text(shape), Format=form)
    item.set("NumberType", "Float")
    item.set("Precision", str(itemsize))
    return item
