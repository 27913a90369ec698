# SPDX-License-Identifier: BSD-3-Clause
"""Which combinations of parameters are left out of a short run of the suite."""

from itertools import product

from tests.support.pairwise import covering


def rows_of(**values):
    return [dict(zip(values, row, strict=True)) for row in product(*values.values())]


def test_every_pair_is_seen_with_few_rows():
    rows = rows_of(form="abcdefg", shape=range(6), dtype=["f4", "f8"], device=[object(), object()])
    taken = [rows[index] for index in covering(rows)]
    for one, other in (("form", "shape"), ("form", "dtype"), ("shape", "device")):
        every = {(row[one], row[other]) for row in rows}
        assert {(row[one], row[other]) for row in taken} == every
    assert 42 <= len(taken) <= 50 < len(rows)


def test_every_value_is_seen_with_as_many_rows_as_the_longest_parameter_has():
    rows = rows_of(form="abcdefg", shape=range(6), dtype=["f4", "f8"])
    taken = [rows[index] for index in covering(rows, together=1)]
    for name in rows[0]:
        assert {row[name] for row in taken} == {row[name] for row in rows}
    assert len(taken) == 7
    assert len(covering(rows, together=1, most=5)) == 5


def test_two_parameters_are_left_whole():
    rows = rows_of(number=[1, 1.0, True, 2], array=[[1], [2]])
    assert covering(rows) == list(range(len(rows)))


def test_the_same_rows_are_taken_again():
    rows = rows_of(one=range(5), other="abc", third=[None, (1, 2)])
    assert covering(rows) == covering([dict(row) for row in rows])
