# SPDX-License-Identifier: BSD-3-Clause
"""Files that ParaView opens, read by VTK itself where it is installed (``pip install vtk``)."""

import numpy as np
import particles as pt
import pytest

vtk = pytest.importorskip("vtkmodules.all")
to_numpy = pytest.importorskip("vtkmodules.util.numpy_support").vtk_to_numpy

GRIDS = [
    pt.Grid(5, origin=-1, extent=2, boundary="wall"),
    pt.Grid((4, 7), origin=(0.5, 0), spacing=(0.1, 0.3)),
    pt.Grid((3, 4, 5), extent=(1, 2, 3), boundary=["periodic", "wall", ("inflow", "outflow")]),
]


@pytest.fixture(params=GRIDS, ids=lambda grid: f"{grid.ndim}D")
def fields(request):
    """Return fields of one grid, with numbers of components that VTK takes apart or not."""
    made = {}
    for components, dtype in (1, "float32"), (2, "float64"), (3, "float32"), (1, "float16"):
        field = made[f"{dtype} {components}"] = pt.Field(request.param, components, dtype)
        field[...] = np.arange(field.size).reshape(field.shape) / 8
    return made


def check_points(image, grid):
    assert image.GetNumberOfPoints() == grid.size
    ends = [0] * 6
    image.ComputeBounds()
    image.GetBounds(ends)
    for axis, points in enumerate(grid.coordinates()):
        low, high = points.min(), points.max()
        assert ends[2 * axis : 2 * axis + 2] == pytest.approx([low, high], rel=1e-14, abs=1e-14)


def values_of(image, name, field):
    """Return the values of an array of VTK, in which the first axis is the fastest."""
    array = to_numpy(image.GetPointData().GetArray(name))
    components = array.shape[1:]
    return array.reshape((*field.grid.shape[::-1], *components)).T


def test_image_data(fields, tmp_path):
    pt.io.write_vti(tmp_path / "u.vti", fields)
    reader = vtk.vtkXMLImageDataReader()
    reader.SetFileName(str(tmp_path / "u.vti"))
    reader.Update()
    image = reader.GetOutput()
    check_points(image, next(iter(fields.values())).grid)
    for name, field in fields.items():
        written = values_of(image, name, field)
        if field.components == 2:
            assert (written[2] == 0).all()
            written = written[:2]
        np.testing.assert_array_equal(written, field.get())


def test_series(fields, tmp_path):
    series, times = pt.io.Series(tmp_path / "u.h5"), (-1.0, 0.25, 7.0)
    for time in times:
        for field in fields.values():
            field[...] = field.get() + time
        series.append(time, fields)
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "u.xdmf"))
    reader.UpdateInformation()
    key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    assert reader.GetOutputInformation(0).Get(key) == times
    for number, time in enumerate(times):
        reader.UpdateTimeStep(time)
        image = reader.GetOutputDataObject(0)
        while image.IsA("vtkMultiBlockDataSet"):
            image = image.GetBlock(0)
        written, _ = series.load(number)
        check_points(image, next(iter(fields.values())).grid)
        for name, field in written.items():
            read = values_of(image, name, field)
            if field.components == 2:
                assert (read[2] == 0).all()
                read = read[:2]
            np.testing.assert_array_equal(read.reshape(field.shape), field.get())


def test_particles_of_a_series(tmp_path):
    grid = GRIDS[1]
    known = {n: np.arange(6.0 * n).reshape(6, n) for n in (2, 3, 4)}
    swarm = pt.ParticleSet.random(grid, 6, seed=1, m=np.arange(6.0), two=known[2], three=known[3])
    swarm["four"] = known[4]
    pt.io.Series(tmp_path / "run.h5").append(0, swarm)
    reader = vtk.vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "run.xdmf"))
    reader.Update()
    points = reader.GetOutputDataObject(0)
    while points.IsA("vtkMultiBlockDataSet"):
        points = points.GetBlock(0)
    expected = {"m": np.arange(6.0), "two": np.pad(known[2], ((0, 0), (0, 1))), "three": known[3]}
    expected |= {f"four[{k}]": known[4][:, k] for k in range(4)}
    found = points.GetPointData()
    assert {found.GetArrayName(k) for k in range(found.GetNumberOfArrays())} == {*expected}
    for name, values in expected.items():
        np.testing.assert_array_equal(to_numpy(found.GetArray(name)), values)
