# SPDX-License-Identifier: BSD-3-Clause
"""Velocities as formulas: what is traced, what is refused, and what the device computes."""

import re

import numpy as np
import particles as pt
import pytest
from particles._core import testing

# What compilers say about vectors wider than the CPU's is of no consequence here.
pytestmark = pytest.mark.filterwarnings("ignore:Non-empty compiler output")

TYPES = [("float", 1), ("float", 8), ("double", 4)]
POINTS = 1024


@pytest.fixture(scope="module")
def coordinates():
    random = np.random.default_rng(7)
    points = random.uniform(-1.5, 1.5, (3, POINTS)).astype(np.float32)
    points[:, :8] = points[:, 8:9] = 0  # ties, zeros
    return points.astype(np.float64)


def grid(ndim):
    return pt.Grid((8, 9, 10)[:ndim])


def on_device(device, velocity, coordinates, t, real, lanes):
    """Components that the generated OpenCL C computes on the device."""
    cl = pytest.importorskip("pyopencl")
    dtype = np.dtype({"float": np.float32, "double": np.float64}[real])
    if dtype not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    load = "vload{0}(i, {1})" if lanes > 1 else "{1}[i]"
    arguments = ", ".join(load.format(lanes, name) for name in "xyz")
    store = f"vstore{lanes}(v, i, out)" if lanes > 1 else "out[i] = v"
    program = f"#define LANES {lanes}\n"
    if real == "double":
        program += "#define REAL_IS_DOUBLE\n"
    program += testing.kernel_source("common/trigonometry.cl")
    for axis in range(velocity.grid.ndim):
        source = velocity.source(axis).replace("velocity_formula", f"component_{axis}")
        names = r"\b([Ii]nstant(_at)?|ROW_TERMS|IS_SHORT|row_terms|velocity_of_terms)\b"
        program += re.sub(names, rf"\g<0>_{axis}", source)
        program += f"""
        __kernel void run_{axis}(__global const real *x, __global const real *y,
                                 __global const real *z, const real t, __global real *out) {{
          const int i = get_global_id(0);
          const Instant_{axis} at = instant_at_{axis}(t);
          const V v = component_{axis}({arguments}, &at);
          {store};
        }}
        """
    context, queue = device.context, device.queue
    built = cl.Program(context, program).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    components = np.zeros((velocity.grid.ndim, POINTS), dtype)
    arrays = [np.ascontiguousarray(c, dtype) for c in coordinates]
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in [*arrays, components[0]]]
    for axis, component in enumerate(components):
        kernel = cl.Kernel(built, f"run_{axis}")
        kernel(queue, (POINTS // lanes,), None, *buffers[:3], dtype.type(t), buffers[3])
        cl.enqueue_copy(queue, component, buffers[3])
    return components


def vortex(x, y, z, t):
    turn = np.cos(np.pi * t / 3)
    return (
        2 * np.sin(np.pi * x) ** 2 * np.sin(2 * np.pi * y) * np.sin(2 * np.pi * z) * turn,
        -np.sin(2 * np.pi * x) * np.sin(np.pi * y) ** 2 * np.sin(2 * np.pi * z) * turn,
        -np.sin(2 * np.pi * x) * np.sin(2 * np.pi * y) * np.sin(np.pi * z) ** 2 * turn,
    )


def branches(x, y, z, t):
    inside = (x > 0) & (y < 0.5) | ~(z <= x)
    late = t >= 0.25
    return (
        np.where(inside, np.sqrt(np.abs(x)), -y),
        np.where(late, x, 1.0) + np.where(inside & late, 2.0, z) + np.where(x == y, 1, 0) * 3,
        np.where(late ^ inside, np.where(t < 1, t, 2.0), 4) + np.where(x != 0, 1 / x, 0) * (z > 0),
    )


def powers(x, y, z, t):
    return (
        x**2 + y**3 - z**7 + (x + y) ** 0 + (1 + x * x) ** -2,
        np.abs(y) ** 0.5 + (1 + z**2) ** 1.5 + 2**x + (2 + np.cos(z)) ** y,
        np.square(x) + np.reciprocal(2 + np.sin(x)) + np.power(x, 4.0) + x % 0.75 + z // 0.3,
    )


def functions(x, y, z, t):
    u = np.clip(0.0, -1, 1) + x / 2
    return (
        np.tan(x / 2)
        + np.arcsin(u)
        + np.arccos(u)
        + np.arctan(y)
        + np.arctan2(y, x + 3)
        + np.tanh(z),
        np.sinh(x)
        + np.cosh(y)
        + np.exp(z)
        + np.log(2 + x)
        + np.hypot(x, y)
        + np.cbrt(z)
        + np.rint(4 * y),
        np.minimum(x, y)
        + np.maximum(z, 0.25)
        + np.floor(3 * x)
        + np.ceil(2 * y)
        + np.sign(z)
        + np.trunc(2 * x)
        + np.copysign(1.0, x)
        + np.fmod(y, 0.4)
        + np.expm1(x)
        + np.log1p(np.fabs(x)),
    )


def methods(x, y, z, t):
    return np.array(
        [
            x.clip(-0.5, 0.5) + y.clip(max=0.25) + np.real(z).clip(min=t),
            (3 * y).round() + np.round(5 * z) + np.fix(2 * x) + x.real,
            abs(x) + sum([x, y, z]) + pow(z, 2) + ((x > 0) & (y <= z)).astype(float),
        ]
    )


def numbers(x, y, z, t):
    half = np.float32(0.5)
    return half * np.sin(t), np.array(3) - t, -0.25 - -x * np.int64(2)


@pytest.mark.parametrize("formula", [vortex, branches, powers, functions, methods, numbers])
def test_traced_formula_is_the_function(formula, coordinates):
    velocity = pt.Velocity(grid(3), formula)
    with np.errstate(all="ignore"):
        expected = formula(*coordinates, np.float64(0.7))
    for component, reference in zip(velocity(*coordinates, t=0.7), expected, strict=True):
        assert component.shape == (POINTS,)
        reference = np.broadcast_to(reference, POINTS)
        np.testing.assert_allclose(component, reference, rtol=4e-15, atol=2e-15)


@pytest.mark.parametrize(("real", "lanes"), TYPES)
@pytest.mark.parametrize("formula", [vortex, branches, powers, functions, methods, numbers])
def test_device_computes_the_formula(device, formula, real, lanes, coordinates):
    velocity = pt.Velocity(grid(3), formula)
    found = on_device(device, velocity, coordinates, 0.75, real, lanes)
    expected = velocity(*coordinates, t=0.75)
    epsilon = np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=64 * epsilon, atol=64 * epsilon)


def test_a_formula_is_rounded_as_a_number_is():
    velocity = pt.Velocity(grid(1), lambda x: round(x))
    assert [velocity(x)[0] for x in (0.5, 1.5, -0.75)] == [round(x) for x in (0.5, 1.5, -0.75)]


STRINGS = [
    "2*M_PI*sin(x)*cos(M_PI_2_F * y) - 1/2 + .5e1f",
    "x < 0.5 && !(y > z || t >= 0.7) ? pow(x, 3) : fmax(y, -z)",
    "clamp(x, -0.5, 0.5) + mix(x, y, 0.25) + mad(x, y, z) + (x == y ? 1 : z != 0 ? 2 : 3) + -+x",
]


def strings_in_numpy(x, y, z, t):
    return (
        2 * np.pi * np.sin(x) * np.cos(np.pi / 2 * y) - 0.5 + 5,
        np.where((x < 0.5) & ~((y > z) | (t >= 0.7)), x * x * x, np.maximum(y, -z)),
        np.clip(x, -0.5, 0.5)
        + (x + (y - x) * 0.25)
        + (x * y + z)
        + np.where(x == y, 1, np.where(z != 0, 2, 3))
        - x,
    )


@pytest.mark.parametrize("t", [0.0, 0.7])
def test_strings_are_formulas(coordinates, t):
    velocity = pt.Velocity(grid(3), STRINGS)
    expected = strings_in_numpy(*coordinates, t)
    for component, reference in zip(velocity(*coordinates, t=t), expected, strict=True):
        np.testing.assert_allclose(component, reference, rtol=1e-14, atol=1e-15)


def test_constants_are_those_of_c():
    values = {
        "M_PI": 3.14159265358979323846,
        "M_PI_2": 1.57079632679489661923,
        "M_PI_4": 0.78539816339744830962,
        "M_1_PI": 0.31830988618379067154,
        "M_2_PI": 0.63661977236758134308,
        "M_E": 2.71828182845904523536,
        "M_LN2": 0.69314718055994530942,
        "M_LN10": 2.30258509299404568402,
        "M_LOG2E": 1.44269504088896340736,
        "M_LOG10E": 0.43429448190325182765,
        "M_SQRT2": 1.41421356237309504880,
        "M_SQRT1_2": 0.70710678118654752440,
    }
    for name, value in values.items():
        (found,) = pt.Velocity(grid(1), [f"x + {name}"])(0.0)
        assert found == pytest.approx(value, rel=1e-15, abs=0)


@pytest.mark.parametrize("x", [-1.0, 0.0, 1.0])
def test_operators_bind_as_in_c(x):
    velocity = pt.Velocity(
        grid(3),
        [
            "x < 0 || x < 1 && x < -2 ? 1 : 2",
            "x < 0 ? 1 : x < 1 ? 2 : 3",
            "8 - 4 - 2 * x / 4 * 2",
        ],
    )
    expected = (1 if x < 0 else 2, 1 if x < 0 else 2 if x < 1 else 3, 4 - x)
    assert tuple(float(value) for value in velocity(x, 0.0, 0.0)) == expected


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_strings_and_functions_give_the_same_source(axis):
    from_strings = pt.Velocity(grid(3), STRINGS).source(axis)
    assert from_strings == pt.Velocity(grid(3), lambda x, y, z, t: strings(x, y, z, t)).source(axis)


def strings(x, y, z, t):
    return (
        2 * np.pi * np.sin(x) * np.cos(np.pi / 2 * y) - 0.5 + 5,
        np.where((x < 0.5) & ~((y > z) | (t >= 0.7)), x**3, np.fmax(y, -z)),
        np.fmin(np.fmax(x, -0.5), 0.5)
        + (x + (y - x) * 0.25)
        + (x * y + z)
        + np.where(x == y, 1, np.where(z != 0, 2, 3))
        + -x,
    )


def test_strings_on_a_device(device, coordinates):
    velocity = pt.Velocity(grid(3), STRINGS)
    found = on_device(device, velocity, coordinates, 0.75, "float", 8)
    np.testing.assert_allclose(found, velocity(*coordinates, t=0.75), rtol=1e-5, atol=1e-6)


def test_long_formulas_can_be_traced_and_built(device, coordinates):
    def long(x, y, z):
        total = x
        for k in range(1, 400):
            total = total * 0.5 + np.sqrt(1 + y * y / k)
        return total, total * z, 0

    velocity = pt.Velocity(grid(3), long)
    found = on_device(device, velocity, coordinates, 0, "float", 8)
    np.testing.assert_allclose(found[1], long(*coordinates)[1], rtol=1e-5)
    assert len(repr(velocity)) < 500


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_time_is_an_optional_last_argument(ndim):
    steady = {1: lambda x: x, 2: lambda x, y: (x, y), 3: lambda x, y, z: (x, y, z)}[ndim]
    moving = {
        1: lambda x, t: x * t,
        2: lambda x, y, t: (x, t),
        3: lambda x, y, z, t=0.0: (x, t, z),
    }[ndim]
    assert not pt.Velocity(grid(ndim), steady).depends_on_time
    velocity = pt.Velocity(grid(ndim), moving)
    assert velocity.depends_on_time
    at_two = velocity(*[0.5] * ndim, t=2.0)
    assert [float(value) for value in at_two] == {1: [1.0], 2: [0.5, 2.0], 3: [0.5, 2.0, 0.5]}[ndim]


def test_one_dimension_takes_a_scalar_a_tuple_or_a_string():
    for formula in (lambda x: 2 * x, lambda x: (2 * x,), "2*x", ["2*x"]):
        assert pt.Velocity(grid(1), formula)(0.25) == [0.5]


def test_values_on_the_grid():
    box = pt.Grid((4, 6), origin=(1.0, 0.0), extent=(2.0, 3.0))
    first, second = pt.Velocity(box, lambda x, y, t: (x * t, 1)).on_grid(t=2.0)
    assert first.shape == second.shape == (4, 6)
    np.testing.assert_allclose(first[:, 0], [2, 3, 4, 5])
    np.testing.assert_array_equal(second, 1)
    first[...] = 0


def test_values_are_broadcast():
    x, y = np.ones((3, 1)), np.ones((1, 4))
    assert [v.shape for v in pt.Velocity(grid(2), ["1", "x"])(x, y)] == [(3, 4), (3, 4)]
    with pytest.raises(ValueError, match="coordinates must be 2, one for each dimension, not 1"):
        pt.Velocity(grid(2), ["1", "x"])(x)


def test_repr_shows_the_formulas():
    velocity = pt.Velocity(
        grid(2), lambda x, y: (-(x + 1) * (y - (x - 2)), ~(x < y) * 2.0), name="w"
    )
    assert repr(velocity) == (
        "Velocity(w, shape=(8, 9), x: -(x + 1) * (y - (x - 2)), y: where(~(x < y), 1, 0) * 2)"
    )


def test_a_velocity_may_be_made_of_numbers():
    grid = pt.Grid((4, 6))
    for numbers in (
        (1.0, 0.5),
        [1, "x / x / 2"],
        np.array([1, 0.5]),
        (np.float32(1), np.array(0.5)),
    ):
        velocity = pt.Velocity(grid, numbers)
        assert [set(component.ravel()) for component in velocity.on_grid()[:1]] == [{1.0}]
        assert velocity.on_grid()[1][1:].ravel().tolist() == [0.5] * 18
    phi = pt.Field(grid, dtype="float64")
    phi[...] = values = np.random.default_rng(1).normal(size=grid.shape)
    advection = pt.AdvectionOp(pt.Velocity(grid, (0.25, 0.5)))
    pt.Splitting(advection, pt.RemeshOp(phi), order=1).step(1.0)  # by whole cells
    np.testing.assert_allclose(phi, np.roll(values, (1, 3), (0, 1)), atol=1e-13)
