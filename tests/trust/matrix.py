# SPDX-License-Identifier: BSD-3-Clause
"""Installs the package in many environments, each of its own, and tests it in each.

``python -m tests.trust.matrix [--folder FOLDER] [--whole] [name ...]`` prints a row for each
configuration: how a few tests ended, of arguments, fields and bits, or the whole suite. Interpreters
and compilers are looked for on PATH: what is not there is said.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
A_FEW = ("test_grid.py", "test_field.py", "test_determinism.py")
TOOLS = ("pytest", "hypothesis")
BUILD_TOOLS = ("cmake", "ninja", "pybind11")
NEIGHBOURS = """
import numba, numpy, finufft, torch
torch.ones(64, 64) @ torch.ones(64, 64)
numba.njit(lambda x: x + 1, parallel=True)(numpy.ones(99))
finufft.nufft1d1(numpy.linspace(0, 6, 99), numpy.ones(99, complex), 64)
"""
OURS = "import particles; particles.Field(particles.Grid(64)).sum()\n"
# The newest with all that it needs in one wheel; later ones for CUDA alone take gigabytes.
WITH_NEIGHBOURS = ("torch==1.12.1", "numba", "finufft", "numpy<2")


class Install(NamedTuple):
    """What an environment is made of."""

    python: str = "3.11"
    compiler: str = "g++"
    packages: tuple[str, ...] = ()
    dependencies: bool = True  # or NumPy and tqdm alone: no PyOpenCL, nor the PoCL that it brings


@dataclass(frozen=True)
class Configuration:
    """An environment, and how the tests run in it."""

    install: Install = field(default_factory=Install)
    environment: dict[str, str] = field(default_factory=dict)
    before: str = ""  # what the process of the tests does first
    arguments: tuple[str, ...] = ()
    tests: tuple[str, ...] = A_FEW
    within: tuple[str, ...] = ()  # a command that they run within


INTEL = ("intel-opencl-rt", "intel-cmplr-lib-rt")
OLDEST = ("numpy==1.25.0", "pyopencl[pocl]==2024.2.6", "tqdm==4.60.0")
ONE = {"PARTICLES_TEST": "0"}  # device, the first
IS_FREE = "test_import.py::test_a_free_threaded_python_stays_so"
NO_DRIVERS = {"OCL_ICD_VENDORS": "/nowhere"}
WITHOUT_DEVICE = ("--noconftest", "without_device.py", "test_reference.py")
ALONGSIDE = Install("3.10", packages=WITH_NEIGHBOURS)

CONFIGURATIONS = {
    "g++": Configuration(),
    "clang++": Configuration(Install(compiler="clang++-14")),
    "Python 3.10": Configuration(Install("3.10")),
    "Python 3.12": Configuration(Install("3.12")),
    "Python 3.13, newest": Configuration(Install("3.13")),
    "free-threaded": Configuration(
        Install("3.13t", dependencies=False),  # PyPI has no wheel of PyOpenCL for it
        tests=(*A_FEW, "test_concurrency.py", IS_FREE),
    ),
    "oldest": Configuration(Install("3.10", packages=OLDEST)),
    "PyOpenCL's PoCL alone": Configuration(environment={"OPENCL_VENDOR_PATH": "/nowhere"}),
    "no PyOpenCL": Configuration(Install(dependencies=False)),
    "Intel": Configuration(Install(packages=INTEL), {"PARTICLES_TEST": "-2026."}),
    "no device": Configuration(environment=NO_DRIVERS, tests=WITHOUT_DEVICE),
    "no device, no PyOpenCL": Configuration(
        Install(dependencies=False), NO_DRIVERS, tests=WITHOUT_DEVICE
    ),
    "after torch, numba, finufft": Configuration(ALONGSIDE, before=NEIGHBOURS),
    "before torch, numba, finufft": Configuration(ALONGSIDE, before=OURS + NEIGHBOURS),
    "1 thread": Configuration(environment={"POCL_MAX_PTHREAD_COUNT": "1"}),
    "32 threads": Configuration(environment={"POCL_MAX_PTHREAD_COUNT": "32"}),
    # A CPU told to be a GPU keeps the private memory of whole work-groups on the stack of a thread.
    "GPU with 16 KiB": Configuration(
        arguments=("-p", "tests.support.small_gpus"), within=("prlimit", "--stack=200000000")
    ),
}


def run(*command, **environment):
    """Run a command that has to succeed; what it prints is shown only if it does not."""
    done = subprocess.run(
        command,
        check=False,
        env={**os.environ, **environment},
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout.strip()


def wheel(install, folder):
    """Build a wheel, once for each interpreter and compiler."""
    place = folder / f"wheel-{install.python}-{install.compiler}"
    if not list(place.glob("*.whl")):
        with tempfile.TemporaryDirectory() as build:
            options = ["--no-deps", f"--config-settings=build-dir={build}", "--wheel-dir"]
            pip = [f"python{install.python}", "-m", "pip", "wheel", "--quiet"]
            run(*pip, *options, str(place), ".", CXX=install.compiler)
    return next(place.glob("*.whl"))


def environment_of(install, folder, whole):
    """Make an environment, once for each kind, and return its Python."""
    names = [install.python, install.compiler, *install.packages, str(install.dependencies)]
    names += ["whole"] * whole
    place = folder / "-".join(names).replace("/", "")
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        run(f"python{install.python}", "-m", "venv", "--clear", str(place))
        pip = [str(python), "-m", "pip", "install", "--quiet", "--prefer-binary"]
        needed = [] if install.dependencies else ["numpy", "tqdm"]
        options = [] if install.dependencies else ["--no-deps"]
        tools = BUILD_TOOLS if whole else TOOLS
        extra = "[test]" if whole else ""
        run(*pip, *tools, *needed, *install.packages)
        run(*pip, *options, *install.packages, f"{wheel(install, folder)}{extra}")
        (place / "complete").touch()
    return str(python)


FACTS = """
import platform, numpy, particles
try:
    names = [f"{d.platform} {d.driver}" for d in particles.devices()]
