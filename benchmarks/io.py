# SPDX-License-Identifier: BSD-3-Clause
"""Memory and time that writers of VTK's image data take beside the field: ours and two libraries'.

``python -m benchmarks.io [--points N]`` after ``pip install vtk pyevtk``

Each writes one field of N x N x 2N points in a process of its own, without compression. Memory is the
most that is resident while it writes, less what was before; Linux tells.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import particles as pt


def write_with_particles(field: pt.Field, path: Path) -> None:
    """Slab after slab, as it lies on the device."""
    pt.io.write_vti(path, field)


def write_with_vtk(field: pt.Field, path: Path) -> None:
    """A copy with the axes turned round, which VTK takes as it is."""
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData
    from vtkmodules.vtkIOXML import vtkXMLImageDataWriter

    values = np.ascontiguousarray(np.from_dlpack(field, device="cpu").T).ravel()
    array = numpy_to_vtk(values)
    array.SetName("u")
    image = vtkImageData()
    image.SetDimensions(*field.shape)
    image.GetPointData().AddArray(array)
    writer = vtkXMLImageDataWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(image)
    writer.SetCompressorTypeToNone()
    writer.EncodeAppendedDataOff()
    writer.Write()


def write_with_pyevtk(field: pt.Field, path: Path) -> None:
    """A copy in Fortran's order, as it asks for."""
    from pyevtk.hl import imageToVTK

    values = np.asfortranarray(np.from_dlpack(field, device="cpu"))
    imageToVTK(str(path.with_suffix("")), pointData={"u": values})


WRITERS = {
    "particles": write_with_particles,
    "vtk": write_with_vtk,
    "pyevtk": write_with_pyevtk,
}


def mebibytes(what: str) -> float:
    """Return an entry of the process's status."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(rf"{what}:\s+(\d+) kB", status)[0]) / 1024


def measure(name: str, points: int) -> None:
    """Write once more after a small file, for which all is imported and built."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "u.vti"
        WRITERS[name](pt.Field(pt.Grid((8, 8, 8)), name="u"), path)
        field = pt.Field(pt.Grid((points, points, 2 * points)), name="u")
        field.fill(1.5)
        field.device.finish()
        Path("/proc/self/clear_refs").write_text("5")
        before, start = mebibytes("VmRSS"), time.perf_counter()
        WRITERS[name](field, path)
        seconds = time.perf_counter() - start
    more, size = mebibytes("VmHWM") - before, field.nbytes / 2**20
    print(f"{name:10} {size:8.0f} MiB written, {more:8.0f} MiB more in memory, {seconds:6.1f} s")


def main() -> None:
    """Measure every writer in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=256)
    parser.add_argument("--writer", choices=WRITERS, help="measure this one, in this process")
    arguments = parser.parse_args()
    if arguments.writer:
        measure(arguments.writer, arguments.points)
        return
    command = [sys.executable, "-m", "benchmarks.io", "--points", str(arguments.points)]
    for name in WRITERS:
        subprocess.run([*command, "--writer", name], env=os.environ, check=True)


if __name__ == "__main__":
    main()
