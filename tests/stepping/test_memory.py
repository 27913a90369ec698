# SPDX-License-Identifier: BSD-3-Clause
"""What is said of memory before anything is allocated is what is allocated then."""

import gc

import particles as pt
import pytest
from particles import _core
from particles._core import testing
from particles.operators.form import Form
from particles.runtime.device import Device

from tests.support.sweeps import box

pytestmark = pytest.mark.one_device

WALLS = pt.Grid((24, 20), boundary=["wall", ("inflow", "outflow")])
CHOICES = {
    "the default": {"grid": box(24, 20)},
    "three dimensions": {"grid": box(24, 16, 20), "components": 3},
    "long lines": {"grid": box(6000, 3)},
    "long lines moved by a formula": {"grid": box(6000, 3), "velocity": "formula"},
    "half precision": {"grid": box(24, 20), "dtype": "float16"},
    "double precision": {"grid": box(24, 20), "dtype": "float64"},
    "a formula": {"grid": box(24, 20), "velocity": "formula"},
    "a coarse velocity": {"grid": box(24, 20), "velocity": box(12, 5)},
    "ends": {"grid": WALLS},
    "ends and a formula": {"grid": WALLS, "velocity": "formula"},
    "a limiter": {"grid": box(24, 20), "limiter": "positive"},
    "values": {"grid": box(24, 20), "conservative": False},
    "unsplit": {"grid": box(24, 20), "order": None},
}


def made(device, grid, components=1, dtype="float32", velocity=None, order=2, **options):
    """A transport as `memory` is told of it."""
    u = pt.Field(grid, components, dtype, device, "u")
    if isinstance(velocity, pt.Velocity):
        advection = pt.AdvectionOp(velocity)
    else:
        real = "float64" if dtype == "float64" else "float32"
        a = pt.Field(velocity or grid, grid.ndim, real, device, "a")
        advection = pt.AdvectionOp(a, grid=grid)
    inflow = 0.0 if grid == WALLS else None
    remesh = pt.RemeshOp(u, inflow=inflow, **options)
    return (
        pt.Unsplit(advection, remesh) if order is None else pt.Splitting(advection, remesh, order)
    )


@pytest.mark.sampled
@pytest.mark.drawn(6)
@pytest.mark.parametrize("name", CHOICES)
def test_memory_is_what_is_allocated(device, name):
    """To the byte, after a run too; and a forecast allocates nothing, nor does it build anything."""
    choice = dict(CHOICES[name])
    if choice.get("velocity") == "formula":
        choice["velocity"] = pt.Velocity(choice["grid"], ["0.1*y", "0.1"])
    gc.collect()
    core = device.core
    before = core.bytes_held
    built = testing.programs_compiled(core), testing.programs_loaded(core)
    planned = pt.memory(**choice, device=device)
    assert core.bytes_held == before
    assert (testing.programs_compiled(core), testing.programs_loaded(core)) == built
    transport = made(device, **choice)
    assert core.bytes_held - before == planned.total
    transport.run(0.02, 0.01)
    assert core.bytes_held - before == planned.total
    assert dict(transport.memory()) == dict(planned)


@pytest.mark.parametrize(("kernel", "together"), [("M'4", 4), ("M'6", 1)])
def test_particles_carry_values_of_one_launch_at_a_time(device, kernel, together):
    """Of six fields as many as four share one, but for six weights along each of three axes."""
    grid = box(24, 16, 20)
    gc.collect()
    before = device.core.bytes_held
    fields = [pt.Field(grid, device=device) for _ in range(6)]
    wind = pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0", "0"]))
    transport = pt.Unsplit(wind, pt.RemeshOp(fields, kernel))
    together = together if device.is_cpu else 1
    assert transport.memory()["particles"] == 4 * grid.size * together
    assert transport.memory().total == device.core.bytes_held - before
    transport.run(0.02, 0.01)
    assert transport.memory().total >= device.core.bytes_held - before


def test_a_coarse_velocity_keeps_its_ratios_on_another_grid(device):
    transport = made(device, box(24, 20), velocity=box(12, 5))
    larger = pt.memory(box(48, 60), velocity=box(24, 15), device=device)
    assert transport._forecast.memory(box(48, 60)).total == larger.total


def test_memory_counts_shared_fields_once(device):
    grid = box(24, 20)
    gc.collect()
    before = device.core.bytes_held
    u = pt.Field(grid, 2, device=device, name="both")
    wind = pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0"]))
    transport = pt.Splitting(wind, pt.RemeshOp([u.component(0), u.component(1)]))
    assert transport.memory().total == device.core.bytes_held - before


