# SPDX-License-Identifier: BSD-3-Clause
"""Files of every version are read with the values that were written."""

import shutil
from pathlib import Path

import numpy as np
import particles as pt
import pytest

from tests.files.contents import GRIDS, TIMES, TRANSPORTS, fields_on, spoil, state_of
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
    check_xdmf(tmp_path / "box.xdmf", moments)
    series.append(2, moments[0])
    for number, expected in enumerate([*moments, moments[0]]):
        found = series.load(number).fields
        assert found.keys() == expected.keys()
        for name, field in expected.items():
            check_same(found[name], field)


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
