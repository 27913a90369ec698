# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles on several ranks: the same bits for any number, one error for all."""

import pytest

from tests.support import lot, ranks


@pytest.mark.sampled
def test_sets_do_not_depend_on_the_number_of_ranks(device):
    """However they are made, moved, sorted, added and removed; whoever has them."""
    case = ("tests.sets.rank_cases", device.index, lot.NUMBER, 4)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) >= 4 * 7
    number = lot.lots("ranks of sets").choice((2, 3, 4))
    assert ranks.check(number, *case) == alone, f"{number} ranks"


@pytest.mark.sampled
@pytest.mark.one_device
def test_what_goes_wrong_with_a_set_on_one_rank_is_raised_by_all():
    number = lot.lots("ranks of a wrong set").choice((2, 3))
    wrong = lot.lots("a rank with a wrong set").randrange(number)
    assert ranks.check(number, "tests.sets.rank_failures", wrong).count("done") == number
