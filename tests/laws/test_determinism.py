# SPDX-License-Identifier: BSD-3-Clause
"""The same inputs give the same bits: what docs/reliability.md promises under "Same bits"."""

import functools
import warnings

import numpy as np
import particles as pt
import pytest

from tests.support import child, lot
from tests.support.gpu_forms import as_gpu
from tests.trust import hashes

RERUNS = 10
SHAPE = (512, 512)  # as many particles as forms are raced for
USES_THE_DRIVERS_FUNCTIONS = "formula of exponentials"

RUNS = f"""
import os
import sys
import particles as pt
from tests.trust.hashes import DT, digest, field_of, transport
from particles.tuning import tuner

tuner.LONG = 1

device = pt.devices()[int(sys.argv[1])]
print(device.compute_units)
for tune in sys.argv[3:]:
    os.environ["PARTICLES_TUNE"] = tune
    for _ in range({RERUNS}):
        one = transport(device, {SHAPE})
        one.run(0.5, DT)
        one.run(1.0, DT)
        print(digest(field_of(one)))
    pt.io.restore(sys.argv[2], one)
    one.run(1.0, DT)
    print(digest(field_of(one)))
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("determinism")


@functools.cache
def half_way(device, folder):
    """Return where a run has been left in the middle, and the digest of its end."""
    path = folder / f"half-{device.index}"
    one = hashes.transport(device, SHAPE)
    one.run(0.5, hashes.DT)
    pt.io.checkpoint(path, one)
    one.run(1.0, hashes.DT)
    return path, hashes.digest(hashes.field_of(one))


def units_of_runs(device, folder, *tunes, **environment):
    """Return the compute units of a process, all of whose runs end with the bits of this one's."""
    path, expected = half_way(device, folder)
    units, *digests = child.check(RUNS, device.index, path, *tunes, **environment).split()
    assert digests == [expected] * len(tunes) * (RERUNS + 1)
    return units


@pytest.mark.sampled
@pytest.mark.drawn(1)
@pytest.mark.parametrize("threads", ["1", "2", "3", "8", "32"])
def test_threads_reruns_restarts_and_the_tuner(device, folder, threads):
    if not device.info.is_pocl:
        pytest.skip("only PoCL can be told")
    units = units_of_runs(device, folder, "off", "quick", POCL_MAX_PTHREAD_COUNT=threads)
    assert units == threads


EXCHANGES = """
import sys
import particles as pt
from tests.laws.test_determinism import exchanges

print(*exchanges(pt.devices()[int(sys.argv[1])]))
"""
# Among them lines that are cut into tiles, each for as many threads as there are.
BOXES = [[(20_001,), (3,)], [(45, 38), (3, 9001), (2, 1)], [(12, 9, 14), (2, 3, 6001), (1, 2, 3)]]


def exchanges(device):
    """Return digests of what particles give and receive, and of steps along all axes at once."""
    found = list(hashes.exchanged(device).values())
    for shape in (boxes[lot.lots("box").randrange(len(boxes))] for boxes in BOXES):
        swarm = hashes.spread(shape, device)
        field = pt.Field(swarm.grid, device=device)
        pt.ParticlesToGrid(swarm, "s", field, "M'4").apply()
        flow = pt.Field(swarm.grid, len(shape), device=device)
        for axis, cells in enumerate(swarm.grid.spacing):
            flow.component(axis)[...] = 5.3 * cells
        flow.component(-1)[..., ::3] += 0.4 * swarm.grid.spacing[-1]
        advection, remesh = pt.AdvectionOp(flow), pt.RemeshOp(field, "M'4")
        given = hashes.digest(field)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.LCFLWarning)
            pt.Unsplit(advection, remesh).step(1.0)
        found += [given, hashes.digest(field)]
    return found


@pytest.mark.sampled
@pytest.mark.drawn(1)
@pytest.mark.parametrize("threads", ["1", "2", "3", "8", "32"])
def test_threads_between_particles_and_grid(device, threads):
    if not device.info.is_pocl:
        pytest.skip("only PoCL can be told")
    found = child.check(EXCHANGES, device.index, POCL_MAX_PTHREAD_COUNT=threads).split()
    assert found == exchanges(device)


@pytest.mark.slow
@pytest.mark.one_device
def test_empty_caches(device, folder, tmp_path):
    (tmp_path / "pocl").mkdir()
    (tmp_path / "ours").mkdir()
    units_of_runs(
        device,
        folder,
        "off",
        PARTICLES_CACHE=str(tmp_path / "ours"),
        POCL_CACHE_DIR=str(tmp_path / "pocl"),
    )


def end_of(device, problem):
    one = hashes.transport(device, **hashes.PROBLEMS[problem])
    one.run(1.0, hashes.DT)
    return hashes.digest(hashes.field_of(one))


@pytest.mark.sampled
@pytest.mark.drawn(5)
@pytest.mark.parametrize("problem", hashes.PROBLEMS)
def test_reruns_and_the_forms_of_gpus(device, problem):
    dtype = hashes.PROBLEMS[problem].get("dtype", "float32")
    if np.dtype(dtype) not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    expected = end_of(device, problem)
    assert end_of(device, problem) == expected
    if problem != USES_THE_DRIVERS_FUNCTIONS:
        assert end_of(as_gpu(device), problem) == expected


BUILT = """
import sys

from tests.support import lot
import particles as pt
from tests.support.drawn import drawn
from tests.trust.hashes import PROBLEMS, digests
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

device = pt.devices()[int(sys.argv[1])]
for name, digest in digests(device, lot.some(PROBLEMS, 2, "optimisation")).items():
    print(name, digest)

@seed(lot.NUMBER)
@settings(
    max_examples=2,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def run(data):
    case, start = drawn(data.draw, device)
    found, _ = case.run(start, form=None)
    print(case.grid, found.tobytes().hex())

run()
"""


@pytest.mark.slow
def test_optimisation_changes_no_bit(device):
    if not device.info.is_pocl:
        pytest.skip("only PoCL can be told")
    built = [
        child.check(BUILT, device.index, POCL_EXTRA_BUILD_FLAGS=flags)
        for flags in ("", "-cl-opt-disable")
    ]
    assert built[0].splitlines() == built[1].splitlines()


ALIKE = """
import particles as pt
from tests.trust.hashes import PROBLEMS, digests
from particles.runtime import drivers
from tests.support.usable import usable_devices

cpus = [device for device in usable_devices() if device.is_cpu]
drivers._vectors = lambda driver: drivers.Vectors(16, False)
alike = ("default", "values", "formula of sines")
for device in cpus:
    print(*digests(device, alike).values())
"""


@pytest.mark.sampled
def test_drivers_of_cpus_agree_without_fused_multiply_add():
    first, *others = child.check(ALIKE).splitlines()
    if not others:
        pytest.skip("there is one driver of a CPU")
    assert set(others) == {first}
