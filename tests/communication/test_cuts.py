# SPDX-License-Identifier: BSD-3-Clause
"""Who has which rows, and what each rank needs of others, against a search row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from particles.communication.cuts import begins_of, rows_around

ENDS = st.sampled_from(
    [
        "periodic",
        *((low, high) for low in ("wall", "outflow", "inflow") for high in ("wall", "outflow")),
    ]
)


def walked(row, rows, ends):
    """Return the row that a row beyond an end is made of, by going there step by step."""
    low, high = (ends, ends) if isinstance(ends, str) else ends
    if low == "periodic":
        while row < 0:
            row += rows
        while row >= rows:
            row -= rows
        return row
    while not 0 <= row < rows:
        if row < 0:
            row = -1 - row if low == "wall" else 0
        else:
            row = 2 * rows - 1 - row if high == "wall" else rows - 1
    return row


@given(st.data())
def test_parts_are_nearly_equal_and_begin_at_units(data):
    unit = data.draw(st.integers(1, 4))
    parts = data.draw(st.integers(1, 8))
    rows = data.draw(st.integers(parts * unit, parts * unit + 50))
    begins = begins_of(rows, parts, unit)
    sizes = np.diff(begins)
    assert (begins[0], begins[-1], len(begins)) == (0, rows, parts + 1)
    assert all(begin % unit == 0 for begin in begins[:-1])
    assert sizes.min() >= unit
    assert sizes.max() - sizes.min() < 2 * unit


def test_there_must_be_a_unit_for_each_part():
    with pytest.raises(ValueError, match="9 rows have 4 units of 2, fewer than 5 parts"):
        begins_of(9, 5, 2)


@given(st.data(), ENDS)
def test_each_place_gets_the_row_that_belongs_there(data, ends):
    parts = data.draw(st.integers(1, 5))
    begins = begins_of(data.draw(st.integers(parts, 24)), parts)
    receiver = data.draw(st.integers(0, parts - 1))
    low, high = data.draw(st.integers(0, 60)), data.draw(st.integers(0, 60))
    own = begins[receiver + 1] - begins[receiver]
    got = {}
    for one in rows_around(begins, receiver, low, high, ends):
        assert begins[one.owner] <= one.begin
        assert one.begin + one.rows <= begins[one.owner + 1]
        rows = list(range(one.begin, one.begin + one.rows))
        if one.is_mirrored:
            rows.reverse()
        if one.places > one.rows:
            rows *= one.places
        assert len(rows) == one.places
        for place, row in enumerate(rows, one.place):
            assert place not in got
            got[place] = row
    wanted = [*range(-low, 0), *range(own, own + high)]
    assert got == {place: walked(place + begins[receiver], begins[-1], ends) for place in wanted}
