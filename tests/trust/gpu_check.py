# SPDX-License-Identifier: BSD-3-Clause
"""Looks for mistakes that only a GPU shows, by running `gpu_cases` under Oclgrind.

``python -m tests.trust.gpu_check [case ...]``
    races between work-items, accesses out of bounds, wrong calls of OpenCL: ten minutes on two cores
``python -m tests.trust.gpu_check --unwritten [case ...]``
    memory that is read before anything was written there, which takes far longer
Whatever a case writes to its errors is a report. With ``PARTICLES_SHARE=1/2`` half of the cases of each
kind run. Every kernel of the library must have run: others run while one has not, but for ``--unwritten``.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from particles import _core

from benchmarks.gpu_model import oclgrind
from benchmarks.gpu_model.cases import ON_CPUS_ALONE
from tests.support import lot
from tests.trust import gpu_cases

ROOT = Path(__file__).parents[2]  # where modules are found
RACES = {"OCLGRIND_DATA_RACES": "1", "OCLGRIND_UNIFORM_WRITES": "1", "OCLGRIND_CHECK_API": "1"}
SMALL = {"OCLGRIND_GLOBAL_MEM_SIZE": str(2**22)}
"""Bytes of memory: that of all cases, and little for the triad to fill."""
AT_ONCE = 6  # cases in a process
# It knows nothing of what the optimiser makes of values that do not matter, nor of what lies in images.
UNWRITTEN = {
    "OCLGRIND_UNINITIALIZED": "1",
    "OCLGRIND_BUILD_OPTIONS": f"-cl-opt-disable {oclgrind.BUILD_OPTIONS}",
}


class Outcome(NamedTuple):
    """Reports by case, and the kernels that ran."""

    reports: dict[str, str]
    launched: set[str]


def run(cases: list[str], environment: dict[str, str]) -> Outcome:
    """Run cases one after the other in a process of their own."""
    child = subprocess.run(
        [sys.executable, "-m", "tests.trust.gpu_cases", *cases],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    reports = dict(reports_in(child.stderr))
    if child.returncode and not reports:
        reports[", ".join(cases)] = f"exit status {child.returncode}"
    launched = [] if child.returncode else json.loads(child.stdout.splitlines()[-1])
    return Outcome(reports, set(launched))


def reports_in(errors: str) -> Iterator[tuple[str, str]]:
    """Yield each case that says more than how many warnings the compiler had, and what it says."""
    for part in errors.split(gpu_cases.BEFORE)[1:]:
        case, _, said = part.partition("\n")
        said = re.sub(r"(?m)^[\d\s]*warnings? generated\.\n", "", said).strip()  # ranks mix lines
        if said:
            yield case, said


def run_all(cases: list[str], environment: dict[str, str], at_once: int) -> Outcome:
    """Run cases in as many processes as there are cores; print what is reported."""
    parts = [cases[k :: -(-len(cases) // at_once)] for k in range(-(-len(cases) // at_once))]
    reports: dict[str, str] = {}
    launched: set[str] = set()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(lambda part: run(part, environment), parts):
            for case, said in outcome.reports.items():
                print(f"{gpu_cases.BEFORE}{case}\n{said}\n", flush=True)
            reports |= outcome.reports
            launched |= outcome.launched
    return Outcome(reports, launched)


def drawn(cases: list[str]) -> list[str]:
    """Return the share of the cases that is wanted, of each kind: their names begin with it."""
    share, kinds = lot.SHARE or 1, defaultdict(list)
    for case in cases:
        kinds[case.split()[0]].append(case)
    chosen = set().union(*(lot.drawn(names, share, kind) for kind, names in kinds.items()))
    return [case for case in cases if case in chosen]


def kernels() -> set[str]:
    """Return the names of all kernels of the library."""
    texts = "\n".join(_core.embedded_kernels().values())
    return set(re.findall(r"(?m)^(?:__kernel|KERNEL) void (\w+)\(", texts))


def plain_writes(folder: str) -> str:
    """Compile the library through which the host writes buffers as a whole; return its path."""
    library, real = Path(folder, "plain_writes.so"), Path(folder, "libOpenCL.so")
    real.symlink_to(oclgrind.driver().with_name("liboclgrind-rt.so"))
    source = Path(__file__).with_name("plain_writes.cpp")
    linked = ["-L", folder, "-Wl,--no-as-needed", "-lOpenCL", f"-Wl,-rpath,{folder}", "-ldl"]
    subprocess.run(
        ["c++", "-std=c++17", "-O2", "-shared", "-fPIC", source, *linked, "-o", library], check=True
    )
    return str(library)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unwritten", action="store_true", help="memory that nobody has written")
    parser.add_argument("cases", nargs="*", metavar="case")
    arguments = parser.parse_args()
    possible = arguments.cases or list(gpu_cases.CASES)
    is_some = arguments.cases or (arguments.unwritten and lot.SHARE)
    wanted = set() if is_some else kernels() - ON_CPUS_ALONE
    settings, at_once = RACES, AT_ONCE
    with tempfile.TemporaryDirectory() as folder:
        if arguments.unwritten:  # what is known of memory that was given back would stay
            possible = [case for case in possible if "images" not in str(gpu_cases.CASES[case])]
            settings, at_once = UNWRITTEN | {"PARTICLES_OPENCL": plain_writes(folder)}, 1
        environment = oclgrind.environment(folder, **settings, **SMALL)
        cases = possible if arguments.cases else drawn(possible)
        left_out = [case for case in possible if case not in cases]
        found = Outcome({}, set())
        while cases:
            print(f"{len(cases)} cases; PARTICLES_SEED={lot.NUMBER} draws the same", flush=True)
            more = run_all(cases, environment, at_once)
            found = Outcome(found.reports | more.reports, found.launched | more.launched)
            cases = left_out[:AT_ONCE] if wanted - found.launched else []
            left_out = left_out[AT_ONCE:]
    missing = wanted - found.launched
    print(f"{len(found.reports)} cases with reports; {len(found.launched)} kernels ran")
    if missing:
        print(f"No case ran: {', '.join(sorted(missing))}")
    return 1 if found.reports or missing else 0


if __name__ == "__main__":
    sys.exit(main())
