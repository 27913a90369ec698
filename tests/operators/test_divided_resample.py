# SPDX-License-Identifier: BSD-3-Clause
"""Resampling on divided grids: the same bits for any number of ranks."""

import pytest

from tests.support import lot, ranks


@pytest.mark.sampled
def test_resampling_does_not_depend_on_the_number_of_ranks(device):
    """To finer and coarser grids, with blocks shorter than kernels."""
    case = ("tests.operators.resample_rank_cases", device.index, lot.NUMBER, 4)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) == 4
    assert ranks.check(lot.lots("ranks of resampling").choice((2, 3, 4)), *case) == alone
