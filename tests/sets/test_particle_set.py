# SPDX-License-Identifier: BSD-3-Clause
"""Sets of particles beside a list of rows of NumPy."""

import copy
import itertools
import operator
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles.sets import formulas

from tests.support import lot
from tests.support.gpu_forms import FORMS, in_form
from tests.support.several import several

GRIDS = [
    pt.Grid(7, origin=-1, extent=3, boundary=["wall"]),
    pt.Grid((5, 3), origin=(0.5, -2), extent=(2, 1), boundary=["periodic", ("wall", "outflow")]),
    pt.Grid((4, 1, 6), extent=(1, 1, 9), boundary=[("inflow", "wall"), "periodic", "outflow"]),
]
WIDE = [*GRIDS, pt.Grid((2**31, 3))]
"""With more cells than an int32 counts."""
DTYPES = ["float32", "float64"]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def random(name):
    """Return a generator of the tests' number."""
    return np.random.default_rng(lot.lots(name).getrandbits(64))


def anywhere(grid, n, name):
    """Return positions in a box, and up to two boxes away along periodic axes."""
    rng = random(name)
    away = [2 if beyond == "periodic" else 0 for beyond in grid.boundary]
    boxes = rng.integers(np.negative(away), np.add(away, 1), (n, grid.ndim))
    return np.array(grid.origin) + np.array(grid.extent) * (boxes + rng.random((n, grid.ndim)))


def filled(grid, n, machine, dtype="float32", **options):
    """Return a set with attributes of several kinds, and its rows."""
    rng = random(f"attributes of {n}")
    rows = {
        "mass": rng.random(n).astype("float32"),
        "v": rng.normal(size=(n, 3)).astype("float16"),
        "tag": rng.permutation(n) + 10**12,
        "dark": rng.random(n) < 0.5,
    }
    positions = anywhere(grid, n, f"positions of {n} on {grid.shape}")
    swarm = pt.ParticleSet(grid, positions, dtype=dtype, device=machine, **options, **rows)
    return swarm, rows


def rows_of(swarm):
    """Return all that is known of particles, each as one row of bytes."""
    columns = [swarm.positions.get(), swarm.turns, *map(np.asarray, swarm.attributes.values())]
    return [tuple(column[k].tobytes() for column in columns) for k in range(len(swarm))]


def in_box(grid, positions, turns=0):
    """Return where positions are in the box, how often they went round, and which end they passed.

    An end is a number from 1 on: low and high of the first axis, of the second one, ...
    """
    low, extent = np.array(grid.origin), np.array(grid.extent)
    places = (positions - low) / extent
    turns = np.zeros(places.shape, int) + turns
    passed = np.zeros(len(places), int)
    for axis, beyond in enumerate(grid.boundary):
        u = places[:, axis]
        if beyond == "periodic":
            turns[:, axis] += np.floor(u).astype(int)
            u -= np.floor(u)
            continue
        is_wall = [end == "wall" for end in beyond]
        if all(is_wall):
            u[...] = 1 - np.abs(u % 2 - 1)
        elif is_wall[0]:
            u[...] = np.abs(u)
        elif is_wall[1]:
            u[...] = 1 - np.abs(1 - u)
        for side, beyond_end in enumerate((u < 0, u > 1)):
            passed[beyond_end & (passed == 0)] = 2 * axis + side + 1
    return low + places * extent, turns, passed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("grid", WIDE, ids=str)
def test_positions_are_read_as_they_were_given(machine, grid, dtype):
    positions = anywhere(grid, 50, "given")
    swarm = pt.ParticleSet(grid, positions, dtype=dtype, device=machine)
    inside, turns, _ = in_box(grid, positions)
    known = np.finfo(dtype).eps * np.array(grid.spacing)
    known += 8 * np.finfo(float).eps * (np.abs(grid.origin) + np.array(grid.extent))
    assert (np.abs(swarm.positions.get() - inside) <= known).all()
    np.testing.assert_array_equal(swarm.turns, turns)
    for key in np.s_[...], np.s_[3], np.s_[::-2], np.s_[:, -1], np.s_[1:9:3, 0], [4, 2]:
        np.testing.assert_array_equal(swarm.positions[key], swarm.positions.get()[key])
    np.testing.assert_array_equal(swarm.positions.max(axis=0), swarm.positions.get().max(axis=0))
    np.testing.assert_array_equal(np.from_dlpack(swarm.positions), swarm.positions)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ends_are_in_the_box(device, dtype):
    grid = pt.Grid((3, 7), origin=(0.1, 0), extent=(0.7, 0.3), boundary=["wall", "periodic"])
    ends = list(itertools.product((0.1, 0.1 + 0.7), (0.0, 0.3, np.nextafter(0.3, 0))))
    swarm = pt.ParticleSet(grid, ends, dtype=dtype, device=device)
    found = swarm.positions.get()
    np.testing.assert_array_equal(found[:, 0], np.array(ends)[:, 0])
    assert (found[:, 1] >= 0).all()
    assert (found[:, 1] < 0.3).all()
    np.testing.assert_allclose(found[:, 1] + 0.3 * swarm.turns[:, 1], np.array(ends)[:, 1])


