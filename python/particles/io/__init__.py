# SPDX-License-Identifier: BSD-3-Clause
"""Files of fields, of sets of particles, and of runs.

=============== =============================== ================================================
`save`, `load`  NumPy's ``.npz``                fields of one grid, sets, and their time
`Series`        HDF5, with XDMF beside          the same at many times, for xarray, ParaView, h5py
`write_vti`     VTK's image data, ``.vti``      fields of one grid, for ParaView and its like
`write_vtp`     VTK's poly data, ``.vtp``       a set of particles, for the same
`checkpoint`,   checkpoints                     a whole `Splitting`, `Unsplit` or `Tracers`, to be
`restore`                                       continued with the same bits
=============== =============================== ================================================

Fields are written and read in slabs of 16 MiB, or of one layer of points if that is more, so the
host needs no second copy of them. A new file is written beside the old one, and replaces it when it
is on the disk, with the same owner, mode and access list as far as permitted. Only regular files
are read and replaced; a link to one stays. A `Series` is changed in place. If a change is cut
short, a journal beside the file takes it back.

An ``.npz`` of fields has an array for each field, under its name, with components as the first axis
if there are several; ``origin``, ``spacing`` and ``boundary`` (a pair of names for each axis) of
their grid; optionally ``time``; and ``contents``, the names of all these. It is not compressed. A set
called swarm has ``swarm/positions``, each attribute alike, and under ``swarm/places/`` all else that it
is made of, such as cells and offsets in these, so that it comes back with the same bits.

A checkpoint is the line ``particles checkpoint 3``, a line of JSON that describes the operators, their
formulas, the time and more, then the values of the fields in C order and in the order of the
operators (carried, velocity, given to the source), after the columns of a set if there is one, and
the SHA-256 sum of these lines and of the SHA-256 sums of pieces of the values. The JSON tells, for each
run of values, how many bytes a piece has, and how many the run has. All ranks of a divided grid write
and read a checkpoint together; it is the same file on any number of them.

Every version reads the files of all versions before it.

Examples
--------
>>> import particles as pt
>>> u = pt.Field(pt.Grid((8, 8)), name="u")
>>> pt.io.save("u.npz", u, time=1.5)
>>> fields, time = pt.io.load("u.npz")
>>> fields["u"].shape, time
((8, 8), 1.5)
"""

from typing import TYPE_CHECKING, NoReturn

from particles.base.guards import absent
from particles.io.checkpoints import checkpoint, restore
from particles.io.contents import Contents
from particles.io.npz import load, save
from particles.io.series import Series
from particles.io.vtk import write_vti
from particles.io.vtk_points import write_vtp

__all__ = [
    "Contents",
    "Series",
    "checkpoint",
    "load",
    "restore",
    "save",
    "write_vti",
    "write_vtp",
]

_WAYS = {
    **dict.fromkeys(("write", "dump", "savez", "to_npz"), "save, or Series for many times"),
    **dict.fromkeys(("read", "open", "load_npz"), "load, or Series for many times"),
    **dict.fromkeys(
        ("h5", "hdf5", "to_hdf5", "write_hdf5", "xdmf", "write_xdmf", "netcdf", "to_netcdf"),
        'Series("run.h5")',
    ),
    **dict.fromkeys(("vtk", "vti", "to_vtk", "write_vtk", "save_vtk"), "write_vti"),
    **dict.fromkeys(("vtp", "write_points"), "write_vtp"),
    **dict.fromkeys(("save_checkpoint", "write_checkpoint", "Checkpoint"), "checkpoint"),
    **dict.fromkeys(("load_checkpoint", "read_checkpoint", "resume"), "restore"),
}


if not TYPE_CHECKING:  # to which every attribute would be there

    def __getattr__(name: str) -> NoReturn:
        raise absent("particles.io", name, __all__, _WAYS)


def __dir__() -> list[str]:
    return sorted(__all__)
