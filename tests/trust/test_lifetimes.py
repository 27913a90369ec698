# SPDX-License-Identifier: BSD-3-Clause
"""Objects may end in any order, in any thread and with the process: nothing breaks or is left."""

import gc
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.support import child, lot
from tests.support.sweeps import box, field, noise

FORM = pt.Form("private")


def one_of_everything(device):
    """Objects by their names; most hold others of them."""
    grid = box(9, 8)
    u, v = (field(noise(grid, seed), grid, "float32", device) for seed in (1, 2))
    velocity = pt.Field(grid, 2, device=device)
    velocity.fill(0.05)
    series = pt.VelocitySeries([velocity, velocity.copy()], [0.0, 64.0])
    wind = pt.Velocity(grid, ["0.1*y", "0.1"])
    advection = pt.AdvectionOp(velocity, form=FORM)
    source = pt.SourceOp(u, lambda u, v, x, y: -v * u, v)
    remesh = pt.RemeshOp(u, form=FORM)
    return {
        "field": u,
        "field of a source": v,
        "component": velocity.component(1),
        "memory outside": u.to_pyopencl(),
        "series": series,
        "advection": advection,
        "source": source,
        "remesh": remesh,
        "transport": pt.Splitting(advection, remesh, source=source),
        "windy": pt.Splitting(pt.AdvectionOp(wind, form=FORM), pt.RemeshOp(v, form=FORM)),
        "varying": pt.Splitting(pt.AdvectionOp(series, form=FORM), pt.RemeshOp(v, form=FORM)),
        "unsplit": pt.Unsplit(pt.AdvectionOp(velocity), pt.RemeshOp(v)),
    }


def end_in_any_order(objects, seed):
    """Drop one after the other, some in cycles; what is left goes on."""
    order = random.Random(seed)
    names = list(objects)
    order.shuffle(names)
    for name in names:
        one = objects.pop(name)
        if order.random() < 0.5:
            cycle = [one]
            cycle.append(cycle)
            del cycle
        del one
        if order.random() < 0.3:
            gc.collect()
        for left in objects.values():
            if isinstance(left, pt.Splitting | pt.Unsplit):
                left.step(0.01)
            elif isinstance(left, pt.Field):
                assert np.isfinite(left.sum())


def held(device):
    device.finish()
    gc.collect()
    return device.core.bytes_held, testing.buffers_held(device.core)


@pytest.mark.sampled
def test_objects_end_in_any_order(device):
    one_of_everything(device)
    before = held(device)
    for seed in lot.some(range(1000), 4, "in any order"):
        end_in_any_order(one_of_everything(device), seed)
        assert held(device) == before


@pytest.mark.sampled
def test_objects_end_in_other_threads(device):
    """Each thread ends what another has made, all at once."""
    one_of_everything(device)
    before = held(device)
    made = [one_of_everything(device) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(end_in_any_order, made, range(4)))
    made.clear()
    assert held(device) == before


@pytest.mark.sampled
def test_objects_are_made_and_end_in_threads(device):
    """Several threads make objects at once, which enter tables common to all."""
    one_of_everything(device)
    before = held(device)

    def make_and_end(seed):
        for _ in range(2):
            end_in_any_order(one_of_everything(device), seed)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make_and_end, range(4)))
    assert held(device) == before


def test_factories_of_the_core_hold_the_gil_when_they_return():
    """pybind11 enters what a factory made into a table, under the guard of the whole call."""
    bindings = Path(__file__).parents[2].joinpath("cpp", "bindings")
    definitions = [
        definition
        for path in sorted(bindings.glob("*.cpp"))
        for definition in re.split(r"\.def|;\n}", path.read_text())
        if definition.startswith("(py::init(")
    ]
    assert definitions
    assert not [definition for definition in definitions if "NoGil()" in definition]


def test_a_transport_keeps_what_it_needs(device):
    """Alone it does what it does among all."""
    among_all = one_of_everything(device)
    alone = one_of_everything(device)["transport"]
    gc.collect()
    for transport in (among_all["transport"], alone):
        transport.run(0.2, 0.05)
    np.testing.assert_array_equal(alone.remesh.fields[0].get(), among_all["field"].get())


ENDS = {
    "in a module": "",
    "in a cycle": "cycle = [transport, u]; cycle.append(cycle); del cycle, transport, u",
    "in a function that is called at exit": "atexit.register(lambda: print(u.sum() > 0))",
    "in a class that ends late": """
class Late:
    def __init__(self): self.kept = transport
    def __del__(self): self.kept.step(0.05)
sys.late = Late()
""",
    "without having been waited for": "transport.sweep(0, 0.05); u.fill(2.0)",
    "in a frame that is left by SystemExit": "def last(u=u, t=transport): sys.exit()\nlast()",
}


@pytest.mark.parametrize("way", ENDS)
def test_processes_end_well(device, way):
    code = f"""
import atexit, sys
import particles as pt
grid = pt.Grid((9, 8))
u = pt.Field(grid, device={device.index})
u.fill(1.0)
transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["0.1*y", "0.1"])), pt.RemeshOp(u))
transport.step(0.05)
print("works")
{ENDS[way]}
"""
    status, output, errors = child.run(code)
    assert (status, output.splitlines()[0], errors) == (0, "works", "")


@pytest.mark.sampled
@pytest.mark.parametrize("what", ["transport.step(0.001)", "u.get()", "pt.Field(grid).sum()"])
def test_processes_end_well_while_a_thread_works(device, what):
    """A thread that is not waited for is somewhere in the core when the interpreter ends."""
    code = f"""
import threading
import particles as pt
grid = pt.Grid((9, 8))
u = pt.Field(grid, device={device.index})
u.fill(1.0)
transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["0.1*y", "0.1"])), pt.RemeshOp(u))
started = threading.Event()

def work():
    while True:
        {what}
        started.set()

threading.Thread(target=work, daemon=True).start()
started.wait()
"""
    for _ in range(3):
        assert child.run(code) == (0, "", "")