except particles.DeviceError:
    names = []
names = [name.replace("Portable Computing Language", "PoCL") for name in names]
print(platform.python_version(), numpy.__version__, "; ".join(names) or "none", sep=" | ")
"""


def found(name):
    """Return the path of a file of tests, or of one of its tests."""
    file, *test = name.split("::")
    (path,) = TESTS.rglob(file)
    return "::".join([str(path), *test])


def tested(configuration, python, whole):
    """Run the tests and return how many passed, were skipped and failed."""
    tests = [name if name[0] == "-" else found(name) for name in configuration.tests]
    if whole:
        tests = ["--numprocesses", "auto", "--dist", "worksteal", str(TESTS)]
    with tempfile.TemporaryDirectory() as folder:
        report, printed = Path(folder) / "report.xml", Path(folder) / "printed"
        # A plugin, as each process of pytest-xdist imports it before the tests.
        (Path(folder) / "done_before.py").write_text(configuration.before)
        command = [*configuration.within, python, "-m", "pytest", *configuration.arguments]
        command += ["-q", "-m", "not slow", f"--junitxml={report}"]
        path = {"PYTHONPATH": f"{ROOT}:{folder}", "PYTEST_PLUGINS": "done_before"}
        with printed.open("w") as output:
            done = subprocess.run(
                [*command, *tests],
                check=False,
                env={**os.environ, **ONE, **path, **configuration.environment},
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if done.returncode not in (0, 1):  # it did not come to its end, or not well
            raise RuntimeError(printed.read_text())
        suite = ElementTree.parse(report).getroot()[0]
        failed = int(suite.get("failures")) + int(suite.get("errors"))
        skipped = int(suite.get("skipped"))
        if failed:
            sys.stderr.write(printed.read_text())
    return int(suite.get("tests")) - failed - skipped, skipped, failed


def row(configuration, folder, whole):
    """Install and test one configuration; return the cells of its row."""
    install, begin = configuration.install, time.monotonic()
    for program in (f"python{install.python}", install.compiler):
        if shutil.which(program) is None:
            return [f"{program} is not on PATH"]
    if whole and not install.dependencies:
        return ["the whole suite needs PyOpenCL"]
    python = environment_of(install, folder, whole)
    facts = run(python, "-c", FACTS, **configuration.environment)
    passed, skipped, failed = tested(configuration, python, whole)
    seconds = round(time.monotonic() - begin)
    return [facts, install.compiler, *map(str, (passed, skipped, failed, seconds))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names", nargs="*", help="of configurations; all by default", metavar="name"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "matrix")
    parser.add_argument("--whole", action="store_true", help="run the whole suite")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(CONFIGURATIONS)
    if unknown:
        parser.error(f"{sorted(unknown)} are none of {list(CONFIGURATIONS)}")
    titles = ["configuration", "Python", "NumPy", "devices found", "compiler"]
    titles += ["passed", "skipped", "failed", "s"]
    print("|", " | ".join(titles), "|")
    print("|", " | ".join("---" for _ in titles), "|", flush=True)
    folder = arguments.folder.resolve()
    failed = False
    for name in arguments.names or CONFIGURATIONS:
        try:
            cells = row(CONFIGURATIONS[name], folder, arguments.whole)
        except RuntimeError as error:
            sys.stderr.write(f"{name}: {error}\n")
            cells = ["could not be run"]
        failed |= len(cells) == 1 or cells[-2] != "0"
        print("|", " | ".join([name, *cells]), "|", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
