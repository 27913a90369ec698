# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic on the device, against NumPy: formulas of fields and places, and operators in place."""

import operator
import re

import numpy as np
import particles as pt
import pytest
from particles._core import testing

from tests.support.gpu_forms import FORMS, in_form

cl_array = pytest.importorskip("pyopencl.array")

IN_PLACE = [
    getattr(operator, f"i{name}")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
]
EXACT = IN_PLACE[:-1]
"""Operators that are rounded as NumPy rounds them."""
SHAPES = [(5,), (3, 17), (2, 3, 40)]


@pytest.fixture(params=FORMS)
def machine(request, device):
    """Return the device in each of its forms."""
    return in_form(device, request.param)


def drawn(shape, components, dtype, machine, seed=1):
    """Return a field and its values, away from 0."""
    field = pt.Field(pt.Grid(shape), components, dtype, machine)
    rng = np.random.default_rng(seed)
    sizes, signs = rng.uniform(0.5, 3, field.shape), rng.choice([-1, 1], field.shape)
    values = (sizes * signs).astype(dtype)
    field[...] = values
    return field, values


def units_apart(field, values):
    """How many units in the last place a field is away from values."""
    return np.max(np.abs(field.get() - values) / np.spacing(np.abs(values).astype(field.dtype)))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_formulas_of_places(machine, dtype, shape):
    grid = pt.Grid(shape, origin=0.25, extent=2)
    field = pt.Field(grid, dtype=dtype, device=machine)

    def formula(*x):
        return np.sin(np.pi * x[0]) + 2 * x[-1]

    names = "xyz"[: grid.ndim]
    field[...] = eval(
        f"lambda {', '.join(names)}: formula({', '.join(names)})", {"formula": formula}
    )
    expected = formula(*grid.coordinates()) + np.zeros(shape)
    few = 16 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(field, expected, rtol=few, atol=few)


def test_formulas_of_parts(machine):
    """Each element gets the value at its own place, whichever way an index goes through it."""
    grid = pt.Grid((4, 37), boundary=["wall", "periodic"])
    field = pt.Field(grid, 3, "float64", machine)
    x, y = np.broadcast_arrays(*grid.coordinates())
    expected = np.zeros(field.shape)
    field[...] = lambda x, y: (x, y, x + y)
    expected[:] = x, y, x + y
    field[1] = lambda x, y: 10 * x + y
    expected[1] = 10 * x + y
    field[2, 1:3, ::-5] = lambda x, y: x - y
    expected[2, 1:3, ::-5] = (x - y)[1:3, ::-5]
    field[::2, 3, 30] = lambda x, y: (x, -y)
    expected[::2, 3, 30] = x[3, 30], -y[3, 30]
    field[0, 2:2] = lambda x, y: x / 0 * y
    np.testing.assert_allclose(field, expected, rtol=1e-15)


def test_a_formula_of_fields(machine):
    """All is read at a point before anything is written: a field may be among its operands."""
    (u, a), (v, b) = (drawn((3, 20), 2, dtype, machine) for dtype in ("float32", "float16"))
    w, _ = drawn((3, 20), 1, "float64", machine)
    x, y = w.grid.coordinates()
    w.assign(lambda u0, u1, v0, v1, x, y: u0 * v1 + x - y * u1 / v0, u, v)
    a64, b64 = a.astype(float), b.astype(float)
    expected = a64[0] * b64[1] + x - y * a64[1] / b64[0]
    np.testing.assert_allclose(w, expected, rtol=1e-14)
    u.assign(lambda u0, u1: (u1, u0 + 1), u)
    np.testing.assert_array_equal(u, [a[1], a[0] + 1])
    u.component(0).assign(lambda u0, u1: u0 * u1, u)
    np.testing.assert_array_equal(u, [a[1] * (a[0] + 1), a[0] + 1])


