# SPDX-License-Identifier: BSD-3-Clause
"""What a user is told to type can be typed: in messages, on pages, in notebooks and programs."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from particles.cli import main

ROOT = Path(__file__).parents[2]
PLACES = {
    "": "*.md",
    ".ci": "*",
    ".github": "**/*.yml",
    "benchmarks": "**/*.py",
    "docs": "**/*.md",
    "docs/gallery": "*",
    "notebooks": "*.ipynb",
    "python": "**/*.py",
    "script": "*",
}
SOURCES = ("cpp", "kernels")

whole = pytest.mark.skipif(not (ROOT / "script").is_dir(), reason="the sdist has no script/")


def texts_in(places):
    """Return all texts by their paths."""
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder, pattern in places.items()
        for path in sorted((ROOT / folder).glob(pattern))
        if path.is_file() and "generated" not in path.parts
    }


TEXTS = texts_in(PLACES)
NOT_OURS = r"pip install(?!.*--no-index)[^`#|\n]*\bparticles(-opencl)?\b"


def said(pattern):
    """Return what a pattern finds, with where."""
    return [(place, found) for place, text in TEXTS.items() for found in re.findall(pattern, text)]


def test_no_index_is_asked_for_what_it_has_not():
    assert [place for place, text in TEXTS.items() if re.search(NOT_OURS, text)] == []
    assert re.search(NOT_OURS, 'try: pip install "particles-opencl[io]"')
    assert re.search(NOT_OURS, "pip install --upgrade particles")


def test_the_extras_that_are_named_exist():
    extras = set(metadata.metadata("particles-opencl").get_all("Provides-Extra"))
    named = said(r"pip install [^`\n]*\.\[([\w,]+)\]")
    assert len(named) > 5
    for place, names in named:
        assert set(names.split(",")) <= extras, place


def test_the_programs_that_are_named_exist():
    for place, name in said(r"(?<![\w/.])(script/[a-z][\w-]+|\.ci/run)"):
        assert os.access(ROOT / name, os.X_OK), (place, name)
    for place, name in said(r"python (tests/[\w/]+\.py)"):
        assert (ROOT / name).is_file(), (place, name)
    for place, name in said(r"python -m\s+((?:benchmarks|tests)\.[\w.]*\w)"):
        path = ROOT / name.replace(".", "/")
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), (place, name)


MEASUREMENTS = sorted({name for _, name in said(r"python -m\s+(benchmarks\.[\w.]*\w)")})


@whole
@pytest.mark.filterwarnings("ignore:'benchmarks:RuntimeWarning")  # what another one has imported
@pytest.mark.parametrize("name", MEASUREMENTS)
def test_the_measurements_that_are_named_can_be_run(name, monkeypatch, capsys):
    options = {found for _, found in said(rf"python -m\s+{name} [^`\n]*?(--[a-z]+)")}
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module(name, run_name="__main__")
    assert stopped.value.code == 0
    told = capsys.readouterr().out
    assert all(option in told for option in options), options


FILE = (
    r"(?<![\w/.*<>{}-])(?:[\w.-]+/)*[\w-]+\.(?:py|pyi|cpp|hpp|cl|md|toml|ipynb|yml)\b(?![\w/.]*\()"
)


@whole
def test_the_files_that_are_named_exist():
    """On pages, in comments and docstrings; a part of a path will do."""
    folders = [path for path in ROOT.iterdir() if path.name in (*PLACES, *SOURCES, "tests")]
    files = [*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*.*"))]
    there = {place for path in files for place in parts_of(path.relative_to(ROOT))}
    texts = texts_in(dict.fromkeys(SOURCES, "**/*.*")) | {
        place: text for place, text in TEXTS.items() if not place.startswith("script")
    }
    missing = {
        (place, name)
        for place, text in texts.items()
        for name in re.findall(FILE, text)
        if name.removeprefix("../").removeprefix("./") not in there
    }
    assert missing == set()


def parts_of(path):
    """Return a path without its first folders, however many."""
    return ["/".join(path.parts[k:]) for k in range(len(path.parts))]


COMMANDS = sorted(
    {
        line
        for _, line in said(r"(?m)^(particles [a-z].*)$") + said(r"`(particles [a-z][^`\n]*)`")
        if line.split()[1] in main.COMMANDS
    }
)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_that_are_shown_can_be_run(line):
    _, *arguments = shlex.split(line.partition("|")[0], comments=True)
    if len(arguments) == 1:  # named, not shown
        arguments.append("--help")
    try:
        code = main.parser().parse_args(arguments) and 0
    except SystemExit as stopped:
        code = stopped.code
    assert code == 0


def test_commands_are_shown():
    assert {line.split()[1] for line in COMMANDS} == set(main.COMMANDS)


@whole
@pytest.mark.parametrize("program", ["demo", "test"])
def test_without_root_all_that_is_missing_is_said_at_once(program, tmp_path):
    for folder in ("bin", "script", "python", "cmake", "cpp", "kernels"):
        (tmp_path / folder).mkdir()
    for name in ("script/setup", f"script/{program}", "pyproject.toml", "CMakeLists.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    # No apt-get, so that root cannot install anything either.
    for tool in ("bash", "cat", "dirname", "find", "id", "sha256sum", "sort", "uname", "xargs"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    ran = subprocess.run(
        [tmp_path / "bin" / "bash", f"script/{program}"],
        cwd=tmp_path,
        env={"PATH": str(tmp_path / "bin")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    first, *others = ran.stderr.splitlines()
    missing = first.removeprefix("These are missing: ")
    assert {"python3", "python3-venv", "python3-dev", "g++"} <= set(missing.split())
    assert f"  apt-get update && apt-get install --no-install-recommends {missing}" in others
    assert any(line.startswith("Without root: a wheel needs neither") for line in others)
    assert ran.stderr.count("missing") == 1
    assert not (tmp_path / ".venv").exists()
