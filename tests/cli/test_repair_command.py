# SPDX-License-Identifier: BSD-3-Clause
"""What was cut short is taken back by a command, which says what is wrong with the rest."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import h5py
import particles as pt
import pytest
from particles.cli.main import main
from particles.io.atomic import changing, locks
from particles.io.atomic.journal import journal_of

from tests.files.contents import GRIDS, TIMES, fields_on
from tests.io.cuts import Disk, put
from tests.support.written import check_xdmf

pytestmark = pytest.mark.one_device

FILES = Path(__file__).parents[1] / "files" / "0.1.0"


@pytest.fixture
def repair(capsys):
    def run(*arguments):
        code = main(["repair", *map(str, arguments)])
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def path(tmp_path):
    """Return a series of two times."""
    u = pt.Field(pt.Grid(8), name="u")
    for time in 0, 1:
        pt.io.Series(tmp_path / "u.h5").append(time, u)
    return tmp_path / "u.h5"


def cut_short(path):
    """Leave a third append in the middle."""
    disk = Disk(path.parent, ["u.h5", "u.h5.journal"])
    with disk.noted():
        pt.io.Series(path).append(2, pt.Field(pt.Grid(8), name="u"))
    put(path.parent, disk.killed(disk.log.index(("flush folder",)) + 3))
    assert journal_of(path).exists()


def test_a_whole_series_stays_as_it_is(path, repair):
    content = path.read_bytes()
    code, output, errors = repair(path)
    assert (code, errors) == (0, "")
    assert output.startswith("2 times in ")
    assert output.endswith(", all with their sums\n")
    assert path.read_bytes() == content


@pytest.mark.parametrize("name", ["box", "swarm"])
def test_what_shows_vectors_of_two_as_numbers_shows_them_as_xdmf_says(repair, tmp_path, name):
    path = Path(shutil.copy(FILES / f"{name}.h5", tmp_path))
    assert repair(path)[0] == 0
    items = ElementTree.parse(path.with_suffix(".xdmf")).findall(".//DataItem[@Format='HDF']")
    with h5py.File(path) as file:
        for item in items:
            shape = " ".join(map(str, file[item.text.partition(":")[2]].shape))
            assert item.get("Dimensions") == shape
    if name == "box":
        moments = [fields_on(GRIDS["box"], time) for time in TIMES]
        check_xdmf(path.with_suffix(".xdmf"), moments)
    content = path.read_bytes()
    assert repair(path)[0] == 0
    assert path.read_bytes() == content
    assert pt.io.Series(path).times == TIMES


def test_what_was_cut_short_is_taken_back(path, repair):
    content, description = path.read_bytes(), path.with_suffix(".xdmf").read_bytes()
    cut_short(path)
    assert path.read_bytes() != content
    code, output, _ = repair("--json", path)
    facts = json.loads(output)
    assert (code, facts["path"], facts["taken_back"]) == (0, str(path), True)
    assert (facts["times"], facts["damaged"]) == (2, [])
    assert path.read_bytes() == content
    assert path.with_suffix(".xdmf").read_bytes() == description
    assert {file.name for file in path.parent.iterdir()} == {"u.h5", "u.xdmf"}
    cut_short(path)
    assert repair(path)[1].startswith(
        f"an append was cut short, and is taken back: {path}\n2 times"
    )


@pytest.mark.parametrize("name", ["u", "box"])
def test_what_cannot_be_described_is_left_as_it_was(path, repair, name):
    """Also what is to show its vectors otherwise; no journal stays beside it."""
    if name == "box":
        path = Path(shutil.copy(FILES / "box.h5", path.parent))
    beside, content = path.with_suffix(".xdmf"), path.read_bytes()
    beside.unlink(missing_ok=True)
    beside.mkdir()
    files = {file.name for file in path.parent.iterdir()}
    code, _, errors = repair(path)
    assert (code, str(beside) in errors) == (1, True), errors
    assert {file.name for file in path.parent.iterdir()} == files
    assert path.read_bytes() == content
    beside.rmdir()
    assert repair(path)[0] == 0


def test_damage_is_told(path, repair):
    content = bytearray(path.read_bytes())
    content[20000] ^= 1
    path.write_bytes(content)
    code, output, _ = repair("--json", path)
    assert (code, json.loads(output)["damaged"]) == (1, [[16384, 32767]])
    assert repair(path)[1] == "bytes 16384 to 32767 are damaged\n"
    content[40] ^= 1
    path.write_bytes(content)
    words = f"particles repair: {path} is damaged in its first page\n"
    assert repair(path) == (1, "", words)


def test_what_is_not_there_or_in_use_is_left_alone(path, repair, tmp_path, monkeypatch):
    assert repair("none.h5") == (
        2,
        "",
        "particles repair: path must name a file, but there is no such file: 'none.h5'\n",
    )
    monkeypatch.setattr(locks, "PATIENCE", 0.0)
    with changing(path, lambda: None):
        code, _, errors = repair(path)
    assert code == 1
    assert "the file is in use by others" in errors
    assert {file.name for file in tmp_path.iterdir()} == {"u.h5", "u.xdmf"}
