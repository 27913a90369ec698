# SPDX-License-Identifier: BSD-3-Clause
"""Series in HDF5, with contents of any shape and kind: read as they are, or refused as damaged."""

import tempfile
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import particles as pt
from particles.io.atomic import changing
from particles.io.atomic.pages import PAGE

from tests.trust.fuzz.choices import Choices

KINDS = ("<f4", "<f8", "<f2", "<i4", "S3", ">f8", "|b1")
VALUES = (
    [["periodic", "periodic"]], [["wall", "inflow"]], [], 1.5, [0.0], [0.25], [np.nan], "float32",
    "float16", np.bytes_("float16"), [[1, 2]], [-1.0], ["periodic"], np.bytes_("float64"),
    [0.0, 1.0], np.array([["periodic", "wall"]], "S"), np.array([["periodic"] * 2] * 2, "S"),
)  # fmt: skip


@cache
def place():
    folder = tempfile.TemporaryDirectory()
    return Path(folder.name, "file"), folder


def run(data):
    path, _ = place()
    choose = Choices(data)
    path.unlink(missing_ok=True)
    with changing(path, lambda: None) as disk, h5py.File(disk, "w", userblock_size=PAGE) as file:
        begin(file)
        while choose.are_left:
            change(file, choose)
    before = path.read_bytes()
    u = pt.Field(pt.Grid(4), name="u")
    try:
        series = pt.io.Series(path)
        for number in range(len(series)):
            fields, time = series.load(number)
            assert np.isfinite(time)
            assert all(isinstance(field, pt.Field) for field in fields.values())
        refused = False
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017
        refused = True
    assert path.read_bytes() == before
    if not refused:
        try:
            series.append(100.0, u)
        except ValueError:
            return
        assert series.times[-1] == 100


def begin(file):
    """What `Series` writes for a field of four points at two times."""
    file.attrs.update(
        {"origin": [0.0], "spacing": [0.25]}
        | {"boundary": np.array([["periodic", "periodic"]], "S")}
    )
    made = file.create_dataset("u", (2, 4), "<f4", maxshape=(None, 4), chunks=(1, 4))
    made.attrs["dtype"] = np.bytes_("float32")
    file.create_group("moments")
    file.create_dataset("time", (2,), "<f8", data=[0.0, 1.0], maxshape=(None,), chunks=(8,))


def change(file, choose):
    kind, name = choose.below(5), choose.pick(("u", "time", "v", "moments"))
    if kind == 0:
        attribute = choose.pick(("origin", "spacing", "boundary"))
        file.attrs[attribute] = choose.pick(VALUES)
    elif kind == 1 and name in file:
        del file[name]
    elif kind == 2 and name not in file:
        shape = [choose.below(6) for _ in range(choose.below(5))]
        longer = (None, *shape[1:]) if shape and choose.below(4) else None
        file.create_dataset(name, shape, choose.pick(KINDS), maxshape=longer)
    elif kind == 3 and name in file:
        file[name].attrs["dtype"] = choose.pick(VALUES)
    elif kind == 4 and isinstance(file.get("time"), h5py.Dataset):
        times = file["time"]
        if times.shape and times.size and times.dtype.kind == "f":
            times[0] = np.resize(choose.pick((np.nan, np.inf, 7.0, -1.0)), times[0].shape)
