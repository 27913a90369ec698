# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are killed in the middle: what they wrote is whole, or was never there."""

import random
import shutil
import signal
import time

import child
import particles as pt
import pytest
from test_checkpoint import bits, plain
from test_program_cache import run_with

pytestmark = pytest.mark.one_device

DT, GRID = 0.02, pt.Grid((500, 500))
WORK = """
import sys
from itertools import count
from pathlib import Path
import particles as pt
import test_checkpoint
import test_killed
import test_program_cache
device, checkpoint, programs = pt.devices()[int(sys.argv[1])], sys.argv[2], Path(sys.argv[3])
transport = test_checkpoint.plain(device, grid=test_killed.GRID)
for number in range(int(sys.argv[4])) if len(sys.argv) > 4 else count():
    transport.step(test_killed.DT)
    pt.io.checkpoint(checkpoint, transport)
    for program in programs.glob("*.clbin"):
        program.unlink()
    test_program_cache.run_with(device, programs)
"""


def kill_while_it_writes(process, folder):
    """Kill the process as soon as there is another file, or after some seconds."""
    before, end = set(folder.iterdir()), time.monotonic() + 5
    while set(folder.iterdir()) <= before and time.monotonic() < end:
        assert process.poll() is None
    process.kill()
    process.communicate()


def test_what_a_killed_process_wrote_is_whole_or_not_there(device, tmp_path):
    files, programs, driver = (tmp_path / name for name in ("files", "programs", "driver"))
    files.mkdir()
    driver.mkdir()
    path = files / "checkpoint"
    child.check(WORK, device.index, path, programs, 1, POCL_CACHE_DIR=str(driver))
    whole = plain(device, grid=GRID)
    expected = {}
    for attempt in range(20):
        # What the driver itself keeps is not ours: each process has a copy that nobody else reads.
        own = shutil.copytree(driver, tmp_path / f"driver{attempt}")
        process = child.start(WORK, device.index, path, programs, POCL_CACHE_DIR=str(own))
        kill_while_it_writes(process, (files, programs)[attempt % 2])
        restored = plain(device, grid=GRID)
        pt.io.restore(path, restored)
        while whole.time <= restored.time:
            whole.step(DT)
            expected[whole.time] = bits(whole)
        assert bits(restored) == expected[restored.time]
        assert sum(run_with(device, programs)) == 1
        if attempt >= 3 and len(list(files.iterdir())) > 1:
            return
    pytest.fail("no process was killed while it wrote a checkpoint")


AT_ONCE = """
import sys
import time
import particles as pt
u = pt.Field(pt.Grid((40, 40)), device=int(sys.argv[1]), name="u")
series, done = pt.io.Series(sys.argv[2]), 0
while done < 30:
    now = time.monotonic()
    u.fill(now)
    try:
        series.append(now, u)
    except ValueError as error:
        assert "time must be after" in str(error)
    else:
        done += 1
"""


def test_processes_that_append_at_once_lose_nothing(device, tmp_path):
    path, seen = tmp_path / "u.h5", 0
    processes = [child.start(AT_ONCE, device.index, path) for _ in range(3)]
    while any(process.poll() is None for process in processes):
        if path.exists():
            series = pt.io.Series(path)
            count = len(series)
            assert count >= seen
            seen = count
            found = series.load(count - 1, device)
            assert found.fields["u"].max() == pytest.approx(found.time)
    assert [process.communicate()[1] for process in processes] == ["", "", ""]
    assert len(pt.io.Series(path)) == 90
    described = path.with_suffix(".xdmf").read_text()
    assert described.count("<Time ") == 90
    assert {file.name for file in tmp_path.iterdir()} == {"u.h5", "u.xdmf"}


APPEND = """
import sys
import particles as pt
import test_killed
u = pt.Field(pt.Grid((40, 40)), device=int(sys.argv[1]), name="u")
series = pt.io.Series(sys.argv[2])
while True:
    try:
        print(test_killed.whole_times(series, sys.argv[1]), flush=True)
        while True:
            u.fill(len(series))
            series.append(len(series), u)
    except KeyboardInterrupt:
        pass
"""


def whole_times(series, device):
    """Return how many times there are, each of which must have its own values."""
    times = series.times
    assert times == tuple(range(len(times)))
    for number in range(len(times))[-3:]:
        assert (series.load(number, int(device)).fields["u"].get() == number).all()
    return len(times)


def disturb(process, number, draw):
    """Send a signal at any moment of the next appends; return how many times there were before."""
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    time.sleep(draw.uniform(0, 0.05))
    process.send_signal(number)
    return int(line)


@pytest.mark.parametrize(
    ("number", "processes", "times"),
    [
        (signal.SIGINT, 1, 40),
        (signal.SIGKILL, 3, 1),
        pytest.param(signal.SIGINT, 12, 100, marks=pytest.mark.exhaustive),
        pytest.param(signal.SIGKILL, 100, 1, marks=pytest.mark.exhaustive),
    ],
)
def test_a_series_is_whole_whenever_who_appends_is_stopped(
    device, tmp_path, number, processes, times
):
    """It has all times that were there; an interrupt costs the one that is not yet there."""
    path, draw, before = tmp_path / "u.h5", random.Random(number), 1
    pt.io.Series(path).append(0, pt.Field(pt.Grid((40, 40)), device=device, name="u"))
    for _ in range(processes):
        process = child.start(APPEND, device.index, path)
        for _ in range(times):
            found = disturb(process, number, draw)
            assert found >= before
            before = found
        if number == signal.SIGINT:
            assert int(process.stdout.readline()) >= before
        process.kill()
        process.communicate()
        assert whole_times(pt.io.Series(path), device.index) >= before
