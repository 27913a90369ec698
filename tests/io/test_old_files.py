# SPDX-License-Identifier: BSD-3-Clause
"""Files of every version are read with the values that were written."""

import shutil
from pathlib import Path

import numpy as np
import particles as pt
import pytest

from tests.files.contents import (
    GRIDS,
    TIMES,
    TRANSPORTS,
    fields_on,
    spoil,
    state_of,
    state_of_set,
    state_of_tracers,
    swarm_on,
    tracers,
)
from tests.support.written import check_same, check_xdmf, read_vti

pytestmark = pytest.mark.one_device

FILES = Path(__file__).parents[1] / "files"
VERSIONS = sorted(path.name for path in FILES.iterdir() if list(path.glob("*.npz")))

of_each_version = pytest.mark.parametrize("version", VERSIONS)


def test_the_present_version_has_written_its_files():
    assert pt.__version__ in VERSIONS, "python -m tests.files.write writes them"


@of_each_version
@pytest.mark.parametrize("grid", GRIDS)
def test_fields(version, grid):
    expected = fields_on(GRIDS[grid])
    found = pt.io.load(FILES / version / f"{grid}.npz")
    assert found.time == TIMES[0]
    assert found.fields.keys() == expected.keys()
    for name, field in expected.items():
        check_same(found.fields[name], field)
    for name, values in read_vti(FILES / version / f"{grid}.vti", GRIDS[grid]).items():
        np.testing.assert_array_equal(values, expected[name])


@of_each_version
def test_series(version, tmp_path):
    for name in "box.h5", "box.xdmf":
        shutil.copy(FILES / version / name, tmp_path)
    series, moments = pt.io.Series(tmp_path / "box.h5"), [fields_on(GRIDS["box"], t) for t in TIMES]
    assert series.times == TIMES
    check_xdmf(tmp_path / "box.xdmf", moments, is_new=False)
    series.append(2, moments[0])
    check_xdmf(tmp_path / "box.xdmf", [*moments, moments[0]])
    for number, expected in enumerate([*moments, moments[0]]):
        found = series.load(number).fields
        assert found.keys() == expected.keys()
        for name, field in expected.items():
            check_same(found[name], field)


@pytest.mark.sampled
@of_each_version
@pytest.mark.parametrize("kind", TRANSPORTS)
def test_checkpoints(version, kind):
    transport = TRANSPORTS[kind]()
    spoil(transport)
    pt.io.restore(FILES / version / f"{kind}.checkpoint", transport)
    found = state_of(transport)
    with np.load(FILES / version / f"{kind}.state.npz") as expected:
        assert found.keys() == {*expected}
        for name, values in found.items():
            np.testing.assert_array_equal(values, expected[name], name)


WITH_SETS = [version for version in VERSIONS if (FILES / version / "tracers.checkpoint").exists()]
of_each_with_sets = pytest.mark.parametrize("version", WITH_SETS)


def check_state(found, expected):
    assert found.keys() == {*expected}
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name], name)
        assert np.asarray(values).dtype == expected[name].dtype


def test_the_present_version_has_written_files_of_sets():
    assert pt.__version__ in WITH_SETS


@of_each_with_sets
@pytest.mark.parametrize("grid", GRIDS)
def test_sets(version, grid):
    found = pt.io.load(FILES / version / f"{grid}.swarm.npz").fields
    with np.load(FILES / version / f"{grid}.swarm.state.npz") as expected:
        check_state(state_of_set(found["swarm"]), expected)
    for name, field in fields_on(GRIDS[grid]).items():
        check_same(found[name], field)


@of_each_with_sets
def test_series_of_sets(version, tmp_path):
    for name in "swarm.h5", "swarm.xdmf":
        shutil.copy(FILES / version / name, tmp_path)
    series = pt.io.Series(tmp_path / "swarm.h5")
    series.append(2, swarm_on(GRIDS["plane"], 3))
    for number, count in enumerate((4, 5, 3)):
        found = series.load(number).fields["particles"]
        expected = swarm_on(GRIDS["plane"], count)
        assert found.grid == expected.grid
        check_state(state_of_set(found), state_of_set(expected))


@of_each_with_sets
def test_checkpoints_of_tracers(version):
    moved = tracers()
    moved.swarm.remove([True, *[False] * (len(moved.swarm) - 1)])
    pt.io.restore(FILES / version / "tracers.checkpoint", moved)
    with np.load(FILES / version / "tracers.state.npz") as expected:
        check_state(state_of_tracers(moved), expected)
