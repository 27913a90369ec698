# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels: exact coefficients, the laws they obey, and the OpenCL C made from them."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from particles import kernels

from tests.support.kernel_tables import EVEN_ODD, PIECES, PROPERTIES

# What compilers say about vectors wider than the CPU's is of no consequence here.
pytestmark = pytest.mark.filterwarnings("ignore:Non-empty compiler output")

FAMILY = ["L2_1", "L2_2", "L2_3", "L4_2", "L4_3", "L4_4", "L6_3", "L6_4", "L6_5", "L6_6"]
FAMILY += ["L8_4", "L8_5", "L10_5", "L14_7"]
NAMES = ["L1", "M'4", "M'6", "M'8", *FAMILY]


def at(polynomial, x):
    """Value of ascending coefficients, exact for exact arguments."""
    return sum(c * x**power for power, c in enumerate(polynomial))


def derivative(polynomial):
    return [power * c for power, c in enumerate(polynomial)][1:] or [Fraction(0)]


def exact(kernel, x):
    """W(x) from the pieces, in rational arithmetic."""
    piece = int(abs(x))
    return at(kernel.pieces[piece], abs(x)) if piece < kernel.half_width else Fraction(0)


def stripped(coefficients):
    coefficients = list(coefficients)
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return coefficients


@pytest.mark.parametrize("name", PIECES)
def test_pieces_are_those_of_the_table(name):
    divisor, rows = PIECES[name]
    expected = [stripped(Fraction(c, divisor) for c in reversed(row)) for row in rows]
    assert [list(piece) for piece in kernels.get(name).pieces] == expected


@pytest.mark.parametrize("name", EVEN_ODD)
def test_even_and_odd_parts_are_those_of_the_table(name):
    divisor, rows = EVEN_ODD[name]
    expected = [[stripped(Fraction(c, divisor) for c in part) for part in row] for row in rows]
    assert [[list(part) for part in pair] for pair in kernels.get(name).even_odd()] == expected


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_are_those_of_the_table(name):
    kernel = kernels.get(name)
    found = (kernel.stencil, kernel.degree, kernel.moments, kernel.smoothness)
    assert found == PROPERTIES[name]


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_moments_are_exact(name):
    kernel = kernels.get(name)
    expected = {"L1": 1, "M'8": 5}.get(name, kernel.p)
    nodes = range(1 - kernel.half_width, kernel.half_width + 1)
    broken = 0
    for y in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(7, 11)):
        for a in range(expected + 1):
            assert sum((y - j) ** a * exact(kernel, y - j) for j in nodes) == (a == 0)
        next_one = expected + 1 + expected % 2
        broken += sum((y - j) ** next_one * exact(kernel, y - j) for j in nodes) != 0
    assert broken > 0
    assert kernel.moments == expected


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_are_continuous(name):
    kernel = kernels.get(name)
    expected = {"L1": 0, "M'8": 4}.get(name, kernel.q)
    pieces = [list(piece) for piece in kernel.pieces]
    for order in range(expected + 1):
        for knot, (left, right) in enumerate(pairwise(pieces), start=1):
            assert at(left, knot) == at(right, knot)
        assert at(pieces[-1], kernel.half_width) == 0
        if order % 2:
            assert at(pieces[0], 0) == 0
        pieces = [derivative(piece) for piece in pieces]
    assert kernel.smoothness == expected


@pytest.mark.parametrize("name", [n for n in NAMES if n != "M'8"])
def test_a_particle_on_a_node_stays_there(name):
    kernel = kernels.get(name)
    assert [exact(kernel, Fraction(k)) for k in range(12)] == [1] + 11 * [0]


