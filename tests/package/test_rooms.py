# SPDX-License-Identifier: BSD-3-Clause
"""What belongs in which room of the core and the kernels; `script/lint` checks imports of Python."""

import re
from graphlib import TopologicalSorter
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


@pytest.mark.parametrize("folder", ["cpp", "kernels"])
def test_no_concept_uses_one_that_uses_it(folder):
    """Within a room either: a header and its source are one concept."""
    uses = {}
    for name, room, included in includes(folder):
        one, other = Path(room, name).with_suffix(""), Path(included).with_suffix("")
        if one != other:
            uses.setdefault(one, set()).add(other)
    assert len(uses) > 40
    TopologicalSorter(uses).prepare()  # raises CycleError, which names the circle


@pytest.mark.parametrize(("folder", "rooms"), [("cpp", CORE), ("kernels", KERNELS)])
def test_an_include_names_the_room(folder, rooms):
    for name, _, included in includes(folder):
        is_ours = any((ROOT / folder / room / included).is_file() for room in rooms)
        assert not is_ours, f"{name} includes {included} without its room"


def test_each_room_has_its_tests():
    folders = [path for path in (ROOT / "python/particles").iterdir() if any(path.glob("*.py"))]
    rooms = {*CORE, *KERNELS, *(path.name for path in folders)}
    tested = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert rooms - tested == {"bindings", "common", "generated"}


def test_child_processes_run_modules():
    """Not texts, whose imports nobody would see."""
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"[\"']-c[\"']", path.read_text()), path


def test_what_bounds_a_step_is_judged_in_one_place():
    """The core measures and judges; Python asks how strained a velocity is, and nothing else."""
    for room in ("operators", "stepping"):
        for path in (ROOT / "python" / "particles" / room).glob("*.py"):
            assert (".measure(" in path.read_text()) == (path.name == "advection.py"), path


def test_pybind11_stands_in_the_bindings_alone():
    for name, room, included in includes("cpp"):
        assert not included.startswith("pybind11/") or room == "bindings", name


def test_the_package_uses_nothing_that_is_there_for_tests():
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"_core\.testing|_core import .*\btesting\b", path.read_text()), path
