# SPDX-License-Identifier: BSD-3-Clause
"""Grids of several devices of one process: all bits are those of one device."""

import copy
import dataclasses
import os
import pickle
import random
import signal
import threading
import warnings
from threading import Thread, Timer

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles.communication.mates import Mate
from particles.io import contents

from tests.communication import field_cases, file_cases, picture_cases, transport_cases
from tests.interpolation import rank_cases as interpolation_cases
from tests.io import set_rank_cases as set_file_cases
from tests.sets import rank_cases as set_cases
from tests.stepping import tracer_rank_cases as tracer_cases
from tests.support import child, lot
from tests.support.alike_parts import part_of
from tests.support.gpu_forms import as_gpu
from tests.support.several import OnDevices, several
from tests.support.sweeps import advection_core, remesh_core


def on_each(monkeypatch, module, device, run):
    """Return what a module's cases give on one device, and on some."""
    monkeypatch.setattr(module, "COMM", None)
    alone = run(device)
    count = lot.lots(module.__name__).choice((2, 3, 4))
    monkeypatch.setattr(module, "pt", OnDevices(several(device, count)))
    return alone, run(None)


@pytest.mark.sampled
def test_fields_do_not_depend_on_the_number_of_devices(device, monkeypatch):
    """By formula, by arrays, by arithmetic, and all that is made of all values, to the bit."""

    def run(place):
        draws = random.Random(lot.NUMBER)
        cases = [field_cases.drawn(draws) for _ in range(2)]
        return [list(field_cases.results(*case, place)) for case in cases]

    alone, divided = on_each(monkeypatch, field_cases, device, run)
    assert divided == alone


@pytest.mark.sampled
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


@pytest.mark.sampled
@pytest.mark.parametrize("rows", [None, 3], ids=["whole parts", "pieces of 3 nodes"])
def test_transports_do_not_depend_on_the_number_of_gpus(device, monkeypatch, rows):
    """Whose lines are in registers where they are cut, with masses and with values, drawn."""
    core = pt.Form.core.fget
    if rows is not None:
        few = property(lambda form: core(dataclasses.replace(form, nodes=rows)))
        monkeypatch.setattr(pt.Form, "core", few)

    def run(place):
        draws, found = random.Random(lot.NUMBER), []
        for is_conservative in True, False:
            form = draws.choice((None, None, "registers", "team" if is_conservative else None))
            case = transport_cases.drawn(draws)._replace(conservative=is_conservative, form=form)
            try:
                found.append((case, transport_cases.carried(case, place)))
            except ValueError as error:  # too much strain
                found.append((case, str(error).split(",")[0]))
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone, divided = on_each(monkeypatch, transport_cases, as_gpu(device), run)
    assert divided == alone


@pytest.mark.one_device
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("conservative", [True, False])
def test_a_part_of_alike_ones_goes_on_as_if_it_were_alone(device, axis, conservative):
    """As those do of which the simulator looks at the kernels, which knows one device alone."""
    found, gpu = [], as_gpu(device)
    alone = pt.Grid((7, 6, 5))
    for grid in alone, part_of(alone, axis, 1, 3):
        values = np.random.default_rng(lot.NUMBER).random((4, *grid.shape))
        velocity, u = pt.Field(grid, 3, device=gpu), pt.Field(grid, device=gpu)
        velocity[...], u[...] = values[:3], values[3]
        remesh = remesh_core([u], conservative=conservative)
        sweeps = _core.Splitting(advection_core(velocity), remesh, 1)
        sweeps.sweep(axis, 0.0, 5 * grid.spacing[axis])
        found.append(u.get())
    np.testing.assert_allclose(*found, rtol=0, atol=8 * np.finfo("f").eps)  # in another order