@pytest.mark.parametrize("name", NAMES)
def test_double_precision_values(name):
    kernel = kernels.get(name)
    x = np.linspace(-kernel.half_width - 1, kernel.half_width + 1, 401)
    expected = [float(exact(kernel, Fraction(float(value)))) for value in x]
    np.testing.assert_allclose(kernel(x), expected, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(kernel(x), kernel(-x))


@pytest.mark.parametrize("name", NAMES)
def test_double_precision_weights(name):
    kernel = kernels.get(name)
    y = np.linspace(0, 1, 33).reshape(3, 11)
    weights = kernel.weights(y)
    assert weights.shape == (kernel.stencil, 3, 11)
    for j, row in enumerate(weights, start=1 - kernel.half_width):
        expected = [float(exact(kernel, Fraction(float(v)) - j)) for v in y.flat]
        np.testing.assert_allclose(row.ravel(), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(weights.sum(axis=0, dtype=np.longdouble), 1, rtol=0, atol=4e-16)


def numpy_emulation(source, t, function="remeshing_weights"):
    """Run the generated OpenCL C with NumPy: its statements are Python but for types and ends."""
    real = t.dtype.type
    names = {"t": t, "REAL": real, "MAD": lambda a, b, c: a * b + c, "V": lambda a: a}
    result, body = re.search(rf"{function}\([^)]*\*(\w)\) {{(.*?)}}", source, re.DOTALL).groups()
    names[result] = numbers = {}
    for statement in body.split(";")[:-1]:
        exec(statement.replace("const V", "").strip(), names)  # noqa: S102
    return np.array([np.broadcast_to(numbers[j], t.shape) for j in range(len(numbers))])


def device_weights(device, source, t, lanes):
    """Run the generated OpenCL C on the device."""
    cl = pytest.importorskip("pyopencl")
    if t.dtype not in device.dtypes:
        pytest.skip(f"{device.name} has no {t.dtype}")
    context, queue = device.context, device.queue
    real = {np.float32: "float", np.float64: "double"}[t.dtype.type]
    load = f"vload{lanes}(i, t)" if lanes > 1 else "t[i]"
    store = (
        f"vstore{lanes}(w[j], i * STENCIL + j, out)" if lanes > 1 else "out[i * STENCIL + j] = w[j]"
    )
    program = f"""
        #pragma OPENCL FP_CONTRACT OFF
        typedef {real}{lanes if lanes > 1 else ""} V;
        #define REAL(x) x{"##f" if real == "float" else ""}
        #define MAD(a, b, c) ((a) * (b) + (c))
        #define INLINE inline __attribute__((always_inline))
        {source}
        __kernel void spread(__global const {real} *t, __global {real} *out) {{
          const int i = get_global_id(0);
          V w[STENCIL];
          remeshing_weights({load}, w);
          for (int j = 0; j < STENCIL; j++) {store};
        }}"""
    kernel = cl.Kernel(cl.Program(context, program).build(), "spread")
    stencil = int(re.search(r"STENCIL (\d+)", source)[1])
    out = np.empty((t.size // lanes, stencil, lanes), t.dtype)
    flags = cl.mem_flags
    source_buffer = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=t)
    out_buffer = cl.Buffer(context, flags.WRITE_ONLY, out.nbytes)
    kernel(queue, (t.size // lanes,), None, source_buffer, out_buffer)
    cl.enqueue_copy(queue, out, out_buffer)
    return np.moveaxis(out, 1, 0).reshape(stencil, t.size)


def offsets(dtype):
    """Offsets from the middle of the cell, both ends among them."""
    y = np.concatenate([np.linspace(0, 1, 993), np.random.default_rng(1).random(31)])
    return (y - 0.5).astype(dtype)


def check_weights(kernel, weights, t):
    exact_weights = kernel.weights(t.astype(np.float64) + 0.5)
    epsilon = np.finfo(t.dtype).eps
    bound = {np.float32: 5e-7, np.float64: 2e-15}[t.dtype.type]
    np.testing.assert_allclose(weights, exact_weights, rtol=0, atol=bound)
    np.testing.assert_allclose(weights.sum(axis=0, dtype=np.longdouble), 1, atol=2 * epsilon)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_generated_weights_in_numpy(name, dtype):
    kernel, t = kernels.get(name), offsets(dtype)
    check_weights(kernel, numpy_emulation(kernels.opencl_source(kernel), t), t)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_fluxes_lead_from_the_linear_weights_to_those_of_the_kernel(name, dtype):
    kernel, t = kernels.get(name), offsets(dtype)
    flux = numpy_emulation(kernels.opencl_source(kernel), t, "remeshing_fluxes")
    nearest = kernel.half_width - 1
    linear = np.zeros((kernel.stencil, t.size))
    linear[nearest : nearest + 2] = 0.5 - t, 0.5 + t
    check_weights(kernel, linear - np.diff(flux, axis=0, prepend=0, append=0), t)
    if kernel.weights(0.0)[nearest] == 1:
        assert not flux[:, np.abs(t) == 0.5].any()  # a particle on a node stays there


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["M'4", "M'6", "L8_4"])
def test_generated_weights_on_a_device(device, name, dtype, lanes):
    kernel, t = kernels.get(name), offsets(dtype)
    source = kernels.opencl_source(kernel)
    weights = device_weights(device, source, t, lanes)
    check_weights(kernel, weights, t)
    np.testing.assert_array_equal(weights, numpy_emulation(source, t))


def test_other_names():
    assert kernels.get("L2_1") is kernels.get("M'4")
    assert kernels.get("L4_2") is kernels.get("M'6")
    assert kernels.get("L6_4") is kernels.get("L6_4")
    assert kernels.get(kernels.get("M'8")) is kernels.get("M'8")


def test_repr_says_what_it_is():
    assert repr(kernels.get("L4_2")) == (
        "RemeshingKernel(M'6 = L4_2: 6 nodes, degree 5, moments 0 to 4, C2)"
    )
    assert repr(kernels.get("M'8")).startswith("RemeshingKernel(M'8: 8 nodes")


@pytest.mark.parametrize("name", ["", "M4", "m'4", "L4,2", "Λ4,2", "lambda_4_2", "L4_2 ", "L04_2"])
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match=r"kernel must be .*\"M'4\".*\"Lp_q\" with p even"):
        kernels.get(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("L3_1", "kernel 'L3_1' must have an even p of at least 2, not 3"),
        ("L0_1", "kernel 'L0_1' must have an even p of at least 2, not 0"),
        ("L8_3", r"must have 2 q \+ 1 >= p: with p = 8 q must be at least 4, not 3"),
        ("L2_0", r"must have 2 q \+ 1 >= p: with p = 2 q must be at least 1, not 0"),
        ("L22_11", "must have p and q of at most 20, not 22"),
        ("L2_1000000", "must have p and q of at most 20, not 1000000"),
    ],
)
def test_what_is_not_of_the_family_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        kernels.get(name)


@pytest.mark.parametrize("kernel", [None, 4, b"M'4"])
def test_what_is_no_name_is_refused(kernel):
    with pytest.raises(TypeError, match="must be a name or a RemeshingKernel"):
        kernels.get(kernel)
