# SPDX-License-Identifier: BSD-3-Clause
"""Tracers on divided grids: the same bits for any number of ranks."""

import pytest

from tests.support import lot, ranks


@pytest.mark.sampled
def test_tracers_do_not_depend_on_the_number_of_ranks(device):
    """In fields, formulas and series, also with blocks shorter than a step; told what must not be."""
    case = ("tests.stepping.tracer_rank_cases", device.index, lot.NUMBER, 2)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) >= 2 * 2
    number = lot.lots("ranks of tracers").choice((2, 3, 4))
    assert ranks.check(number, *case) == alone, f"{number} ranks"
