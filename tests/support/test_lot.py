# SPDX-License-Identifier: BSD-3-Clause
"""The order in which tests run."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import conftest
from tests.support import lot

NAMES = [f"tests/test_{module}.py::test_{test}" for module in "abcdef" for test in range(9)]
ITEMS = [SimpleNamespace(nodeid=name) for name in NAMES]


def module_of(item):
    return item.nodeid.partition("::")[0]


@pytest.fixture
def order(monkeypatch):
    """Return a function of a number that returns the order it makes."""

    def made(number):
        monkeypatch.setattr(lot, "NUMBER", number)
        return lot.shuffled(ITEMS)

    return made


def test_a_number_repeats_its_order(order):
    assert order(1) == order(1) != order(2)
    assert order(0) == ITEMS


def test_a_module_stays_together(order):
    modules = [module_of(item) for item in order(3)]
    changes = sum(one != other for one, other in pairwise(modules))
    assert changes == len(set(modules)) - 1


def test_every_test_may_come_before_every_other(order):
    before = set()
    for number in range(1, 40):
        names = [item.nodeid for item in order(number)]
        before |= {(names[0], name) for name in names[1:]}
    assert len({first for first, _ in before}) > 20


def test_nothing_is_lost(order):
    assert sorted(item.nodeid for item in order(5)) == sorted(NAMES)


@pytest.mark.parametrize("given", ["abc", "1.5", "-3", "", "12a"])
def test_what_is_no_number_is_told_in_a_line(given):
    with pytest.raises(
        SystemExit, match=f"^PARTICLES_SEED must be a whole number, .* not '{given}'$"
    ):
        lot.as_number(given)
    assert lot.as_number("0123") == 123


@pytest.mark.parametrize("given", [None, "17", "new"])
def test_a_number_is_the_same_for_everyone_unless_a_new_one_is_asked_for(given):
    environment = {**os.environ, **({} if given is None else {"PARTICLES_SEED": given})}
    if given is None:
        environment.pop("PARTICLES_SEED", None)
    program = (
        "import os; from tests.support import lot; print(os.environ['PARTICLES_SEED'], lot.NUMBER)"
    )
    root = Path(__file__).parents[2]

    def printed():
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            cwd=root,
            env=environment,
            capture_output=True,
            text=True,
        )
        told, number = done.stdout.split()
        assert told == number
        return number

    numbers = {printed() for _ in range(4)}
    assert numbers == {given or "1"} or (given == "new" and len(numbers) > 1)


@pytest.mark.parametrize("given", ["abc", "0", "-1", "1.5", "1/0"])
def test_what_is_no_share_is_told_in_a_line(given):
    with pytest.raises(
        SystemExit, match=f"^PARTICLES_SHARE must be a number up to 1, .* '{given}'$"
    ):
        lot.as_share(given)
    assert lot.as_share("1/6") == lot.as_share("1") / 6


def test_a_share_of_what_there_is_is_drawn_anew(monkeypatch):
    """One at least, the same for all workers of a run, and each at some time."""
    found = []
    for number in range(1, 40):
        monkeypatch.setattr(lot, "NUMBER", number)
        found.append(lot.drawn(set(NAMES), lot.SHORT, "some"))
        assert found[-1] == lot.drawn(reversed(NAMES), lot.SHORT, "some")
    assert {len(names) for names in found} == {-(-len(NAMES) // 4)}
    assert set().union(*found) == set(NAMES)
    assert len(lot.drawn(NAMES[:2], lot.SHORT, "few")) == 1
    assert lot.drawn(NAMES, 1, "all") == set(NAMES)
    assert not lot.drawn([], 1, "none")


class Item:
    """A stand-in for a test that needs a device, with a parameter."""

    def __init__(self, name, case, *marks):
        self.nodeid = f"{name}[{case}]"
        self.callspec = SimpleNamespace(params={"device": conftest.TESTED[0], "case": case})
        self.get_closest_marker = dict(marks).get

    def iter_markers(self, _):
        return ()


def test_of_long_tests_and_of_combinations_a_share_runs(monkeypatch):
    monkeypatch.setattr(lot, "NUMBER", 7)
    monkeypatch.setattr(lot, "SHARE", None)
    few = SimpleNamespace(args=(8,))
    kinds = {"quick": (), "long": [("sampled", True)], "slow": [("slow", True)]}
    items = [
        Item(f"{name}{kind}", case, *marks)
        for kind, marks in kinds.items()
        for name in NAMES[:8]
        for case in range(9)
    ] + [Item("drawn", case, ("drawn", few)) for case in range(9)]

    def count(share, kind):
        kept = conftest.needed(items, share)
        assert kept == conftest.needed(items, share)
        return sum(kind in item.nodeid for item in kept), len(kept)

    assert [count(1, kind)[0] for kind in (*kinds, "drawn")] == [8 * 3, 8 * 3, 8 * 3, 8]
    # Of the long tests 4 of 16 run, each with all that it is given.
    assert count(lot.SHORT, "quick")[0] == 8
    assert count(lot.SHORT, "drawn") == (2, 8 + 4 * 3 + 2)


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("TESTPATHS", {}, True),
        ("ARGS", {}, False),
        *[
            ("TESTPATHS", {way: True}, False)
            for way in ("keyword", "lf", "failedfirst", "stepwise")
        ],
    ],
)
def test_what_is_chosen_runs_whole(source, options, expected, monkeypatch):
    monkeypatch.setattr(lot, "SHARE", None)
    monkeypatch.setattr(conftest, "ALL", False)
    config = SimpleNamespace(
        args_source=pytest.Config.ArgsSource[source], getoption=lambda way, _: options.get(way)
    )
    assert conftest.is_short(config) is expected
    monkeypatch.setattr(lot, "SHARE", lot.as_share("1"))
    assert not conftest.is_short(config)
