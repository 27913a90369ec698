# SPDX-License-Identifier: BSD-3-Clause
"""Files of fields and of runs.

=============== =============================== ================================================
`save`, `load`  NumPy's ``.npz``                fields of one grid and their time
`Series`        HDF5, with XDMF beside          fields at many times, for xarray, ParaView, h5py
`write_vti`     VTK's image data, ``.vti``      fields of one grid, for ParaView and its like
`checkpoint`,   checkpoints                     a whole `Splitting` or `Unsplit`, to be continued
`restore`                                       with the same bits
=============== =============================== ================================================

Fields are written and read in slabs of 16 MiB, or of one layer of points if that is more, so that
no second copy of them is on the host. All but a `Series` are written beside the file that they
replace, and take its place when they are on the disk, with its owner, mode and access list where
one may. Only regular files are read and replaced; a link to one stays. A `Series` is changed in
place, with a journal beside it from which a change that was cut short is taken back.

An ``.npz`` of fields has an array for each field, under its name, with components as the first axis
when there are several; ``origin``, ``spacing`` and ``boundary`` (a pair of names for each axis) of
their grid; perhaps ``time``; and ``contents``, the names of all these. It is not compressed.

A checkpoint is the line ``particles checkpoint 1``, a line of JSON, which tells what the operators
are, the time and the like, then the values of the fields in C order and in the order of the
operators (carried, velocity, given to the source), and the SHA-256 sum of all that.

Examples
--------
>>> import particles as pt
>>> u = pt.Field(pt.Grid((8, 8)), name="u")
>>> pt.io.save("u.npz", u, time=1.5)
>>> fields, time = pt.io.load("u.npz")
>>> fields["u"].shape, time
((8, 8), 1.5)
"""

from particles._checkpoint import checkpoint, restore
from particles._files import Contents
from particles._npz import load, save
from particles._series_file import Series
from particles._vtk import write_vti

__all__ = ["Contents", "Series", "checkpoint", "load", "restore", "save", "write_vti"]