@pytest.mark.one_device
@pytest.mark.parametrize("conservative", [True, False])
def test_cut_lines_are_in_the_registers_of_gpus(device, conservative):
    """And where one asks for it; what knows no parts gives way to what suits the device."""
    cpus, gpus = several(device, 4), several(as_gpu(device), 4)
    last = "team" if conservative else "registers"
    for devices, form, along in (
        (gpus, None, f"registers, registers, {last}"),
        (gpus, "local", "local, local, local"),
        (gpus, "global", "registers, global, global"),
        (cpus, "registers", "registers, registers, registers"),
        (cpus, "local", "local, local, local"),
        (cpus, "global", "lanes, global, global"),
    ):
        grid = pt.Grid((8, 6, 4), devices=devices)
        remesh = pt.RemeshOp(pt.Field(grid), form=form, conservative=conservative)
        assert f"forms {along}" in repr(pt.Splitting(pt.AdvectionOp(pt.Field(grid, 3)), remesh))


@pytest.mark.sampled
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
            monkeypatch.setattr(contents, "SLAB_BYTES", file_cases.bytes_of_slabs(case))
            fields = file_cases.fields_in_files(case, place, folder, tmp_path / "one", number)
            found += [next(fields), next(fields)]
        return found

    alone, divided = on_each(monkeypatch, file_cases, device, run)
    assert divided == alone


@pytest.mark.sampled
@pytest.mark.parametrize(
    "module",
    [set_cases, interpolation_cases, tracer_cases],
    ids=["sets", "interpolation", "tracers"],
)
def test_particles_do_not_depend_on_the_number_of_devices(device, monkeypatch, module):
    """However sets are made, moved, sorted, given to points and taken along, to the bit."""

    def run(place):
        case = module.drawn(random.Random(lot.NUMBER))
        return [case, *module.results(case, place)]

    alone, divided = on_each(monkeypatch, module, device, run)
    assert divided == alone


@pytest.mark.sampled
@pytest.mark.one_device
def test_files_of_sets_are_those_of_one_device(device, monkeypatch, tmp_path):
    """Sets in every kind of file, byte for byte, and read by either."""

    def run(place):
        folder = tmp_path / ("one" if place else "some")
        folder.mkdir()
        return list(
            set_file_cases.results(random.Random(lot.NUMBER), place, folder, tmp_path / "one")
        )

    monkeypatch.setattr("particles.sets.columns._ROWS_AT_ONCE", 64)
    monkeypatch.setattr(set_file_cases, "COMM", None)
    monkeypatch.setattr(set_file_cases, "LOADED", {})
    alone, some = run(device), several(device, 3)
    monkeypatch.setattr(set_file_cases, "LOADED", {"devices": some})
    monkeypatch.setattr(set_file_cases, "pt", OnDevices(some))
    assert run(None) == alone


@pytest.mark.one_device
def test_pictures_of_sets_are_those_of_one_device(device, monkeypatch, capsys):
    def run(place):
        picture_cases.swarms(picture_cases.made((12, 10), place))
        return capsys.readouterr().out

    alone, divided = on_each(monkeypatch, picture_cases, device, run)
    assert divided == alone
    assert "particles" in alone


@pytest.mark.sampled
@pytest.mark.one_device
def test_sets_that_are_doubled_again_and_again_do_not_run_out_of_numbers(device, monkeypatch):
    def run(place):
        return set_cases.doubled(random.Random(lot.NUMBER), place)

    alone, divided = on_each(monkeypatch, set_cases, device, run)
    assert divided == alone


@pytest.mark.sampled
@pytest.mark.one_device
def test_a_set_of_several_devices_is_used_as_any_other(device):
    """Whatever is read, assigned by any index, put in order and asked for."""
    some = several(device, lot.lots("devices of a set").choice((2, 3)))
    box = {"boundary": ["periodic", "wall"], "extent": 1.5}
    alone, divided = (
        list(used(pt.ParticleSet.random, pt.Grid((9, 6), **box, **where), place))
        for where, place in (({}, device), ({"devices": some}, None))
    )
    for found, known in zip(divided, alone, strict=True):
        np.testing.assert_array_equal(found, known, strict=True)


