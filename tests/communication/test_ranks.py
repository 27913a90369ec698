# SPDX-License-Identifier: BSD-3-Clause
"""Programs on several ranks: the same bits for any number, and one end for all."""

import re
import subprocess
import sys
import time

import pytest

from tests.support import child, lot, ranks


@pytest.mark.sampled
def test_fields_do_not_depend_on_the_number_of_ranks(device):
    """By formula, by arrays, by arithmetic, and all that is made of all values, to the bit."""
    case = ("tests.communication.field_cases", device.index, lot.NUMBER, 4)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) >= 4 * 13
    for number in lot.some((1, 2, 3, 4), 2, "numbers of ranks"):
        assert ranks.check(number, *case) == alone, f"{number} ranks"


WAYS = {
    "raise": "ArithmeticError: the first cause",
    "interrupt": "\nKeyboardInterrupt\n",
    "exit": "all ranks must do the same",
    "leave": "all ranks must do the same",
    "finalize": "all ranks must do the same",
    "other": "all ranks must do the same",
    "argument": "ValueError: ord must be 1, 2 or inf, not 3",
    "alone": "",
    "signal": "\nKeyboardInterrupt\n",
    "bounds": "count between (0.25, nan)",
    "dtype": "gather of 1 of float64",
    "name": "sum of 'other' of 1 of float32",
    "communicator": "all ranks must do the same",
    "early": "ArithmeticError: before the first grid",
    "status": "",
    "shape": "ValueError: shape must be at least 1",
    "abort": "",
    "kill": "",
    "hidden": "",
}
STATUS = {"exit": 3, "alone": 3, "status": 4}
SECONDS = 5 * 4  # all end within 5 of them on a machine that has nothing else to do


@pytest.mark.sampled
@pytest.mark.one_device
@pytest.mark.drawn(6)
@pytest.mark.parametrize("way", WAYS)
def test_the_end_of_one_is_the_end_of_all(way, tmp_path):
    """Whatever ends it, at work together, alone or before the first grid: soon, told once, by status."""
    number = lot.lots(way).choice((2, 3, 4))
    rank = lot.lots(way + "'s rank").randrange(number)
    is_shared = lot.lots(way + "'s comm").random() < 0.5
    status, output, errors = ranks.run(
        number,
        "tests.communication.ends",
        way,
        rank,
        tmp_path,
        seconds=60,
        PARTICLES_COMM="world" if is_shared else "",
    )
    seconds = time.time() - (tmp_path / "ends").stat().st_mtime
    assert status not in (124, 137, *[0] * (way != "hidden")), (output, errors)
    assert seconds < SECONDS
    assert way not in STATUS or status == STATUS[way], (status, errors)
    ready = 0 if way in ("early", "status", "shape") else number
    assert len([*tmp_path.glob("ready.*")]) == ready
    if WAYS[way]:
        assert errors.count(WAYS[way]) == 1, errors


@pytest.mark.one_device
def test_whoever_ends_mpi_at_the_end_of_the_script_may():
    """And a child that was made by a fork leaves its parent's alone."""
    ranks.check(2, "tests.communication.ends", "over", -1)


@pytest.mark.sampled
@pytest.mark.one_device
def test_what_all_raise_is_told_once():
    status, _, errors = ranks.run(3, "tests.communication.ends", "argument", -1, seconds=60)
    assert status not in (0, 124, 137)
    assert errors.count("ValueError: ord must be 1, 2 or inf, not 3") == 1, errors


WARNINGS = """
import warnings
import numpy as np
import particles as pt

def told(values, flow, shape, until, **steps):
    grid = pt.Grid(shape, comm="world")
    u = pt.Field(grid, name="u")
    u[...] = values
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pt.Splitting.from_preset("default", pt.Velocity(grid, flow), u).run(until, **steps)
    return [str(warning.message) for warning in caught]

hill = lambda x: np.exp(-((x - 0.25) ** 2) / 0.05**2) + 1e-9
assert told(hill, ("1",), 64, 0.1, dt=0.0101) == []
cells = lambda x, y: (
    np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y),
    -np.cos(2 * np.pi * x) * np.sin(2 * np.pi * y),
)
(message,) = told(lambda x, y: 1 + 0 * x * y, cells, (64, 64), 1.0, lcfl=0.2)
assert "'u' was 1 and now reaches -" in message, message
"""


