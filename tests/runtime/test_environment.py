# SPDX-License-Identifier: BSD-3-Clause
"""Environment variables: read in one file, explained in one table."""

import re
from pathlib import Path

import particles as pt
import pytest
from particles.runtime import environment

PACKAGE = Path(pt.__file__).parent
TABLE = Path(__file__).parents[2] / "docs" / "howto" / "install.md"


def test_one_file_reads_them():
    texts = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    readers = [
        path.stem for path, text in texts.items() if re.search(r"environ\b.*PARTICLES_", text)
    ]
    assert readers == []
    assert [path.stem for path, text in texts.items() if '_value("PARTICLES_' in text] == [
        "environment"
    ]
    text = texts[Path(environment.__file__)]
    assert {*re.findall('_value."(PARTICLES_.*?)"', text)} == {*environment.VARIABLES}


@pytest.mark.skipif(not TABLE.exists(), reason="the sdist has no docs")
def test_the_table_of_docs_has_them_all():
    told = re.findall(r"(?m)^\| `([A-Z_]+)` \|", TABLE.read_text("utf-8"))
    assert sorted(told) == sorted([*environment.VARIABLES, "POCL_CACHE_DIR"])


def test_what_is_no_number_of_ranks_is_none(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "\u00b2")  # a digit
    assert environment.launched() == 1
