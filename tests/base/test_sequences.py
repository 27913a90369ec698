# SPDX-License-Identifier: BSD-3-Clause
"""Wherever several numbers are meant they may be in a list or in an array of any library."""

import inspect
import re

import matplotlib.pyplot as plt
import numpy as np
import particles as pt
import pytest
import xarray

pytestmark = pytest.mark.one_device

GRID = pt.Grid((4, 6), boundary=["periodic", ("inflow", "outflow")])


class Strange:
    """An array of another library, which becomes one of NumPy."""

    def __init__(self, numbers):
        self._numbers = numbers

    def __array__(self, dtype=None, copy=None):
        return np.array(self._numbers, dtype)


KINDS = {
    "tuple": tuple,
    "range": lambda numbers: range(numbers[0], numbers[-1] + 1, numbers[1] - numbers[0]),
    "array": np.array,
    "float16": lambda numbers: np.array(numbers, np.float16),
    "strided": lambda numbers: np.repeat(numbers, 2)[::2],
    "objects": lambda numbers: np.array(numbers, object),
    "DataArray": lambda numbers: xarray.DataArray(numbers, dims="time"),
    "coordinate": lambda numbers: (
        xarray.DataArray([0.0] * len(numbers), {"time": numbers}, "time").time
    ),
    "index": lambda numbers: xarray.Coordinates({"time": numbers}).to_index(),
    "another library's": Strange,
}


def levels():
    return [pt.Field(pt.Grid(4)), pt.Field(pt.Grid(4))]


def calls(at):
    """Return the times at which a run calls."""
    called = []
    u = pt.Field(pt.Grid(4))
    transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(u.grid, lambda x: 1.0)), pt.RemeshOp(u))
    transport.run(until=5, dt=1.0, callback=lambda one: called.append(one.time), at=at)
    return called


PLACES = {
    "shape": ([4, 6], pt.Grid),
    "origin": ([1, 2], lambda given: pt.Grid((4, 6), origin=given)),
    "extent": ([1, 2], lambda given: pt.Grid((4, 6), extent=given)),
    "spacing": ([1, 2], lambda given: pt.Grid((4, 6), spacing=given)),
    "viscosity": ([1, 2], lambda given: pt.Diffusion(pt.Field(pt.Grid(4), 2), given).viscosity),
    "inflow": ([1, 2], lambda given: pt.RemeshOp(pt.Field(GRID, 2), inflow=given).inflows),
    "inflow of a side": (
        [1, 2],
        lambda given: pt.RemeshOp(pt.Field(GRID, 2), inflow={(1, "low"): given}).inflows,
    ),
    "times": ([0, 1], lambda given: pt.VelocitySeries(levels(), given).times),
    "at": ([1, 3, 5], calls),
    "formula": ([1, 2], lambda given: repr(pt.Velocity(pt.Grid((4, 6)), given))),
    "times of a ball": ([0, 1], lambda given: pt.levelset.exact(pt.Grid((4, 4, 4)), given).sum()),
    "points": ([8, 16], lambda given: len(pt.plot.convergence(given, [0.2, 0.1]).lines)),
    "errors": ([2, 1], lambda given: len(pt.plot.convergence([8, 16], {"one": given}).lines)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("place", PLACES)
def test_arrays_are_as_good_as_lists(place):
    numbers, use = PLACES[place]
    expected = use(numbers)
    for kind, make in KINDS.items():
        unfit = {("shape", "float16"), ("errors", "range"), ("at", "another library's")}
        if (place, kind) not in unfit:
            assert use(make(numbers)) == expected, kind
    plt.close("all")


def test_no_signature_asks_for_a_sequence_of_numbers():
    """Types are to say ArrayLike there, so that a place is added to those above."""
    found = set()
    for module in (pt, pt.io, pt.kernels, pt.levelset, pt.plot, pt.problems):
        for name in module.__all__:
            one = getattr(module, name)
            members = vars(one).values() if inspect.isclass(one) else ()
            functions = [
                member.fset if isinstance(member, property) else member for member in members
            ]
            for function in filter(inspect.isfunction, [one, *functions]):
                for parameter in inspect.signature(function).parameters.values():
                    if re.search(r"Sequence\[(float|int)\]", str(parameter.annotation)):
                        found.add(f"{name}: {parameter}")
    assert found == set()