@pytest.mark.one_device
def test_masses_that_take_the_other_sign_are_told_of_on_all_ranks_or_none(tmp_path):
    """A rank that has the foot of a hill alone does not take it for all."""
    (tmp_path / "warned.py").write_text(WARNINGS)
    environment = {"PYTHONPATH": f"{tmp_path}:" + ":".join(sys.path)}
    ranks.check(2, "warned", **environment)


SCRIPT = """
import sys
import numpy as np
import particles as pt

def refused(kind, call, *words):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"nothing was raised of {words}")

grid = pt.Grid((8, 6, 4), comm="world")
u, v = pt.Field(grid), pt.Field(grid, 3)
later = "divided among ranks (comm)"
refused(ValueError, lambda: pt.resample(u, pt.Grid((16, 6, 4), comm="self")), "the field's ranks")
refused(NotImplementedError, lambda: grid.__reduce__(), "pickle", later)
flow = pt.AdvectionOp(v)
refused(RuntimeError, lambda: flow.apply(0.1 + grid.begin[0], 0), "all ranks must do the same")
moves = pt.Positions(pt.Field(grid), axis=0)
other = pt.RemeshOp(u, limiter="positive" if grid.begin[0] else None)
refused(RuntimeError, lambda: other.apply(moves), "all ranks must do the same")
swarm = pt.ParticleSet(grid.whole, np.zeros((1, 3)), q=np.ones(1))
refused(ValueError, lambda: pt.GridToParticles(u, swarm, "q"), "among the set's ranks")
refused(ValueError, lambda: pt.ParticlesToGrid(swarm, "q", u), "among the set's ranks")
mine = pt.ParticleSet(grid, np.zeros((1, 3)), q=np.ones(1))
whole = pt.Field(grid.whole)
refused(ValueError, lambda: pt.ParticlesToGrid(mine, "q", whole), "among the set's ranks")
made = pt.Splitting(pt.AdvectionOp(pt.Field(grid, 3, name="a")), pt.RemeshOp(pt.Field(grid, name="u")))
assert dict(made.memory()) == dict(pt.memory(grid))
refused(ValueError, lambda: pt.Tracers(swarm, v), "among the set's ranks")
coarse = pt.Field(pt.Grid((4, 3, 2), comm="self"), 3)
refused(ValueError, lambda: pt.AdvectionOp(coarse, grid=grid), "grid must be of the velocity's box")
transport = pt.Splitting(flow, pt.RemeshOp(u))
refused(RuntimeError, lambda: (u.min if grid.begin[0] else u.max)(axis=0), "all ranks must do the same")
refused(RuntimeError, lambda: pt.Diffusion(u, 0.1).apply(0.1 + grid.begin[0]), "all ranks must do")
refused(RuntimeError, lambda: transport.step(0.1 + grid.begin[0]), "all ranks must do the same")
refused(ValueError, lambda: pt.Grid((1, 8), comm="world"), "shape must have at least 2 points")
refused(ValueError, lambda: pt.Grid((8, 8), comm="world", cuts=(1, 2)), "the last axis whole", "(2, 1)")
refused(ValueError, lambda: pt.Grid((8, 8, 8), comm="world", cuts=(1, 1, 2)), "the last axis whole")
refused(ValueError, lambda: pt.Grid((8, 1, 8), comm="world", cuts=(1, 2, 1)), "at least 2 points along axis 1")
rows = pt.Grid((8, 6, 4), comm="world", cuts=(1, 2, 1))
assert (rows.shape, rows.begin[0], rows != grid, rows.whole == grid.whole) == ((8, 3, 4), 0, True, True)
moving = pt.AdvectionOp(pt.Velocity(rows, ("1", "1", "1")))
refused(NotImplementedError, lambda: pt.Unsplit(moving, pt.RemeshOp(pt.Field(rows))), "fields must be", "for Unsplit, (2, 1, 1), not (1, 2, 1)")
refused(ValueError, lambda: pt.AdvectionOp(pt.Field(rows, 3), grid=grid), "the cuts of the velocity's, (1, 2, 1)")
refused(ValueError, lambda: pt.Splitting(moving, pt.RemeshOp(u)), "on the grid of the fields")
refused(ValueError, lambda: pt.Grid((8, 8), comm="world", cuts=(3, 1)), "whose product is", "2")
assert pt.Grid((8, 8), comm="world", cuts=(2, 1)).cuts == (2, 1)
assert pt.Grid((8, 8)) == pt.Grid((8, 8), comm="world")  # PARTICLES_COMM
assert pt.Grid((8, 8), comm="self").whole.shape == pt.Grid((8, 8)).whole.shape == (8, 8)
from mpi4py import MPI
assert pt.Grid((8, 8), comm=MPI.COMM_SELF).shape == (8, 8)
refused(ValueError, lambda: pt.Grid((8, 8), comm=MPI.Intracomm(MPI.COMM_NULL)), "COMM_NULL")
refused(TypeError, lambda: pt.Grid((8, 8), comm=3), "comm must be", "not 3")
told = MPI.COMM_WORLD.gather(f"{grid.begin} {grid.shape} {grid}")
if told:
    print(*told, sep="\\n")
"""


