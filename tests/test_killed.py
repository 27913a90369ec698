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

DT = 0.02
WORK = """
import sys
from itertools import count
from pathlib import Path
import particles as pt
import test_checkpoint
import test_program_cache
device, checkpoint, programs = pt.devices()[int(sys.argv[1])], sys.argv[2], Path(sys.argv[3])
transport = test_checkpoint.plain(device)
print("begun", flush=True)
for number in range(int(sys.argv[4])) if len(sys.argv) > 4 else count():
    transport.step(0.02)
    pt.io.checkpoint(checkpoint, transport)
    for program in programs.glob("*.clbin"):
        program.unlink()
    test_program_cache.run_with(device, programs)
"""


def test_what_a_killed_process_wrote_is_whole_or_not_there(device, tmp_path):
    path, programs, driver = (tmp_path / name for name in ("checkpoint", "programs", "driver"))
    driver.mkdir()
    child.check(WORK, device.index, path, programs, 1, POCL_CACHE_DIR=str(driver))
    whole = plain(device)
    expected = {}
    for attempt in range(8):
        # What the driver itself keeps is not ours: each process has a copy that nobody else reads.
        own = shutil.copytree(driver, tmp_path / f"driver{attempt}")
        process = child.start(WORK, device.index, path, programs, POCL_CACHE_DIR=str(own))
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.037 * attempt)
        process.kill()
        process.communicate()
        restored = plain(device)
        pt.io.restore(path, restored)
        while whole.time <= restored.time:
            whole.step(DT)
            expected[whole.time] = bits(whole)
        assert bits(restored) == expected[restored.time]
        assert sum(run_with(device, programs)) == 1
