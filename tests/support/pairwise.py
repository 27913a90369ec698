# SPDX-License-Identifier: BSD-3-Clause
"""Which tests of a parametrized function are enough to see every value, or pair of values, of its parameters."""

import heapq
from itertools import combinations


def covering(rows, together=2, most=None):
    """Return the indices of some of the rows, in order, that hold every pair of values all hold.

    A row is a mapping of names to values. The first row with the most pairs not yet seen comes next.
    Instead of pairs it may be any number of values that must be seen together. After `most` it ends.
    """
    rows = list(rows)
    pairs = [set(combinations(sorted(map(named, row.items())), together)) for row in rows]
    left = set().union(*pairs)
    taken = []
    # What a row adds only shrinks: one that adds as much as it did before others is the best.
    waiting = [(-len(held), index) for index, held in enumerate(pairs)]
    heapq.heapify(waiting)
    while left and len(taken) != most:
        _, index = waiting[0]
        now = (-len(pairs[index] & left), index)
        if now != waiting[0]:
            heapq.heapreplace(waiting, now)
        else:
            heapq.heappop(waiting)
            left -= pairs[index]
            taken.append(index)
    return sorted(taken)


def named(item):
    """Tell 1 from 1.0 and True, and values that cannot be compared by who they are."""
    name, value = item
    try:
        return name, type(value).__name__, hash(value)
    except TypeError:
        return name, type(value).__name__, id(value)
