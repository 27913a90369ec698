# SPDX-License-Identifier: BSD-3-Clause
"""Fields to be written to files, and readers of what has been written."""

import struct
from xml.etree import ElementTree

import h5py
import numpy as np
import particles as pt

GRIDS = [
    pt.Grid(9, origin=0.1, extent=3),
    pt.Grid((5, 7), spacing=(0.1, 0.3), boundary=["periodic", ("inflow", "outflow")]),
    pt.Grid((3, 4, 6), origin=(1, 2, 3), boundary="wall"),
]


def numbered(grid, components=1, dtype="float32", device=None, name=None):
    """A field whose values all differ, from 0.5 on."""
    field = pt.Field(grid, components, dtype, device, name)
    field[...] = np.arange(field.size).reshape(field.shape) + 0.5
    return field


def check_same(one, other):
    assert (one.grid, one.dtype, one.shape) == (other.grid, other.dtype, other.shape)
    assert one.get().tobytes() == other.get().tobytes()


def as_vectors(field):
    """Return values as VTK has them: two components with a third one, 0."""
    values = field.get()
    missing = field.components == 2
    return np.concatenate([values, np.zeros_like(values[:1])]) if missing else values


def read_vti(path, grid):
    """Read what VTK's description says, and check that the points are the grid's."""
    head, _, raw = path.read_bytes().partition(b'encoding="raw">\n_')
    (image,) = ElementTree.fromstring(head + b'encoding="raw"/></VTKFile>').iter("ImageData")
    shape = [int(n) + 1 for n in image.get("WholeExtent").split()[1::2]]
    first, spacing = ([float(x) for x in image.get(k).split()] for k in ("Origin", "Spacing"))
    assert shape == [*grid.shape, 1, 1][:3]
    for x, n, a, h in zip(grid.coordinates(), grid.shape, first, spacing, strict=False):
        np.testing.assert_allclose(x.ravel(), a + h * np.arange(n), rtol=1e-15)
    arrays = {}
    for array in image.iter("DataArray"):
        dtype = np.dtype(array.get("type").lower())
        components, offset = int(array.get("NumberOfComponents")), int(array.get("offset"))
        (size,) = struct.unpack_from("<Q", raw, offset)
        values = np.frombuffer(raw, dtype, size // dtype.itemsize, offset + 8)
        values = values.reshape((*shape[::-1], components)).T  # x is the fastest in the file
        arrays[array.get("Name")] = values.reshape((*[components][: components - 1], *grid.shape))
    assert raw[offset + 8 + size :] == b"\n  </AppendedData>\n</VTKFile>\n"
    return arrays


def check_xdmf(path, instants, *, is_new=True):
    """Read values as XDMF describes them, and check that the points are the grid's.

    Two components are a vector of three in new files.
    """
    described = ElementTree.parse(path).getroot().findall("Domain/Grid/Grid")
    assert len(described) == len(instants)
    for instant, fields in zip(described, instants, strict=True):
        grid = next(iter(fields.values())).grid
        missing = 3 - grid.ndim
        shape = [int(n) for n in instant.find("Topology").get("Dimensions").split()]
        assert shape == [*[1] * missing, *grid.shape[::-1]]
        points = instant.findall("Geometry/DataItem")
        assert [item.get("Precision") for item in points] == ["8", "8"]
        first, spacing = ([float(x) for x in item.text.split()] for item in points)
        assert (first[missing:], spacing[missing:]) == ([*grid.first[::-1]], [*grid.spacing[::-1]])
        read = {a.get("Name"): read_attribute(a, path.parent) for a in instant.iter("Attribute")}
        for name, field in fields.items():
            values = field.get().reshape((field.components, *grid.shape))
            backwards = values.T.reshape((*shape, field.components))
            if field.components == 2 and is_new:
                backwards = np.concatenate([backwards, 0 * backwards[..., :1]], axis=-1)
            if field.components in (1, 3) or (field.components == 2 and is_new):
                whole = backwards if field.components > 1 else backwards[..., 0]
                np.testing.assert_array_equal(read.pop(name), whole)
            else:
                for k in range(field.components):
                    np.testing.assert_array_equal(read.pop(f"{name}[{k}]"), backwards[..., k])
        assert not read


def read_attribute(attribute, folder):
    item = attribute.find("DataItem")
    name, _, place = item.text.partition(":")
    with h5py.File(folder / name) as file:
        values = file[place]
        assert values.dtype.itemsize == int(item.get("Precision")) >= 4
        assert list(values.shape) == [int(n) for n in item.get("Dimensions").split()]
        return values[()]
