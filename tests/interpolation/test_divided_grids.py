# SPDX-License-Identifier: BSD-3-Clause
"""Between particles and grids that are divided among ranks: the same bits for any number."""

from tests.support import lot, ranks


def test_interpolation_does_not_depend_on_the_number_of_ranks(device):
    """In both directions, in every order, to other grids, with blocks shorter than kernels."""
    case = ("tests.interpolation.rank_cases", device.index, lot.NUMBER, 2)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) == 2 * 5
    number = lot.lots("ranks of interpolation").choice((2, 3, 4))
    assert ranks.check(number, *case) == alone, f"{number} ranks"
