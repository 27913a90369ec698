# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs on several ranks, each under a hard limit of time."""

import os
import re
import shutil
import subprocess
import sys
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


def run(ranks, module, *arguments, seconds=SECONDS, **environment):
    """Run a module on so many ranks; return exit status, output and errors.

    With 0 ranks it is run without a launcher.
    """
    start = [] if ranks == 0 else [launcher(), "-n", str(ranks)]
    done = subprocess.run(
        ["timeout", "-k", "5", str(seconds), *start, sys.executable, "-m", module]
        + [str(one) for one in arguments],
        env={**environment_of_ranks(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
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
