# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the tree, where one wrong change at a time is built and tested."""

import fnmatch
import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pybind11
import pytest

from tests.trust.mutants import Mutant, language_of
from tests.trust.mutants_known import AREAS, GENERAL

ROOT = Path(__file__).resolve().parents[2]
SECONDS_OF_A_TEST = 60  # of processors: longer is a hang
SLOWER = 20  # than its processors alone, on a busy machine

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"  # every start would compile all tests again

FAILED = "FAILED"  # as pytest says it
ENDED = "ENDED"  # the process, in the midst of a test
NOT_BUILT, HANGS, NO_TIME, BUILD_ERROR = "not built", "hangs", "no time", "BuildError"


def by_stem(paths: Iterable[Path]) -> dict[str, str]:
    """Return files of tests by their stems, of which no two may be the same."""
    found: dict[str, str] = {}
    for path in paths:
        name = str(path.relative_to(ROOT))
        if found.setdefault(path.stem, name) != name:
            raise RuntimeError(f"{name} would hide {found[path.stem]}: give it a name of its own")
    return found


TESTS = by_stem((ROOT / "tests").rglob("test_*.py"))


def suite_of(path: str) -> list[str]:
    """Return the files of tests of a file: of the same stem, then those of its area."""
    stem = Path(path).stem.lstrip("_")
    own = [f"test_{stem}"] if f"test_{stem}" in TESTS else []
    areas = (names for glob, names in AREAS if fnmatch.fnmatch(path, glob))
    last = ["test_bad_inputs"] if path.startswith("python/") else []
    names = dict.fromkeys((own + next(areas, []) or GENERAL) + last)
    return [TESTS[name] for name in names]


def preceded(folder: Path, others: str) -> str:
    """Return a list of folders that begins with this one."""
    return os.pathsep.join(filter(None, [str(folder), others]))


