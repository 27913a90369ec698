# SPDX-License-Identifier: BSD-3-Clause
"""What the operators refuse, and in which words."""

from types import SimpleNamespace

import numpy as np
import particles as pt
import pytest
from particles import _core
from particles.fields.grid import check_resolution

from tests.support.refusals import GRID, INF, NAN, OTHER, foreign, refused, scalar, vector
from tests.support.sweeps import advection_core, box, field, noise, remesh_core

pytestmark = pytest.mark.one_device

# AdvectionOp


AS_FIELD = ": values on the points of a grid make a Field: pt.Field.from_arrays(grid, *velocity)"


@pytest.mark.parametrize(
    ("velocity", "told"),
    [
        *[(None, "None"), ("x", "'x'"), (np.zeros(2), f"array([0., 0.]){AS_FIELD}")],
        (np.zeros((2, 4, 6)), f"an array of float64 of the shape (2, 4, 6){AS_FIELD}"),
    ],
    ids=["None", "text", "short array", "array"],
)
def test_velocity_of_a_wrong_kind(velocity, told):
    words = f"velocity must be a Field, a Velocity or a VelocitySeries, not {told}"
    refused(TypeError, words, pt.AdvectionOp, velocity)


@pytest.mark.parametrize("scheme", ["rk5", "RK2", None, 2])
def test_unknown_scheme(scheme):
    words = f"scheme must be one of euler, rk2, heun, rk3, rk4, not {scheme!r}"
    refused(ValueError, words, pt.AdvectionOp, vector(), scheme)


@pytest.mark.parametrize("components", [1, 3])
def test_velocity_needs_a_component_per_axis(components):
    words = f"velocity must have one component per axis of its grid, 2, not {components}"
    refused(ValueError, words, pt.AdvectionOp, pt.Field(GRID, components))


@pytest.mark.parametrize("option", [{"dtype": "float32"}, {"device": 0}], ids=repr)
def test_a_field_has_its_own_dtype_and_device(option):
    words = "dtype and device must not be given with a velocity field, which has its own"
    refused(ValueError, words, pt.AdvectionOp, vector(), **option)


@pytest.mark.parametrize("form", ["Lanes", "", 1])
def test_unknown_form(form):
    words = f"form must be a Form, one of lanes, private, local, global, registers, team or None, not {form!r}"
    refused(ValueError, words, pt.AdvectionOp, vector(), form=form)
    refused(ValueError, words, pt.RemeshOp, scalar(), form=form)


@pytest.mark.parametrize("dtype", ["int32", "float16", "no such"])
def test_dtype_of_a_formula(dtype):
    words = f"dtype must be float32 or float64, not {dtype!r}"
    refused(TypeError, words, pt.AdvectionOp, pt.Velocity(GRID, ["1", "1"]), dtype=dtype)


def test_a_device_without_float64():
    device = SimpleNamespace(core=None, name="Small", dtypes=(np.dtype("float32"),))
    advection = pt.AdvectionOp(pt.Velocity(GRID, ["1", "1"]))
    words = "dtype must be float32 on Small, which has no float64"
    refused(TypeError, words, advection.core_for, device, np.dtype("float64"))


def test_arguments_of_a_push():
    advection = pt.AdvectionOp(vector())
    for dt in ("1", None, [1], True):
        refused(TypeError, f"dt must be a number, not {dt!r}", advection.apply, dt, 0)
    refused(ValueError, "dt must be finite, not nan", advection.apply, NAN, 0)
    refused(TypeError, "axis must be an integer, not 0.5", advection.apply, 0.1, 0.5)
    refused(IndexError, "axis must be from -2 to 1, not 2", advection.apply, 0.1, 2)
    refused(IndexError, "axis must be from -2 to 1, not -3", advection.apply, 0.1, -3)
    refused(ValueError, "time must be finite, not inf", advection.apply, 0.1, 0, time=INF)
    refused(ValueError, "time must be finite, not -inf", advection.strain, -INF)


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("place", [(0, 0), (3, 5), (2, 1)])
def test_velocity_must_be_finite(device, dtype, place, value):
    velocity = vector(dtype=dtype, device=device)
    velocity[(1, *place)] = value
    u = scalar(dtype=dtype, device=device)
    x, y = (float(axis.ravel()[i]) for axis, i in zip(GRID.coordinates(), place, strict=True))
    words = (
        f"velocity must be finite, but its component 1 is not: it is {value:g} at index {place}, "
        f"place ({x:.6g}, {y:.6g})"
    )
    refused(ValueError, words, pt.AdvectionOp(velocity).apply, 0.1, 1)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))
    refused(ValueError, words, transport.step, 0.1)
    refused(ValueError, words, transport.run, 1.0, 0.1)
    refused(ValueError, words, transport.sweep, 1, 0.1)
    assert transport.time == 0
    assert (u.get() == 0).all()


