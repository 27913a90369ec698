# SPDX-License-Identifier: BSD-3-Clause
"""Between particles and grids that are divided, among ranks or devices: the same bits for any number."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import particles as pt
import pytest
from particles import kernels
from particles.interpolation.parts import reach_of, windows_around

from tests.support import lot, ranks
from tests.support.gpu_forms import as_gpu
from tests.support.rings import have_rings
from tests.support.several import several

ENDS = ["wall", ("outflow", "wall"), ("inflow", "outflow")]


@pytest.mark.sampled
def test_interpolation_does_not_depend_on_the_number_of_ranks(device):
    """In both directions, in every order, to other grids, with blocks shorter than kernels."""
    case = ("tests.interpolation.rank_cases", device.index, lot.NUMBER, 2)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) == 2 * 5
    number = lot.lots("ranks of interpolation").choice((2, 3, 4))
    assert ranks.check(number, *case) == alone, f"{number} ranks"


def both_ways(grid, rng, kernel, device, has_rings):
    """Return what points receive and what particles read, and which kernels ran."""
    field, given = (pt.Field(grid, 2, device=device) for _ in range(2))
    field[...] = rng.normal(size=(2, *grid.shape))
    swarm = pt.ParticleSet.random(
        grid, 9000, seed=5, device=device, s=rng.normal(size=(9000, 2)).astype("float32")
    )
    swarm.sort(by="row")
    give = pt.ParticlesToGrid(swarm, "s", given, kernel)
    sample = pt.GridToParticles(field, swarm, "read", kernel)
    for one in (give, sample):
        have_rings(one, has_rings)
    with pt.profile(field.device) as profile:
        for adds in False, True:
            give.apply(add=adds)
            sample.apply(add=adds)
        found = given.get().tobytes(), swarm.gather("read").tobytes()
    return found, profile.kernels.keys()


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["L1", "M'4", "M'6", "L6_4"])
@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("where", ["the cut axis", "another axis", "both"])
def test_parts_have_rings_of_planes(device, where, ndim, name):
    """Of any height: where kernels reach beyond the neighbours, and where rows begin beyond the last.

    Beside ends of the axis that is cut, or of another one, as well.
    """
    rng = np.random.default_rng(lot.lots(f"rings of parts {where} {ndim} {name}").getrandbits(64))
    kernel = kernels.get(name)
    ends = [[*ENDS, "periodic"][rng.integers(4)] for _ in range(ndim)]
    for axis, is_named in (0, where != "another axis"), (1, where != "the cut axis"):
        ends[axis] = ENDS[rng.integers(3)] if is_named else "periodic"
    if kernel.stencil == 8:  # with one plane more a ring would be of 16
        ends[0] = "periodic"
    for planes in 4, 23, 41:
        shape = [planes, *rng.integers(1, 12, ndim - 1)]
        for axis in range(ndim - 1):
            if ends[axis] != "periodic":
                shape[axis] = max(shape[axis], 2 * kernel.stencil)
        seed, count = rng.integers(2**32), int(rng.integers(2, 5))
        rows = [shape[0] - count + 1, *[1] * (count - 1)]
        cuts = [None, rows, rows[::-1]][rng.integers(3)]
        box = {"boundary": ends, "extent": 2.5}
        plain, whole = both_ways(
            pt.Grid(shape, **box), np.random.default_rng(seed), kernel, device, False
        )
        divided, parts = both_ways(
            pt.Grid(
                shape,
                **box,
                devices=several(device, count),
                cuts=cuts and [cuts, *[1] * (ndim - 1)],
            ),
            np.random.default_rng(seed),
            kernel,
            None,
            True,
        )
        assert divided == plain, (shape, ends, cuts)
        rings = {"ring_to_particles", "particles_to_ring"}
        assert not rings & whole
        assert rings & parts == (rings if device.is_cpu else set()), (shape, ends, cuts)
        assert not (device.is_cpu and "particles_to_grid" in parts)


def test_windows_have_every_plane_that_a_kernel_reaches():
    """From the cells of a rank on a grid of as many planes, or of others; periodic, or with mirror images."""
    rng = np.random.default_rng(lot.lots("windows").getrandbits(64))
    for _ in range(300):
        own, planes = rng.integers(5, 120), rng.integers(1, 120)
        planes = own if rng.integers(2) else planes
        begins = [0, *sorted(rng.choice(np.arange(1, own), rng.integers(4), replace=False)), own]
        stencil, ends = rng.choice((1, 2, 4, 6, 8, 12)), ["periodic", "wall"][rng.integers(2)]
        grid = SimpleNamespace(
            ranks="some", ndim=2, whole=SimpleNamespace(shape=(own, 3)), begins=begins
        )
        other = SimpleNamespace(whole=SimpleNamespace(shape=(planes, 3)), boundary=(ends, "wall"))
        windows = windows_around(grid, other, reach_of(stencil))
        for (begin, end), window in zip(pairwise(begins), windows, strict=True):
            x = np.linspace(begin, end, 50) / own * planes - (ends == "wall") / 2
            reached = np.floor(x)[:, None] - (stencil - 1) // 2 + np.arange(stencil)
            if ends == "wall":
                reached = np.where(reached < 0, -1 - reached, reached)
                reached = np.where(reached >= planes, 2 * planes - 1 - reached, reached)
            has = (window.first + np.arange(window.rows)) % planes
            assert {*(reached % planes).ravel()} <= {*has}, (own, planes, begins, stencil, ends)


@pytest.mark.parametrize("stencil", [2, 6, 12, 16])
def test_planes_that_are_gone_through_are_there(stencil):
    """As reach.cl has it for axes with ends: those around a part, or all where these are few."""
    before = stencil // 2 - 1
    for own in range(3, 3 * stencil):
        begins = [0, own // 3, 2 * own // 3, own]
        box = SimpleNamespace(shape=(own, 3))
        grid = SimpleNamespace(ranks="some", ndim=2, whole=box, begins=begins)
        other = SimpleNamespace(whole=box, boundary=("wall", "wall"))
        windows = windows_around(grid, other, reach_of(stencil))
        for (begin, end), window in zip(pairwise(begins), windows, strict=True):
            low, high = max(begin + before + 1 - stencil, 0), min(end + before + 1, own)
            if own < stencil:
                low, high = 0, own
            assert window.first <= low
            assert high <= window.first + window.rows


@pytest.mark.sampled
def test_gpus_that_share_a_grid_give_the_bits_of_one_device(device):
    """They give to tiles of their parts in local memory, from as many cells as points or others."""
    rng = np.random.default_rng(lot.lots("gpus that share a grid").getrandbits(64))
    shape = [(20, 67), (9, 18, 37)][rng.integers(2)]
    cells = [shape, tuple(round(n * rng.uniform(0.5, 2)) for n in shape)][rng.integers(2)]
    first = ["periodic", "wall", ("outflow", "wall")][rng.integers(3)]
    box = {"boundary": [first, *["wall"] * (len(shape) - 1)], "extent": 2.5}
    n = 6000  # of fewer the rows of the whole grid are not counted
    at, s = rng.uniform(0, 2.2, (n, len(shape))), rng.normal(size=n).astype("float32")
    u = rng.normal(size=shape)
    found, gpus = set(), several(as_gpu(device), 3)
    for where in {"device": device}, {"devices": gpus}:
        home, grid = (pt.Grid(n, **box, devices=where.get("devices")) for n in (cells, shape))
        on = where.get("device")
        swarm = pt.ParticleSet(home, at, s=s, dtype="float32", device=on)
        swarm.sort("cell")
        given, field = (pt.Field(grid, device=on) for _ in range(2))
        field[...] = u
        for gpu in gpus:
            gpu.core.start_profile(1)
        pt.ParticlesToGrid(swarm, "s", given, "M'4").apply()
        pt.GridToParticles(field, swarm, "value", "M'4").apply()
        launched = [set(gpu.core.stop_profile(1)) for gpu in gpus]
        order = np.argsort(swarm.gather("s"), kind="stable")
        found.add((given.get().tobytes(), swarm.gather("value")[order].tobytes()))
    assert len(found) == 1
    for ran in launched:
        assert "particles_to_tile" in ran
        assert ("tile_to_particles" in ran) == (cells == shape)
