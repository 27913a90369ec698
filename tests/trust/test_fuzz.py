# SPDX-License-Identifier: BSD-3-Clause
"""What fuzzers have found, and what led them to new code, goes right again."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.trust.fuzz.run import build
from tests.trust.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "fuzz" / "corpus"
HANG = 60  # seconds of computing after which an input counts as endless


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
def test_the_corpus_goes_right(target):
    def give_up(*_):
        raise TimeoutError(f"{path} is endless")

    signal.signal(signal.SIGPROF, give_up)
    for path in sorted((CORPUS / target).iterdir()):
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            TARGETS[target](path.read_bytes())
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


@pytest.mark.sampled
def test_the_corpus_of_programs_files_goes_right(tmp_path):
    try:
        program = build(tmp_path, "c++", "-DREPLAY")
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"there is no compiler that builds it: {error}")
    inputs = sorted((CORPUS / "program_file").iterdir())
    subprocess.run([program, *inputs], check=True, timeout=10 * HANG)