def test_moves_far_beyond_the_ends_of_lines():
    grid = pt.Grid((8, 4), boundary=["outflow", "periodic"])
    u = pt.Field(grid)
    u.fill(1.0)
    transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, ["1", "2"])), pt.RemeshOp(u))
    words = (
        "dt must move particles by at most 1000 times the length of lines with ends, 8 cells, not "
        "by 8.8e+03 along axis 0, where the velocity is 1 at index (0, 0), place (0.0625, 0)"
    )
    refused(ValueError, words, transport.step, 1100.0)
    assert (u.get() == 1).all()
    transport.step(900.0)  # by 1800 times the length of lines that have none
    assert (u.get() == 1).all()


def test_moves_beyond_what_can_be_counted():
    velocity = vector()
    velocity.fill(1e6)
    advection = pt.AdvectionOp(velocity)
    words = (
        "dt must move particles by less than 2**30 cells, not 6e+09 along axis 1, "
        "where the velocity is 1e+06 at index (0, 0), place (0, 0)"
    )
    refused(ValueError, words, advection.apply, 1000, 1)
    transport = pt.Splitting(advection, pt.RemeshOp(scalar()))
    words = words.replace("6e+09 along axis 1", "4e+09 along axis 0")
    refused(ValueError, words, transport.step, 1000)


def test_points_that_float32_cannot_tell_apart():
    grid = pt.Grid((4, 1000), origin=(0, 1000), extent=(1, 0.1))
    velocity = pt.Velocity(grid, ["1", "1"])
    words = (
        "grid must have points that float32 can distinguish, but along axis 1 they are 0.0001 apart "
        "at coordinates up to 1e+03: put the origin nearer to 0, or use float64"
    )
    refused(ValueError, words, pt.AdvectionOp(velocity).apply, 0.1, 0)
    refused(ValueError, words, pt.Splitting, pt.AdvectionOp(velocity), pt.RemeshOp(scalar(grid)))


@pytest.mark.parametrize("origin", [-1.0, 0.0])
def test_points_that_float32_can_just_tell_apart(origin):
    """The farthest end of the box decides: coordinates of 1 are 1.2e-7 apart."""
    check_resolution(pt.Grid(8_000_000, origin=origin), np.float32)
    with pytest.raises(ValueError, match=r"they are 1.11e-07 apart at coordinates up to 1"):
        check_resolution(pt.Grid(9_000_000, origin=origin), np.float32)


# RemeshOp


@pytest.mark.parametrize("fields", [None, 1, [], (), np.zeros(3)], ids=repr)
def test_fields_of_a_wrong_kind(fields):
    words = f"fields must be a Field or a sequence of them, not {fields!r}"
    refused(TypeError, words, pt.RemeshOp, fields)


def test_something_else_among_the_fields():
    words = "fields must be a Field or a sequence of them, not 'u' in it"
    refused(TypeError, words, pt.RemeshOp, [scalar(), "u"])


def test_fields_on_two_grids():
    words = f"fields must be on one grid, not on {OTHER} and {GRID}"
    refused(ValueError, words, pt.RemeshOp, [scalar(), scalar(OTHER)])


def test_fields_of_two_dtypes(device):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    words = "fields must have one dtype, not float64 and float32"
    fields = [scalar(device=device), scalar(dtype="float64", device=device)]
    refused(TypeError, words, pt.RemeshOp, fields)


def test_fields_on_two_devices():
    own, other = scalar(), foreign()
    words = f"fields must be on one device, not on {other.device} and {own.device}"
    refused(ValueError, words, pt.RemeshOp, [own, other])


def test_a_field_twice():
    u = vector()
    words = "fields must each have memory of their own, but two of them overlap"
    for again in (u, u.component(0), u.component(1)):
        refused(ValueError, words, pt.RemeshOp, [u, again])
    refused(ValueError, words, pt.RemeshOp, [u.component(1), u.component(1)])
    assert len(pt.RemeshOp([u.component(0), u.component(1)]).fields) == 2