class CopiedTree:
    """The tree in a folder, which is made if need be and can be used again."""

    def __init__(self, folder: Path, patience: float):
        self.patience = patience
        self.fit: dict[str, bool] = {}
        self.folder, self.build = folder / "tree", folder / "build"
        self.package = self.folder / "python" / "particles"
        self.times, self.cache = folder / "times.jsonl", folder / "cache"
        self.copy()
        define = {
            "CMAKE_BUILD_TYPE": "Release",
            "CMAKE_CXX_FLAGS_RELEASE": "-O0",
            "PARTICLES_UNITY": "OFF",  # of a mutant one file is built
            "Python_EXECUTABLE": sys.executable,
            "pybind11_DIR": pybind11.get_cmake_dir(),
            "SKBUILD_PROJECT_VERSION": "0",
        }
        options = [f"-D{name}={value}" for name, value in define.items()]
        command = ["cmake", "-S", self.folder, "-B", self.build, "-G", "Ninja", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.python = self.own_python(folder / "venv")
        pocl = Path(os.environ.get("POCL_CACHE_DIR", folder / "pocl"))
        pocl.mkdir(exist_ok=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != NO_BYTECODE},
            # What starts ranks stands beside this Python, and so does the library of MPI.
            "PATH": preceded(Path(sys.executable).parent, os.environ.get("PATH", os.defpath)),
            "LD_LIBRARY_PATH": preceded(
                Path(sys.prefix, "lib"), os.environ.get("LD_LIBRARY_PATH", "")
            ),
            "POCL_CACHE_DIR": str(pocl),
            "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable",  # it takes less than half the time
            "PARTICLES_SEED": "0",  # every mutant meets the same tests
            "PARTICLES_TUNE": "off",
            "QUICKEST": str(self.times),
        }
        tests = [] if self.cache.exists() else ["tests/fields/test_reprs.py"]
        is_built = self.built()
        self.check_what_is_imported()
        if not is_built or (tests and self.failing(tests, self.cache)):
            raise RuntimeError("Without any change the sources do not build, or their tests fail.")
        made = self.build.rglob("*.o")
        self.objects = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in made}
        self.module = {file: file.read_bytes() for file in self.package.glob("_core*.so")}

    def own_python(self, venv: Path) -> Path:
        """Return a Python with the same packages, but for this one, which is the copy's.

        An editable install goes before every path that is named; its hook is not read there.
        """
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        same, own = sysconfig.get_path("purelib"), {"base": venv, "platbase": venv}
        paths = [self.folder / "python", self.folder, same]
        link = Path(sysconfig.get_path("purelib", vars={k: str(v) for k, v in own.items()}))
        (link / "copied_tree.pth").write_text("\n".join(map(str, paths)), encoding="utf-8")
        return venv / "bin" / "python"

    def check_what_is_imported(self) -> None:
        """Refuse to judge the tests by sources that they do not see."""
        code = "import particles; print(particles.__file__)"
        found = subprocess.check_output([self.python, "-c", code], text=True).strip()
        if Path(found).parent != self.package:
            raise RuntimeError(f"Tests would import {found}, not the copy in {self.package}.")

    def copy(self) -> None:
        """Copy what is new or has changed."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.check_output(command, cwd=ROOT, text=True)
        for name in filter(None, listed.split("\0")):
            source, target = ROOT / name, self.folder / name
            if source.is_file() and not (
                target.is_file() and target.read_bytes() == source.read_bytes()
            ):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def built(self) -> bool:
        """Build; return whether that worked."""
        done = subprocess.run(["ninja", "-C", self.build], capture_output=True, check=False)
        for module in self.build.glob("_core*.so"):
            shutil.copy2(module, self.package)
        return done.returncode == 0

    def undo_build(self) -> None:
        """Put back what was made of the right sources, no newer than ninja remembers it."""
        for file, (time_made, content) in self.objects.items():
            now = file.stat().st_mtime_ns if file.exists() else time_made
            if now != time_made or not file.exists():
                file.write_bytes(content)
                os.utime(file, ns=(now, now))
                self.objects[file] = now, content
        for module in self.build.glob("_core*.so"):
            module.unlink()  # so that it is linked again

    def embed(self, right: str, wrong: str) -> None:
        """Put a wrong kernel in the place of the right one that the module holds, as long as it."""
        old, new = right.encode(), wrong.encode()
        spare = len(new) - len(old)
        comment = b"SPDX-License-Identifier: BSD-3-Clause"
        new = new.replace(comment, comment[max(spare, 0) :]) + b"\n" * -spare
        ((file, content),) = self.module.items()
        assert content.count(old) == 1
        assert len(new) == len(old)
        file.unlink()  # what is loaded somewhere must stay what it is
        file.write_bytes(content.replace(old, new))

    def is_fit(self, test: str) -> bool:
        """Whether a test passes on its own, as long as nothing is wrong."""
        if test not in self.fit:
            self.fit[test] = self.failing([test], self.cache) is None
            if not self.fit[test]:
                print(f"{test} fails without a mutant as well: left out", file=sys.stderr)
        return self.fit[test]

    def failing(self, tests: list[str], cache: Path) -> str | None:
        """Return what fails first among the tests, or None."""
        command = [self.python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p"]
        command += ["tests.support.quickest", "-m", "not slow", *tests]
        command += [f"--deselect={test}" for test, is_fit in self.fit.items() if not is_fit]
        limit, now = int(self.patience), self.times.with_suffix(".now")
        now.write_text(" 0")  # no test is under way yet
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env={**self.environment, "PARTICLES_CACHE": str(cache)},
                capture_output=True,
                text=True,
                timeout=SLOWER * limit,
                check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5)),
            )
        except subprocess.TimeoutExpired:
            return HANGS
        test, _, begin = now.read_text().rpartition(" ")
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return HANGS if limit - float(begin) > SECONDS_OF_A_TEST else NO_TIME
        if done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return None
        failed = [line for line in done.stdout.splitlines() if line.startswith((FAILED, "ERROR"))]
        if failed and "particles.BuildError" in done.stdout:
            return f"{BUILD_ERROR} {test}"
        return failed[0].split(" - ")[0] if failed else f"{ENDED} {test}"

    def fate(self, mutant: Mutant) -> str | None:
        """Return what notices the mutant, or why nothing does; None: it survives.

        A test that fails without the mutant as well notices nothing.
        """
        while True:
            found = self.first_to_notice(mutant)
            kind, _, test = (found or "").partition(" ")
            if kind in (FAILED, ENDED, BUILD_ERROR) and test and not self.is_fit(test):
                continue
            is_kernel = language_of(mutant.path) == "kernels"
            return NOT_BUILT if kind == BUILD_ERROR and is_kernel else found

    def first_to_notice(self, mutant: Mutant) -> str | None:
        """Return the same, whatever a test would say without the mutant."""
        file, language = self.folder / mutant.path, language_of(mutant.path)
        right, time_written = file.read_text(encoding="utf-8"), file.stat().st_mtime_ns
        wrong = mutant.apply(right)
        file.write_text(wrong, encoding="utf-8")
        try:
            if language == "C++" and not self.built():
                return NOT_BUILT
            if language == "kernels":
                self.embed(right, wrong)
            with tempfile.TemporaryDirectory() as cache:  # which wrong code may damage
                shutil.copytree(self.cache, cache, dirs_exist_ok=True)
                return self.failing(suite_of(mutant.path), Path(cache))
        finally:
            file.write_text(right, encoding="utf-8")
            if language != "Python":
                os.utime(file, ns=(time_written, time_written))
                self.undo(language)

    def undo(self, language: str) -> None:
        """Put the right module back."""
        if language == "C++":
            self.undo_build()
        for file, content in self.module.items():
            file.unlink(missing_ok=True)
            file.write_bytes(content)