@pytest.mark.parametrize("n", [64, 16384])
def test_a_long_box_costs_no_accuracy(device, n):
    """A position of float32 would be wrong by 1e-3 of a cell in the longer one."""
    grid = pt.Grid(n)
    positions = anywhere(grid, 2000, "long")
    swarm = pt.ParticleSet(grid, positions, device=device)
    steps = random("steps").normal(size=len(swarm)).astype("float32") / n
    swarm["step"] = steps
    for _ in range(100):
        swarm.update(lambda p: {"position": p.position + p.step})
    total = swarm.positions[:, 0] + swarm.turns[:, 0]
    expected = positions[:, 0] + 100 * steps.astype(float)
    assert np.abs(total - expected).max() * n < 100 * np.finfo("float32").eps * 4


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("reach", [0.2, 3.0])
def test_moves_go_round_come_back_from_walls_and_leave(machine, grid, reach):
    swarm, rows = filled(grid, 300, machine, "float64")
    before, turns = swarm.positions.get(), swarm.turns
    moves = random("moves").uniform(-reach, reach, (300, grid.ndim)) * grid.extent
    swarm["move"] = moves if grid.ndim > 1 else moves[:, 0]
    swarm.update(lambda p, dt: {"position": p.position + dt * p.move}, dt=1)
    inside, turns, passed = in_box(grid, before + moves, turns)
    stays = passed == 0
    left = np.bincount(passed, minlength=2 * grid.ndim + 1)[1:].reshape(-1, 2)
    np.testing.assert_array_equal(swarm.left, left)
    np.testing.assert_allclose(swarm.positions, inside[stays], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(swarm.turns, turns[stays])
    for name, values in rows.items():
        np.testing.assert_array_equal(swarm[name], values[stays])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_move_there_and_back_stays_near(machine, dtype):
    """Over cells, ends and walls, by a position that is a sum or that is not."""
    grid = GRIDS[1]
    swarm, _ = filled(grid, 200, machine, dtype)
    before = swarm.positions.get()
    for dx in (1e-9, 0.3, -0.3, -1e-9):
        swarm.update(lambda p, d: {"position": (p.x + d - 0 * p.mass, 2 * p.y - p.y)}, d=dx)
    apart = np.abs(swarm.positions.get() - before) / grid.spacing
    assert apart.max() < 8 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_move_is_as_exact_as_positions(machine, dtype):
    """Whatever it is made of: a number alone, or attributes of float32."""
    v = np.float32([[0.5, 0.25]])
    swarm = pt.ParticleSet(pt.Grid((8, 8)), [[0.1, 0.2]], dtype=dtype, v=v, device=machine)
    swarm.update(lambda p, dt: {"position": (p.x + dt, p.y + dt * p.v[1])}, dt=0.1)
    np.testing.assert_allclose(swarm.positions[0], [0.2, 0.225], rtol=0, atol=np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("n", "origin", "extent"), [(3, 0, 1), (17, 0.1, 0.7), (1000, -5, 0.3)])
def test_a_formula_may_put_particles_on_an_end(machine, dtype, n, origin, extent):
    """Though what it returns is turned into a move, whose rounding may cross the end."""
    grid = pt.Grid(n, origin=origin, extent=extent, boundary="outflow")
    low, high = origin, origin + extent
    positions = anywhere(grid, 500, f"ends {n}")
    x = positions[:, 0]
    swarm = pt.ParticleSet(grid, positions, dtype=dtype, leaving="refuse", device=machine)
    swarm["x0"] = x
    known = 8 * np.finfo(float).eps * (abs(low) + extent)
    for shift in (extent / 2, -extent, 2 * extent):
        swarm.update(lambda p, d: {"position": np.clip(p.x0 + d, low, high)}, d=shift)
        np.testing.assert_allclose(
            swarm.positions[:, 0],
            np.clip(x + shift, low, high),
            rtol=0,
            atol=known + np.finfo(dtype).eps * grid.spacing[0],
        )
    assert (swarm.left == 0).all()
    beyond = 1e-6 if np.dtype("float64") in machine.dtypes else 0.1
    with pytest.raises(ValueError, match="within the box, but 500 would leave it"):
        swarm.update(lambda p: {"position": low - beyond * grid.spacing[0] + 0 * p.x0})


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_assigned_keeps_its_turns(machine, dtype):
    """Just below the end of a period, where a coordinate may be rounded to that end."""
    grid = pt.Grid((4, 64), origin=(0, -1.0), extent=(1, 2.0))
    positions = [[0.5, 0], [0.5, -1.0], [0.5, 0]]
    swarm = pt.ParticleSet(grid, positions, dtype=dtype, device=machine)
    step = np.finfo(dtype).eps / 64
    swarm.update(lambda p, d: {"position": (p.position[0], p.position[1] - d)}, d=step)
    before = swarm.turns
    swarm.positions[[0, 2]] = [[0.25, 0.25], [0.75, 0.25]]
    swarm.positions[:, 0] = [0.1, 0.2, 0.3]
    np.testing.assert_array_equal(swarm.turns, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 9, 1000])
def test_a_formula_may_put_particles_where_a_period_begins(machine, dtype, n):
    grid = pt.Grid(n, origin=-1, extent=0.7)
    swarm = pt.ParticleSet(grid, anywhere(grid, 500, f"begin {n}"), dtype=dtype, device=machine)
    before = swarm.turns
    swarm.update(lambda p: {"position": -1.0 + 0 * p.x})
    np.testing.assert_array_equal(swarm.turns, before)
    assert np.abs(swarm.positions.get() + 1).max() < 8 * np.finfo(dtype).eps
    swarm.update(lambda p: {"position": (-1.0 + 0.7) + 0 * p.x})
    again = 0.7 * (swarm.turns - before)
    assert np.abs(swarm.positions + again + 0.3).max() < 1e-6


def test_what_leaves_is_refused_before_anything_changes(machine):
    grid = GRIDS[2]
    swarm, _ = filled(grid, 40, machine, leaving="refuse")
    before, version = rows_of(swarm), swarm.version
    there = lambda p: {"position": p.position + np.array([0.4, 0, 0]), "mass": 7.0}
    with pytest.raises(ValueError, match=r"^formula must keep particles within the box, but 40 wo"):
        swarm.update(lambda p: {"position": p.position - np.array([5.0, 0, 0]), "mass": 7.0})
    for wrong in np.nan, 1e30:
        swarm["step"] = np.where(np.arange(40) < 3, 0, wrong).astype("float32")
        with pytest.raises(
            ValueError, match=r"^formula must give finite positions.* particle 3 at"
        ):
            swarm.update(lambda p: {"position": p.position + p.step, "mass": p.step})
        del swarm["step"]
    with pytest.raises(ValueError, match=r"positions must be within the box, x from 0.0 to 1.0, z"):
        swarm.positions[7:9, 2] = [1, 9.5]
    with pytest.raises(ValueError, match=r"positions must be at most 2.31 boxes away along y, not"):
        swarm.positions[7, 1] = -1e300
    assert (rows_of(swarm), swarm.version, swarm.left.sum()) == (before, version, 0)
    swarm.update(there)  # into the wall
    assert set(swarm["mass"].get()) == {7}


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_that_a_formula_would_round_are_refused(machine, dtype):
    swarm, _ = filled(GRIDS[1], 5, machine, dtype="float64")
    swarm["id"] = np.arange(5, dtype=dtype) + np.array(2**53 - 4, dtype)
    swarm.remove(lambda p: p.id == 2**53 - 1)
    assert swarm["id"].get().tolist() == [2**53 - 4, 2**53 - 3, 2**53 - 2, 2**53]
    swarm["id"][1] = 2**53 + 1
    words = r"formula computes in float64 and reads integers up to 9007199254740992 exactly, but id"
    with pytest.raises(ValueError, match=words):
        swarm.remove(lambda p: p.id == 2**53)
    with pytest.raises(ValueError, match=words):
        swarm.update(lambda p: {"mass": 1.0 * p.id})
    with pytest.raises(ValueError, match="contain 9007199254740993, which float64 would round"):
        swarm.remove(lambda p: p.mass == 2**53 + 1)
    with pytest.raises(ValueError, match="n must be an integer that float64 holds, not 90071"):
        swarm.update(lambda p, n: {"mass": p.mass + n}, n=2**53 + 1)
    swarm.update(lambda p: {"mass": 2.0 * p.mass})
    assert len(swarm) == 4


