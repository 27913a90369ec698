# SPDX-License-Identifier: BSD-3-Clause
"""What a user is told to type can be typed: in messages, on pages, in notebooks and programs."""

import os
import re
import shlex
from importlib import metadata
from pathlib import Path

import pytest
from particles import _cli

ROOT = Path(__file__).parents[1]
PLACES = {
    "": "*.md",
    ".ci": "*",
    ".github": "**/*.yml",
    "benchmarks": "*.py",
    "docs": "**/*.md",
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
        if line.split()[1] in _cli.COMMANDS
    }
)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_that_are_shown_can_be_run(line):
    _, *arguments = shlex.split(line.partition("|")[0], comments=True)
    if len(arguments) == 1:  # named, not shown
        arguments.append("--help")
    try:
        code = _cli.parser().parse_args(arguments) and 0
    except SystemExit as stopped:
        code = stopped.code
    assert code == 0


def test_commands_are_shown():
    assert {line.split()[1] for line in COMMANDS} == set(_cli.COMMANDS)
