# SPDX-License-Identifier: BSD-3-Clause
"""A plugin of pytest that tells what tests cost: ``PARTICLES_SHARE=1 script/test -p tests.support.costs``.

A cost is the processor time of a test, its fixtures and child processes, and how many programs its
process asked the OpenCL compiler for. A driver may have had some of these in its own cache; PoCL's
files tell how many it had not.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

ROWS = 40
COSTS = "costs"
found = []  # of each test: its name, seconds, programs


def spent():
    """Return the seconds of this process and its children that have ended, and what it built."""
    from particles._core import testing  # not before pytest has told of what it cannot import

    return sum(os.times()[:4]), testing.programs_compiled_by_all()


def kept_by_pocl():
    """Return how many programs PoCL's cache holds."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("POCL_CACHE_DIR") or home / "pocl" / "kcache")
    return sum(1 for _ in folder.glob("*/*/program.bc"))


def pytest_sessionstart(session):
    """Count what is there at first."""
    session.config.kept_at_first = kept_by_pocl()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    """Take the time before fixtures are made."""
    item.stash[BEGIN] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    """Take it after they are gone; a report carries it to the process that collects them."""
    try:
        return (yield)
    finally:
        cost = [end - begin for begin, end in zip(item.stash[BEGIN], spent(), strict=True)]
        item.user_properties.append((COSTS, cost))


BEGIN = pytest.StashKey[tuple]()


def pytest_runtest_logreport(report):
    """Collect what has been told."""
    if report.when == "teardown":
        cost = dict(report.user_properties).get(COSTS)
        if cost is not None:
            found.append((report.nodeid, *cost))


def table(name_of, rows=ROWS):
    """Return lines of what tests cost together that have the same name, the dearest first."""
    together = defaultdict(lambda: [0.0, 0, 0])
    for test, seconds, programs in found:
        for k, more in enumerate((seconds, programs, 1)):
            together[name_of(test)][k] += more
    dearest = sorted(together.items(), key=lambda item: -item[1][0])[:rows]
    return [
        f"{seconds:8.1f} {programs:8} {tests:6}  {name}"
        for name, (seconds, programs, tests) in dearest
    ]


def pytest_terminal_summary(terminalreporter, config):
    """Print the files and the tests that cost most."""
    if hasattr(config, "workerinput"):
        return
    seconds = sum(row[1] for row in found)
    programs = sum(row[2] for row in found)
    built = kept_by_pocl() - config.kept_at_first
    terminalreporter.section("costs of tests")
    terminalreporter.write_line(
        f"{seconds:.0f} s of processors, {programs} programs asked for, {built} new in PoCL's cache"
    )
    for name_of in (
        lambda test: test.partition("/")[2].partition("/")[0],
        lambda test: test.partition("::")[0],
        lambda test: test.partition("[")[0],
    ):
        terminalreporter.write_line(f"{'seconds':>8} {'programs':>8} {'tests':>6}")
        for line in table(name_of):
            terminalreporter.write_line(line)
