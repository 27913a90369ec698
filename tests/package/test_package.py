# SPDX-License-Identifier: BSD-3-Clause
"""The distribution: versions agree, the sdist is whole, the README's example runs."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import particles as pt
import pytest
from particles import _core
from particles._core import testing

from tests.support import child

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "cmake": {".cmake"},
    "cpp": {".cpp", ".hpp"},
    "kernels": {".cl"},
    "notebooks": {".ipynb"},
    "python": {".py", ".pyi", ".typed"},
    "tests": {".cpp", ".py"},
}
FILES = {
    *("CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "CONTRIBUTING.md", "LICENSE", "README.md"),
    *("PKG-INFO", "pyproject.toml"),
}


def test_versions_agree():
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    latest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert written.group(1) == latest.group(1) == cited.group(1) == pt.__version__
    assert metadata.version("particles-opencl") == pt.__version__


def test_the_extra_for_tests_can_build():
    needed = re.search(r"^build = \[(.+)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    required = metadata.requires("particles-opencl")
    names = {
        re.match(r"[\w-]+", text).group() for text in required if re.search("extra == .test.", text)
    }
    assert set(re.findall(r'"([\w-]+)>=', needed.group(1))) <= names


def test_tests_that_sanitizers_run_are_there():
    script = ROOT / "script" / "sanitize"
    if not script.is_file():
        pytest.skip("it is not in the sdist")
    text = script.read_text()
    named = set(re.findall(r"(\w+?)(?:\.py)?::(test_\w+)", text))
    for areas in re.findall(r"for area in (.+?); do", text, re.DOTALL):
        named |= {(area, "") for area in areas.replace("\\", "").split() if "::" not in area}
    assert named
    for module, test in named:
        files = list((ROOT / "tests").rglob(f"test_{module.removeprefix('test_')}.py"))
        assert len(files) == 1, module
        assert f"def {test}" in files[0].read_text(), f"{module}::{test}"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    child.check(
        f"""
        import os
        from scikit_build_core.build import build_sdist
        os.chdir({str(ROOT)!r})
        build_sdist({str(folder)!r})
        """
    )
    (archive,) = folder.iterdir()
    assert archive.name == f"particles_opencl-{pt.__version__}.tar.gz"
    return archive


def sources_in(folder):
    """Return the paths of a folder's sources, from the root on."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in FOLDERS[folder]
    }


@pytest.mark.sampled
def test_the_sdist_holds_all_that_is_needed_and_nothing_else(sdist):
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    tests = ROOT / "tests"
    read = [*(tests / "trust" / "fuzz" / "corpus").rglob("*"), *(tests / "files").glob("[0-9]*/*")]
    kept = {str(path.relative_to(ROOT)) for path in read if path.is_file()}
    assert packed == kept.union(FILES, *map(sources_in, FOLDERS))


def objects_of_setup():
    """Return the folder with the objects of these sources, or None if they may be of others."""
    build = ROOT / "build"
    core = Path(_core.__file__).stat().st_mtime
    sources = [path for folder in ("cpp", "kernels") for path in (ROOT / folder).rglob("*.*")]
    is_new = (build / "CMakeFiles/_core.dir").is_dir() and all(
        path.stat().st_mtime < core for path in [ROOT / "CMakeLists.txt", *sources]
    )
    return build if is_new else None


@pytest.mark.slow
def test_a_wheel_is_built_from_the_sdist(sdist, tmp_path):
    """That the sources can be compiled shows where they are; here they need be only if they are newer."""
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheels, installed = tmp_path / "wheels", tmp_path / "installed"
    options = ["--no-deps", "--no-build-isolation"]
    options += ["--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0"]
    environment = {**os.environ, "PATH": tools}
    if objects := objects_of_setup():
        launcher = f"{sys.executable};{ROOT / 'tests/support/made_objects.py'}"
        options += [f"--config-settings=cmake.define.CMAKE_CXX_COMPILER_LAUNCHER={launcher}"]
        environment["OBJECTS"] = str(objects)
    subprocess.run(
        [*pip, "wheel", *options, "--wheel-dir", wheels, sdist],
        check=True,
        env=environment,
    )
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    core = f"particles/{Path(_core.__file__).name}"
    assert packed == {name.removeprefix("python/") for name in sources_in("python")} | {core}
    subprocess.run([*pip, "install", "--no-deps", "--target", installed, wheel], check=True)
    run = "import particles; particles.default_device().core.run_self_test(); print(particles)"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", run],  # -S: an editable install would come first
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *sys.path])},
        check=True,
        capture_output=True,
        text=True,
    )
    assert str(installed) in ran.stdout


@pytest.fixture
def read_core():
    """Return a function that runs a tool of binutils on the core and returns its output."""

    def read(tool, *options):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing")
        command = [tool, *options, _core.__file__]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return read


def test_the_core_is_linked_to_no_opencl_library(read_core):
    linked = re.findall(r"\(NEEDED\).*\[(\w+)", read_core("readelf", "--dynamic", "--wide"))
    assert "libc" in linked
    assert not any("opencl" in library.lower() for library in linked)


def test_the_core_exports_nothing_but_its_module(read_core):
    symbols = read_core("nm", "--dynamic", "--defined-only", "--format=posix").splitlines()
    assert [symbol.split()[0] for symbol in symbols] == ["PyInit__core"]


@pytest.mark.sampled
def test_the_example_of_the_readme(capsys):
    (example,) = re.findall(r"```python\n(.+?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    small = example.replace("128, 128, 128", "32, 32, 32")
    assert small != example
    names = {}
    exec(compile(small, "README.md", "exec"), names)  # noqa: S102
    report = names["transport"].report()
    assert capsys.readouterr().out == f"{report}\n"
    (carried,) = report.carried
    assert carried.begin.sum == pytest.approx(4 / 3 * 3.14159 * 0.15**3 * 32**3, rel=0.1)
    assert abs(carried.change) < 1e-5


def test_every_kernel_is_carried_word_for_word():
    folder = ROOT / "kernels"
    kernels = {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.cl")
    }
    assert _core.embedded_kernels() == kernels


def test_an_included_kernel_comes_once():
    made = {
        "a.cl": '#include "b.cl"\n  # include "c.cl"\nA',
        "b.cl": '#include "c.cl"\n// #include "d.cl"',
        "c.cl": "C",
    }
    assert testing.kernel_source("a.cl", made) == 'C\n// #include "d.cl"\nA\n'


def test_a_kernel_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"no kernel file named nothing\.cl"):
        testing.kernel_source("a.cl", {"a.cl": '#include "nothing.cl"'})
