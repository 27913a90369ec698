# SPDX-License-Identifier: BSD-3-Clause
"""Which tests of a parametrized function are enough to see every pair of its parameters' values."""

from itertools import combinations


def covering(rows):
    """Return the indices of some of the rows, in order, that hold every pair of values all hold.

    A row is a mapping of names to values. The first row with the most pairs not yet seen comes next.
    """
    pairs = [set(combinations(sorted(map(_named, row.items())), 2)) for row in rows]
    left = set().union(*pairs)
    taken = []
    while left:
        best = max(range(len(rows)), key=lambda index: (len(pairs[index] & left), -index))
        left -= pairs[best]
        taken.append(best)
    return sorted(taken)


def _named(item):
    """Tell 1 from 1.0 and True, and values that cannot be compared by who they are."""
    name, value = item
    try:
        return name, type(value).__name__, hash(value)
    except TypeError:
        return name, type(value).__name__, id(value)