def used(make, grid, place):
    """Yield what comes of all that can be done with a set."""
    rng = np.random.default_rng(lot.NUMBER)
    tag = rng.permutation(60)
    given = {
        "m": rng.random(60),
        "v": rng.random((60, 3)).astype("float32"),
        "h": np.zeros(60, "f2"),
    }
    swarm = make(grid, 60, seed=lot.NUMBER, device=place, tag=tag, **given)
    swarm.update(lambda p: {"position": (p.x + 0.9 * p.v[0], p.y + 0.1 * p.v[1])})
    yield np.array([len(swarm), swarm.total])
    yield swarm["v"][3:50:7, ::2]
    yield swarm["m"][::-4]
    yield swarm["m"][[5, 1, 1]]
    yield swarm.positions[50:2:-5, 1]
    yield swarm.turns
    swarm["v"][2:40:3, 1] = 7
    swarm["v"][5:9] = np.arange(12).reshape(4, 3)
    swarm["m"][swarm["m"].get() > 0.5] = -1
    swarm["m"][4:30:9] = np.float32([2, 3, 4])
    swarm["h"][...] = swarm["m"]
    swarm["h"][1:7:2] = 0.5
    swarm["w"] = swarm["v"]
    swarm["w"][:, 1] = swarm["m"].get()
    swarm.positions[3:33:10, 0] = [0.1, 0.7, 1.4]
    swarm.positions[[7, 2]] = 0.25
    for name in "m", "v", "h", "w":
        yield swarm[name].get()
        yield np.array(swarm[name].max())
    yield np.array([swarm["tag"].sum(), swarm["tag"].min(), np.array(swarm["h"].sum())])
    yield swarm.positions.get()
    yield swarm["tag"].argsort().get()
    yield swarm["v"].take(swarm["tag"].argsort()).get()
    yield swarm["v"].take(swarm["tag"]).get()
    yield swarm["m"].sorted_by(swarm["tag"]).get()
    yield swarm["tag"].exclusive_scan().get()
    yield swarm["m"].copy().get()
    yield np.from_dlpack(swarm["v"], device="cpu")
    yield swarm.sort(by="cell", permutation=True).get()
    yield swarm.sort(permutation=True).get()
    swarm.remove(np.arange(60) % 7 == 3)
    swarm.remove(lambda p: (p.x > 1.4) | (p.v[2] > 0.9))
    swarm.add(swarm)
    swarm["tag"] = np.arange(len(swarm))[::-1]
    swarm.set("m", np.arange(len(swarm)), by="tag")
    yield swarm.get("position", by="tag")
    yield swarm.get("turns", by="tag")
    yield swarm.gather("m", by="tag")
    del swarm["h"]
    yield np.array([*swarm.attributes])
    for _, wrong in wrong_uses(swarm):
        with pytest.raises((ValueError, TypeError, KeyError, IndexError)) as error:
            wrong()
        yield np.array(f"{error.type} {error.value}")
    yield swarm.positions.get()


def wrong_uses(swarm):
    """Yield what is refused, in the same words: particles have the numbers that the script knows."""
    far = np.full(len(swarm), 0.01)
    far[[40, 23]] = 1e30
    swarm["far"] = far
    yield "move", lambda: swarm.update(lambda p: {"position": (p.x, p.y + p.far)})
    yield "place", lambda: swarm.positions.__setitem__((slice(9, 30, 4), 1), 9.0)
    yield "where", lambda: swarm.remove(np.zeros(len(swarm) + 1, bool))
    yield "name", lambda: swarm["none"]
    yield "rows", lambda: swarm.__setitem__("m", np.zeros(3))
    yield "row", lambda: swarm["m"][len(swarm)]
    yield "same", lambda: swarm.get("m", by="same")
    yield "formula", lambda: swarm.update(lambda p: {"tag": (p.tag, p.tag)})
    made = pt.ParticleSet(swarm.grid, swarm.positions.get()[:9], device=swarm.device, far=far[:9])
    yield "attributes", lambda: swarm.add(made)


