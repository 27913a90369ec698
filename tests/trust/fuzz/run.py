# SPDX-License-Identifier: BSD-3-Clause
"""Fuzz a target: ``python -m tests.trust.fuzz.run kernel --minutes 10``.

Inputs that lead to code not seen before are kept in ``tests/trust/fuzz/corpus``; the first one that goes
wrong is written to the present folder, told, and ends it. Targets in Python need the package
atheris, the one in C++ needs clang++ with its libFuzzer.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = sorted(path.name for path in (HERE / "corpus").iterdir())
LIMITS = ["-timeout=120", "-rss_limit_mb=3000", "-malloc_limit_mb=1000", "-max_len=4096"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--found", type=Path, help="folder for what leads to new code instead")
    asked = parser.parse_args()
    kept = HERE / "corpus" / asked.target
    seconds = max(1, round(60 * asked.minutes))
    options = [*LIMITS, f"-max_total_time={seconds}", "-print_final_stats=1"]
    options += map(str, [asked.found or kept, kept])
    with tempfile.TemporaryDirectory() as folder:
        program = [sys.executable, "-m", "tests.trust.fuzz.run", "--child", asked.target]
        if asked.target == "program_file":
            program = [build(folder, "clang++", "-fsanitize=fuzzer,address,undefined")]
        done = subprocess.run(
            [*program, *options], check=False, stderr=subprocess.PIPE, text=True, errors="replace"
        )
    stages = re.findall(r"^#\d+\s+\S+\s+cov: (\d+) ft: (\d+)", done.stderr, re.MULTILINE)
    tried = re.findall(r"number_of_executed_units: (\d+)", done.stderr)
    edges, features = stages[-1] if stages else ("no", "no")
    if done.returncode:
        sys.stderr.write(done.stderr[-6000:])
    print(
        f"{asked.target}: {tried[-1] if tried else 'no'} inputs in {seconds} s, {edges} edges, "
        f"{features} features, {'a failure' if done.returncode else 'no failure'}"
    )
    return 1 if done.returncode else 0


def build(folder, compiler, option):
    """Compile the target in C++; return its path."""
    program = Path(folder, "program_file")
    core = HERE.parents[2] / "cpp"
    sources = [
        HERE / "program_file.cpp",
        *(core / "runtime" / n for n in ("program_file.cpp", "sha256.cpp")),
    ]
    command = [compiler, option, "-std=c++17", "-O1", "-I", core, *sources, "-o", program]
    subprocess.run(command, check=True, timeout=300)
    return program


def child(target, *options):
    import atheris

    with atheris.instrument_imports(include=["particles", "zipfile", "json"]):
        from tests.trust.fuzz.targets import TARGETS as functions

    functions[target](b"")  # opens the device, which may take long
    atheris.Setup([sys.argv[0], *options], functions[target])
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        sys.exit(main())
