# SPDX-License-Identifier: BSD-3-Clause
"""Runs Python code in a process of its own, as what is tested may end or spoil the process."""

import os
import re
import subprocess
import sys
import textwrap


def start(code, *arguments, **environment):
    """Start a child process; a variable that is None is unset."""
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env={name: value for name, value in variables.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(code, *arguments, timeout=300, **environment):
    """Run a child process to its end; return its exit status, output and errors.

    How many warnings a driver's compiler had, when it built something, is left out.
    """
    process = start(code, *arguments, **environment)
    try:
        output, errors = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, output, re.sub(r"(?m)^\d+ warnings? generated\.\n", "", errors)


def check(code, *arguments, **environment):
    """Run a child process that has to succeed and return its output."""
    status, output, errors = run(code, *arguments, **environment)
    assert status == 0, f"exit status {status}\n{output}\n{errors}"
    return output
