# SPDX-License-Identifier: BSD-3-Clause
"""The check of kernels for GPUs finds what is planted, and nothing where nothing is."""

import re
import shutil
import subprocess
import sys

import pytest
from particles import _core
from particles._core import testing

from tests.support import child, lot

pytest.importorskip("benchmarks", reason="they are not in the sdist")

from benchmarks.gpu_model import oclgrind
from benchmarks.gpu_model.cases import CASES, COUNTED_IN, ON_CPUS_ALONE
from tests.trust import gpu_cases, gpu_check

needs_oclgrind = pytest.mark.skipif(shutil.which("oclgrind") is None, reason=oclgrind.MISSING)

# Moves n x n numbers through tiles in local memory, by the library's own kernel.
TRANSPOSE = """
import sys
import numpy as np
import particles as pt
import pyopencl as cl
text, rows = sys.argv[1], int(sys.argv[2])
device = pt.default_device()
assert device.platform == "Oclgrind"
assert device.kind == "GPU" and not device.is_cpu  # it says that it is both
program = cl.Program(device.context, text).build(["-w"], cache_dir=False)
n = 40
source, target = (cl.Buffer(device.context, 0, 4 * n * n) for _ in range(2))
values = np.arange(n * n, dtype="f").reshape(n, n)
cl.enqueue_copy(device.queue, source, values)
long = np.int64
box = [long(k) for k in (1, 1, rows, n)]
program.transpose(
    device.queue, (32 * 4, 8), (32, 8),
    source, long(0), long(0), long(0), long(1), long(n),
    target, long(0), long(0), long(0), long(n), long(1), *box,
)
device.finish()
"""
KERNEL = testing.kernel_source("arrays/copy.cl")
RACE = "Read-write data race at local memory"
OVERRUN = "Invalid write of size 4 at global memory"
UNWRITTEN = "Uninitialized value written to global memory"


def reported(tmp_path, text, rows=40, settings=gpu_check.RACES):
    """What Oclgrind reports of a transposition."""
    seen = {**oclgrind.environment(str(tmp_path), **settings), "OCLGRIND_CHECK_API": None}
    status, _, errors = child.run(TRANSPOSE, text, rows, **seen)
    assert status == 0, errors
    return errors


@needs_oclgrind
def test_nothing_is_found_where_nothing_is(tmp_path):
    assert reported(tmp_path, KERNEL) == ""


@needs_oclgrind
def test_a_race_is_found(tmp_path):
    text, planted = re.subn(r"barrier\(CLK_LOCAL_MEM_FENCE\);", "", KERNEL)
    assert planted
    assert RACE in reported(tmp_path, text)


@needs_oclgrind
def test_an_overrun_is_found(tmp_path):
    assert OVERRUN in reported(tmp_path, KERNEL, rows=41)


@needs_oclgrind
def test_memory_that_nobody_has_written_is_found(tmp_path):
    """The first row of a tile is not filled; and nothing is found where all of it is."""
    library = gpu_check.plain_writes(str(tmp_path))
    settings = {**gpu_check.UNWRITTEN, "PARTICLES_OPENCL": library}
    text, planted = re.subn(r"int k = slow; (?=k < square.size3)", "int k = slow + 1; ", KERNEL)
    assert planted == 1
    assert UNWRITTEN in reported(tmp_path, text, settings=settings)
    assert reported(tmp_path, KERNEL, settings=settings) == ""


@needs_oclgrind
def test_the_last_of_a_line_reads_what_was_written(tmp_path):
    """A segment may be shorter than the others; and the library with plain writes is used."""
    library = gpu_check.plain_writes(str(tmp_path))
    seen = oclgrind.environment(str(tmp_path), **gpu_check.UNWRITTEN, PARTICLES_OPENCL=library)
    found = gpu_check.run(["a shorter last segment", "the last part"], seen)
    assert found.reports == {}
    assert {"sweep", "keep_edges"} <= found.launched


@needs_oclgrind
@pytest.mark.sampled
def test_drawn_sweeps_read_what_was_written(tmp_path):
    """Two of each kind; of the other cases some take minutes."""
    cases = []
    for kind in "split", "part", "unsplit", "formula":
        names = [name for name in gpu_cases.CASES if name.split()[0] == kind]
        names = [name for name in names if "images" not in str(gpu_cases.CASES[name])]
        cases += lot.some(names, 2, f"unwritten memory, {kind}")
    library = gpu_check.plain_writes(str(tmp_path))
    seen = oclgrind.environment(str(tmp_path), **gpu_check.UNWRITTEN, PARTICLES_OPENCL=library)
    assert gpu_check.run_all(cases, seen, 1).reports == {}


def test_reports_are_told_apart():
    errors = "== a\n1 3 warning generated.\n warnings generated.\n== b\n12 warnings generated.\n\nInvalid read\n== c\n"
    assert dict(gpu_check.reports_in(errors)) == {"b": "Invalid read"}


def test_kernels_are_known_by_their_names():
    found = gpu_check.kernels()
    texts = "\n".join(_core.embedded_kernels().values())
    assert {"sweep", "gather", "transpose", "triad"} <= found
    assert len(found) == len(re.findall(r"(?m)^(?:__kernel|KERNEL)\b", texts))
    assert found >= ON_CPUS_ALONE


def test_what_every_kernel_asks_of_a_gpu_is_counted():
    """That the case launches it, the model looks itself when it counts."""
    assert set(COUNTED_IN) == gpu_check.kernels() - ON_CPUS_ALONE
    assert set(COUNTED_IN.values()) <= set(CASES)


@pytest.mark.sampled
def test_where_it_is_missing_it_says_how_to_install_it(tmp_path):
    command = [sys.executable, "-m", "tests.trust.gpu_check"]
    found = subprocess.run(
        command,
        cwd=gpu_check.ROOT,
        check=False,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 1
    assert found.stderr == f"{oclgrind.MISSING}\n"
