# SPDX-License-Identifier: BSD-3-Clause
"""What a user is told to type can be typed: in messages, on pages, in notebooks and programs."""

import os
import re
import shlex
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import pytest
from particles.cli import main

ROOT = Path(__file__).parents[2]
PLACES = {
    "": "*.md",
    ".ci": "*",
    ".github": "**/*.yml",
    "benchmarks": "*.py",
    "docs": "**/*.md",
    "docs/gallery": "*",
    "notebooks": "*.ipynb",
    "python": "**/*.py",
    "script": "*",
}
TEXTS = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for folder, pattern in PLACES.items()
    for path in sorted((ROOT / folder).glob(pattern))
    if path.is_file() and "generated" not in path.parts
}
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
    for place, name in said(r"python -m (benchmarks\.\w+)"):
        assert (ROOT / name.replace(".", "/")).with_suffix(".py").is_file(), (place, name)


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


@pytest.mark.skipif(not (ROOT / "script").is_dir(), reason="the sdist has no script/")
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
