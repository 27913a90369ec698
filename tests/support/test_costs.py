# SPDX-License-Identifier: BSD-3-Clause
"""What is told of the costs of tests."""

from tests.support import costs


def test_costs_of_one_name_are_summed_and_the_dearest_comes_first(monkeypatch):
    found = [("tests/a/test_a.py::test[1]", 1.0, 2), ("tests/a/test_a.py::test[2]", 2.0, 3)]
    monkeypatch.setattr(costs, "found", [*found, ("tests/b/test_b.py::test", 9.0, 0)])
    rows = [line.split() for line in costs.table(lambda test: test.partition("[")[0])]
    assert rows == [
        ["9.0", "0", "1", "tests/b/test_b.py::test"],
        ["3.0", "5", "2", "tests/a/test_a.py::test"],
    ]
    assert len(costs.table(lambda test: test, rows=2)) == 2
