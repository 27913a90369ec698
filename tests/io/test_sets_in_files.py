# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles in files: what is written comes back with the same bits."""

import json
import zipfile
from xml.etree import ElementTree

import numpy as np
import particles as pt
import pytest
from particles.io.atomic import changing

from tests.io.test_full_disks import disk_full_after
from tests.support import lot
from tests.support.sealed import sealed

pytestmark = pytest.mark.one_device

GRID = pt.Grid((5, 4), origin=(0.5, -1), boundary=["periodic", ("wall", "outflow")])


def a_set(device=None, n=50, **options):
    """Return a set whose particles have gone round and left, with attributes of many kinds."""
    rng = np.random.default_rng(lot.lots(f"a set of {n}").getrandbits(64))
    kinds = ("float16", "float32", "float64", "bool", "uint8", "int32", "uint32", "int64", "uint64")
    attributes = {f"of_{kind}": rng.integers(0, 2, n).astype(kind) for kind in kinds}
    places = np.array(GRID.origin) + rng.random((n, 2)) * GRID.extent
    swarm = pt.ParticleSet(
        GRID, places, device=device, tag=np.arange(n), v=rng.normal(size=(n, 3)), **attributes, **options
    )  # fmt: skip
    if n:
        wind = pt.Velocity(GRID, lambda x, y: (2.3, 0.4))
        pt.Tracers(swarm, wind).step(1.0)
    return swarm


def bits_of(swarm):
    columns = swarm._columns
    places = [columns.used(array) for array in (columns.cells, columns.offsets, columns.turns)]
    host = [pt.Array._of(array, swarm.device).get().tobytes() for array in places]
    known = {
        name: (one.dtype, one.shape, one.get().tobytes()) for name, one in swarm.attributes.items()
    }
    return host, known, swarm.left.tolist(), swarm.grid, swarm.dtype, swarm.leaving


@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"leaving": "refuse", "n": 0}])
def test_npz(device, tmp_path, options):
    swarm = a_set(device, **options)
    field = pt.Field(pt.Grid(3), name="u", device=device)
    path = tmp_path / "swarm.npz"
    pt.io.save(path, {"swarm": swarm, "u": field, "other": swarm}, time=2.5)
    contents = pt.io.load(path, device)
    assert contents.time == 2.5
    assert set(contents.fields) == {"swarm", "u", "other"}
    for name in "swarm", "other":
        found = contents.fields[name]
        assert bits_of(found) == bits_of(swarm)
        assert found.name == name
    with np.load(path) as arrays:
        assert (arrays["swarm/positions"] == swarm.positions.get()).all()
        assert (arrays["swarm/tag"] == swarm["tag"].get()).all()
    pt.io.save(path, swarm)
    assert set(pt.io.load(path).fields) == {"particles"}


def test_what_comes_back_goes_on_alike(device, tmp_path):
    swarm, wind = a_set(device), pt.Velocity(GRID, lambda x, y: (np.sin(y), -0.3))
    pt.io.save(tmp_path / "swarm.npz", swarm)
    found = pt.io.load(tmp_path / "swarm.npz", device).fields["particles"]
    for one in swarm, found:
        pt.Tracers(one, wind).run(1.0, 0.1)
        one.sort()
    assert bits_of(found) == bits_of(swarm)


