# SPDX-License-Identifier: BSD-3-Clause
"""What a Splitting refuses, and in which words."""

import numpy as np
import particles as pt
import pytest

from tests.support.refusals import GRID, INF, NAN, OTHER, foreign, refused, scalar, vector

pytestmark = pytest.mark.one_device


def test_operators_of_a_wrong_kind():
    advection, remesh = pt.AdvectionOp(vector()), pt.RemeshOp(scalar())
    words = f"advection must be an AdvectionOp, not {remesh!r}"
    refused(TypeError, words, pt.Splitting, remesh, advection)
    words = "remesh must be a RemeshOp, not None"
    refused(TypeError, words, pt.Splitting, advection, None)


def test_unknown_order_and_times():
    operators = pt.AdvectionOp(vector()), pt.RemeshOp(scalar())
    for order in (0, 3, -1):
        words = f"order must be 1 (Lie), 2 (Strang) or 4 (Suzuki), not {order}"
        refused(ValueError, words, pt.Splitting, *operators, order)
    for order in (2.0, "2", None, True):
        words = f"order must be an integer, not {order!r}"
        refused(TypeError, words, pt.Splitting, *operators, order)
    refused(ValueError, "time must be finite, not nan", pt.Splitting, *operators, time=NAN)
    refused(TypeError, "time must be a number, not None", pt.Splitting, *operators, time=None)


def test_velocity_on_another_grid():
    words = (
        f"the velocity must be on the grid of the fields, not on {OTHER} with the fields on {GRID}"
    )
    for velocity in (vector(OTHER), pt.Velocity(OTHER, ["1", "1"])):
        advection, remesh = pt.AdvectionOp(velocity), pt.RemeshOp(scalar())
        refused(ValueError, words, pt.Splitting, advection, remesh)


def test_velocity_of_another_dtype(device):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    advection = pt.AdvectionOp(vector(device=device))
    words = "the velocity must be of float64, not float32, with the fields in float64"
    carried = pt.RemeshOp(scalar(dtype="float64", device=device))
    refused(TypeError, words, pt.Splitting, advection, carried)


def test_velocity_on_another_device():
    u, velocity = scalar(), foreign(components=2)
    words = (
        f"the velocity must be on the device of the fields, not on {velocity.device} "
        f"with the fields on {u.device}"
    )
    refused(ValueError, words, pt.Splitting, pt.AdvectionOp(velocity), pt.RemeshOp(u))


def test_velocity_in_the_memory_of_a_carried_field():
    velocity = vector()
    words = "the velocity must have memory of its own, not that of a carried field"
    for carried in (velocity, velocity.component(1), [scalar(), velocity.component(0)]):
        refused(ValueError, words, pt.Splitting, pt.AdvectionOp(velocity), pt.RemeshOp(carried))


def test_velocity_overlapping_a_carried_array():
    import pyopencl.array

    array = pyopencl.array.zeros(pt.default_device().queue, (3, *GRID.shape), np.float32)
    velocity = pt.Field.from_pyopencl(array[:2], GRID)
    carried = pt.Field.from_pyopencl(array[1], GRID)
    words = "the velocity must have memory of its own, not that of a carried field"
    refused(ValueError, words, pt.Splitting, pt.AdvectionOp(velocity), pt.RemeshOp(carried))


@pytest.fixture
def transport():
    return pt.Splitting(pt.AdvectionOp(vector()), pt.RemeshOp(scalar()), time=1.0)


def test_durations(transport):
    for dt in (0, 0.0, -0.1):
        words = f"dt must be positive, not {float(dt)}"
        for call in (transport.step, transport.lcfl):
            refused(ValueError, words, call, dt)
        refused(ValueError, words, transport.run, 2.0, dt)
    refused(ValueError, "dt must not be zero", transport.sweep, 0, 0.0)
    for dt in (NAN, INF):
        refused(ValueError, f"dt must be finite, not {dt}", transport.step, dt)
    for dt in ("1", None, [1.0], True):
        refused(TypeError, f"dt must be a number, not {dt!r}", transport.step, dt)
    assert transport.time == 1.0


def test_steps_that_lead_nowhere(transport):
    words = "dt must be large enough to change the time 1.0, not 1e-17"
    refused(ValueError, words, transport.run, 2.0, 1e-17)


def test_ends_of_a_run(transport):
    words = "until must not be before the present time 1.0, not 0.5"
    refused(ValueError, words, transport.run, 0.5, 0.1)
    refused(ValueError, "until must be finite, not inf", transport.run, INF, 0.1)
    refused(TypeError, "until must be a number, not '2'", transport.run, "2", 0.1)
    assert transport.time == 1.0


def test_axis_of_a_sweep(transport):
    refused(IndexError, "axis must be from -2 to 1, not 2", transport.sweep, 2, 0.1)
    refused(TypeError, "axis must be an integer, not 0.0", transport.sweep, 0.0, 0.1)
    words = "axis must not be None (the source), because there is no source"
    refused(ValueError, words, transport.sweep, None, 0.1)
