# SPDX-License-Identifier: BSD-3-Clause
"""Tries what may end the process in a process of its own."""

import os
import subprocess
import sys
import tempfile

LONGEST = 300  # seconds


def failure_in_child(code: str, *arguments: str, **variables: str) -> str | None:
    """Run Python code in a child process; return why it failed, or None.

    Parameters
    ----------
    code, *arguments : str
        As for ``python -c``.
    **variables : str
        Environment variables that differ from this process's.
    """
    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
    with tempfile.TemporaryDirectory(prefix="particles-") as folder:  # for a core dump
        try:
            child = subprocess.run(
                [sys.executable, "-c", code, *arguments],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": paths, **variables},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    if child.returncode == 0:
        return None
    return f"exit status {child.returncode}: {child.stderr.strip()[-2000:]}"