def test_names_of_fields_in_another_order_are_refused(device):
    """Values go by their order; a formula that has the fields' own names means these."""
    grid = pt.Grid(4)
    u, v = (pt.Field(grid, name=name, device=device) for name in "uv")
    u.fill(1), v.fill(2)
    words = r"must take the fields of these names in their order, \(u, v\), not \(v, u\)"
    with pytest.raises(ValueError, match=f"^formula {words}"):
        u.assign(lambda v, u: v - u, u, v)
    with pytest.raises(ValueError, match=f"^rate {words}"):
        pt.SourceOp([u, v], lambda v, u: (-v, u))
    np.testing.assert_array_equal(u, 1)
    u.assign(lambda u, v, x: v - u, u, v)
    u.assign(lambda a, u: a + u, u, v)  # only one of the names: it may mean anything
    np.testing.assert_array_equal(u, 3)


@pytest.mark.parametrize("operate", IN_PLACE)
def test_operators_in_place(machine, dtype, operate):
    """With numbers, fields of any dtype and arrays that can be broadcast: NumPy's values."""
    field, values = drawn((3, 20), 2, dtype, machine)
    same, vector = field, values
    number = 3 if operate is operator.ipow else 0.7
    others = [number]
    for kind in ("float16", "float32", "float64"):
        if np.dtype(kind) in machine.dtypes and operate is not operator.ipow:
            whole, scalar = drawn((3, 20), 2, kind, machine, 2), drawn((3, 20), 1, kind, machine, 3)
            row = np.linspace(0.5, 2, 20).astype(kind)
            others += [whole, scalar, (row, row), (row[:3, None], row[:3, None])]
    computed = np.float64 if dtype == "float64" else np.float32
    for other in others:
        operand, array = other if isinstance(other, tuple) else (other, np.asarray(other, computed))
        wide = np.result_type(computed, array.dtype)
        values[...] = operate(values.astype(wide), array.astype(wide)).astype(dtype)
        field = operate(field, operand)
        if operate in EXACT and machine.is_cpu:
            np.testing.assert_array_equal(field, values)
        assert units_apart(field, values) <= 4
        field.set(values)
    assert field is same
    assert vector is values


def test_numbers_of_operators_are_arguments_of_a_kernel(device):
    """A loop builds what it needs in its first round; formulas that differ by numbers, too."""
    field, _ = drawn((6, 7), 1, "float32", device)

    def rounds(numbers):
        nonlocal field
        for k in numbers:
            field *= 1 + 0.01 * k
            field += k
            field[...] = lambda x, y, k=k: np.sin(3.5 * k * x) + y
            field.assign(lambda u, x, y, k=k: u * (k + 0.25) + x, field)

    rounds([2.5])
    built = testing.programs_compiled(device.core)
    rounds(np.linspace(3, 5, 7))
    assert testing.programs_compiled(device.core) == built


def test_a_field_with_itself(machine):
    field, values = drawn((4, 20), 2, "float32", machine)
    for operate in (operator.iadd, operator.imul, operator.itruediv):
        field, values = operate(field, field), operate(values, values)
    field[...], values[...] = 3, 3
    field[1], values[1] = 5, 5
    field *= field.component(0)  # which changes meanwhile
    values *= values[0].copy()
    np.testing.assert_array_equal(field, values)
    first = field.component(0)
    first -= field.component(1)
    values[0] -= values[1]
    np.testing.assert_array_equal(field, values)


def test_memory_of_others(machine):
    """Strided, and shared by two fields that lie in it shifted against each other."""
    host = np.arange(1, 61, dtype=np.float32)
    memory = cl_array.to_device(machine.queue, host)
    grid = pt.Grid((5, 4))
    one = pt.Field.from_pyopencl(memory[:20].reshape(5, 4), grid)
    other = pt.Field.from_pyopencl(memory[1:21].reshape(5, 4), grid)
    one += other
    host[:20] += host[1:21].copy()
    other.assign(lambda u, x, y: u * 2, one)
    host[1:21] = host[:20] * 2
    strided = pt.Field.from_pyopencl(memory[20:].reshape(5, 8)[:, ::2], grid)
    strided[...] = lambda x, y: 10 * x + y
    strided *= strided
    x, y = (np.float32(c) for c in grid.coordinates())
    host[20:].reshape(5, 8)[:, ::2] = (10 * x + y) ** 2
    np.testing.assert_allclose(memory.get(), host, rtol=1e-6)


