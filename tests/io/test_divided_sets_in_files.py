# SPDX-License-Identifier: BSD-3-Clause
"""Sets of divided grids in files: the same bytes for any number of ranks, read by any number."""

import pytest

from tests.support import lot, ranks


@pytest.mark.sampled
def test_files_of_sets_do_not_depend_on_the_number_of_ranks(device, tmp_path):
    """Written by some ranks and read by others, and without MPI."""
    case, number = ("tests.io.set_rank_cases", device.index, lot.NUMBER), lot.lots("file ranks")
    folders = [tmp_path / name for name in ("alone", "ranks")]
    for folder in folders:
        folder.mkdir()
    alone = ranks.check(0, *case, folders[0], folders[0])
    assert len(alone.splitlines()) == 11
    assert ranks.check(number.choice((2, 3, 4)), *case, folders[1], folders[0]) == alone
    assert ranks.check(0, *case, folders[0], folders[1]) == alone