@pytest.mark.one_device
def test_a_formula_of_a_set_is_called_once_by_who_asks(device):
    grid = pt.Grid((8, 4), devices=several(device, 3))
    swarm = pt.ParticleSet.random(grid, 50, seed=1, m=np.ones(50))
    callers = []

    def formula(p):
        callers.append(threading.get_ident())
        return {"m": 2 * p.m}

    swarm.update(formula)
    swarm.remove(lambda p: callers.append(threading.get_ident()) or p.m < 0)
    assert callers == [threading.get_ident()] * 2
    assert swarm["m"].sum() == 100


@pytest.mark.one_device
def test_tracers_on_several_devices_are_told_of_as_on_one(device):
    """Who would leave, who has no velocity, and who has stayed where it was, in the same words."""
    found = []
    for where in {}, {"devices": several(device, 3)}:
        grid = pt.Grid((12, 5), boundary=["outflow", "periodic"], **where)
        wind = pt.Field(grid, 2, device=None if where else device)
        wind[0], wind[1] = 1, 0.25
        options = {"seed": lot.NUMBER, "device": wind.device}
        told = []
        refusing = pt.ParticleSet.random(grid, 40, leaving="refuse", **options)
        tracers = pt.Tracers(refusing, wind, "euler")
        with pytest.raises(ValueError, match="would leave it") as error:
            tracers.run(2, 0.01, check=None)
        told += [str(error.value), tracers.time, refusing.positions.get().tobytes()]
        wind[:, 4:6] = np.nan
        swarm = pt.ParticleSet.random(grid, 40, **options)
        tracers = pt.Tracers(swarm, wind, "euler")
        with pytest.raises(pt.NotFiniteError) as error:
            tracers.run(0.2, 0.01)
        told += [str(error.value), error.value.index, swarm.positions.get().tobytes()]
        tracers.run(0.4, 0.01, check=None)
        with pytest.warns(pt.NotFiniteWarning) as warned:
            stepped(tracers)
        told += [{str(one.message) for one in warned}, len(swarm), swarm.left.tolist()]
        found.append(told)
    assert found[0] == found[1]


def stepped(tracers):
    """Take a step and look what has come of it."""
    tracers.step(0.01)
    tracers.swarm.positions.get()


@pytest.mark.one_device
def test_what_one_device_has_no_room_for_changes_no_set(device, monkeypatch):
    """Its error is raised, nobody waits, and all particles are as they were."""
    swarm = pt.ParticleSet.random(pt.Grid((9, 4), devices=several(device, 3)), 90, seed=3)
    swarm["v"] = np.random.default_rng(lot.NUMBER).random((90, 2))
    before = swarm.positions.get()
    deliver = Mate.deliver

    def fail(mate, *what):
        if mate.rank == 1:
            raise MemoryError("no room for particles")
        return deliver(mate, *what)

    with monkeypatch.context() as patch:
        patch.setattr(Mate, "deliver", fail)
        with pytest.raises(MemoryError, match="no room for particles"):
            swarm.update(lambda p: {"position": p.position + p.v, "v": 2 * p.v})
    np.testing.assert_array_equal(swarm.positions.get(), before)
    swarm.update(lambda p: {"position": p.position + p.v})
    assert len(swarm) == 90