def test_unknown_kernel():
    with pytest.raises(ValueError, match=r"kernel must be .*, not 'M6'"):
        pt.RemeshOp(scalar(), "M6")


def test_positions_of_a_wrong_kind():
    u = scalar()
    for positions, told in (
        (None, "None"),
        (u, repr(u)),
        (u.get(), "an array of float32 of the shape (4, 6)"),
    ):
        words = f"positions must be Positions, not {told}"
        refused(TypeError, words, pt.RemeshOp(u).apply, positions)


def test_positions_of_another_grid():
    words = f"positions must be on one grid, not on {OTHER} and {GRID}"
    refused(ValueError, words, pt.RemeshOp(scalar()).apply, pt.Positions(scalar(OTHER), 0))


def test_positions_of_another_dtype(device):
    if np.dtype("float64") not in device.dtypes:
        pytest.skip(f"{device.name} has no float64")
    positions = pt.Positions(scalar(dtype="float64", device=device), 0)
    words = (
        "positions must have one dtype, not float64 and float32: "
        "an AdvectionOp of a formula takes dtype='float32'"
    )
    refused(TypeError, words, pt.RemeshOp(scalar(device=device)).apply, positions)


def test_positions_on_another_device():
    u, other = scalar(), foreign()
    words = f"positions must be on one device, not on {other.device} and {u.device}"
    refused(ValueError, words, pt.RemeshOp(u).apply, pt.Positions(other, 0))


def test_positions_in_the_memory_of_a_field():
    u = vector()
    words = "positions must have memory of their own, not that of a field"
    remesh = pt.RemeshOp(u.component(0))
    refused(ValueError, words, remesh.apply, pt.Positions(u.component(0), 0))
    remesh.apply(pt.Positions(u.component(1), 0))


@pytest.mark.parametrize(
    ("value", "named"),
    [(NAN, "nan"), (INF, "inf"), (-INF, "inf"), (2.0**30, "1073741824.0"), (-1e30, "1.*e[+]30")],
)
def test_positions_that_are_nowhere(device, dtype, value, named):
    u, moved = (scalar(dtype=dtype, device=device) for _ in range(2))
    moved[2, 3] = value
    words = f"^positions must be finite and within 2[*][*]30 cells, not {named} cells away$"
    with pytest.raises(ValueError, match=words):
        pt.RemeshOp(u).apply(pt.Positions(moved, 1))
    assert (u.get() == 0).all()


# Positions


def test_what_positions_are_made_of():
    refused(TypeError, "displacement must be a Field, not 1.0", pt.Positions, 1.0, 0)
    refused(ValueError, "displacement must have one component, not 2", pt.Positions, vector(), 0)
    refused(IndexError, "axis must be from -2 to 1, not 2", pt.Positions, scalar(), 2)
    refused(TypeError, "axis must be an integer, not '0'", pt.Positions, scalar(), "0")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 has no copy=")
def test_positions_are_copied():
    words = "Positions are on a device and cannot become an array without a copy"
    refused(ValueError, words, np.asarray, pt.Positions(scalar(), 0), copy=False)


# The core, which nothing above should ever make say this


def test_the_core_guards_itself(device):
    grid, other = box(5, 6), box(6, 5)
    velocity = field([noise(grid, 0), noise(grid, 1)], grid, "float32", device)
    with pytest.raises(
        ValueError, match=r"^kind: expected lanes, private, local or global, got x$"
    ):
        advection_core(velocity, form="x")
    one = velocity.component(0)
    with pytest.raises(ValueError, match=r"^velocity: expected a component per axis \(2\), got 1$"):
        advection_core(one)
    with pytest.raises(ValueError, match=r"^fields: expected at least one, got none$"):
        remesh_core([])
    with pytest.raises(ValueError, match=r"^fields: expected one grid, dtype and device for all$"):
        remesh_core([one, pt.Field(other, device=device)])
    carried = remesh_core([pt.Field(grid, device=device)])
    with pytest.raises(ValueError, match=r"^order: expected 1, 2 or 4, got 3$"):
        _core.Splitting(advection_core(velocity), carried, 3)
    elsewhere = remesh_core([pt.Field(other, device=device)])
    with pytest.raises(ValueError, match=r"^velocity: expected the grid, dtype and device of"):
        _core.Splitting(advection_core(velocity), elsewhere, 2)
