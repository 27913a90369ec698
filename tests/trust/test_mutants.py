# SPDX-License-Identifier: BSD-3-Clause
"""What `mutate.py` calls a mutant is a change of code: of one place, and of nothing but code."""

import ast
import fnmatch

import pytest

from tests.support.copied_tree import ROOT, by_stem, suite_of
from tests.trust.mutants import language_of, mutants_of, sample
from tests.trust.mutants_known import AREAS, EQUIVALENT
from tests.trust.mutate import candidates, report

C = """// 1 + 1
#include "a1.cl"
const int *twice = &other;  /* 2 - 1 */
int f(int a, int reach) { return a < 3 ? a * 2 : max(a, 77); }
void g() { throw Error("1 < 2, " + std::to_string(1 + 1)); }
INLINE real h(real x) { return x - REAL(0.5); }
void i() {
  if (!is_open(file)) close(file);
  a[wrap(i, n)] = row;
  read(
      first);
}
"""
HEADER = """struct A {
  int size = 3;
  std::array<int, 3> sizes{1, 1, 1};
  A(int size, int other);
  bool is_small() const { return size < 3; }
  void grow() {
    if (is_small()) {
      size = 3;
    }
  }
};
int f(int a = 2);
"""
PYTHON = '''"""1 + 1."""
def f(a: int = 3, *, b: bool = False) -> float:
    """2 - 1."""
    if a < 3 and not b:
        raise ValueError(f"{a + 1} < 3")
    self.a = a
    a = zip(a, b, strict=True)
    print(a)
    return -a * 2  # 3 + 3
'''


def changes(folder, name, text):
    (folder / name).write_text(text)
    return {(m.kind, m.line, m.before, m.after) for m in mutants_of(folder, name)}


def test_of_c_what_computes_is_changed(tmp_path):
    assert changes(tmp_path, "a.cl", C) == {
        ("comparison", 4, "<", "<="),
        ("off by one", 4, "3", "4"),
        ("weight", 4, "*", "/"),
        ("off by one", 4, "2", "3"),
        ("limit", 4, "max", "min"),
        ("sign", 6, "-", "+"),
        ("weight", 6, "0.5", "0.625"),
        ("ignored condition", 8, "!is_open(file)", "false"),
        ("wrap", 9, "wrap", "min"),
        ("axis", 9, "row", "lane"),
        ("dropped statement", 9, "a[wrap(i, n)] = row;", ";"),
    }


def test_of_headers_what_functions_do_is_changed(tmp_path):
    assert changes(tmp_path, "a.hpp", HEADER) == {
        ("comparison", 5, "<", "<="),
        ("off by one", 5, "3", "4"),
        ("ignored condition", 7, "is_small()", "false"),
        ("off by one", 8, "3", "4"),
        ("dropped statement", 8, "size = 3;", ";"),
    }


def test_of_python_what_computes_is_changed(tmp_path):
    assert changes(tmp_path, "a.py", PYTHON) == {
        ("comparison", 4, "<", "<="),
        ("off by one", 4, "3", "4"),
        ("logic", 4, "and", "or"),
        ("ignored condition", 4, "a < 3 and not b", "False"),
        ("dropped statement", 6, "self.a = a", "pass"),
        ("dropped statement", 8, "print(a)", "pass"),
        ("weight", 9, "*", "/"),
        ("off by one", 9, "2", "3"),
    }


@pytest.mark.sampled
def test_every_mutant_of_python_is_python():
    for mutant in sample(candidates("python/*"), 50, 0):
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        changed = mutant.apply(text)
        assert changed != text
        ast.parse(changed)


def test_the_same_seed_draws_the_same_from_all_languages():
    mutants = candidates("*")
    drawn = sample(mutants, 40, 1)
    assert drawn == sample(mutants, 50, 1)[:40] != sample(mutants, 40, 2)
    assert {language_of(mutant.path) for mutant in drawn} == {"C++", "kernels", "Python"}


@pytest.mark.sampled
def test_what_changes_in_one_file_draws_the_same_elsewhere():
    mutants = candidates("python/*")
    (changed,) = {mutant.path for mutant in sample(mutants, 1, 0)}
    left = [mutant for mutant in mutants if mutant.path != changed]
    drawn = [mutant for mutant in sample(mutants, 60, 0) if mutant.path != changed]
    assert set(drawn) <= set(sample(left, 60, 0))


def test_every_file_has_tests():
    for path in {mutant.path for mutant in candidates("*")}:
        assert suite_of(path)
        assert all((ROOT / file).is_file() for file in suite_of(path))


def test_no_file_of_tests_hides_another():
    one, other = ROOT / "tests" / "sets" / "test_a.py", ROOT / "tests" / "fields" / "test_a.py"
    with pytest.raises(RuntimeError, match="would hide tests/sets/test_a"):
        by_stem([one, other])


@pytest.mark.sampled
def test_no_area_is_in_vain():
    paths = {mutant.path for mutant in candidates("*")}
    first = {
        next((area for area in AREAS if fnmatch.fnmatch(path, area[0])), ("", []))[0]
        for path in paths
    }
    assert {pattern for pattern, _ in AREAS} <= first


@pytest.mark.sampled
def test_what_changes_nothing_is_in_the_sources():
    made = {(mutant.path, mutant.name) for mutant in candidates("*")}
    assert {(path, name) for path, names in EQUIVALENT.items() for name in names} <= made


def test_survivors_are_named_and_more_than_a_tenth_is_too_many(tmp_path, capsys):
    drawn = sample(candidates("python/particles/kernels/polynomials.py"), 10, 0)
    fates = dict.fromkeys(map(str, drawn), "FAILED tests/kernels/test_kernels.py::test_one")
    fates[str(drawn[3])] = None
    assert report(drawn, fates)
    assert f"survives: {drawn[3]}" in capsys.readouterr().out
    fates[str(drawn[4])] = None
    assert not report(drawn, fates)
    assert "10 mutants, 2 survive; 0 of the others hang." in capsys.readouterr().out