def test_memory_counts_what_is_given_to_a_source(device):
    grid = box(24, 20)
    gc.collect()
    before = device.core.bytes_held
    u, v, heat = (pt.Field(grid, device=device, name=name) for name in ("u", "v", "heat"))
    source = pt.SourceOp(u, lambda u, q, v, x, y: q * v, [heat, v])
    wind = pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0"]))
    transport = pt.Splitting(wind, pt.RemeshOp([u, v]), source=source)
    transport.step(0.1)
    memory = transport.memory()
    assert memory["given field heat"] == memory["carried field u"]
    assert memory.total == device.core.bytes_held - before


def test_what_memory_says(device):
    memory = pt.memory(box(96, 96), device=device)
    assert memory["velocity a"] >= 2 * memory["carried field u"] > 4 * 2 * 96 * 96
    assert sum(memory.values()) == memory.total
    assert memory.fits
    assert memory.available == device.memory
    lines = str(memory).splitlines()
    assert lines[0].split() == ["velocity", "a", "84.12", "KiB"]
    assert len({len(line) for line in lines}) == 1
    assert lines[-2].startswith("total ")
    assert lines[-1].startswith("the device has ")
    assert repr(memory).startswith(f"Memory(total={memory.total}, {{'velocity a': 86144, ")


def test_more_than_there_is_can_be_asked_about(device):
    memory = pt.memory(pt.Grid((8192, 8192, 8192)), device=device)
    assert memory.total > 4 * 4 * 8192**3
    assert not memory.fits
    assert str(memory).splitlines()[0].split()[-1] == "TiB"


@pytest.mark.parametrize(("shape", "axis"), [((2**29, 2), 0), ((2, 2**29), 1)])
def test_lines_are_as_long_as_whole_numbers_of_the_device_count(device, shape, axis):
    assert pt.memory(pt.Grid(shape), device=device).total > 3 * 4 * 2**30
    longer = tuple(n + (k == axis) for k, n in enumerate(shape))
    words = rf"grid: expected at most 2\*\*29 points along axis {axis}, got {2**29 + 1}"
    with pytest.raises(ValueError, match=words):
        pt.memory(pt.Grid(longer), device=device)


def test_a_transport_that_does_not_fit_says_what_would(device, monkeypatch):
    """The list of what is needed, and a grid of which all parts fit."""
    grid = box(64, 48)
    wind = pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0"]))
    u = pt.Field(grid, device=device, name="u")
    monkeypatch.setattr(device, "memory", pt.memory(box(32, 24), device=device).total)

    class Full:
        def __init__(self, *_):
            raise pt.OutOfMemoryError("edges of segments need too much")

    monkeypatch.setattr(_core, "Splitting", Full)
    with pytest.raises(pt.OutOfMemoryError) as caught:
        pt.Splitting(wind, pt.RemeshOp(u))
    first, *rows, last = str(caught.value).splitlines()
    assert first == "edges of segments need too much; all that is needed:"
    assert any(row.startswith("carried field u ") for row in rows)
    shape = tuple(
        int(n) for n in last.removeprefix("a grid of (").removesuffix(") fits").split(",")
    )
    assert 32 <= shape[0] < 64
    assert abs(shape[0] / shape[1] - 64 / 48) < 0.1


def test_what_would_fit_is_told_where_the_form_needs_more_points(device, monkeypatch):
    """Halves of lines do not fill these lanes."""
    grid = box(6, 10)
    remesh = pt.RemeshOp(pt.Field(grid, device=device), "L1", form=Form("lanes", lanes=4))
    wind = pt.AdvectionOp(pt.Velocity(grid, ["0.1", "0"]))

    class Full:
        def __init__(self, *_):
            raise pt.OutOfMemoryError("no room for a kernel")

    monkeypatch.setattr(_core, "Splitting", Full)
    with pytest.raises(pt.OutOfMemoryError, match=r"no room for a kernel(.|\n)*a grid of .* fits$"):
        pt.Splitting(wind, remesh)


def test_a_dry_context_has_nothing_to_wait_for(device):
    _core.Context.dry(device.info).finish()


def test_a_dry_context_keeps_account_and_nothing_else(device):
    """Fields of a dry context have memory of their own, as far as anyone can tell."""
    dry = Device(device.info, _core.Context.dry(device.info))
    one, other = (pt.Field(box(24, 20), device=dry) for _ in range(2))
    real = pt.Field(box(24, 20), device=device)
    assert dry.core.is_dry
    assert not device.core.is_dry
    assert one.core.strides == real.core.strides
    assert one.core.memory != other.core.memory
    held = dry.core.bytes_held
    del other
    assert dry.core.bytes_held == held // 2