COUNTED = """
import particles as pt
size = pt.Grid((64, 6, 4), comm="world").ranks.size
for cut, shape in (1, (6, 64, 4)), (0, (64, 6, 4)):
    grid = pt.Grid(shape, comm="world", cuts=[size if axis == cut else 1 for axis in range(3)])
    u, v = pt.Field(grid), pt.Field(grid, 3)
    transport = pt.Splitting(pt.AdvectionOp(v), pt.RemeshOp(u))
    v.fill(1 / 64)
    row, known = 4 * 6 * 4, (grid.ranks.sent.messages, grid.ranks.sent.nbytes)
    measured, looked_at, reach = 8, 2 + 4 + 8 + 2, 1 + 4
    for rows in measured + looked_at + reach, reach, reach:  # a steady velocity is fetched once
        transport.sweep(cut, 0.5)  # by half a cell
        transport.sweep(1 - cut, 0.5)  # asks nobody
        sent = grid.ranks.sent.messages - known[0], grid.ranks.sent.nbytes - known[1]
        known = grid.ranks.sent.messages, grid.ranks.sent.nbytes
        summed = cut * (size - 1) * (rows > reach)  # planes of u are put together for its first sum
        exchanged = 2 * (3 if rows > reach else 1), 2 * rows * row
        assert sent == (exchanged[0] + summed, exchanged[1] + summed * u.nbytes // size), (cut, sent)
calls = {"meet": 0, "greatest": 0, "exchange": 0}
kind = type(grid.ranks)
def counted(name, method):
    def call(*arguments, **options):
        calls[name] += 1
        return method(*arguments, **options)
    return call
for name in calls:
    setattr(kind, name, counted(name, getattr(kind, name)))
gust = pt.Velocity(grid, lambda x, y, z, t: (0.02 + 1e-4 * t, 0.1, 0.1))
for flow in v, gust:
    transport = pt.Splitting(pt.AdvectionOp(flow), pt.RemeshOp(u))
    transport.run(0.5, 0.5, progress=False)  # looks at the velocity
    for steps in 1, 20, 64, 65, 150:
        calls.update(dict.fromkeys(calls, 0))
        transport.run(transport.time + steps * 0.5, 0.5, progress=False)
        asked = steps + 1  # half sweeps are joined but for the first and the last
        agreed = -(-steps // 64) + 1  # on so many steps at once, and at the end on signs of masses
        assert calls == {"meet": agreed, "greatest": agreed, "exchange": asked}, (steps, calls)
"""


@pytest.mark.sampled
@pytest.mark.one_device
def test_what_is_sent_is_what_particles_need(tmp_path):
    """And how often: sweeps along the axis that is cut ask others, and ranks agree once every 64 steps and at the end."""
    (tmp_path / "counted.py").write_text(COUNTED)
    environment = {"PYTHONPATH": f"{tmp_path}:" + ":".join(sys.path)}
    ranks.check(lot.lots("ranks that count").choice((2, 3)), "counted", **environment)


