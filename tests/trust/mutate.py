# SPDX-License-Identifier: BSD-3-Clause
"""Tests the tests: makes the sources wrong in one small place at a time and sees whether they fail.

    python -m tests.trust.mutate --count 200

Every mutant is built in a copy of the tree and meets the tests of its area until one fails. One that
survives is either equivalent to the original, which the list ``EQUIVALENT`` in `mutants_known.py`
says with a reason, or shows that a test is missing. What was found is kept: a run that was stopped
goes on, and ``--seconds 0`` prints the table of what there is.
"""

import argparse
import fcntl
import fnmatch
import functools
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from tests.support.copied_tree import HANGS, NO_TIME, NOT_BUILT, ROOT, CopiedTree
from tests.trust.mutants import Mutant, language_of, mutants_of, sample
from tests.trust.mutants_known import EQUIVALENT, LEFT_OUT

Fates = dict[str, str | None]
SURVIVES = {None: "survives", NO_TIME: "survives what tests there was time for"}


@functools.cache
def candidates(only: str) -> list[Mutant]:
    """Return the mutants of all sources, without those left out."""
    globs = ("cpp/**/*.[ch]pp", "kernels/**/*.cl", "python/particles/**/*.py")
    paths = [str(path.relative_to(ROOT)) for glob in globs for path in sorted(ROOT.glob(glob))]
    return [
        mutant
        for path in paths
        if fnmatch.fnmatch(path, only)
        and not any(fnmatch.fnmatch(path, pattern) for pattern in LEFT_OUT)
        for mutant in mutants_of(ROOT, path)
    ]


def is_equivalent(mutant: Mutant) -> bool:
    """Whether a mutant is known to change nothing."""
    return mutant.name in EQUIVALENT.get(mutant.path, {})


def known(file: Path) -> Fates:
    """Return what was found before; what was found last counts."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return dict(map(json.loads, lines))


def judge(mutants: list[Mutant], tree: CopiedTree, file: Path, seconds: float) -> None:
    """Find the fates of mutants, of as many as the time allows, and write them down."""
    end = time.monotonic() + seconds
    # One file after another, so that little is built again.
    with (
        tqdm(sorted(mutants, key=str, reverse=True), unit="mutant") as bar,
        file.open("a", encoding="utf-8") as found,
    ):
        for mutant in bar:
            if time.monotonic() > end:
                break
            fate = tree.fate(mutant)
            print(json.dumps([str(mutant), fate]), file=found, flush=True)
            if fate in SURVIVES:
                bar.write(f"{SURVIVES[fate]}: {mutant}")


def print_table(mutants: list[Mutant], fates: Fates) -> None:
    """Print how many were noticed, of how many, by kind and language."""
    languages = ("C++", "kernels", "Python")
    tried, noticed = Counter(), Counter()
    for mutant in mutants:
        language = language_of(mutant.path)
        for place in ((mutant.kind, language), (mutant.kind, ""), ("all", language), ("all", "")):
            tried[place] += 1
            noticed[place] += fates[str(mutant)] not in SURVIVES
    print("| mistake | " + " | ".join(languages) + " | all |\n" + "|---" * 5 + "|")
    for kind in [*sorted({mutant.kind for mutant in mutants}), "all"]:
        counts = [
            f"{noticed[kind, language]} of {tried[kind, language]}" if tried[kind, language] else ""
            for language in (*languages, "")
        ]
        print(f"| {kind} | " + " | ".join(counts) + " |")


def report(drawn: list[Mutant], fates: Fates) -> bool:
    """Print what was found; return whether at least nine tenths were noticed."""
    equivalent = [mutant for mutant in drawn if is_equivalent(mutant)]
    found = [mutant for mutant in drawn if str(mutant) in fates and mutant not in equivalent]
    tried = [mutant for mutant in found if fates[str(mutant)] != NOT_BUILT]
    survivors = [mutant for mutant in tried if fates[str(mutant)] in SURVIVES]
    hangs = sum(fates[str(mutant)] == HANGS for mutant in tried)
    print_table(tried, fates)
    print(
        f"\n{len(tried)} mutants, {len(survivors)} survive; {hangs} of the others hang. "
        f"{len(equivalent)} more change nothing, {len(found) - len(tried)} do not build."
    )
    print("\n".join(f"{SURVIVES[fates[str(mutant)]]}: {mutant}" for mutant in survivors))
    return len(survivors) <= 0.1 * len(tried)


def main() -> int:
    """Report what survives; fail when more than a tenth does."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--only", default="*", metavar="GLOB", help="of these files alone")
    parser.add_argument("--again", action="store_true", help="survivors meet the tests once more")
    parser.add_argument("--seconds", type=float, default=3600, help="begin none after these")
    parser.add_argument(
        "--patience",
        type=float,
        default=150,
        help="seconds of processors for the tests of a mutant",
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "mutants", help="of the copy and the fates"
    )
    options = parser.parse_args()
    drawn = sample(candidates(options.only), options.count, options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    file = options.folder / "fates.jsonl"
    fates = known(file)
    left = [
        mutant
        for mutant in drawn
        if not is_equivalent(mutant)
        and (str(mutant) not in fates or (options.again and fates[str(mutant)] in SURVIVES))
    ]
    if left and options.seconds > 0:
        os.environ.setdefault("PARTICLES_TEST", "0")  # what one device shows is enough
        with (options.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # two would make one tree wrong twice
            judge(left, CopiedTree(options.folder, options.patience), file, options.seconds)
    return 0 if report(drawn, known(file)) else 1


if __name__ == "__main__":
    sys.exit(main())