@pytest.mark.sampled
@pytest.mark.one_device
def test_devices_of_different_kinds_sort_alike(device):
    two = several(device, 2)
    two[1].is_cpu = False
    for shape in (1100,), (6, 4):
        grids = pt.Grid(shape), pt.Grid(shape, devices=two, cuts=(2, *(1,) * (len(shape) - 1)))
        given = {"m": np.random.default_rng(1).random(70)}
        found = []
        for grid, place in zip(grids, (device, None), strict=True):
            swarm = pt.ParticleSet.random(grid, 70, seed=2, device=place, **given)
            density = pt.Field(grid, device=place)
            pt.ParticlesToGrid(swarm, "m", density, order="canonical").apply()
            swarm.sort()
            found.append((density.get().tobytes(), swarm.positions.get().tobytes()))
        pt.ParticlesToGrid(swarm, "m", density).apply()
        assert found[0] == found[1]
        assert density.sum() == pytest.approx(given["m"].sum(), rel=1e-5)


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


@pytest.mark.sampled
@pytest.mark.one_device
def test_speeds_are_measured(device):
    from particles.fields.speeds import speeds_of

    group = pt.Grid(8, devices=several(device, 2))._device
    assert len(speeds_of(group)) == 2
    assert min(speeds_of(group)) > 0


@pytest.mark.sampled
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
    assert copy.copy(grid) is copy.deepcopy(grid) is grid
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


@pytest.mark.sampled
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
    many = pt.ParticleSet(grid, np.zeros((1, 3)), q=np.ones((1, 2)))
    flow = pt.AdvectionOp(v)
    for ask, words in (
        (
            lambda: many["q"].component(0),
            "component does not work on an attribute of several devices",
        ),
        (many["q"].to_pyopencl, "several devices have no queue in common"),
        (many.positions.to_pyopencl, "several devices have no queue in common"),
    ):
        with pytest.raises(NotImplementedError, match=f"^{words}"):
            ask()
    uneven = pt.Field(pt.Grid((8, 6, 4), devices=grid.devices, cuts=[(2, 6), 1, 1]), 3)
    turned = pt.Field(pt.Grid((8, 6, 4), devices=grid.devices[::-1]))
    still = pt.Velocity(grid, ["0", "0", "0"])
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
        (lambda: pt.GridToParticles(turned, many, "r"), "field must be on the set's device"),
        (lambda: pt.ParticlesToGrid(many, "q", whole), "field must be on the set's device"),
        (lambda: pt.Tracers(swarm, v), "velocity must be on the set's device"),
        (lambda: pt.Tracers(swarm, still), "velocity must be divided among the set's devices"),
        (
            lambda: many.add(pt.ParticleSet(grid.whole, np.zeros((1, 3)), q=np.ones((1, 2)))),
            "same device",
        ),
        (lambda: many.__setitem__("q", swarm["q"]), "q must be on"),
        (
            lambda: pt.ParticleSet(grid, np.zeros((1, 3)), device=device),
            "device must be None on a grid",
        ),
        (lambda: pt.Grid((1, 9), devices=grid.devices), "shape must have at least 2 points"),
        (lambda: pickle.dumps(grid), "can be pickled if its devices are some of pt.devices"),
        (lambda: pt.Grid((1100, 2), devices=grid.devices, cuts=[(3, 1097), 1]), "multiples of 4"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            ask()


@pytest.mark.sampled
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


@pytest.mark.sampled
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


@pytest.mark.sampled
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
import os, pickle, sys
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
uneven = pt.Grid((24, 12), devices=two, cuts=[(20, 4), 1])
for grid in divided.grid, uneven, pt.Grid(4, devices=[1]):
    again = pickle.loads(pickle.dumps(grid))
    assert (again, again.devices, again.rows) == (grid, grid.devices, grid.rows)
child = os.fork()
if not child:
    try:
        divided.sum()
    except pt.DeviceError as error:
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.sampled
@pytest.mark.one_device
def test_devices_of_one_driver_work_together(device):
    """Two that PoCL is told to have; a child that was made by a fork is told that it has none."""
    if "pocl" not in device.info.platform_version.lower():
        pytest.skip("PoCL alone has as many devices as it is told to")
    child.check(IN_A_PROCESS, POCL_DEVICES="pthread pthread", PARTICLES_DEVICE="0")


@pytest.mark.sampled
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
