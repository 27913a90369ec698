# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are killed in the middle: what they wrote is whole, or was never there."""

import shutil
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
