# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles in files whose sums are right: read as they are, or refused as damaged."""

import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import particles as pt
from particles.io.atomic import changing

from tests.support.sealed import sealed
from tests.trust.fuzz.choices import Choices
from tests.trust.fuzz.swarm import digest

GRID = pt.Grid((3, 4), boundary=["periodic", ("wall", "outflow")])
DTYPES = ("int32", "int64", "float32", "float64", "float16", "bool", "uint8", "int16", "S3", "U3")
NUMBERS = (
    0, 1, -1, 12, 2**31 - 1, 2**40, 0.5, 1.5, -0.1, np.nan, np.inf, "remove", "x" * 5000, None,
)  # fmt: skip


def a_set():
    swarm = pt.ParticleSet(
        GRID, [[0.1, 0.2], [0.6, 0.7], [0.9, 1.0]], tag=np.arange(3), v=np.ones((3, 2), "f4")
    )
    swarm.update(lambda p: {"position": p.position + np.array([0.5, -0.1], object)})
    return swarm


@cache
def world():
    """A place for a file, what is in one of each kind, and what moves a set."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "file")
    pt.io.save(path.with_suffix(".npz"), a_set(), time=0.5)
    with np.load(path.with_suffix(".npz")) as archive:
        arrays = dict(archive)
    tracers = pt.Tracers(a_set(), pt.Velocity(GRID, lambda x, y: (0.1, 0 * y)))
    tracers.step(0.1)
    pt.io.checkpoint(path.with_suffix(".checkpoint"), tracers)
    series = pt.io.Series(path.with_suffix(".h5"))
    for time in (0.0, 1.0):
        series.append(time, a_set())
    return path, arrays, tracers, path.with_suffix(".h5").read_bytes(), folder


def run(data):
    choose = Choices(data)
    choose.pick((archive, checkpoint, series))(choose)


def check(swarm):
    """What has been read can be used."""
    positions = swarm.positions.get()
    ends = np.array(swarm.grid.origin), np.array(swarm.grid.origin) + swarm.grid.extent
    assert ((positions >= ends[0]) & (positions <= ends[1])).all()
    if swarm.grid.size < 1000:
        swarm.sort("cell")
        swarm["one"] = np.ones(len(swarm))
        field = pt.Field(swarm.grid)
        pt.ParticlesToGrid(swarm, "one", field).apply()
        assert np.isclose(field.sum(), len(swarm), atol=1e-3)
        del swarm["one"]


def archive(choose):
    place, known, _, _, _ = world()
    arrays, path = dict(known), place.with_suffix(".npz")
    while choose.are_left:
        change(arrays, choose)
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, version=(1, 0))
    try:
        contents = pt.io.load(path)
    except ValueError as error:
        assert "is damaged, or not a file of fields" in str(error)  # noqa: PT017
        return
    pt.io.save(path, contents.fields, contents.time)
    again = pt.io.load(path)
    assert again.time == contents.time
    for one, other in zip(again.fields.values(), contents.fields.values(), strict=True):
        assert digest(one) == digest(other)
        check(one)


def change(arrays, choose):
    """Make one of the arrays another one."""
    name = choose.pick(sorted(arrays)) if arrays else "contents"
    kind, array = choose.below(6), arrays.get(name, np.zeros(3))
    number = choose.pick(NUMBERS)
    if kind == 0:
        arrays.pop(name, None)
    elif kind == 1 and array.dtype.kind in "fiub":
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(choose.pick(DTYPES))
    elif kind == 2:
        arrays[name] = array[: choose.below(4)] if array.ndim else np.stack([array, array])
    elif kind == 3 and array.dtype.kind in "fiub" and isinstance(number, int | float):
        changed = array.astype(float)
        changed.flat[choose.below(8) : 1 + choose.below(8)] = number
        with np.errstate(all="ignore"):
            arrays[name] = changed.astype(array.dtype)
    elif kind == 4:
        arrays[choose.pick(("particles/new", "particles/places/new", "u", "particles/sort"))] = (
            array
        )
    elif kind == 5:
        arrays[name] = np.array(number, None if isinstance(number, int | float) else "U")


def checkpoint(choose):
    place, _, tracers, _, _ = world()
    whole, path = place.with_suffix(".checkpoint").read_bytes(), place.with_suffix(".changed")
    magic, head, rest = whole.split(b"\n", 2)
    header, columns = json.loads(head), bytearray(rest[:-32])
    while choose.are_left:
        if choose.below(2):
            replace(header, choose)
        else:
            at = choose.short() % len(columns)
            columns[at] = choose.below(256)
    path.write_bytes(sealed(b"\n".join([magic, json.dumps(header).encode(), bytes(columns)])))
    before = digest(tracers.swarm), tracers.time, tracers.last_dt
    try:
        pt.io.restore(path, tracers)
    except ValueError as error:
        assert 0 < len(str(error)) < 3000  # noqa: PT017
        assert (digest(tracers.swarm), tracers.time, tracers.last_dt) == before
    else:
        check(tracers.swarm)
        assert np.isfinite(tracers.time)
    pt.io.restore(place.with_suffix(".checkpoint"), tracers)


def replace(value, choose):
    """Put something else somewhere into what JSON has."""
    while True:
        keys = sorted(value) if isinstance(value, dict) else range(len(value))
        if not keys:
            return
        key = choose.pick(keys)
        inner = value[key]
        if choose.below(4) == 0 or not isinstance(inner, dict | list):
            value[key] = choose.pick(NUMBERS)
            return
        value = inner


def series(choose):
    place, _, _, content, _ = world()
    path = place.with_suffix(".h5")
    path.write_bytes(content)
    with changing(path, lambda: None) as disk, h5py.File(disk, "r+") as file:
        while choose.are_left:
            change_dataset(file, choose)
    try:
        found = pt.io.Series(path)
        for number in range(len(found)):
            fields, time = found.load(number)
            assert np.isfinite(time)
            for swarm in fields.values():
                check(swarm)
    except ValueError as error:
        assert str(path) in str(error)  # noqa: PT017


def change_dataset(file, choose):
    group = file.get("particles")
    if group is None:
        return
    name, kind = choose.pick(sorted(group) or [""]), choose.below(5)
    number = choose.pick(NUMBERS)
    if kind == 0 and name in group:
        del group[name]
    elif kind == 1 and name in group and group[name].size and isinstance(number, int | float):
        values = group[name][()].astype(float)
        values.flat[choose.below(8) :] = number
        with np.errstate(all="ignore"):
            group[name][...] = values.astype(group[name].dtype)
    elif kind == 2 and name in group:
        group[name].resize(choose.below(9), axis=0)
    elif kind == 3 and number is not None:
        attribute = choose.pick(sorted(group.attrs) or ["shape"])
        group.attrs[attribute] = number
    elif kind == 4 and name in group:
        group[name].attrs["dtype"] = np.bytes_(choose.pick(DTYPES))
