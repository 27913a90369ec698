# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles for ParaView, read by hand, and by VTK where it is installed."""

import re

import numpy as np
import particles as pt
import pytest


@pytest.fixture(params=[1, 2, 3])
def swarm(request):
    """Return a set with attributes of several dtypes."""
    ndim, n = request.param, 7
    rng = np.random.default_rng(ndim)
    return pt.ParticleSet(
        pt.Grid((4,) * ndim, extent=(3,) * ndim),
        3 * rng.random((n, ndim)),
        mass=rng.random(n).astype("float32"),
        v=rng.normal(size=(n, 2)).astype("float16"),
        tag=np.arange(n) - 3,
        dark=np.arange(n) % 2 == 0,
    )


def expected_of(swarm):
    """Return what is to be found, by name."""
    places = np.zeros((len(swarm), 3))
    places[:, : swarm.grid.ndim] = swarm.positions.get()
    names = {name: values.get() for name, values in swarm.attributes.items()}
    names["v"] = np.pad(names["v"], ((0, 0), (0, 1)))  # the third component of a vector
    numbers = np.arange(len(swarm))
    return {"Points": places, **names, "connectivity": numbers, "offsets": numbers + 1}


def read(path):
    """Return the arrays of a file."""
    text = path.read_bytes()
    begin = text.index(b'<AppendedData encoding="raw">\n_') + len(
        b'<AppendedData encoding="raw">\n_'
    )
    found = {}
    for header in re.findall(r"<DataArray [^>]*>", text[:begin].decode()):
        known = dict(re.findall(r'(\w+)="([^"]*)"', header))
        dtype, components = np.dtype(known["type"].lower()), int(known["NumberOfComponents"])
        at = begin + int(known["offset"])
        size = int(np.frombuffer(text[at : at + 8], "<u8")[0])
        values = np.frombuffer(text[at + 8 : at + 8 + size], dtype)
        found[known["Name"]] = values.reshape(-1, components) if components > 1 else values
    return found


def test_positions_and_attributes(swarm, tmp_path):
    path = tmp_path / "swarm.vtp"
    pt.io.write_vtp(path, swarm)
    found, expected = read(path), expected_of(swarm)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
    assert path.read_bytes().endswith(b"</AppendedData>\n</VTKFile>\n")


def test_of_no_particles(tmp_path):
    pt.io.write_vtp(tmp_path / "none.vtp", pt.ParticleSet(pt.Grid(4), np.zeros((0, 1))))
    assert read(tmp_path / "none.vtp")["Points"].shape == (0, 3)


def test_vtk_reads_it(swarm, tmp_path):
    vtk = pytest.importorskip("vtkmodules.all")
    to_numpy = pytest.importorskip("vtkmodules.util.numpy_support").vtk_to_numpy
    pt.io.write_vtp(tmp_path / "swarm.vtp", swarm)
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(tmp_path / "swarm.vtp"))
    reader.Update()
    data, expected = reader.GetOutput(), expected_of(swarm)
    assert data.GetNumberOfVerts() == len(swarm)
    np.testing.assert_array_equal(to_numpy(data.GetPoints().GetData()), expected["Points"])
    for name in swarm.attributes:
        np.testing.assert_array_equal(to_numpy(data.GetPointData().GetArray(name)), expected[name])


def test_other_files_name_what_keeps_particles(swarm, tmp_path):
    with pytest.raises(TypeError, match="write_vtp"):
        pt.io.write_vti(tmp_path / "swarm.vti", swarm)
    with pytest.raises(TypeError, match="save keeps a set"):
        pt.io.checkpoint(tmp_path / "swarm.checkpoint", swarm)
    assert not list(tmp_path.iterdir())