def changed(path, name, change):
    """Write an archive anew, with the right sums, an array of which is another one."""
    with np.load(path) as arrays:
        known = dict(arrays)
    known[name] = change(known[name])
    with zipfile.ZipFile(path, "w") as archive:
        for label, array in known.items():
            with archive.open(f"{label}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array), version=(1, 0))


DAMAGES = [
    ("places/cells", lambda cells: cells + 20),
    ("places/cells", lambda cells: -cells - 1),
    ("places/cells", lambda cells: cells.astype("int64")),
    ("places/offsets", lambda offsets: offsets * np.nan),
    ("places/offsets", lambda offsets: offsets + 1),
    ("places/offsets", lambda offsets: offsets.astype("float16")),
    ("places/turns", lambda turns: turns[:-1]),
    ("places/left", lambda left: -left - 1),
    ("places/left", lambda left: left[:1]),
    ("places/leaving", lambda _: np.array("never")),
    ("places/shape", lambda _: np.array([4, 4])),
    ("places/spacing", lambda spacing: -spacing),
    ("tag", lambda tag: tag[1:]),
    ("tag", lambda tag: tag.astype("int16")),
    ("v", lambda v: np.tile(v, 2)),
    ("contents", lambda contents: contents[:-1]),
]


def test_damaged_archives(device, tmp_path):
    path, swarm = tmp_path / "swarm.npz", a_set(device)
    for name, change in DAMAGES:
        pt.io.save(path, swarm)
        changed(path, name if name == "contents" else f"particles/{name}", change)
        with pytest.raises(ValueError, match=r"swarm\.npz is damaged"):
            pt.io.load(path, device)


def tracers_of(swarm, kind="series"):
    """Return what moves a set, by a velocity that depends on time."""
    if kind == "formula":
        wind = pt.Velocity(GRID, lambda x, y, t, U: (U + np.sin(3 * t + y), 0.3 * x), U=0.5)
        return pt.Tracers(swarm, wind, "rk3")
    fields = [
        pt.Field(
            pt.Grid((6, 6), origin=GRID.origin, extent=GRID.extent, boundary=GRID.boundary),
            2,
            device=swarm.device,
        )
        for _ in range(2)
    ]
    for k, field in enumerate(fields):
        field[...] = (np.arange(72.0).reshape(2, 6, 6) % (5 + k) - 2) / 4
    return pt.Tracers(swarm, pt.VelocitySeries(fields, [0, 2]), kernel="M'4")


@pytest.mark.parametrize("kind", ["series", "formula"])
def test_checkpoints(device, tmp_path, kind):
    path = tmp_path / "run.checkpoint"
    tracers = tracers_of(a_set(device), kind)
    tracers.run(0.5, 0.1)
    pt.io.checkpoint(path, tracers)
    there = bits_of(tracers.swarm)
    tracers.run(1.0, 0.1)
    other = tracers_of(a_set(device, n=3), kind)
    if kind == "formula":
        other.velocity.parameters["U"] = 9.0
    else:
        for field in other.velocity.fields:
            field.fill(9.0)
    handle = other.swarm["tag"]
    for continued in other, tracers:
        pt.io.restore(path, continued)
        assert bits_of(continued.swarm) == there
        assert (continued.time, continued.last_dt) == (0.5, 0.1)
    assert handle.get().tobytes() == there[1]["tag"][2]
    for continued in other, tracers:
        continued.run(1.0, 0.1)
    assert bits_of(other.swarm) == bits_of(tracers.swarm)


@pytest.mark.sampled
def test_checkpoints_of_others_are_refused(device, tmp_path):
    path = tmp_path / "run.checkpoint"
    tracers = tracers_of(a_set(device))
    pt.io.checkpoint(path, tracers)
    swarm = a_set(device)
    swarm["more"] = np.zeros(len(swarm))
    fewer, single = a_set(device), a_set(device, dtype="float32")
    del fewer["tag"]
    for other, what in [
        (tracers_of(swarm), "attributes"),
        (tracers_of(fewer), "attributes"),
        (tracers_of(single), "dtype"),
        (tracers_of(a_set(device, leaving="refuse", n=0)), "leaving"),
        (tracers_of(a_set(device), "formula"), "velocity"),
        (pt.Splitting.from_preset("default", pt.Velocity(GRID, (0, 0)), pt.Field(GRID)), "class"),
    ]:
        with pytest.raises(ValueError, match=f"transport must match the one in .*, whose {what}"):
            pt.io.restore(path, other)


def test_damaged_checkpoints(device, tmp_path):
    """With a right sum, too, nothing is put where no particle can be."""
    path = tmp_path / "run.checkpoint"
    tracers = tracers_of(a_set(device), "formula")
    pt.io.checkpoint(path, tracers)
    whole, before = path.read_bytes(), bits_of(tracers.swarm)
    magic, head, _ = whole.split(b"\n", 2)
    header, count = json.loads(head), len(tracers.swarm)
    columns = whole[len(magic) + len(head) + 2 : -32]
    wrong = {
        "more particles": ({**header["state"], "particles": count + 1}, columns),
        "a negative number": ({**header["state"], "particles": -1}, columns),
        "left": ({**header["state"], "left": [[0, -1], [0, 0]]}, columns),
        "cells": (header["state"], b"\xff" * (4 * count) + columns[4 * count :]),
        "offsets": (header["state"], columns[: 4 * count] + b"\xff" * 8 + columns[4 * count + 8 :]),
    }
    for state, values in wrong.values():
        text = b"\n".join([magic, json.dumps({**header, "state": state}).encode(), values])
        path.write_bytes(sealed(text))
        with pytest.raises(ValueError, match="is damaged, though its sum is right"):
            pt.io.restore(path, tracers)
        assert bits_of(tracers.swarm) == before
    path.write_bytes(whole[:-40])
    with pytest.raises(ValueError, match="cut short"):
        pt.io.restore(path, tracers)
    path.write_bytes(whole)
    pt.io.restore(path, tracers)
    assert bits_of(tracers.swarm) == before


@pytest.mark.sampled
def test_series(device, tmp_path):
    """With changing numbers of particles, down to none, beside a field and alone."""
    pytest.importorskip("h5py")
    u = pt.Field(pt.Grid((3, 4)), name="u", device=device)
    for alone in (False, True):
        path, there = tmp_path / f"run{alone}.h5", []
        series = pt.io.Series(path)
        swarm = a_set(device)
        for time in range(4):
            given = {"swarm": swarm, "u": u}
            series.append(time, swarm if alone else given)
            there.append(bits_of(swarm))
            swarm.remove(lambda p, time=time: p.tag % (4 - time) == 0)
            swarm.sort()
            u += 1
        assert there[0] != there[1]
        name = "particles" if alone else "swarm"
        for number, expected in enumerate(there):
            fields, time = pt.io.Series(path).load(number, device)
            assert time == number
            assert bits_of(fields[name]) == expected
            if not alone:
                assert (fields["u"].get() == number).all()
        with_more = a_set(device)
        with_more["more"] = np.zeros(len(with_more))
        given = with_more if alone else {"swarm": with_more, "u": u}
        words = r"must have the attributes .*v: float64 \(3\).* as before, not .* more: float64; "
        with pytest.raises(ValueError, match=words):
            series.append(5.0, given)
        swarm.name = None
        with pytest.raises(ValueError, match="must be"):
            series.append(6.0, {"particles": u, "swarm": swarm})
        assert len(pt.io.Series(path).times) == 4


def test_values_that_no_set_has_are_refused_by_name(device, tmp_path):
    """Sums of pages that are right say nothing of what is in them."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.h5"
    pt.io.Series(path).append(0.5, a_set(device))
    with changing(path, lambda: None) as disk, h5py.File(disk, "r+") as file:
        file["particles/places.offsets"][3, 1] = -0.5
    expected = "run.h5 is damaged in set 'particles' at time 0.5: offsets are not from 0 to 1"
    with pytest.raises(ValueError, match=expected):
        pt.io.Series(path).load(0, device)


def test_xdmf_of_sets(device, tmp_path):
    """Each time is a collection of points, found by the paths that the description has."""
    h5py = pytest.importorskip("h5py")
    series, swarm = pt.io.Series(tmp_path / "run.h5"), a_set(device)
    numbers = np.arange(4.0 * len(swarm)).reshape(-1, 4)
    swarm["two"], swarm["four"] = numbers[:, :2], numbers
    series.append(0.5, swarm)
    root = ElementTree.parse(tmp_path / "run.xdmf").getroot()
    grid = root.find("Domain/Grid/Grid")
    assert grid.find("Topology").get("NumberOfElements") == str(len(swarm))
    found = {one.get("Name"): one.find("DataItem") for one in grid.findall("Attribute")}
    of_four = [f"four[{k}]" for k in range(4)]
    assert {*found} == {*swarm.attributes} - {"four"} | {*of_four}
    with h5py.File(tmp_path / "run.h5") as file:
        for name, item in [*found.items(), ("positions", grid.find("Geometry/DataItem"))]:
            values = file[item.text.strip().partition(":")[2]][()]
            assert list(values.shape) == [int(n) for n in item.get("Dimensions").split()]
            expected = numbers[:, of_four.index(name)] if name in of_four else None
            if expected is None:
                expected = swarm.positions.get() if name == "positions" else swarm[name].get()
            if expected.shape[1:] == (2,):
                assert (values[:, 2] == 0).all()
                values = values[:, :2]
            assert (values == expected).all()


def test_xdmf_finds_what_a_set_without_particles_has(device, tmp_path):
    h5py = pytest.importorskip("h5py")
    series, swarm = pt.io.Series(tmp_path / "run.h5"), a_set(device)
    for time in 0, 1, 2:
        series.append(time, swarm)
        swarm.remove(np.ones(len(swarm), bool))
    root = ElementTree.parse(tmp_path / "run.xdmf").getroot()
    items = root.findall("Domain/Grid/Grid//DataItem")
    with h5py.File(tmp_path / "run.h5") as file:
        shapes = [file[item.text.strip().partition(":")[2]].shape for item in items]
    described = [tuple(int(n) for n in item.get("Dimensions").split()) for item in items]
    assert shapes == described
    assert described.count((0, 3)) >= 2


@pytest.mark.parametrize("kind", ["npz", "checkpoint", "series"])
def test_a_disk_that_fills_leaves_the_file_and_the_set(device, tmp_path, kind):
    path, swarm = tmp_path / "file.npz", a_set(device, n=3000)
    tracers = tracers_of(swarm, "formula")

    def write():
        if kind == "npz":
            pt.io.save(path, swarm)
        elif kind == "checkpoint":
            pt.io.checkpoint(path, tracers)
        else:
            pytest.importorskip("h5py")
            pt.io.Series(path).append(tracers.time, swarm)

    write()
    old, files = path.read_bytes(), sorted(tmp_path.iterdir())
    tracers.step(0.1)
    there = bits_of(swarm)
    for size in (0, 100, len(old) // 2):
        with disk_full_after(size), pytest.raises(OSError, match="File too large"):
            write()
        assert sorted(tmp_path.iterdir()) == files
        assert path.read_bytes() == old
    assert bits_of(swarm) == there
    write()


@pytest.mark.sampled
def test_damage_of_a_series_is_told(device, tmp_path):
    pytest.importorskip("h5py")
    path, swarm = tmp_path / "run.h5", a_set(device, n=5000)
    series = pt.io.Series(path)
    for time in range(2):
        series.append(time, swarm)
    whole = path.read_bytes()
    rng = np.random.default_rng(lot.lots("damage").getrandbits(64))
    told = 0
    for at in rng.integers(len(whole), size=25):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        try:
            found = [
                bits_of(pt.io.Series(path).load(k, device).fields["particles"]) for k in (0, 1)
            ]
        except ValueError as error:
            assert "run.h5" in str(error)  # noqa: PT017
            told += 1
        else:
            assert found == [bits_of(swarm)] * 2
    assert told > 10