@pytest.mark.sampled
@pytest.mark.one_device
def test_what_does_not_work_yet_is_refused_by_name(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        ["timeout", "-k", "5", "100", ranks.launcher(), "-n", "2", sys.executable, "script.py"],
        cwd=tmp_path,
        env={**ranks.environment_of_ranks(), "PARTICLES_COMM": "world"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"({begin}, 0, 0) (4, 6, 4) Grid((8, 6, 4), origin=(0.0, 0.0, 0.0), extent=(1.0, 1.0, 1.0)"
        f", cuts=(2, 1, 1)) of which rank {rank} has (4, 6, 4) (begin=({begin}, 0, 0))"
        for rank, begin in enumerate((0, 4))
    ]


def test_whoever_is_one_of_many_and_does_not_share_is_warned():
    code = "import particles as pt; pt.Grid(4); pt.Grid(5); pt.Grid(6, comm='self')"
    for launcher in {"PMI_SIZE": "4"}, {"PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "4"}:
        status, _, errors = child.run(code, **launcher)
        assert status == 0
        told = "<string>:1: UserWarning: this is one of 4 ranks, and each computes the same"
        assert len(re.findall(told, errors)) == 1, errors
    assert "warn" not in child.run(code, PMI_SIZE=None)[2].lower()


def test_whoever_is_one_of_many_of_slurm_but_not_of_mpi_is_warned():
    pytest.importorskip("mpi4py", exc_type=ImportError)
    code = "import particles as pt; pt.Grid(4, comm='world'); pt.Grid(5, comm='world')"
    status, _, errors = child.run(code, SLURM_STEP_NUM_TASKS="4")
    assert status == 0, errors
    told = '<string>:1: UserWarning: comm is "world", but MPI knows of one rank where Slurm has'
    assert len(re.findall(told, errors)) == 1, errors


@pytest.mark.one_device
@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("mpi4py", "comm needs mpi4py and an MPI: pip install mpi4py mpich"),
        ("mpi4py.MPI", "comm needs an MPI that mpi4py can load: pip install mpich, or take"),
    ],
)
def test_what_is_missing_for_ranks_is_told(missing, words, tmp_path):
    if missing == "mpi4py.MPI":
        (tmp_path / "mpi4py").mkdir()
        (tmp_path / "mpi4py" / "__init__.py").write_text("")
        (tmp_path / "mpi4py" / "MPI.py").write_text("raise RuntimeError('cannot load\\nlibmpi.so')")
    else:
        (tmp_path / "sitecustomize.py").write_text(
            "import importlib.util as util\nfound = util.find_spec\n"
            "util.find_spec = lambda name, *more: None if name == 'mpi4py' else found(name, *more)\n"
            "import sys\nsys.modules['mpi4py'] = None\n"
        )
    status, _, errors = child.run(
        "import particles as pt; pt.Grid(4, comm='world')",
        PYTHONPATH=f"{tmp_path}:" + ":".join(sys.path),
    )
    assert status == 1
    assert errors.splitlines()[-1].startswith(f"ImportError: {words}"), errors


@pytest.mark.sampled
def test_transports_do_not_depend_on_the_number_of_ranks(device):
    """All that can be chosen, drawn; blocks shorter than a move; a velocity changed by one rank."""
    case = ("tests.communication.transport_cases", device.index, lot.NUMBER, 4)
    alone = ranks.check(0, *case)
    assert len(alone.splitlines()) == 4
    number = lot.lots("ranks of transports").choice((2, 3, 4))
    assert ranks.check(number, *case) == alone, f"{number} ranks"


@pytest.mark.one_device
@pytest.mark.exhaustive
@pytest.mark.parametrize("piece", range(13))
def test_two_hundred_transports_do_not_depend_on_the_number_of_ranks(piece):
    """On up to eight ranks, which are more than there may be processors."""
    case = ("tests.communication.transport_cases", 0, lot.NUMBER + piece, 2, 8, 8)
    alone = ranks.check(0, *case, seconds=600)
    assert len(alone.splitlines()) == 2 * 8
    for number in 1, 2, 3, 4, 8:
        assert ranks.check(number, *case, seconds=600) == alone, f"{number} ranks"


@pytest.mark.sampled
def test_a_second_axis_can_be_cut(device):
    """With lines of some of the ranks, corners, what comes in through a cut axis, and memory of others."""
    case = ("tests.communication.two_cuts_case", device.index)
    rows, columns = lot.lots("cuts of two axes").choice(((2, 2), (1, 4), (1, 3), (3, 2)))
    alone = ranks.check(0, *case, 1, 1)
    assert len(alone.splitlines()) == 4
    assert ranks.check(rows * columns, *case, rows, columns) == alone, (rows, columns)


@pytest.mark.sampled
@pytest.mark.one_device
def test_one_rank_is_as_none():
    case = ("tests.communication.transport_cases", 0, lot.NUMBER, 1)
    assert ranks.check(1, *case) == ranks.check(0, *case)
