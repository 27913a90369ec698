# SPDX-License-Identifier: BSD-3-Clause
"""Files with damaged bytes give the same values or an exception; files that claim much cost little."""

import math
import re
import tracemalloc

import h5py
import numpy as np
import particles as pt
import pytest
from particles.io.atomic import changing

from tests.io.test_checkpoint import hill, plain
from tests.support import child
from tests.support.written import GRIDS, check_same, numbered

pytestmark = pytest.mark.one_device


def never():
    """What is called while somebody waits."""


class Files:
    """A file of each kind, and what it must give."""

    def __init__(self, folder, device):
        self.folder, self.device = folder, device
        fields = {"u": numbered(GRIDS[1], 2), "v": numbered(GRIDS[1], 1, "float16")}
        series = pt.io.Series(folder / "series.h5")
        for time in 0.5, 1.5, 2.5:
            fields["u"].fill(time)
            series.append(time, fields)
        pt.io.save(folder / "fields.npz", fields, 0.5)
        self.other = plain(device)
        self.other.step(0.02)
        pt.io.checkpoint(folder / "run.checkpoint", self.other)
        self.contents = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.contents.pop("series.xdmf")
        self.expected = {name: getattr(self, name.rpartition(".")[2])() for name in self.contents}

    def h5(self):
        series = pt.io.Series(self.folder / "series.h5")
        return [values_of(series.load(k, self.device)) for k in range(len(series.times))]

    def npz(self):
        return values_of(pt.io.load(self.folder / "fields.npz", self.device))

    def checkpoint(self):
        self.other.remesh.fields[0].fill(7)
        untouched = [field.get().tobytes() for field in self.other.remesh.fields]
        try:
            pt.io.restore(self.folder / "run.checkpoint", self.other)
        except ValueError:
            assert untouched == [field.get().tobytes() for field in self.other.remesh.fields]
            raise
        return self.other.time, [field.get().tobytes() for field in self.other.remesh.fields]

    def try_one(self, name, damaged):
        """Return whether damage is noticed; it must be, or be of no matter."""
        (self.folder / name).write_bytes(damaged)
        try:
            assert getattr(self, name.rpartition(".")[2])() == self.expected[name]
        except ValueError as error:
            return expect(rf"{name} is (damaged|not a (series|checkpoint))", error)
        return False

    def append(self, damaged):
        """Append to a damaged series, which makes nothing right that was wrong."""
        path = self.folder / "series.h5"
        path.write_bytes(damaged)
        series = pt.io.Series(self.folder / "other.h5")
        fields = {"u": numbered(GRIDS[1], 2), "v": numbered(GRIDS[1], 1, "float16")}
        object.__setattr__(series, "path", path)
        try:
            series.append(3.5, fields)
        except ValueError:
            assert path.read_bytes() == damaged
            return
        for k, expected in enumerate(self.expected["series.h5"]):
            try:
                assert values_of(series.load(k, self.device)) == expected
            except ValueError as error:
                expect("is damaged: field", error)


def expect(words, error):
    assert re.search(words, str(error)), error
    return True


def values_of(contents):
    fields = [(name, field.grid, field.get().tobytes()) for name, field in contents.fields.items()]
    return contents.time, sorted(fields, key=lambda it: it[0])


