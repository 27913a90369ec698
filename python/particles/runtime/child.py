# SPDX-License-Identifier: BSD-3-Clause
"""Tries what may end the process in a process of its own."""

import os
import signal
import sys
from typing import NamedTuple

LONGEST = 300  # seconds
TRANSIENT = (-signal.SIGKILL, os.EX_TEMPFAIL)  # statuses that another time may not bring


class Outcome(NamedTuple):
    """How a child process ended.

    What it printed; why it failed (None: it did not); and whether that would come out again: not
    where there was no process, time or memory for it, or it exits with ``EX_TEMPFAIL``.
    """

    output: str
    failure: str | None
    is_final: bool


def run_in_child(*arguments: str, **variables: str) -> Outcome:
    """Run Python in a child process.

    Parameters
    ----------
    *arguments : str
        Of the interpreter: ``"-m"``, a module, and what that takes.
    **variables : str
        Environment variables that differ from this process's.
    """
    import subprocess  # slow to import, and hardly ever needed
    import tempfile

    paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
    with tempfile.TemporaryDirectory(prefix="particles-") as folder:  # for a core dump
        try:
            child = subprocess.run(
                [sys.executable, *arguments],
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
            return Outcome("", str(error), is_final=False)
    if child.returncode == 0:
        return Outcome(child.stdout, None, is_final=True)
    failure = f"exit status {child.returncode}: {child.stderr.strip()[-2000:]}"
    return Outcome(child.stdout, failure, is_final=child.returncode not in TRANSIENT)


def run_together(calls: list[tuple[str, ...]], **variables: str) -> Outcome:
    """Run several child processes at once, as `run_in_child` does each.

    Their output comes together; why the first of those failed that will fail again, or else of any.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(calls)) as pool:
        outcomes = list(pool.map(lambda call: run_in_child(*call, **variables), calls))
    output = "".join(outcome.output for outcome in outcomes)
    failed = [outcome for outcome in outcomes if outcome.failure is not None]
    worst = max(failed, key=lambda outcome: outcome.is_final, default=outcomes[0])
    return worst._replace(output=output)


def failure_in_child(*arguments: str, **variables: str) -> str | None:
    """Run Python in a child process as `run_in_child` does; return why it failed, or None."""
    return run_in_child(*arguments, **variables).failure
