# SPDX-License-Identifier: BSD-3-Clause
"""What the pages of the documentation show is what happens."""

import doctest
import re
from pathlib import Path
from types import ModuleType

import matplotlib
import particles as pt
import pytest

DOCS = Path(__file__).parents[2] / "docs"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF


def session_of(page):
    """Return all that is typed on a page, and the answers."""
    return "\n".join(
        re.findall(r"^```pycon\n(.+?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    )


PAGES = {
    str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md")) if session_of(page)
}


WITH_NUMPY_2_1 = {"howto/pyopencl.md"}
OF_CPUS = {"howto/pyopencl.md", "howto/runs.md"}  # memory of the host, and how much is needed


@pytest.mark.sampled
@pytest.mark.drawn(10)
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.filterwarnings("error::particles.LCFLWarning")  # what is advised is not warned of
@pytest.mark.filterwarnings("error::particles.WallWarning")
@pytest.mark.filterwarnings("default")  # a page may show one
def test_what_a_page_shows(name, tmp_path, monkeypatch):
    if name in WITH_NUMPY_2_1:
        pytest.importorskip("numpy", minversion="2.1", reason="it writes to memory of DLPack")
    if name in OF_CPUS and not pt.default_device().is_cpu:
        pytest.skip("it shows what a CPU does")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    session = doctest.DocTestParser().get_doctest(session_of(PAGES[name]), {}, name, name, 0)
    told = []
    doctest.DocTestRunner(optionflags=FLAGS).run(session, out=told.append)
    assert not told, "".join(told)


def test_the_tutorial_installs_what_its_pages_need():
    pages = [page.read_text() for page in (DOCS / "tutorial").glob("*.md")]
    installed = re.findall(r'^pip install "\.\[(.+)\]"$', "\n".join(pages), re.MULTILINE)
    needed = {"plot": "pt.plot.", "io": "pt.io.Series("}
    assert [set(extras.split(",")) for extras in installed] == [
        {extra for extra, words in needed.items() if any(words in page for page in pages)}
    ]


def test_everything_public_is_in_the_api_once():
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api/index.md").read_text(), re.MULTILINE)
    public = set(pt.__all__) - {"__version__"}
    for name in pt.__all__:
        if isinstance(module := getattr(pt, name), ModuleType):
            public |= {f"{name}.{member}" for member in module.__all__}
    assert sorted(listed) == sorted(public)