def damage(content, random):
    """Change a bit, a byte or two, or a sector; or cut some off, but not all: what is empty is a series without times."""
    changed = bytearray(content)
    live = np.flatnonzero(np.frombuffer(content, np.uint8))  # most of a small file is zeros
    place = int(random.choice(live) if random.random() < 0.7 else random.integers(len(content)))
    match random.integers(4):
        case 0:
            changed[place] ^= 1 << int(random.integers(8))
        case 1:
            changed[place : place + 2] = random.bytes(2)
        case 2:
            changed[place // 512 * 512 : (place // 512 + 1) * 512] = bytes(512)
        case 3:
            del changed[max(place, 1) :]
    return bytes(changed)


WORK = """
    import sys
    from pathlib import Path
    import numpy as np
    import particles as pt
    from tests.io import test_damaged_files as damaged

    files = damaged.Files(Path(sys.argv[1]), pt.devices()[int(sys.argv[2])])
    random = np.random.default_rng(int(sys.argv[3]))
    for name, content in files.contents.items():
        noticed = 0
        for _ in range(int(sys.argv[4])):
            changed = damaged.damage(content, random)
            noticed += files.try_one(name, changed)
            if name == "series.h5":
                files.append(changed)
        print(name, noticed, "noticed of", sys.argv[4])
"""


@pytest.mark.sampled
@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_damage_gives_the_same_values_or_an_exception(device, tmp_path, count):
    """In a process of its own: HDF5 may end it."""
    seed = np.random.SeedSequence().entropy % 2**32
    print("seed", seed)
    output = child.check(WORK, tmp_path, device.index, seed, count)
    print(output)
    noticed = {line.split()[0]: int(line.split()[1]) for line in output.splitlines()}
    assert sorted(noticed) == ["fields.npz", "run.checkpoint", "series.h5"]
    assert min(noticed.values()) > count / 2


@pytest.fixture
def series(tmp_path):
    """Return a series of two times, and a file that lies beside it."""
    pt.io.Series(tmp_path / "other.h5").append(0, numbered(pt.Grid(8), name="u"))
    made = pt.io.Series(tmp_path / "u.h5")
    for time in 0, 1:
        made.append(time, numbered(pt.Grid(8), name="u"))
    return made


def longer(file):
    for name in "time", "u":
        file[name].resize(10**8, axis=0)


def in_large_chunks(file):
    del file["u"]
    made = file.create_dataset("u", (2, 8), "<f4", maxshape=(None, 8), chunks=(10**8, 8))
    made.attrs["dtype"] = np.bytes_("float32")


def packed(file):
    del file["u"]
    made = file.create_dataset(
        "u", (2, 8), "<f4", maxshape=(None, 8), chunks=(1, 8), compression="gzip"
    )
    made.attrs["dtype"] = np.bytes_("float32")


def linked(name, link):
    def change(file):
        del file[name]
        file[name] = link

    return change


def virtual(file):
    del file["u"]
    layout = h5py.VirtualLayout((2, 8), "<f4", maxshape=(None, 8))
    layout[:1] = h5py.VirtualSource("other.h5", "u", (1, 8))
    file.create_virtual_dataset("u", layout)
    file["u"].attrs["dtype"] = np.bytes_("float32")


def outside(file):
    del file["u"]
    made = file.create_dataset("u", (2, 8), "<f4", external=[("other.h5", 0, 64)])
    made.attrs["dtype"] = np.bytes_("float32")


def many_words(file):
    file.attrs["boundary"] = np.full((1, 6000), "wall", "S")


def words_of_any_length(file):
    file.attrs["boundary"] = [["wall", "wall"]]


def made_up(dtype, **parts):
    """Return a type of numbers of the size of a dtype, in which HDF5 cannot find its way."""
    made = h5py.h5t.py_create(np.dtype(dtype)).copy()
    for part, value in parts.items():
        getattr(made, f"set_{part}")(*value)
    return h5py.Datatype(made)


def times_of_another_kind(file):
    times = file["time"][()]
    del file["time"]
    file.create_dataset("time", data=times, dtype=made_up("<f8", ebias=[7]), maxshape=(None,))


def values_of_another_kind(file):
    del file["u"]
    made = file.create_dataset(
        "u", (2, 8), made_up("<f4", fields=(31, 23, 8, 0, 22)), maxshape=(None, 8)
    )
    made.attrs["dtype"] = np.bytes_("float32")


def attributes_of_another_kind(file):
    del file.attrs["origin"]
    file.attrs.create("origin", [0.0], dtype=made_up("<f8", ebias=[7]))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (times_of_another_kind, "time must have 2 rows of float64"),
        (values_of_another_kind, "u must have 2 rows of float32"),
        (attributes_of_another_kind, "origin must be a few numbers or words"),
        (longer, "time must fit into"),
        (in_large_chunks, "u must fit into"),
        (packed, "u must be stored as it is"),
        (virtual, "u must be stored as it is"),
        (outside, "u must be stored as it is"),
        (linked("u", h5py.ExternalLink("other.h5", "/u")), "u must be in the file itself"),
        (linked("time", h5py.ExternalLink("other.h5", "/time")), "time must be in the file"),
        (linked("moments", h5py.ExternalLink("other.h5", "/moments")), "moments must be in"),
        (linked("moments", h5py.SoftLink("/")), "moments must be in the file itself"),
        (many_words, "boundary must be a few numbers or words"),
        (words_of_any_length, "boundary must be a few numbers or words"),
    ],
    ids=lambda it: getattr(it, "__name__", None),
)
def test_what_claims_much_or_leads_elsewhere_is_refused_for_little(series, change, words):
    """With the right sums; by who reads and who appends."""
    with changing(series.path, never) as disk, h5py.File(disk, "r+") as file:
        change(file)
    content = series.path.read_bytes()
    u = numbered(pt.Grid(8), name="u")
    for use in (
        lambda: pt.io.Series(series.path),
        lambda: series.times,
        lambda: series.load(0),
        lambda: series.append(2, u),
    ):
        tracemalloc.start()
        with pytest.raises(ValueError, match=f"u.h5 is damaged: .*{words}"):
            use()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**22
    assert series.path.read_bytes() == content


def test_a_damaged_time_is_named_and_the_others_are_read(tmp_path):
    series, u = pt.io.Series(tmp_path / "u.h5"), hill(pt.Grid((64, 64)))
    for time in range(5):
        series.append(time, {"u": u, "v": u})
    content = bytearray(series.path.read_bytes())
    place = content.index(u.get().T.tobytes(), len(content) // 2)
    content[place + 8000] ^= 1
    series.path.write_bytes(content)
    assert series.times == (0, 1, 2, 3, 4)
    failed = []
    for number in range(5):
        try:
            check_same(series.load(number).fields["v"], u)
        except ValueError as error:
            failed.append(re.search(r"u\.h5 is damaged: field '(.)' at time (.*): b", str(error)))
    assert 1 <= len(failed) <= 2
    assert all(match[1] in "uv" and math.isfinite(float(match[2])) for match in failed)
