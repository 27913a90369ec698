# SPDX-License-Identifier: BSD-3-Clause
"""The steps of the paper on a few points: the same bits, and operations counted as they are."""

import numpy as np
import pytest

from tests.support.bandwidths import some_bandwidth

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks.paper import __main__ as paper
from benchmarks.paper import intensity, ladder, pictures

pytestmark = pytest.mark.one_device


@pytest.mark.sampled
def test_every_step_of_the_ladder_gives_the_same_bits(device):
    problem = ladder.Problem(device, 20)
    start = problem.u.get()
    results = {}
    for rung in ladder.rungs(device):
        problem.u[...] = start
        sweep = problem.sweep(rung)
        for axis in (2, 0, 1):
            sweep(axis, ladder.DT)
        results[rung.name] = problem.u.get()
    last = results.popitem()[1]
    assert np.abs(last - start).max() > 0.1
    for name, values in results.items():
        np.testing.assert_array_equal(values, last, name)


def test_operations_are_counted_by_hand():
    """The six weights of M'6 take 29, by hand."""
    push, remesh, fused = intensity.works("M'6")
    assert (push.operations, push.bytes) == (7, 8)
    assert (remesh.operations, remesh.bytes) == (3 + 29 + 6 * 2, 12)
    assert fused.operations == push.operations + remesh.operations
    assert fused.intensity == pytest.approx(51 / 12)


def test_weights_of_more_than_one_line():
    head = "#define A -1\n/* a * b */ INLINE void f(__private V* w) {"
    text = f"{head}\n  w[i + 1] = (V)(REAL(-2.5)) - t;\n  w[0] = MAD(t, t, t) * t;\n}}"
    assert intensity.weight_operations(text) == 4


def test_an_expression_that_is_gone():
    with pytest.raises(LookupError, match="no longer say"):
        intensity.found({"no such expression": 1})


@pytest.mark.sampled
def test_all_that_is_printed_and_drawn(device, tmp_path, monkeypatch):
    some_bandwidth(monkeypatch)
    found = paper.measure(device, 16, repeats=1)
    works = intensity.works(ladder.KERNEL)
    names = [rung.name for rung in ladder.rungs(device)]
    assert [row["name"] for row in found["ladder"]] == names
    table = paper.table(found).splitlines()
    assert [line[:34].rstrip() for line in table[1:-1]] == names
    assert paper.answer(found).startswith("buffers or images: ")
    assert "paper's GPU 74.5" in paper.papers_figures(found)
    assert [line.split()[0] for line in paper.intensities(found, works).splitlines()[1:]] == [
        "push",
        "remesh",
        "fused",
    ]
    parts = {row["form"]: row["seconds"] for row in found["shares"]}
    assert {"advect", "sweep", "host", "initialisation"} <= set(parts["two kernels"])
    assert "advect" not in parts["one kernel"]
    for path in pictures.write(found, works, tmp_path):
        assert path.stat().st_size > 10_000
