# SPDX-License-Identifier: BSD-3-Clause
"""Files of several ranks: the same for any number, or an error of all."""

import sys

import pytest

from tests.support import lot, ranks

FAILURES = "tests.communication.file_failures"


SLABS = """
import sys
import numpy as np
import particles as pt
from particles.io import contents

contents.SLAB_BYTES = 200  # a few planes, of which most ranks have none
grid = pt.Grid((37, 3, 2), comm="world", cuts=(2, 2, 1))
u = pt.Field(grid, 2)
u[...] = lambda x, y, z: (x + 2 * y, z - y)
pt.io.save(sys.argv[1], u)
fields, _ = pt.io.load(sys.argv[1], comm="world", cuts=(2, 2, 1))
(found,) = fields.values()
mine, other = u.gather(), found.gather()
assert mine is None or np.array_equal(mine, other)
"""


@pytest.mark.one_device
def test_slabs_of_which_the_first_rank_has_nothing(tmp_path):
    """Of blocks along two axes, whose lines it has a part of."""
    (tmp_path / "slabs.py").write_text(SLABS)
    environment = {"PYTHONPATH": f"{tmp_path}:" + ":".join(sys.path)}
    ranks.check(4, "slabs", tmp_path / "u.npz", **environment)


@pytest.mark.sampled
def test_files_do_not_depend_on_the_number_of_ranks(device, tmp_path):
    """Written by some ranks and read by others, and without MPI: the same bytes, the same bits."""
    cases, places = ("tests.communication.file_cases", device.index, lot.NUMBER, 2), {}
    writers = lot.some((1, 2, 3, 4), 2, "ranks that write files")
    for number in (0, *writers):
        places[number] = tmp_path / str(number)
        places[number].mkdir()
    alone = ranks.check(0, *cases, places[0], places[0])
    assert len(alone.splitlines()) == 2 * 8
    before = 0
    for number in writers:
        assert ranks.check(number, *cases, places[number], places[before]) == alone, number
        before = number
    assert ranks.check(0, *cases, places[0], places[before]) == alone


@pytest.mark.sampled
@pytest.mark.one_device
def test_what_goes_wrong_on_one_rank_is_raised_by_all(tmp_path):
    number = lot.lots("ranks of files").choice((2, 3))
    folder = tmp_path / "files"
    folder.mkdir()
    ranks.check(number, FAILURES, folder, lot.lots("a rank that fails").randrange(number))


@pytest.mark.sampled
@pytest.mark.one_device
def test_a_rank_that_is_killed_while_it_writes_leaves_the_old_file(tmp_path):
    """The next one that writes removes what is left of the new file."""
    number = lot.lots("ranks of killed files").choice((2, 3))
    victim = lot.lots("a rank that is killed").randrange(number)
    folder = tmp_path / "files"
    folder.mkdir()
    status, output, errors = ranks.run(number, FAILURES, folder, victim, "kill", seconds=60)
    assert status not in (0, 124, 137), (output, errors)
    assert len([*tmp_path.glob("ready.*")]) == number
    assert 'time": 0.0' in (folder / "checkpoint").read_text(errors="replace")
    assert [one.name for one in folder.iterdir()].count(".unfinished.checkpoint") <= 1
    ranks.check(2, FAILURES, folder, 0)


@pytest.mark.sampled
def test_pictures_do_not_depend_on_the_number_of_ranks(device, tmp_path):
    case = ("tests.communication.picture_cases", device.index, tmp_path)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) == 8
    assert ranks.check(lot.lots("ranks of pictures").choice((2, 3)), *case) == alone
