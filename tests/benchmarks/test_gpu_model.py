# SPDX-License-Identifier: BSD-3-Clause
"""What is counted for GPUs: kernels whose counts are known, and occupancy by hand."""

import shutil

import pytest

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks.gpu_model import __main__ as gpu_model
from benchmarks.gpu_model import known, occupancy, oclgrind
from benchmarks.gpu_model.cases import CASES
from tests.support import lot


def has_headers():
    return shutil.which("oclgrind") and (oclgrind.driver().parents[2] / "include/oclgrind").is_dir()


@pytest.mark.one_device
@pytest.mark.skipif(not has_headers(), reason="Oclgrind or its headers are missing")
def test_kernels_whose_counts_are_known(tmp_path):
    library = gpu_model.plugin(str(tmp_path))
    _, counts = gpu_model.counted(library, "known")
    assert known.wrong(counts) == []
    counts[0]["loads_moved"] *= 2
    assert known.wrong(counts) == ["copied: loads must be 1, not 2"]


@pytest.mark.one_device
@pytest.mark.parametrize("name", lot.some(CASES, 4, "cases of the model"))
@pytest.mark.filterwarnings("ignore::particles.LCFLWarning")
def test_no_case_is_refused(name):
    CASES[name].prepare()()


@pytest.mark.parametrize(
    ("group", "local", "registers", "shares"),
    [
        (64, 0, 40, [78.125] * 3),  # 65 536 registers for 25 groups of two sub-groups
        (64, 0, 32, [100, 100, 100]),
        (32, 0, 16, [50, 50, 50]),  # 32 groups at most
        (64, 16640, None, [6.25, 18.75, 43.75]),  # 2, 6 and 14 groups of two sub-groups
        (16, 16 * 4 * 513, None, [0.78, 2.34, 5.47]),  # half the lanes are empty
        (64, 49 * 1024, 16, [0, 0, 0]),  # more than a group may have
    ],
)
def test_occupancy_by_hand(group, local, registers, shares):
    found = occupancy.occupancies(group, local, registers)
    assert [100 * share for share in found] == pytest.approx(shares, abs=0.01)


def test_how_much_a_problem_fills():
    held = occupancy.PROCESSORS * occupancy.SUB_GROUPS * occupancy.LANES
    assert occupancy.filled(held / 4, 0.5) == 0.5
    assert occupancy.filled(10 * held, 0.5) == 1
    assert occupancy.filled(held, 0) == 0