def test_a_part_is_changed_by_way_of_the_host(device):
    """Python reads a part, computes, and assigns it again; the result is NumPy's."""
    (field, values), (other, array) = (drawn((4, 6), 2, "float32", device, k) for k in (1, 2))
    field[0] *= 2
    values[0] *= 2
    field[:, 1:] += other[:, 1:]
    values[:, 1:] += array[:, 1:]
    field[...] -= other
    values[...] -= array
    np.testing.assert_array_equal(field, values)


def test_values_that_are_changed_are_seen_by_others(device):
    """A velocity is measured again, and what was wrong is told to who reads a result of it."""
    velocity = pt.Field(pt.Grid((8, 8)), components=2)
    velocity[...] = lambda x, y: (np.sin(2 * np.pi * x), 0)
    phi = pt.Field(velocity.grid)
    advection = pt.AdvectionOp(velocity)
    transport = pt.Splitting(advection, pt.RemeshOp(phi))
    before = transport.lcfl(0.1)
    velocity *= 0.5
    assert transport.lcfl(0.1) == pytest.approx(before / 2)
    phi[2, 3] = np.inf
    transport.step(0.01)
    other = pt.Field(phi.grid)
    with pytest.warns(pt.NotFiniteWarning, match="after step 1"):
        other += phi


def test_what_is_wrong_changes_nothing(device):
    field, values = drawn((4, 6), 1, "float32", device)
    vector, _ = drawn((4, 6), 2, "float32", device)
    elsewhere = pt.Field(pt.Grid((4, 6), extent=2), device=device)
    for error, words, change in (
        (ValueError, "fields must have the same grid", lambda f: operator.iadd(f, elsewhere)),
        (ValueError, "fields must have the same grid", lambda f: f.assign(lambda u: u, elsewhere)),
        (ValueError, "fields must have the same number of", lambda f: operator.iadd(f, vector)),
        (ValueError, "other of the shape (5,) cannot be", lambda f: operator.imul(f, np.ones(5))),
        (
            ValueError,
            "other of the shape (2, 4, 6)",
            lambda f: operator.imul(f, np.ones((2, 4, 6))),
        ),
        (TypeError, "other must be real numbers", lambda f: operator.imul(f, 1j)),
        (TypeError, "other must be real numbers", lambda f: operator.imul(f, "a")),
        (TypeError, "other must be real numbers", lambda f: operator.imul(f, None)),
        (TypeError, "other must be real numbers", lambda f: operator.imul(f, lambda x, y: x)),
        (TypeError, "fields must be Fields, not 2", lambda f: f.assign(lambda u: u, 2)),
        (TypeError, "formula must be a function of values", lambda f: f.assign(3, f)),
        (
            ValueError,
            "formula must take first u0 (by any name), then any of x, y for 1 components",
            lambda f: f.assign(lambda u, v: u, f),
        ),
        (
            TypeError,
            "a formula can be assigned to slices, not by an index of arrays or truth values",
            lambda f: operator.setitem(f, [0], lambda x, y: x),
        ),
        (
            ValueError,
            "values must take only x, y on a grid of 2 dimensions, not (x, y, t)",
            lambda f: operator.setitem(f, ..., lambda x, y, t: x),
        ),
        (
            ValueError,
            "values must contain numbers that float32 can hold, but 1e+300",
            lambda f: operator.setitem(f, ..., lambda x, y: x * 1e300),
        ),
        (
            TypeError,
            "values must return a tuple of 2 components",
            lambda f: operator.setitem(vector, ..., lambda x, y: x),
        ),
    ):
        with pytest.raises(error, match="^" + re.escape(words)):
            change(field)
    np.testing.assert_array_equal(field, values)


def test_a_formula_of_too_many_fields(device):
    fields = [pt.Field(pt.Grid(3), device=device) for _ in range(20)]
    with pytest.raises(ValueError, match=r"^fields must be at most 12, not 20$"):
        fields[0].assign(lambda u: u, *fields)
