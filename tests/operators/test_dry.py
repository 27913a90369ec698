# SPDX-License-Identifier: BSD-3-Clause
"""In a dry context whatever is done takes the memory that was forecast, and no work."""

import itertools

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles._core import testing

from tests.support.sweeps import box

pytestmark = pytest.mark.one_device

WALLS = pt.Grid((24, 20), boundary=["wall", "outflow"])
LONG_CHANNEL = pt.Grid((6000, 4), boundary=["wall", "periodic"])
GRIDS = {
    "plane": box(24, 20),
    "line": box(24),
    "three dimensions": box(6, 5, 20),
    "long lines": box(6000, 3),
    "few lines": box(5, 4000),
    "long both ways": box(5000, 4500),
    "walls": WALLS,
    "long channel": LONG_CHANNEL,
}
FORMS = [
    pt.Form(),
    *(
        pt.Form(kind, **options)
        for kind, options in itertools.product(
            ["private", "local", "global", "registers", "team"],
            [{}, {"copied": True}, {"transposed": True}, {"tiles": 3}, {"images": True}],
        )
    ),
    pt.Form("lanes", lanes=4),
    pt.Form("global", lanes=4),
]


def dry_device(device, is_gpu=False, widest_vector=None):
    """Return a dry device, with vectors of so many bytes if that is told."""
    core = _core.describe_device(device.info.pointer)
    info = testing.as_gpu(core, 16 * 1024) if is_gpu else core
    if widest_vector is not None:
        info = info.with_vectors(widest_vector, info.vector_fma)
    return pt.Device(info, _core.Context.dry(info))


def use(transport):
    """Step, sweep and look; more durations than are kept of how far a formula moves."""
    for k in range(20):
        transport.step(0.01 + 0.001 * k)
        transport.lcfl(0.01)
    transport.run(transport.time + 0.05, 0.02)


@pytest.mark.parametrize("is_gpu", [False, True], ids=["CPU", "GPU"])
@pytest.mark.parametrize("moved_by", ["field", "formula", "flow"])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_steps_take_no_more_in_any_form(device, grid, moved_by, is_gpu):
    dry = dry_device(device, is_gpu)
    for form in FORMS:
        needs_periodic = form.kind == "global" and set(grid.boundary) != {"periodic"}
        if (
            needs_periodic
            or (form.images and max(grid.shape) > 2000)
            or (form.lanes and (is_gpu or grid.ndim == 1))
        ):
            continue  # refused
        u = pt.Field(grid, device=dry)
        if moved_by == "field":
            velocity = pt.Field(grid, grid.ndim, device=dry)
        else:
            time = "0*t" if moved_by == "flow" else "0"
            velocity = pt.Velocity(grid, [f"0.1 + {time}"] + ["0"] * (grid.ndim - 1))
        transport = pt.Splitting(pt.AdvectionOp(velocity, form=form), pt.RemeshOp(u, form=form))
        held = dry.core.bytes_held, testing.buffers_held(dry.core)
        use(transport)
        assert (dry.core.bytes_held, testing.buffers_held(dry.core)) == held
        assert testing.programs_compiled(dry.core) == 0


def test_halves_are_summed_in_memory_of_their_own(device):
    """Where the sums lie in the result, which stores them less exactly."""
    dry = dry_device(device)
    u = pt.Field(box(24, 20), dtype="float16", device=dry)
    a = pt.Field(box(24, 20), 2, device=dry)
    for form, has_sums in [(pt.Form("private"), False), (pt.Form("global"), True)]:
        transport = pt.Splitting(pt.AdvectionOp(a), pt.RemeshOp(u, form=form))
        assert ("sums of a sweep" in transport.memory()) is has_sums
        use(transport)


@pytest.mark.parametrize("grid", [box(24), box(24, 20), box(6, 5, 20)], ids=repr)
def test_the_last_axis_is_transposed_where_lines_have_neighbours(device, grid):
    dry = dry_device(device)
    u, a = pt.Field(grid, device=dry), pt.Field(grid, grid.ndim, device=dry)
    for form, transposes in [
        (pt.Form("local"), True),
        (pt.Form("local", transposed=False), False),
        (pt.Form("private"), False),
        (pt.Form("private", transposed=True), True),
    ]:
        memory = pt.Splitting(pt.AdvectionOp(a), pt.RemeshOp(u, form=form)).memory()
        assert ("transposed field" in memory) is (transposes and grid.ndim > 1)


@pytest.mark.parametrize(("nodes", "is_cut"), [(511, False), (512, True)])
def test_lines_are_cut_where_they_do_not_fit_into_local_memory(device, nodes, is_cut):
    """16 KiB hold four components of 511 nodes in float64, and one row more, of a single line."""
    dry = dry_device(device, is_gpu=True)
    u, a = (pt.Field(box(20, nodes), count, "float64", dry) for count in (4, 2))
    memory = pt.Splitting(pt.AdvectionOp(a), pt.RemeshOp(u, form="local")).memory()
    assert ("edges of segments" in memory) is is_cut


@pytest.mark.parametrize("widest", [16, 32, 64])
def test_an_unsplit_step_of_any_vectors(device, widest):
    dry = dry_device(device, widest_vector=widest)
    for dtype, kernel in itertools.product(["float32", "float64"], ["L1", "M'6"]):
        u, v = (pt.Field(box(24, 20), dtype=dtype, device=dry) for _ in range(2))
        a = pt.Field(box(24, 20), 2, dtype, dry)
        transport = pt.Unsplit(pt.AdvectionOp(a), pt.RemeshOp([u, v], kernel))
        u.sum()
        held = dry.core.bytes_held
        transport.run(0.05, 0.02)
        u.sum()
        assert dry.core.bytes_held == held


@pytest.mark.parametrize("order", [1, 2, 4])
def test_steps_with_a_source(device, order):
    dry = dry_device(device)
    u, a = pt.Field(box(24, 20), device=dry), pt.Field(box(24, 20), 2, device=dry)
    transport = pt.Splitting(pt.AdvectionOp(a), pt.RemeshOp(u), order, source=pt.SourceOp(u, "-u"))
    held = dry.core.bytes_held
    use(transport)
    assert dry.core.bytes_held == held


def test_values_go_nowhere(device):
    u = pt.Field(pt.Grid(24), device=dry_device(device))
    held = u.device.core.bytes_held
    u[...] = np.ones(24, "float32")
    u[3:5] = 2
    assert u.get().shape == (24,)
    assert u.device.core.bytes_held == held


def test_parts_of_rows_go_nowhere(device):
    u = pt.Field(box(24, 20), device=dry_device(device, is_gpu=True))
    held = u.device.core.bytes_held
    u[:, 3] = np.ones(24)
    assert u[:, 3].shape == (24,)
    assert u.device.core.bytes_held == held


@pytest.mark.parametrize("is_gpu", [False, True], ids=["CPU", "GPU"])
def test_positions(device, is_gpu):
    dry = dry_device(device, is_gpu)
    u, a = pt.Field(box(24, 20), device=dry), pt.Field(box(24, 20), 2, device=dry)
    advection, remesh = pt.AdvectionOp(a), pt.RemeshOp(u)
    for axis in (0, 1, 0, 1):
        remesh.apply(advection.apply(0.1, axis))
    held = dry.core.bytes_held
    for axis in (0, 1):
        remesh.apply(advection.apply(0.1, axis))
    assert dry.core.bytes_held == held
