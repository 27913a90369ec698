# SPDX-License-Identifier: BSD-3-Clause
"""Grids of several devices of one process: all bits are those of one device."""

import copy
import os
import pickle
import random
import signal
import warnings
from threading import Thread, Timer

import numpy as np
import particles as pt
import pytest
from particles.communication.mates import Mate

from tests.communication import field_cases, file_cases, transport_cases
from tests.support import child, lot
from tests.support.several import OnDevices, several


def on_each(monkeypatch, module, device, run):
    """Return what a module's cases give on one device, and on some."""
    monkeypatch.setattr(module, "COMM", None)
    alone = run(device)
    count = lot.lots(module.__name__).choice((2, 3, 4))
    monkeypatch.setattr(module, "pt", OnDevices(several(device, count)))
    return alone, run(None)


def test_fields_do_not_depend_on_the_number_of_devices(device, monkeypatch):
    """By formula, by arrays, by arithmetic, and all that is made of all values, to the bit."""

    def run(place):
        draws = random.Random(lot.NUMBER)
        cases = [field_cases.drawn(draws) for _ in range(2)]
        return [list(field_cases.results(*case, place)) for case in cases]

    alone, divided = on_each(monkeypatch, field_cases, device, run)
    assert divided == alone


def test_transports_do_not_depend_on_the_number_of_devices(device, monkeypatch):
    """All that can be chosen, drawn; parts shorter than a move; a velocity changed in one part."""

    def run(place):
        draws, found = random.Random(lot.NUMBER), []
        for carry in transport_cases.carried, transport_cases.carried_along_all_axes:
            case = transport_cases.drawn(draws)
            try:
                found.append((case, carry(case, place)))
            except ValueError as error:  # too much strain
                found.append((case, str(error).split(",")[0]))
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone, divided = on_each(monkeypatch, transport_cases, device, run)
    assert divided == alone


@pytest.mark.one_device
def test_files_are_those_of_one_device(device, monkeypatch, tmp_path):
    """Checkpoints and fields in files: byte for byte, and read by either."""

    def run(place):
        folder = tmp_path / ("one" if place else "some")
        folder.mkdir()
        draws, found = random.Random(lot.NUMBER), []
        for number, case in enumerate(file_cases.drawn(draws, 1)):
            paths = folder / f"{number}.checkpoint", tmp_path / "one" / f"{number}.checkpoint"
            found += file_cases.checkpoints(case, place, *paths)
            fields = file_cases.fields_in_files(case, place, folder, tmp_path / "one", number)
            found += [next(fields), next(fields)]
        return found

    alone, divided = on_each(monkeypatch, file_cases, device, run)
    assert divided == alone


@pytest.mark.one_device
def test_rows_are_as_many_as_a_device_is_fast(device, monkeypatch):
    two = several(device, 2)
    assert pt.Grid((9, 4), devices=two).rows == (4, 5)
    assert pt.Grid((9, 4), devices=two, cuts=(2, 1)).rows == (4, 5)
    assert pt.Grid((9, 4), devices=two, cuts=[(7, 2), 1]).rows == (7, 2)
    two[1].compute_units += 1  # of another kind
    measured = []
    monkeypatch.setattr(
        "particles.fields.grid.speeds_of", lambda group: measured.append(group) or [3.0, 1.0]
    )
    slow = several(device, 1)[0]
    slow.driver = "slow"
    unlike = [two[0], slow]
    assert pt.Grid((12, 4), devices=unlike).rows == (9, 3)
    assert pt.Grid((4, 4), devices=unlike).rows == (3, 1)
    assert pt.Grid((12, 4), devices=unlike, cuts=(2, 1)).rows == (6, 6)
    assert pt.Grid(1100, devices=unlike).rows == (824, 276)  # in whole units of sums
    assert len(measured) == 1


@pytest.mark.one_device
def test_speeds_are_measured(device):
    from particles.fields.speeds import speeds_of

    group = pt.Grid(8, devices=several(device, 2))._device
    assert len(speeds_of(group)) == 2
    assert min(speeds_of(group)) > 0


