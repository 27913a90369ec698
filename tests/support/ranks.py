# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on several ranks, each under a hard limit of time."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

SECONDS = 240


def launcher():
    """Return the program that starts ranks, or skip the test."""
    pytest.importorskip("mpi4py", exc_type=ImportError)
    found = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which(
        "mpiexec"
    )
    if found is None:
        pytest.skip("there is no mpiexec")
    return found


def environment_of_ranks():
    """Return variables for ranks that share this machine."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "POCL_MAX_PTHREAD_COUNT": "1",
        "PARTICLES_TUNE": "off",
    }


def _shared():
    """Return the files in shared memory by which ranks talk; those that are killed leave theirs."""
    return {str(path) for path in Path("/dev/shm").glob("mpich_shm_*")}


def _remove(files):
    """Remove those that nobody uses, or not for long; others may be of tests that run now."""
    end = time.monotonic() + 3
    while files and time.monotonic() < end:
        time.sleep(0.2)  # whoever has made one has it in memory by then
        in_use = _in_use()
        for path in files - in_use:
            Path(path).unlink(missing_ok=True)
        files &= in_use


def _in_use():
    """Return those that a process of ours has in its memory."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            found.update(re.findall(r"/dev/shm/mpich_shm_\S+", maps.read_text()))
    return found


def run(ranks, module, *arguments, seconds=SECONDS, **environment):
    """Run a module on so many ranks; return exit status, output and errors.

    With 0 ranks it is run without a launcher.
    """
    start = [] if ranks == 0 else [launcher(), "-n", str(ranks)]
    before = _shared()
    done = subprocess.run(
        ["timeout", "-k", "5", str(seconds), *start, sys.executable, "-m", module]
        + [str(one) for one in arguments],
        env={**environment_of_ranks(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        _remove({*_shared()} - before)
    return (
        done.returncode,
        done.stdout,
        re.sub(r"(?m)^\d+ warnings? generated\.\n", "", done.stderr),
    )


def check(ranks, module, *arguments, **environment):
    """Run a module that has to succeed; return its output."""
    status, output, errors = run(ranks, module, *arguments, **environment)
    assert status == 0, f"exit status {status} on {ranks} ranks\n{output}\n{errors}"
    return output
