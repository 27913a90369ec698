# SPDX-License-Identifier: BSD-3-Clause
"""A kernel file includes what it uses, itself, and nothing else."""

import re
from functools import cache
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "kernels"
FILES = sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.glob("*/*.cl"))
OWN_HEADER = "common/functions.cl"
"""Comes before all others, where the driver's header is left out."""
AFTER_FORMULAS = "common/formula_parameters.cl"
"""Defines what the text before it has not."""
DEEPEST = 6
VARIANTS = {"motion/motion_formula.cl", "motion/motion_stored.cl"}
"""Define the same names, of which a program has those of one."""

NAME = r"[A-Za-z_]\w*"


def matches(pattern, text):
    return re.findall(pattern.replace("NAME", NAME), text, re.MULTILINE)


@cache
def code(file):
    """Return the text without comments, in which a macro is one line."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", (KERNELS / file).read_text(), flags=re.DOTALL)
    return text.replace("\\\n", " ")


@cache
def included(file):
    return matches(r'^\s*#\s*include\s*"([^"]+)"', code(file))


def is_entry(file):
    return bool(matches(r"^(?:KERNEL|__kernel)\b", code(file)))


def depth(file):
    return 1 + max(map(depth, included(file)), default=0)


@cache
def seen(file):
    """Return the files that are read before this one."""
    return set(included(file)).union(*map(seen, included(file)))


def made_by_macros(text):
    """Yield the functions that lines such as ``DEFINE_SUM_BEFORE(uint)`` define."""
    for macro, parameters, body in matches(r"^\s*#\s*define (NAME)\((.*?)\)(.*INLINE.*)$", text):
        for call in matches(rf"^{macro}\((.*?)\)", text):
            given = dict(zip(parameters.split(", "), call.split(", "), strict=True))
            for name in re.findall(rf"INLINE\s+{NAME}\s+([\w#]+)\(", body):
                yield "".join(given.get(part, part) for part in name.split("##"))


@cache
def defined(file):
    """Return the macros, functions and types that other files may use."""
    text = code(file)
    return {
        *matches(r"^\s*#\s*define (NAME)", text),
        *matches(r"^INLINE\b[^;{=#]*?(NAME)\(", text),
        *matches(r"^\} (NAME)(?: __attribute__.*)?;", text),
        *matches(r"^typedef [^;{]*?(NAME)(?: __attribute__.*)?;", text),
        *made_by_macros(text),
    }


@cache
def used(file):
    return set(matches("NAME", re.sub(r"#\s*include.*", "", code(file)))) - defined(file)


@cache
def called(file):
    parameters = matches(r"^\s*#\s*define NAME\((.*?)\)", code(file))
    own = {name for some in parameters for name in some.split(", ")}
    return set(matches(r"\b(NAME)\(", code(file))) - defined(file) - own


@pytest.mark.parametrize("file", [file for file in FILES if is_entry(file)])
def test_no_chain_of_includes_is_long(file):
    assert depth(file) <= DEEPEST


@pytest.mark.parametrize("file", FILES)
def test_what_a_file_uses_it_includes(file):
    had = set().union(*map(defined, included(file)))
    for other in seen(file) - set(included(file)):
        assert not used(file) & defined(other) - had, other
    for other in set(FILES) - seen(file) - {file, OWN_HEADER}:
        # A text that is made at run time is put together with what it calls.
        if not file.startswith("generated/"):
            assert not called(file) & defined(other) - names_seen(file), other


def names_seen(file):
    return set().union(*map(defined, seen(file)))


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith("generated/")])
def test_what_a_file_includes_it_uses(file):
    for other in included(file):
        assert used(file) & defined(other), other


def has_default(name, file):
    return bool(re.search(rf"#\s*ifndef {name}\b", code(file)))


def test_a_name_is_one_thing():
    """But for options, which have a default."""
    own = [file for file in FILES if file != OWN_HEADER and not file.startswith("generated/")]
    for name in set().union(*map(defined, own)):
        owners = {file for file in own if name in defined(file)}
        is_option = any(has_default(name, file) for file in owners)
        assert len(owners) == 1 or owners == VARIANTS or is_option, (name, owners)


@pytest.mark.parametrize("file", FILES)
def test_includes_stand_first_and_under_no_condition(file):
    """Each file is put in once, where it is named first: that must not be a branch left out."""
    lines = [line for line in code(file).splitlines() if line.strip()]
    places = [place for place, line in enumerate(lines) if "#include" in line]
    first = min(places, default=0)
    assert places == list(range(first, first + len(places)))
    assert all(re.match(r"#(ifndef|define|endif)\b", line) for line in lines[:first])
    in_order = sorted(included(file), key=lambda other: (other == AFTER_FORMULAS, other))
    assert included(file) == in_order
