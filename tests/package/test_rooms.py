# SPDX-License-Identifier: BSD-3-Clause
"""A room of the core uses only rooms below it; `script/lint` checks the same for Python."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INCLUDE = re.compile(r'(?m)^\s*#\s*include\s*[<"]([^">]+)[">]')

# From below to above.
CORE = (
    *("runtime", "arrays", "fields", "sets", "lines", "motion"),
    *("sweep", "interpolation", "operators", "stepping", "bindings"),
)
KERNELS = (
    *("common", "generated", "runtime", "arrays", "fields"),
    *("sets", "lines", "motion", "sweep", "interpolation", "operators", "stepping"),
)


def includes(folder):
    """Yield the files of a folder, their rooms, and what they include of the folder."""
    for path in sorted((ROOT / folder).glob("*/*.*")):
        room, name = path.relative_to(ROOT / folder).parts
        for included in INCLUDE.findall(path.read_text()):
            yield name, room, included


@pytest.mark.parametrize(("folder", "rooms"), [("cpp", CORE), ("kernels", KERNELS)])
def test_a_room_uses_only_rooms_below_it(folder, rooms):
    assert {path.name for path in (ROOT / folder).iterdir() if path.is_dir()} == set(rooms)
    for name, room, included in includes(folder):
        other, is_room, _ = included.partition("/")
        if is_room and other in rooms:
            assert rooms.index(other) <= rooms.index(room), f"{name} includes {included}"


@pytest.mark.parametrize(("folder", "rooms"), [("cpp", CORE), ("kernels", KERNELS)])
def test_an_include_names_the_room(folder, rooms):
    for name, _, included in includes(folder):
        is_ours = any((ROOT / folder / room / included).is_file() for room in rooms)
        assert not is_ours, f"{name} includes {included} without its room"


def test_child_processes_run_modules():
    """Not texts, whose imports nobody would see."""
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"[\"']-c[\"']", path.read_text()), path


def test_pybind11_stands_in_the_bindings_alone():
    for name, room, included in includes("cpp"):
        assert not included.startswith("pybind11/") or room == "bindings", name


def test_the_package_uses_nothing_that_is_there_for_tests():
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"_core\.testing|_core import .*\btesting\b", path.read_text()), path