@pytest.mark.parametrize("number", [1e300, 1e-60])
def test_numbers_that_float32_cannot_hold_are_refused(machine, number):
    """They would be infinite or 0; in float64 they are as they are."""
    swarm, _ = filled(GRIDS[1], 5, machine, dtype="float32")
    swarm["mass"] = np.ones(5, "float32")
    words = "k of formula must contain numbers that float32 can hold, but 1e.* would become"
    with pytest.raises(ValueError, match=words):
        swarm.update(lambda p, k: {"mass": p.mass + k}, k=number)
    with pytest.raises(ValueError, match=words):
        swarm.update(lambda p, k: {"position": p.position + k}, k=number)
    assert set(swarm["mass"].get()) == {1}
    swarm["wide"] = np.ones(5)
    swarm.update(lambda p, k: {"wide": p.wide * k}, k=number)
    assert set(swarm["wide"].get()) == {number}


def test_letters_that_look_alike_are_one_name(machine):
    """As in code, where Python takes the sign for micro as the Greek letter."""
    micro, greek = "\u00b5", "\u03bc"
    swarm, _ = filled(GRIDS[1], 5, machine)
    swarm[micro] = np.ones(5)
    assert micro in swarm
    assert greek in swarm
    swarm.update(lambda p: {micro: 2 * getattr(p, greek)})
    assert set(swarm[micro].get()) == set(swarm[greek].get()) == {2}
    velocity = pt.Velocity(pt.Grid(4), lambda x, μ: μ * x, **{micro: 1.0})
    velocity.parameters[micro] = 3.0
    assert velocity.parameters[greek] == velocity.parameters[micro] == 3.0