@pytest.mark.one_device
def test_a_field_of_several_devices_is_used_as_any_other(device):
    """What is read, what runs beside it, what is asked of it."""
    grid = pt.Grid((9, 6), boundary="wall", devices=several(device, 3))
    u = pt.Field(grid, name="u")
    values = np.random.default_rng(lot.NUMBER).random(grid.shape).astype(np.float32)
    u[...] = values
    np.testing.assert_array_equal(u[7:1:-2, [0, 3]], values[7:1:-2, [0, 3]])
    u[2:8:3] = values[:2] * 2
    values[2:8:3] = values[:2] * 2
    u[u.get() > 1] = 0
    values[values > 1] = 0
    u *= np.arange(9)[:, None]
    values *= np.arange(9, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(np.sin(u), np.sin(values))
    np.testing.assert_array_equal(np.from_dlpack(u, device="cpu"), values)
    np.testing.assert_array_equal(u.copy().get(), values)
    assert u.to_xarray().identical(pt.Field.from_xarray(u.to_xarray()).to_xarray())
    assert u.gather().shape == (9, 6)
    assert (grid.whole, grid.ranks, grid.cuts) == (pt.Grid((9, 6), boundary="wall"), None, (3, 1))
    assert grid == pt.Grid((9, 6), boundary="wall", devices=grid.devices)
    assert grid != pt.Grid((9, 6), boundary="wall", devices=grid.devices, cuts=[(2, 3, 4), 1])
    assert "rows=(3, 3, 3)" in repr(grid)
    assert "3 x " in repr(u)
    assert u.device.compute_units == 3 * device.compute_units
    with pt.profile(u.device) as profile:
        u.fill(1)
    assert profile.kernels["fill"].launches == 3
    wind = pt.Velocity(grid, lambda x, y: (0 * x, 0.5 + 0 * x * y))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    seen = []
    transport.run(0.4, 0.1, callback=lambda run: seen.append((run.time, u.sum())), every=2)
    assert [time for time, _ in seen] == [0.2, 0.4]
    assert [total for _, total in seen] == pytest.approx([54, 54], rel=1e-5)
    whole = pt.Field(pt.Grid((9, 6), boundary="wall"), device=device, name="u")
    beside = pt.Velocity(whole.grid, lambda x, y: (0 * x, 0.5 + 0 * x * y))
    other = pt.Splitting(pt.AdvectionOp(beside), pt.RemeshOp(whole))
    assert transport.memory()["carried field u"] >= other.memory()["carried field u"]
    u[3, 2] = np.nan
    with pytest.raises(pt.NotFiniteError, match=r"field 'u' is nan at index \(3, 2\)"):
        transport.run(0.5, 0.1)


@pytest.mark.one_device
def test_fields_are_resampled_as_on_one_device(device):
    """To finer and coarser grids, of any ends, also where devices have a row each."""
    draws = random.Random(lot.NUMBER)
    for _ in range(4):
        few = draws.choice([(5,), (6, 4), (4, 3, 2)])
        many = [n * draws.choice((1, 2, 3)) for n in few]
        shapes = draws.sample([few, many], 2)
        ends = draws.choice(["periodic", "wall", "outflow", ("wall", "outflow")])
        box = {"boundary": [ends] + ["periodic"] * (len(few) - 1)}
        kernel, some = draws.choice(["M'6", "L1", "nearest"]), draws.choice((2, 3, 4))
        found = []
        for own in {}, {"devices": several(device, some)}:
            u, fine = (pt.Grid(shape, **box, **own) for shape in shapes)
            u = pt.Field(u, 2, device=None if own else device)
            u[...] = np.random.default_rng(lot.NUMBER).random(u.shape)
            found.append(pt.resample(u, fine, kernel).get().tobytes())
        assert found[0] == found[1], (shapes, box, kernel, some)


@pytest.mark.one_device
@pytest.mark.parametrize("order", [1, 2, None])
def test_memory_is_that_of_all_devices(device, order):
    two = several(device, 2)
    grid, coarse = pt.Grid((16, 12), devices=two), pt.Grid((8, 6), devices=two)
    held = [one.core.bytes_held for one in two]
    foreseen = pt.memory(grid, velocity=coarse, order=order)
    assert [one.core.bytes_held for one in two] == held
    velocity, u = pt.Field(coarse, 2, name="a"), pt.Field(grid, name="u")
    parts = pt.AdvectionOp(velocity, grid=grid), pt.RemeshOp(u)
    made = pt.Unsplit(*parts) if order is None else pt.Splitting(*parts, order)
    assert dict(foreseen) == dict(made.memory())


@pytest.mark.one_device
def test_what_is_read_is_divided_as_one_asks(device, tmp_path):
    two = several(device, 2)
    u = pt.Field(pt.Grid((6, 4), boundary="wall", devices=two), name="u")
    u[...] = lambda x, y: x + 2 * y
    pt.io.save(tmp_path / "u.npz", u)
    series = pt.io.Series(tmp_path / "u.h5")
    series.append(0, u)
    for read in (
        lambda: pt.io.load(tmp_path / "u.npz", devices=two).fields["u"],
        lambda: series.load(0, devices=two).fields["u"],
        lambda: pt.Field.from_xarray(u.to_xarray(), devices=two),
    ):
        found = read()
        assert found.grid == u.grid
        assert found.get().tobytes() == u.get().tobytes()


@pytest.mark.one_device
def test_what_does_not_work_yet_is_refused_by_name(device):
    grid = pt.Grid((8, 6, 4), devices=several(device, 2))
    u, v = pt.Field(grid), pt.Field(grid, 3)
    whole = pt.Field(grid.whole, device=device)
    swarm = pt.ParticleSet(grid.whole, np.zeros((1, 3)), q=np.ones(1), device=device)
    flow = pt.AdvectionOp(v)
    refusals = {
        "a ParticleSet": lambda: pt.ParticleSet(grid, np.zeros((1, 3))),
        "Tracers": lambda: pt.Tracers(swarm, v),
        "to pickle or copy a grid": lambda: (copy.copy, pickle.dumps)[lot.NUMBER % 2](grid),
    }
    for what, ask in refusals.items():
        with pytest.raises(NotImplementedError) as error:
            ask()
        assert str(error.value).startswith(f"{what} does not work yet on a grid of several devices")
    uneven = pt.Field(pt.Grid((8, 6, 4), devices=grid.devices, cuts=[(2, 6), 1, 1]), 3)
    turned = pt.Field(pt.Grid((8, 6, 4), devices=grid.devices[::-1]))
    for ask in (u.to_pyopencl, lambda: u.device.queue, lambda: u.device.context):
        with pytest.raises(NotImplementedError, match="several devices have no"):
            ask()
    for ask, message in (
        (lambda: pt.Field(grid, device=device), "device must be None on a grid that has its own"),
        (lambda: pt.Array(4, device=u.device), "device must be one, not the 2 of a grid"),
        (lambda: u.assign(lambda a: a, whole), "device"),
        (lambda: pt.resample(u, grid.whole), "divided among the field's devices"),
        (lambda: pt.resample(whole, grid), "divided among the field's devices"),
        (lambda: u.assign(lambda a: a, turned), "and another one of that description"),
        (lambda: pt.AdvectionOp(uneven, grid=grid), "grid must have the rows of the velocity's"),
        (lambda: u.assign(lambda a, b, c: a, uneven), "fields must have the same grid"),
        (lambda: pt.Splitting(flow, pt.RemeshOp(whole)), "on the grid of the fields"),
        (lambda: pt.GridToParticles(u, swarm, "q"), "field must be on the set's device"),
        (lambda: pt.Grid((1, 9), devices=grid.devices), "shape must have at least 2 points"),
        (lambda: pt.Grid((1100, 2), devices=grid.devices, cuts=[(3, 1097), 1]), "multiples of 4"),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


@pytest.mark.one_device
def test_a_step_that_one_device_cuts_short_is_not_gone_on_from(device, monkeypatch):
    """What has failed is told, nobody waits, and nobody goes on from fields of no time."""
    grid = pt.Grid((16, 8), devices=several(device, 3))
    u = pt.Field(grid)
    u.fill(1)
    wind = pt.Velocity(grid, lambda x, y: (1 + y, x))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    transport.step(0.05)
    exchange, turns = Mate.exchange, []

    def fail(mate, *what):
        turns.append(mate.rank)
        if mate.rank == 1 and len(turns) > 3:
            raise MemoryError("no room for rows")
        exchange(mate, *what)

    with monkeypatch.context() as patch:
        patch.setattr(Mate, "exchange", fail)
        with pytest.raises(MemoryError, match="no room for rows"):
            transport.run(0.5, 0.05)
    for go_on in lambda: transport.step(0.05), lambda: transport.run(0.9, 0.05):
        with pytest.raises(pt.DeviceError, match="a step was cut short"):
            go_on()
    u.fill(1)
    pt.Splitting(transport.advection, pt.RemeshOp(u)).step(0.05)
    assert u.sum() == pytest.approx(16 * 8, rel=1e-5)


@pytest.mark.one_device
def test_an_interrupt_ends_a_run_at_a_whole_step(device):
    grid = pt.Grid((16, 8), devices=several(device, 2))
    u = pt.Field(grid)
    wind = pt.Velocity(grid, lambda x, y: (1 + y, x))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    transport.step(0.05)
    Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        transport.run(1e6, 0.05)
    assert transport.time == pytest.approx(0.05 * transport.steps)
    u.fill(1)
    transport.step(0.05)
    assert u.sum() == pytest.approx(16 * 8, rel=1e-5)


@pytest.mark.one_device
def test_another_thread_may_look_how_far_a_run_is(device):
    grid = pt.Grid((16, 8), devices=several(device, 2))
    u = pt.Field(grid)
    wind = pt.Velocity(grid, lambda x, y: (1 + y, x))
    diffusion = pt.Diffusion(u, viscosity=0.1)
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u), diffusion=diffusion)
    transport.step(0.001)
    runner = Thread(target=lambda: transport.run(0.3, 0.001), daemon=True)
    runner.start()
    while runner.is_alive():
        assert transport.steps <= 300
        assert "Splitting" in repr(transport)
        diffusion.viscosity = diffusion.viscosity
        runner.join(1e-3)
    assert transport.steps == 300


