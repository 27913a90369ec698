# SPDX-License-Identifier: BSD-3-Clause
"""Versions that are measured in turns."""

from benchmarks import turns

ROW = {"shape": [8, 8], "kernel": "M'4", "seconds": 0.5, "ns": 2.0, "share": 0.1}


def test_each_time_is_told_by_what_was_measured():
    found = {
        "triad": 1.0,
        "cases": [ROW, {**ROW, "kernel": "M'6", "ns": [3.0, 4.0]}],
    }
    assert dict(turns.times_of(found)) == {
        ("8 x 8, M'4", "ns"): 2.0,
        ("8 x 8, M'6", "ns, axis 0"): 3.0,
        ("8 x 8, M'6", "ns, axis 1"): 4.0,
    }


def test_the_least_time_of_each_version_counts():
    a, b, new = ("a", "ns"), ("b", "ns"), ("new", "ns")
    first = turns.least([{a: 3.0, b: 5.0}, {a: 4.0, b: 2.0}])
    second = turns.least([{a: 6.0, b: 1.0, new: 1.0}, {a: 1.5, b: 1.0}])
    rows = [line.split("|")[1:-1] for line in turns.ratios(first, second).splitlines()[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["a", "ns", "3.00", "1.50", "0.50"],
        ["b", "ns", "2.00", "1.00", "0.50"],
    ]


def test_versions_have_their_turns_one_after_the_other(monkeypatch, capsys):
    calls = []

    def measured(python, module, arguments):
        calls.append(python)
        return {(module, *arguments): float(len(calls))}

    monkeypatch.setattr(turns, "measured", measured)
    monkeypatch.setattr("sys.argv", ["turns", "--turns", "2", "old", "new", "sweep", "--quick"])
    turns.main()
    assert calls == ["old", "new", "old", "new"]
    assert "| sweep | --quick | 1.00 | 2.00 | 2.00 |" in " ".join(capsys.readouterr().out.split())
