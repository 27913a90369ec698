# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are killed in the middle: what they wrote is whole, or was never there."""

import errno
import fcntl
import os
import random
import select
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import particles as pt
import pytest
from particles.base import disk

from tests.io.test_checkpoint import bits, plain
from tests.runtime.test_program_cache import run_with
from tests.support import child

pytestmark = pytest.mark.one_device

DT, GRID = 0.02, pt.Grid((500, 500))
WORK = """
import os
import sys
from itertools import count
from pathlib import Path
import particles as pt
from tests.io import test_checkpoint
from tests.io import test_killed
from tests.runtime import test_program_cache
os.nice(19)  # on a busy machine, too, who kills it comes before it goes on
device, checkpoint, programs = pt.devices()[int(sys.argv[1])], sys.argv[2], Path(sys.argv[3])
transport = test_checkpoint.plain(device, grid=test_killed.GRID)
for number in range(int(sys.argv[4])) if len(sys.argv) > 4 else count():
    transport.step(test_killed.DT)
    pt.io.checkpoint(checkpoint, transport)
    for program in programs.glob("*.clbin"):
        program.unlink()
    test_program_cache.run_with(device, programs)
"""


def files_of(folder):
    """Return which files there are, and since when; some go meanwhile."""
    with suppress(FileNotFoundError):
        return {(path.name, path.stat().st_ctime_ns) for path in folder.iterdir()}
    return files_of(folder)


def kill_while_it_writes(process, folder):
    """Kill the process as soon as there is another file, or after a minute."""
    before, end = files_of(folder), time.monotonic() + 60
    while files_of(folder) <= before and time.monotonic() < end:
        assert process.poll() is None
    process.kill()
    process.communicate()


@pytest.mark.slow
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
while done < 15:
    now = time.monotonic()
    u.fill(now)
    try:
        series.append(now, u)
    except ValueError as error:
        assert "time must be after" in str(error)
    else:
        done += 1
"""


@pytest.mark.sampled
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
    assert len(pt.io.Series(path)) == 45
    described = path.with_suffix(".xdmf").read_text()
    assert described.count("<Time ") == 45
    assert {file.name for file in tmp_path.iterdir()} == {"u.h5", "u.xdmf"}


APPEND = """
import sys
import particles as pt
from tests.io import test_killed
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
    """Send a signal at any moment of the next appends; return how many times there were before.

    Python ignores an interrupt that comes while a weak reference is called back: another follows.
    """
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    time.sleep(draw.uniform(0, 0.05))
    process.send_signal(number)
    while number == signal.SIGINT and not select.select([process.stdout], [], [], 10)[0]:
        process.send_signal(number)
    return int(line)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("number", "processes", "times"),
    [
        (signal.SIGINT, 1, 20),
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


CUT_SHORT = """
import os, signal, sys
from particles.base.disk import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.sampled
def test_what_a_kill_leaves_goes_with_the_next_writer(tmp_path):
    """Of several that write at once, none takes the file of another for one that was left."""
    path = tmp_path / "u.npz"
    path.write_text("old")
    for _ in range(2):
        child.run(CUT_SHORT, path)
        assert {one.name for one in tmp_path.iterdir()} == {"u.npz", ".unfinished.u.npz"}
        assert path.read_text() == "old"
    with disk.replacing(path) as first, disk.replacing(path) as second:
        assert len(list(tmp_path.iterdir())) == 3
        first.write(b"first")
        second.write(b"second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]
    contents = {b"%d" % number * 1000 for number in range(4)}

    def write(content):
        for _ in range(50):
            with disk.replacing(path) as file:
                file.write(content)
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(len(contents)) as pool:
        list(pool.map(write, contents))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("what", ["link", "folder", "pipe", "no locks"])
def test_what_only_has_the_name_of_an_unfinished_file_stays(tmp_path, monkeypatch, what):
    path, left = tmp_path / "file", tmp_path / ".unfinished.file"
    (tmp_path / "other").write_text("other")
    if what == "link":
        left.symlink_to("other")
    elif what == "folder":
        left.mkdir()
    elif what == "pipe":
        os.mkfifo(left)
    else:
        left.write_text("left")
        monkeypatch.setattr(fcntl, "flock", refuse_locks)
    for text in "new", "newer":
        disk.write_text(path, text)
        assert path.read_text() == text
    assert {one.name for one in tmp_path.iterdir()} == {"file", "other", left.name}
    assert (tmp_path / "other").read_text() == "other"


def refuse_locks(*_):
    raise OSError(errno.ENOLCK, "No locks available")