@pytest.mark.one_device
@pytest.mark.parametrize("stepper", [pt.Splitting, pt.Unsplit])
def test_what_has_been_done_is_told_within_a_step(device, monkeypatch, stepper):
    """To whoever asks in the thread that does it, as a handler of a signal does among ranks."""
    grid = pt.Grid((16, 8), devices=several(device, 2))
    u, v = pt.Field(grid), pt.Field(grid, 2)
    v[0], v[1] = 1, 0.5
    transport = stepper(pt.AdvectionOp(v), pt.RemeshOp(u))
    exchange, told = Mate.exchange, []

    def ask(mate, *what):
        told.append((transport.time, transport.steps, transport.last_dt))
        exchange(mate, *what)

    monkeypatch.setattr(Mate, "exchange", ask)
    runner = Thread(target=lambda: transport.run(0.1, 0.05, check="step"), daemon=True)
    runner.start()
    runner.join(60)
    assert not runner.is_alive()
    assert {0.0, 0.05} <= {time for time, *_ in told}


IN_A_PROCESS = """
import os, sys
import numpy as np
import particles as pt

two = pt.devices()
assert len(two) == 2, two

def run(**where):
    grid = pt.Grid((24, 12), **where)
    u = pt.Field(grid)
    u[...] = lambda x, y: np.sin(7 * x) + y * y
    flow = pt.Velocity(grid, lambda x, y: (1 + np.sin(6 * y), np.cos(5 * x)))
    pt.Splitting.from_preset("default", flow, u).run(0.1, 0.05)
    return u

alone, divided = run(), run(devices=two)
assert np.array_equal(alone.get(), divided.get())
assert divided.grid.devices == tuple(two)
child = os.fork()
if not child:
    try:
        divided.sum()
    except pt.DeviceError as error:
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.one_device
def test_devices_of_one_driver_work_together(device):
    """Two that PoCL is told to have; a child that was made by a fork is told that it has none."""
    if "pocl" not in device.info.platform_version.lower():
        pytest.skip("PoCL alone has as many devices as it is told to")
    child.check(IN_A_PROCESS, POCL_DEVICES="pthread pthread", PARTICLES_DEVICE="0")


@pytest.mark.one_device
def test_parts_of_a_device_work_together(device):
    """Sub-devices, each with a context that is PyOpenCL's."""
    cl = pytest.importorskip("pyopencl")
    (whole,) = device.context.devices
    if cl.device_partition_property.EQUALLY not in whole.partition_properties:
        pytest.skip("it cannot be partitioned")
    if whole.max_compute_units < 2:
        pytest.skip("it has one compute unit")
    half = [cl.device_partition_property.EQUALLY, whole.max_compute_units // 2]
    parts = [cl.CommandQueue(cl.Context([part]), part) for part in whole.create_sub_devices(half)]
    found = []
    for where in {}, {"devices": [pt.Device.from_pyopencl(queue) for queue in parts]}:
        grid = pt.Grid((16, 8), **where)
        u = pt.Field(grid, device=None if where else device)
        u[...] = lambda x, y: np.sin(7 * x) + y
        wind = pt.Velocity(grid, lambda x, y: (1 + y, x))
        pt.Splitting.from_preset("default", wind, u).run(0.1, 0.05)
        found.append((u.get().tobytes(), u.sum()))
    assert found[0] == found[1]