def test_attributes_change_in_place(machine):
    """By numbers, attributes of the same set, and arrays of the host; the handle stays."""
    swarm, _ = filled(GRIDS[1], 20, machine, dtype="float64")
    swarm["w"] = random("w").uniform(1, 2, 20)
    swarm["number"] = np.arange(20)
    mass, v, w = (swarm[name].get() for name in ("mass", "v", "w"))
    handle = swarm["mass"]
    for change in (
        lambda a, b: operator.iadd(a, 2),
        operator.imul,
        lambda a, b: operator.itruediv(a, np.float32(3)),
        operator.isub,
        lambda a, b: operator.ipow(a, 2),
    ):
        mass = change(mass, w.astype(mass.dtype))
        handle = change(handle, swarm["w"])
        assert isinstance(handle, type(swarm["w"]))
        np.testing.assert_allclose(swarm["mass"], mass, rtol=1e-5, atol=1e-5)
    swarm["v"] *= swarm["w"]
    swarm["v"] += np.ones(v.shape)
    assert swarm["v"].dtype == v.dtype
    np.testing.assert_allclose(swarm["v"], v * w[:, None] + 1, atol=4e-3)  # in float16
    swarm["number"] //= 3
    swarm["number"] %= 4
    swarm["number"] += np.full(20, 2)
    np.testing.assert_array_equal(swarm["number"], np.arange(20) // 3 % 4 + 2)
    assert swarm["number"].dtype == np.int64
    handle = changed = swarm["mass"]
    changed += np.ones(20)
    assert changed is handle
    np.testing.assert_allclose(swarm["mass"], mass + 1, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.ones(20) + swarm["w"], 1 + w)


def test_positions_are_reduced_as_attributes_are(machine):
    swarm, _ = filled(GRIDS[1], 20, machine, "float64")
    swarm["at"] = swarm.positions.get()
    found, at = swarm.positions, swarm["at"]
    for name in ("sum", "mean", "var", "std", "min", "max"):
        for options in {}, {"axis": 0}, {"axis": 0, "keepdims": True}, {"keepdims": True}:
            one, other = (getattr(values, name)(**options) for values in (found, at))
            np.testing.assert_allclose(one, other, rtol=1e-12)
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(getattr(np, name)(found, **options), other, rtol=1e-12)
    for order in 1, 2, np.inf:
        assert found.norm(order) == pytest.approx(at.norm(order), rel=1e-12)
    for bounds in {"lower": 0.3}, {"upper": 0.6}, {"lower": 0.2, "upper": 0.9}:
        assert found.count(**bounds) == at.count(**bounds)
    assert found.name == "position"
    swarm.remove(np.ones(20, bool))
    assert (found.norm(), found.sum(), found.count(upper=1)) == (0, 0, 0)
    for reduction in "mean", "min":
        for name, of in ("position", found), ("mass", swarm["mass"]):
            words = f"^{reduction} needs one number at least, and {name} has none$"
            with pytest.raises(ValueError, match=words):
                getattr(of, reduction)()


@pytest.mark.any_form
def test_what_handles_cannot_do_they_say(device):
    swarm, _ = filled(GRIDS[1], 20, device)
    theirs = swarm["mass"].to_pyopencl()
    with pytest.raises(
        TypeError, match=r"^no attribute can be made in the memory of another array"
    ):
        swarm["mass"].from_pyopencl(theirs)
    swarm["copied"] = theirs
    np.testing.assert_array_equal(swarm["copied"], swarm["mass"])
    np.testing.assert_array_equal(swarm["mass"].copy(), swarm["mass"])
    for name, way in (("component", r"\[:, index\]"), ("from_pyopencl", r"\[\.\.\.\] = array")):
        with pytest.raises(AttributeError, match=f"has no {name}: use swarm.positions{way}$"):
            getattr(swarm.positions, name)
    dark = swarm["dark"]
    for part in swarm["mass"], swarm.positions:
        words = r"or truth values, not Attribute\('dark', .*: np\.asarray\(\.\.\.\) makes an array"
        with pytest.raises(IndexError, match=words):
            part[dark]
        np.testing.assert_array_equal(part[np.asarray(dark)], part.get()[dark.get()])
        with pytest.raises(IndexError, match=r"truth values, not Attribute\('mass', [^:]*$"):
            part[swarm["mass"]]


def test_operators_make_no_new_attributes(machine):
    swarm, _ = filled(GRIDS[1], 20, machine)
    other, _ = filled(GRIDS[1], 20, machine)
    words = r'operators make no new attribute: change this one by swarm\["mass"\] \*= 2'
    for operate in (
        lambda: swarm["mass"] + 1,
        lambda: 2 / swarm["mass"],
        lambda: -swarm["mass"],
    ):
        with pytest.raises(TypeError, match=words):
            operate()
    swarm["number"] = np.arange(20)
    before = rows_of(swarm)
    for kind, words, name, change, by in (
        (ValueError, "other must be an attribute of the same set", "mass", "imul", other["mass"]),
        (ValueError, "other must have as many components as mass, 1", "mass", "imul", swarm["v"]),
        (ValueError, r"other of the shape \(19,\) cannot be", "mass", "imul", np.ones(19)),
        (ValueError, "other must be an integer that float64 holds", "number", "iadd", 2**53 + 1),
        (TypeError, "other must be real numbers", "mass", "iadd", "a"),
        (TypeError, "other must be integers from", "number", "imul", 0.5),
        (TypeError, "other must be such that int64 holds it", "number", "imul", swarm["mass"]),
        (TypeError, "number is int64, which does not hold", "number", "itruediv", 2),
        (TypeError, "dark is bool, which does not hold", "dark", "iadd", 1),
    ):
        with pytest.raises(kind, match=words):
            getattr(operator, change)(swarm[name], by)
    assert rows_of(swarm) == before
    mass = swarm["mass"]
    del swarm["mass"]
    with pytest.raises(RuntimeError, match="no attribute mass any more"):
        swarm["mass"] = mass


def test_integers_stay_in_their_range_whatever_they_change_by(device):
    for dtype in "uint8", "int32", "uint32", "int64", "uint64":
        least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
        values = np.array([0, 1, 7, max(least, -(2**52)), min(greatest, 2**52)], dtype)
        for change in "iadd", "isub", "imul", "ifloordiv", "imod":
            for number in 0, 3, 200:
                others = np.full(5, number, dtype)
                swarm = pt.ParticleSet.random(
                    GRIDS[1], 5, seed=1, device=device, one=values, other=values, change=others
                )
                getattr(operator, change)(swarm["one"], swarm["change"])
                getattr(operator, change)(swarm["other"], others)
                np.testing.assert_array_equal(swarm["other"], swarm["one"])
    ends = np.array([2**63 - 10, 10 - 2**63])
    swarm = pt.ParticleSet.random(GRIDS[1], 2, seed=1, device=device, number=ends)
    swarm["number"] += np.array([3, -3])
    assert swarm["number"].get().tolist() == [2**63 - 7, 7 - 2**63]
    swarm["number"] %= np.array([2**63 - 1, -(2**63)])
    assert swarm["number"].get().tolist() == [2**63 - 7, 7 - 2**63]
    swarm["number"] += np.array([30, -30])
    assert swarm["number"].get().tolist() == [2**63 - 1, -(2**63)]


def test_positions_are_assigned_by_an_index_or_moved_by_a_formula(device):
    swarm, _ = filled(GRIDS[1], 20, device)
    before = rows_of(swarm)
    words = re.escape(
        "assign by swarm.positions[...] = values, or move particles by swarm.update(lambda p: "
    )
    for change in (
        lambda: operator.iadd(swarm.positions, 0.1),
        lambda: operator.imul(swarm.positions, np.ones(2)),
        lambda: swarm.positions * 2,
        lambda: -swarm.positions,
    ):
        with pytest.raises(TypeError, match=f"^positions have no operators: {words}"):
            change()
    with pytest.raises(TypeError, match=r"^positions have no operators"):
        swarm.positions += 0.1
    with pytest.raises(AttributeError, match=f"^positions of a ParticleSet .* replaced: {words}"):
        swarm.positions = np.zeros((20, 2))
    assert rows_of(swarm) == before
    positions = np.asarray(swarm.positions)
    np.testing.assert_array_equal(swarm.positions - np.ones(2), positions - 1)
    np.testing.assert_array_equal(np.ones(2) - swarm.positions, 1 - positions)
    swarm.positions[:, 0] += 0.1


@pytest.mark.parametrize("count", [1, 2])
def test_an_attribute_is_not_one_of_python(device, count):
    """Sets on one device and on several tell where it is."""
    where = {} if count == 1 else {"devices": several(device, count)}
    swarm = pt.ParticleSet.random(
        pt.Grid((4, 4), **where), 9, seed=1, device=device if count == 1 else None, size=np.ones(9)
    )
    words = r'^a ParticleSet has no size: use swarm\["size"\]$'
    with pytest.raises(AttributeError, match=words):
        swarm.size  # noqa: B018
    with pytest.raises(AttributeError, match=words):
        swarm.size = 1
    assert not hasattr(swarm, "size")
    del swarm["size"]
    with pytest.raises(AttributeError, match=r"has no size: use len\(swarm\)"):
        swarm.size  # noqa: B018


def test_update_computes_as_numpy(machine):
    n = 77
    swarm, rows = filled(GRIDS[1], n, machine, dtype="float64")
    swarm["number"], swarm["e"] = np.arange(n, dtype="int32"), np.ones(n)
    old = {name: np.asarray(swarm[name]) for name in swarm.attributes}
    x, y = swarm.positions.get().T
    swarm.update(
        lambda p, dt, turn=0.5: {
            "mass": p.mass * np.exp(-dt) + p.number,
            "v": np.where(p.dark, p.v * turn, 2 - p.v),
            "dark": p.y < 0.25,
            "number": np.minimum(-p.number / 3, 20.7),
            "tag": p.tag + 1,
            "e": p.e + p.x + p.v[0],
        },
        dt=0.25,
    )
    with np.errstate(over="ignore"):
        expected = {
            "mass": old["mass"] * np.exp(-0.25) + old["number"],
            "v": np.where(old["dark"][:, None], old["v"] * 0.5, 2 - old["v"]),
            "dark": y < 0.25,
            "number": np.minimum(-old["number"] / 3, 20.7).astype(int),
            "tag": old["tag"] + 1,
            "e": old["e"] + x + old["v"][:, 0],
        }
    for name, values in expected.items():
        found = swarm[name].get()
        assert found.dtype == old[name].dtype
        exact = found.dtype.kind != "f"
        eps = 0 if exact else 4 * np.finfo(found.dtype).eps
        np.testing.assert_allclose(found, values, rtol=eps, atol=eps, err_msg=name)
    assert not rows.keys() - set(swarm.attributes)


@pytest.mark.one_device
def test_a_formula_is_called_each_time_and_its_text_is_made_once(device, monkeypatch):
    """What it finds outside may have changed; numbers that are passed make no other text."""
    made, opencl_results = [], formulas.opencl_results
    monkeypatch.setattr(formulas, "opencl_results", lambda *a: made.append(a) or opencl_results(*a))
    formulas._computation.cache_clear()
    swarm = pt.ParticleSet(pt.Grid(8), [[0.25], [0.75]], m=np.float32([1, 2]), device=device)
    expected = swarm["m"].get()
    for factor, dt in [(2.0, 0.0), (2.0, 1.0), (3.0, 1.0), (2.0, 0.5), (3.0, 0.25)]:
        swarm.update(lambda p, dt, factor=factor: {"m": factor * p.m + dt}, dt=dt)
        expected = factor * expected + dt
        np.testing.assert_array_equal(swarm["m"].get(), expected)
    assert len(made) == 2
    swarm["m"] = np.uint8([1, 2])  # what is read and set may be of another type
    swarm.update(lambda p, dt: {"m": 2.0 * p.m + dt}, dt=0.75)
    assert swarm["m"].get().tolist() == [2, 4]


def test_integers_are_cut_off_and_saturated(machine):
    swarm = pt.ParticleSet(pt.Grid(4), np.zeros((5, 1)), device=machine)
    swarm["value"] = np.float64([-1.9, np.nan, 1e30, -1e30, 200.5])
    kinds = ["uint8", "int32", "uint32", "int64", "uint64"]
    for kind in kinds:
        swarm[kind] = np.zeros(5, kind)
    swarm.update(lambda p: dict.fromkeys(kinds, p.value))
    for kind in kinds:
        info = np.iinfo(kind)
        expected = [max(-1, info.min), 0, info.max, info.min, 200]
        np.testing.assert_array_equal(swarm[kind], np.array(expected, kind))


@pytest.mark.parametrize("by", ["row", "cell"])
@pytest.mark.parametrize("grid", WIDE, ids=str)
def test_sorting_is_stable_and_everything_moves_along(machine, grid, by):
    swarm, _ = filled(grid, 500, machine)
    cells = np.floor((swarm.positions.get() - grid.origin) / grid.spacing).astype(int)
    keys = np.ravel_multi_index(tuple(np.minimum(cells, np.array(grid.shape) - 1).T), grid.shape)
    order = np.argsort(keys // grid.shape[-1] if by == "row" else keys, kind="stable")
    before, version = rows_of(swarm), swarm.version
    found = swarm.sort(by=by, permutation=True)
    np.testing.assert_array_equal(found, order)
    assert rows_of(swarm) == [before[k] for k in order]
    assert swarm.version != version
    version = swarm.version
    np.testing.assert_array_equal(swarm.sort(by=by, permutation=True), np.arange(500))
    assert swarm.sort("row") is None
    assert swarm.version == version
    swarm.positions[0] = swarm.positions[-1]
    swarm.sort(by)
    assert swarm.version != version


@pytest.mark.parametrize("far", [0.0, 0.4, 3.0])
@pytest.mark.parametrize("shape", [(700,), (9, 40), (3, 5, 30)], ids=str)
def test_nearly_sorted_particles_stay_in_their_order_by_row(device, shape, far):
    """Of one axis rows are runs of 256 cells. Many neighbours are of one row, or hardly any are."""
    rng = random(f"nearly sorted {shape} {far}")
    cells = np.repeat(np.indices(shape).reshape(len(shape), -1).T, 3, axis=0)
    places = np.mod(cells + 0.5 + far * rng.uniform(-1, 1, cells.shape), shape)
    tags = np.arange(len(places))
    grid = pt.Grid(shape, extent=[float(n) for n in shape])
    swarm = pt.ParticleSet(grid, places, tag=tags, device=device)
    found = np.ravel_multi_index(tuple(np.floor(swarm.positions.get()).astype(int).T), shape)
    swarm.sort("row")
    expected = np.argsort(found // (256 if len(shape) == 1 else shape[-1]), kind="stable")
    np.testing.assert_array_equal(swarm["tag"].get(), expected)


def test_particles_are_added_and_removed_in_order(machine):
    grid = GRIDS[2]
    swarm, _ = filled(grid, 200, machine)
    other, _ = filled(grid, 33, machine)
    expected, versions = rows_of(swarm), [swarm.version]
    for step in range(4):
        swarm.add(other)
        expected += rows_of(other)
        versions.append(swarm.version)
        gone = random(f"gone {step}").random(len(swarm)) < 0.3
        swarm.remove(gone)
        expected = [row for row, is_gone in zip(expected, gone, strict=True) if not is_gone]
        versions.append(swarm.version)
        assert rows_of(swarm) == expected
        swarm.remove(np.zeros(len(swarm), bool))
        assert swarm.version == versions[-1]
    assert len(set(versions)) == len(versions)
    dark, z = np.asarray(swarm["dark"]), swarm.positions[:, 2]
    swarm.remove(lambda p: p.dark & (p.z > 4.0))
    assert rows_of(swarm) == [
        row for row, is_gone in zip(expected, dark & (z > 4), strict=True) if not is_gone
    ]
    swarm.add(swarm)
    assert rows_of(swarm)[: len(swarm) // 2] == rows_of(swarm)[len(swarm) // 2 :]
    swarm.remove(lambda p: True)
    assert len(swarm) == 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_set_with_other_cells_is_added_where_it_is(device, dtype):
    fine = pt.Grid((10, 12), boundary=["periodic", "wall"])
    coarse = pt.Grid((3, 5), boundary=["periodic", "wall"])
    swarm = pt.ParticleSet(fine, np.zeros((0, 2)), device=device, dtype=dtype)
    other = pt.ParticleSet(coarse, anywhere(coarse, 40, "other"), device=device)
    swarm.add(other)
    np.testing.assert_allclose(swarm.positions, other.positions, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(swarm.turns, other.turns)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_two_sets_never_share_memory(device, duplicate):
    swarm = pt.ParticleSet(pt.Grid(8), [[0.5]], device=device)
    with pytest.raises(TypeError, match=r"^a ParticleSet is on a device and can be neither copied"):
        duplicate(swarm)


def test_growth_copies_rarely(device):
    grid = pt.Grid(8)
    swarm = pt.ParticleSet(grid, [[0.5]], device=device, mass=np.ones(1, "float32"))
    one, sizes = pt.ParticleSet(grid, [[0.2]], device=device, mass=np.ones(1, "float32")), set()
    for _ in range(300):
        swarm.add(one)
        sizes.add(swarm.memory().total)
    assert len(swarm) == swarm["mass"].sum() == 301
    assert len(sizes) < 20


@pytest.mark.exhaustive
def test_attributes_may_be_longer_than_31_bits_count(device):
    """Takes 6 GB."""
    n = 2**26 + 5
    swarm = pt.ParticleSet.lattice(pt.Grid(n, boundary="wall"), device=device)
    swarm["v"] = pt.Array((n, 4), "float64", device)
    assert swarm["v"].nbytes > 2**31
    swarm["v"][0], swarm["v"][-1] = 7, [1, 2, 3, 4]
    swarm.update(lambda p: {"v": 2 * p.v})
    swarm.remove(lambda p: p.v[0] == 14)
    assert len(swarm) == n - 1
    np.testing.assert_array_equal(swarm["v"][-1], [2, 4, 6, 8])
    assert swarm["v"].sum() == 20
    assert swarm.positions[-1, 0] == pytest.approx(1 - 0.5 / n, abs=1e-8 / n)


def test_what_is_known_is_got_and_set_in_the_users_order(machine):
    grid = GRIDS[1]
    swarm, rows = filled(grid, 60, machine)
    order = np.argsort(rows["tag"])
    positions = swarm.positions.get()
    swarm.sort("cell")
    np.testing.assert_array_equal(swarm.get("v", by="tag"), rows["v"][order])
    np.testing.assert_array_equal(swarm.get("position", by="tag"), positions[order])
    swarm.set("mass", np.arange(60), by="tag")
    swarm.set("position", positions[order[::-1]], by="tag")
    np.testing.assert_array_equal(swarm["mass"], np.asarray(swarm["tag"]).argsort().argsort())
    np.testing.assert_allclose(swarm.get("position", by="tag"), positions[order[::-1]], rtol=1e-7)
    swarm["twice"] = np.zeros(60, "int64")
    with pytest.raises(ValueError, match="by must name an attribute that differs for each particl"):
        swarm.get("v", by="twice")


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_turns_are_got_in_the_users_order(device, grid):
    swarm, rows = filled(grid, 40, device)
    turns = swarm.turns
    assert turns.any() == ("periodic" in grid.boundary)
    swarm.sort("cell")
    for found in (swarm.get("turns", by="tag"), swarm.gather("turns", by="tag")):
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, turns[np.argsort(rows["tag"])])
    np.testing.assert_array_equal(swarm.gather("turns"), swarm.turns)
    with pytest.raises(ValueError, match=r"name must name an attribute .*position\), not 'turns'"):
        swarm.set("turns", turns, by="tag")


def test_handles_follow_and_exports_stay(device):
    swarm, rows = filled(GRIDS[1], 50, device)
    mass, moved = swarm["mass"], swarm["mass"].component(0)
    shared = np.from_dlpack(mass, device="cpu")
    swarm.sort("cell")
    swarm.remove(np.arange(50) < 20)
    swarm.sort("row")
    for _ in range(3):  # uses the memory that has become free
        swarm.update(lambda p: {"mass": p.mass + 1})
    np.testing.assert_array_equal(shared, rows["mass"])
    np.testing.assert_array_equal(moved, rows["mass"])
    assert len(mass) == 30
    assert mass.dtype == np.float32
    assert mass.name == "mass"
    assert mass.sum() == pytest.approx(np.asarray(swarm["mass"]).sum(dtype=float))
    mass[...] = 5
    mass[:10] = np.arange(10)
    assert swarm["mass"].sum() == 45 + 100
    del swarm["mass"]
    assert "mass" not in swarm
    assert "v" in swarm
    with pytest.raises(RuntimeError, match=r"^the set has no attribute mass any more$"):
        mass.get()
    assert repr(mass) == f"Attribute('mass', deleted, {device.name})"
    swarm["mass"] = np.arange(30)
    assert repr(mass) == f"Attribute('mass', (30,), int64, {device.name})"
    assert mass.dtype == np.int64
    assert mass.max() == 29


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_an_empty_set_does_all_that_others_do(machine, grid):
    swarm, _ = filled(grid, 0, machine)
    assert len(swarm) == 0
    assert swarm.positions.get().shape == (0, grid.ndim)
    assert swarm.sort("cell", permutation=True).shape == (0,)
    swarm.update(lambda p, dt: {"position": p.position + dt, "mass": 1.0}, dt=0.1)
    swarm.remove(lambda p: p.x > 0)
    swarm.remove(np.zeros(0, bool))
    swarm.add(swarm)
    swarm.positions[...] = 0
    swarm["e"] = np.zeros((0, 3))
    assert swarm.get("v", by="tag").shape == (0, 3)
    swarm.set("mass", [], by="tag")
    assert swarm["mass"].sum() == 0
    assert swarm.turns.shape == (0, grid.ndim)
    other, _ = filled(grid, 5, machine)
    other["e"] = np.zeros((5, 3))
    swarm.add(other)
    assert rows_of(swarm) == rows_of(other)
    assert "0 particles" not in repr(swarm)
    assert "ParticleSet" in swarm._repr_html_()


@pytest.mark.parametrize("per_cell", [1, 2, 3])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_lattice_fills_cells_in_their_order(device, grid, per_cell):
    swarm = pt.ParticleSet.lattice(grid, per_cell=per_cell, device=device, dtype="float64")
    each = per_cell**grid.ndim
    cells = np.floor((swarm.positions.get() - grid.origin) / grid.spacing).astype(int)
    numbers = np.ravel_multi_index(tuple(cells.T), grid.shape)
    np.testing.assert_array_equal(numbers, np.repeat(np.arange(grid.size), each))
    middle = np.array(grid.origin) + np.array(grid.extent) / 2
    np.testing.assert_allclose(swarm.positions.mean(axis=0), middle, rtol=1e-12)
    spread = np.asarray(swarm.positions).std(axis=0, ddof=1)
    np.testing.assert_allclose(np.std(swarm.positions, axis=0, ddof=1), spread, rtol=1e-12)
    np.testing.assert_allclose(swarm.positions.var(axis=0, ddof=1), spread**2)
    for axis, points in enumerate(grid.shape):
        places = np.unique(swarm.positions[:, axis].round(12))
        apart = grid.spacing[axis] / per_cell
        assert len(places) == points * per_cell
        np.testing.assert_allclose(np.diff(places), apart, rtol=1e-9)


def test_random_particles_are_the_same_for_a_seed(device):
    grid = GRIDS[1]
    one, same, other = (
        pt.ParticleSet.random(grid, 1000, seed=seed, device=device) for seed in (3, 3, 4)
    )
    assert rows_of(one) == rows_of(same) != rows_of(other)
    shares = (one.positions.get() - grid.origin) / grid.extent
    assert ((shares >= 0) & (shares < 1)).all()
    assert not one.turns.any()
    assert np.abs(shares.mean(axis=0) - 0.5).max() < 6 / np.sqrt(12 * 1000)


def test_offsets_are_double_where_an_attribute_is(device):
    positions = np.zeros((2, 1))
    single = pt.ParticleSet(pt.Grid(4), positions, device=device, m=np.ones(2, "float32"))
    double = pt.ParticleSet(pt.Grid(4), positions, device=device, m=np.ones(2))
    chosen = pt.ParticleSet(pt.Grid(4), positions, device=device, dtype="float32", m=np.ones(2))
    assert [one.dtype for one in (single, double, chosen)] == ["float32", "float64", "float32"]
    assert chosen["m"].dtype == np.float64


@pytest.mark.sampled
def test_bits_do_not_depend_on_the_form(device):
    sets = []
    for form in FORMS:
        swarm, _ = filled(GRIDS[2], 400, in_form(device, form))
        for _ in range(3):
            swarm.update(
                lambda p, dt: {
                    "position": p.position + dt * p.v,
                    "mass": np.sqrt(np.abs(p.mass * p.z + p.v[1])),
                },
                dt=0.1,
            )
            swarm.sort("cell")
        sets.append((rows_of(swarm), swarm.left.tolist()))
    assert sets[0] == sets[1]
    assert np.sum(sets[0][1]) > 0


KEYS = [
    np.s_[3],
    np.s_[3, 1],
    np.s_[2:9:3, 0],
    np.s_[::-2, -1],
    np.s_[[7, 2, 2]],
    np.s_[[7, 2], [0, 1]],
    np.s_[5:, [1]],
    np.arange(300) % 3 == 0,
    np.arange(600).reshape(300, 2) % 7 == 0,
]


def places_of(swarm):
    """Return cells along each axis, offsets and turns, as they are kept."""
    cells, offsets, turns = (
        np.empty((len(swarm), array.components), array.dtype)
        for array in itertools.islice(swarm._columns.all(), 3)
    )
    for array, host in zip(swarm._columns.all(), (cells, offsets, turns), strict=False):
        array.read((0, 0), host.shape, (1, 1), host)
    return np.stack(np.unravel_index(cells[:, 0], swarm.grid.shape), -1), offsets, turns


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
def test_what_is_not_assigned_keeps_its_bits(device, key, dtype):
    grid = pt.Grid((1000, 3), origin=(0.1, 7), extent=(0.7, 2), boundary=["periodic", "wall"])
    swarm = pt.ParticleSet(grid, anywhere(grid, 300, "assigned"), dtype=dtype, device=device)
    # Offsets are then known better than a position is.
    swarm.update(lambda p: {"position": (p.x + 1e-4 / 3, p.y - 1e-4 / 3)})
    swarm.sort("cell")
    before, expected = places_of(swarm), swarm.positions.get()
    given = anywhere(grid, 300, "given")
    swarm.positions[key] = expected[key] = given[key]
    expected, turns, _ = in_box(grid, expected, before[2])
    is_kept = np.ones((300, 2), bool)
    is_kept[key] = False
    assert is_kept.any()
    for old, new in zip(before, places_of(swarm), strict=True):
        np.testing.assert_array_equal(old[is_kept], new[is_kept])
    known = np.finfo(dtype).eps * np.array(grid.spacing)
    known += 8 * np.finfo(float).eps * (np.abs(grid.origin) + 3 * np.array(grid.extent))
    assert (np.abs(swarm.positions.get() - expected) <= known).all()
    np.testing.assert_array_equal(swarm.turns, turns)
    version = swarm.version
    swarm.sort("cell")
    assert swarm.version != version


def test_particles_that_went_round_too_often_are_refused(machine):
    swarm = pt.ParticleSet(pt.Grid(4), [[0.5], [2.0**31 - 0.5]], device=machine)
    before = rows_of(swarm)
    with pytest.raises(ValueError, match=r"within 2\^31 boxes, but particle 1 at \(1.5,\) would"):
        swarm.positions[:] = [[0.25], [1.5]]
    with pytest.raises(ValueError, match=r"but particle 1 at .* or has gone round 2\^31 times"):
        swarm.update(lambda p: {"position": p.position + 2})
    with pytest.raises(ValueError, match=r"positions must be finite, not \(nan,\) of particle 1"):
        swarm.positions[1:] = np.nan
    assert rows_of(swarm) == before


def changes_of(other):
    """Return all that changes a set with an attribute `mass` and a tag."""
    return {
        "add": lambda s: s.add(other),
        "remove": lambda s: s.remove([True] * len(s)),
        "sort": lambda s: s.sort("cell"),
        "set": lambda s: s.set("mass", np.ones(len(s)), by="tag"),
        "update": lambda s: s.update(lambda p: {"mass": 2.0}),
        "attribute": lambda s: s.__setitem__("mass", np.ones(len(s))),
        "values": lambda s: s["mass"].__setitem__(slice(3), 7),
        "fill": lambda s: s["mass"].fill(7),
        "delete": lambda s: s.__delitem__("mass"),
        "position": lambda s: s.positions.__setitem__(0, (1.0, -1.5)),
    }


@pytest.mark.parametrize("change", changes_of(None))
def test_one_caller_at_a_time_changes_a_set(device, change):
    """Neither a function that a set calls, nor another thread meanwhile."""
    swarm, _ = filled(GRIDS[1], 20, device)
    other, _ = filled(GRIDS[1], 5, device)
    act, before = changes_of(other)[change], rows_of(swarm)
    words = r"this ParticleSet is being changed already, by another thread or by the call whose"

    def here(p):
        act(swarm)
        return {"mass": 1.0}

    def elsewhere(p):
        with ThreadPoolExecutor(1) as threads:
            threads.submit(act, swarm).result()
        return p.dark

    def with_other(p):
        swarm.add(other)

    with pytest.raises(RuntimeError, match=f"^formula: {words}"):
        swarm.update(here)
    with pytest.raises(RuntimeError, match=f"^where: {words}"):
        swarm.remove(elsewhere)
    with pytest.raises(RuntimeError, match=f"^formula: {words}"):
        other.update(with_other)
    assert rows_of(swarm) == before
    act(swarm)


@pytest.fixture
def made(monkeypatch):
    """Return the names of arrays, as they are made."""
    names, array = [], _core.Array
    monkeypatch.setattr(_core, "Array", lambda *args: names.append(args[-1]) or array(*args))
    return names


@pytest.mark.parametrize("leaving", ["remove", "refuse"])
def test_a_move_takes_the_memory_of_the_one_before(device, made, leaving):
    swarm, _ = filled(GRIDS[2], 300, device, leaving=leaving)

    def moved(p, dt):
        return {"position": (p.x + 0.1 * dt, p.y + dt, p.z + dt), "mass": p.mass + 1}

    for step in range(6):
        if step == 2:
            made.clear()
        try:
            swarm.update(moved, dt=0.5)
        except ValueError:
            assert leaving == "refuse"
        swarm.sort("cell")
    assert made == []
    assert swarm.left.sum() > 0 or leaving == "refuse"
    before, memory = rows_of(swarm), swarm.memory().total
    swarm.remove(np.zeros(len(swarm), bool))
    swarm.update(moved, dt=0.0)
    assert [row[0] for row in rows_of(swarm)] == [row[0] for row in before]
    assert (swarm.memory().total, made) == (memory, [])


def test_memory_is_called_what_it_is_for(device, made):
    swarm, _ = filled(GRIDS[1], 10, device)
    swarm["w"] = np.zeros(10)
    swarm.sort()
    made.clear()
    swarm["u"] = np.zeros(10)  # though memory of w is free
    assert made == ["attribute u of particles"]
    total = swarm.memory().total
    del swarm["w"]
    del swarm["u"]
    assert swarm.memory().total < total - 2 * 80
    swarm.sort("cell")
    swarm["tag"] = np.zeros(10, "int32")
    made.clear()
    swarm.update(lambda p: {"tag": p.mass})
    swarm.update(lambda p: {"tag": p.mass})
    assert made == ["attribute tag of particles"]


@pytest.mark.slow
def test_a_lattice_of_a_fine_cell_stays_within(device):
    """Where the last place, 1 - 2^-26, is 1 in float32."""
    swarm = pt.ParticleSet.lattice(pt.Grid(1), per_cell=2**25, device=device)
    offsets = np.empty((1, 1), "float32")
    swarm._columns.offsets.read((2**25 - 1, 0), (1, 1), (1, 1), offsets)
    assert offsets == 1 - np.float32(2**-24)


@pytest.mark.any_form
def test_the_last_cells_that_an_int32_counts_are_sorted(device):
    grid = pt.Grid(2**31 - 1, extent=2**31 - 1)
    cells = grid.shape[0] - 1 - np.array([3, 100, 0, 63, 64, 2, 65, 1])
    swarm = pt.ParticleSet(grid, cells[:, None] + 0.5, device=device)
    swarm.sort("cell")
    np.testing.assert_array_equal(swarm.positions[:, 0], np.sort(cells) + 0.5)


@pytest.mark.one_device
def test_more_particles_than_there_is_memory_for_are_refused(device):
    """Before the host is asked for any."""
    with pytest.raises(pt.OutOfMemoryError, match="cells of particles needs"):
        pt.ParticleSet.random(pt.Grid((8, 8)), 2**38, seed=1, device=device)
    with pytest.raises(pt.OutOfMemoryError, match="cells of particles needs"):
        pt.ParticleSet.lattice(pt.Grid((2**18, 2**18)), device=device)


def test_a_set_is_no_array(device):
    swarm = pt.ParticleSet.random(pt.Grid((4, 4)), 3, seed=1, device=device)
    for take in np.asarray, np.mean:
        with pytest.raises(TypeError, match="a ParticleSet is no array: its positions are"):
            take(swarm)
