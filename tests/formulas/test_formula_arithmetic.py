# SPDX-License-Identifier: BSD-3-Clause
"""What formulas are made of computes what NumPy computes, and texts what C does, or is refused.

Many expressions go into one program, as to build one takes a second.
"""

import itertools
import operator
import random

import numpy as np
import particles as pt
import pytest
from particles._core import testing
from particles.formulas.evaluation import evaluate
from particles.formulas.expressions import ALWAYS_FINITE, EVALUATE, expression, real, variable
from particles.formulas.opencl import opencl_rates
from particles.formulas.parser import parse

cl = pytest.importorskip("pyopencl")
cl_array = pytest.importorskip("pyopencl.array")

pytestmark = pytest.mark.filterwarnings("ignore:Non-empty compiler output")

NAN, INF = float("nan"), float("inf")
PLACES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, NAN, INF, -INF, 1e-30, -1e-30, 1e30, 3e38, -3e38,
    0.1, 7.25, -7.25, 1e4, 16777217.0, 0.3, -0.7, 88.0, -88.0, 1.5, 2.5, -1.5, 1e-40, 1e7, -2.0,
]  # fmt: skip
TIME = 0.375

EXACT_UNARY = [
    operator.neg, np.abs, np.positive, np.square, np.floor, np.ceil, np.trunc, np.rint, np.sign,
    np.logical_not, operator.invert,
]  # fmt: skip
EXACT_BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    np.minimum, np.maximum, np.fmin, np.fmax, np.fmod, np.copysign, operator.lt, operator.le, operator.gt,
    operator.ge, operator.eq, operator.ne, operator.and_, operator.or_, operator.xor, np.logical_and,
    np.logical_or, np.logical_xor,
]  # fmt: skip
ROUNDED_UNARY = [
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arccosh, np.arctanh, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt,
    np.cbrt, np.reciprocal, np.radians, np.degrees,
]  # fmt: skip
ROUNDED_BINARY = [np.arctan2, np.hypot, np.power, np.float_power]
MADE_OF_OTHERS = [
    *((function, "u") for function in (np.isnan, np.isfinite, np.ones_like, np.zeros_like)),
    (np.full_like, "u", 7.25), (np.heaviside, "u", "v"), (np.heaviside, "u", 0.5),
    (np.clip, "u", "v", 3.0), (np.clip, "u", -0.5, "v"), (np.clip, "u", -0.5, 3.0),
]  # fmt: skip
EXPONENTS = [0, 1, 2, 3, 7, 63, 65, 101, -1, -2, -65, 0.5, -0.5, 1.5, 1 / 3]


def refusing(call, *arguments):
    """What a call gives, or None where it is refused."""
    try:
        return call(*arguments)
    except (TypeError, ValueError):
        return None


def in_numpy(tree, given, dtype):
    """The value of a tree of calls; numbers are always of one dtype, as they are on a device."""
    if isinstance(tree, str):
        return given[tree]
    if isinstance(tree, tuple):
        value = tree[0](*(in_numpy(part, given, dtype) for part in tree[1:]))
        is_truth = isinstance(value, bool) or np.asarray(value).dtype == bool
        return value if is_truth else np.asarray(value).astype(dtype)[()]
    return tree if isinstance(tree, np.bool_) else dtype(tree)


def in_symbols(tree):
    """The expression of a tree of calls."""
    if isinstance(tree, str):
        return variable(tree)
    if isinstance(tree, tuple):
        return tree[0](*map(in_symbols, tree[1:]))
    return expression(tree)


def drawn(draw, depth):
    """A tree of exact operations."""
    if depth == 0 or draw.random() < 0.1:
        return draw.choice(["u", "v", "u", "v", "t", 2.0, -0.5, 3.0, 0.0, np.True_])
    kind = draw.random()
    if kind < 0.2:
        return draw.choice(EXACT_UNARY), drawn(draw, depth - 1)
    if kind < 0.35:
        return np.where, *(drawn(draw, depth - 1) for _ in range(3))
    return draw.choice(EXACT_BINARY), *(drawn(draw, depth - 1) for _ in range(2))


def places(dtype):
    """All pairs, in an order of chance: lanes of a vector are of all kinds."""
    with np.errstate(over="ignore"):
        values = np.array(PLACES, dtype)
    pairs = np.random.default_rng(4).permutation(
        np.stack(np.meshgrid(values, values), -1).reshape(-1, 2)
    )
    return [np.ascontiguousarray(part) for part in pairs.T]


def on_device(device, roots, dtype, lanes, texts=()):
    """The values of expressions, in lanes, or of texts that OpenCL C itself reads."""
    x, y = places(dtype)
    program = f"#define LANES {lanes}\n" + "#define REAL_IS_DOUBLE\n" * (dtype is np.float64)
    program += testing.kernel_source("common/trigonometry.cl") + opencl_rates(roots, ("u", "v"))
    count = len(roots) + len(texts)
    program += f"""
    __kernel void values(__global const V *xs, __global const V *ys, const real t,
                         __global V *out) {{
      const size_t i = get_global_id(0), n = get_global_size(0);
      const V x = xs[i], y = ys[i];
      V values[2] = {{x, y}}, rates[{max(1, len(roots))}];
      rates_of(values, x, y, y, t, rates);
      for (int k = 0; k < {len(roots)}; k++) out[k * n + i] = rates[k];
    """
    for number, text in enumerate(texts, len(roots)):
        program += f"  out[{number} * n + i] = (real)({text});\n"
    queue = device.queue
    kernel = cl.Kernel(cl.Program(device.context, program + "}").build(), "values")
    out = cl_array.zeros(queue, (count, x.size), dtype)
    inputs = [cl_array.to_device(queue, part).data for part in (x, y)]
    kernel(queue, (x.size // lanes,), None, *inputs, dtype(TIME), out.data)
    return out.get()


def variables(dtype):
    return dict(zip("uv", places(dtype), strict=True), t=dtype(TIME))


def compared(found, expected, trees, rtol=0.0):
    with np.errstate(all="ignore"):
        for one, other, tree in zip(found, expected, trees, strict=True):
            pair = np.broadcast_arrays(one, other)
            np.testing.assert_allclose(*pair, rtol, rtol and 1e-37, err_msg=str(tree))


# float32 in lanes and in scalars, and float64 where there is one.
KINDS = [(np.float32, 8), (np.float32, 1), (np.float64, 4), (np.float64, 8)]


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_exact_operations_are_those_of_numpy(device, dtype, lanes):
    """Whatever they are made of: NaN, infinities, zeros, truth values and their arithmetic."""
    if dtype not in device.dtypes or not device.is_cpu:  # others may round quotients otherwise
        pytest.skip(f"no exact quotients of {np.dtype(dtype)}")
    draw, given = random.Random(17 + lanes), variables(dtype)
    trees, roots, expected = [], [], []
    for _ in range(600):
        tree = drawn(draw, 3)
        root = refusing(in_symbols, tree)
        if root is None:
            continue
        with np.errstate(all="ignore"):
            expected.append(in_numpy(tree, given, dtype))
        trees.append(tree)
        roots.append(real(root))
        if len(trees) == 70:
            break
    assert len(trees) == 70
    compared(on_device(device, roots, dtype, lanes), expected, trees)
    if lanes == 1:  # the host computes in float64
        wide = variables(np.float64)
        with np.errstate(all="ignore"):
            compared(evaluate(roots, wide), [in_numpy(t, wide, np.float64) for t in trees], trees)


@pytest.mark.parametrize(("dtype", "lanes"), KINDS)
def test_functions_are_those_of_numpy(device, dtype, lanes):
    """But for their rounding, of which OpenCL allows 16 units; products round up to 64 times."""
    if dtype not in device.dtypes:
        pytest.skip(f"{device.name} has no {np.dtype(dtype)}")
    functions = [(function, "u") for function in ROUNDED_UNARY]
    functions += [(function, "u", "v") for function in ROUNDED_BINARY]
    functions += MADE_OF_OTHERS
    powers = [(operator.pow, "u", exponent) for exponent in EXPONENTS]
    trees = functions + powers
    roots, given = [real(in_symbols(tree)) for tree in trees], variables(dtype)
    with np.errstate(all="ignore"):
        expected = [in_numpy(tree, given, dtype) for tree in trees]
    few, many = 16 * np.finfo(dtype).eps, 64 * np.finfo(dtype).eps
    found = [on_device(device, roots, dtype, lanes)]
    if dtype is np.float64:
        found.append(evaluate(roots, given))
    for values in found:
        compared(values[: len(functions)], expected[: len(functions)], functions, few)
        compared(values[len(functions) :], expected[len(functions) :], powers, many)


X, Y = variable("u"), variable("v")  # of fields: they may be NaN


def test_conditions_are_no_numbers():
    for name, call in (
        ("subtract", lambda: (X > 0) - (Y > 0)),
        ("negative", lambda: -(X > 0)),
        ("positive", lambda: +(X > 0)),
        ("sign", lambda: np.sign(X > 0)),
        ("sin", lambda: np.sin(X > 0)),
        ("hypot", lambda: np.hypot(X > 0, np.True_)),
        ("power", lambda: (X > 0) ** (Y > 0)),
        ("power", lambda: (X > 0) ** -1),
        ("floor_divide", lambda: (X > 0) // (Y > 0)),
        ("floor_divide", lambda: (X > 0) // 2),
        ("remainder", lambda: 2 % (X > 0)),
    ):
        with pytest.raises(TypeError, match=rf"cannot use np\.{name} of conditions, "):
            call()


@pytest.mark.parametrize("values", [(X, Y), (X > 0, 1), (X, X > 0)], ids=["both", "one", "other"])
def test_numbers_are_no_conditions(values):
    for join in operator.and_, operator.or_, operator.xor:
        with pytest.raises(TypeError, match=r"cannot use np\.\w+ of numbers, only of conditions"):
            join(*values)


BINARY = ["+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "&", "|"]
NUMBERS = ["x", "y", "2.0"]
MASKS = ["(x < y)", "(y < 1.0)", "(x == y)"]


def pairs_of_operators():
    """Texts that join three operands, or two of which one has a sign, by every pair of operators."""
    for operands in itertools.product(*zip(NUMBERS, MASKS, strict=True)):
        a, b, c = operands
        for one in BINARY:
            yield f"-{a} {one} {b}"
            yield f"!{a} {one} {b}"
            yield f"{a} {one} {b} ? {c} : {a}"
            yield f"x < 1.0 ? {a} : {b} {one} {c}"
            for other in BINARY:
                yield f"{a} {one} {b} {other} {c}"
    yield from ("sign(x)", "fmin(x, y)", "fmax(x, y)", "copysign(x, y)", "fmod(x, y)", "rint(x)")
    yield "x < y ? 1.0 : x < 2.0 ? 3.0 : y < x || x < 7.0 ? 4.0 : 5.0"
    yield "x < y ? y < 1.0 ? 1.0 : 2.0 : 3.0"


def test_texts_are_read_as_c_reads_them(device):
    dtype = np.float64 if np.float64 in device.dtypes else np.float32
    names = {"x": X, "y": Y, "t": variable("t")}
    texts, roots = [], []
    for text in dict.fromkeys(pairs_of_operators()):
        root = refusing(parse, text, names)
        if root is not None:
            texts.append(text)
            roots.append(real(root))
    assert len(texts) > 150
    for one, other in itertools.product(["&&", "||", "&", "|"], repeat=2):
        assert any(f" {one} (y < 1.0) {other} " in text for text in texts)
    # Other values have no defined sum in C that is not NumPy's.
    expected = on_device(device, [], dtype, 1, texts)
    given = {name: part.astype(float) for name, part in variables(dtype).items()}
    compared(evaluate(roots, given), expected, texts, 4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("number", [1e39, -1e39, 1e-46, 1e300, 1e-300])
def test_numbers_beyond_float32_are_refused(device, number):
    grid = pt.Grid(8, boundary=[("inflow", "outflow")])
    there = "inf" if abs(number) > 1 else "0"
    u = pt.Field(grid, device=device)
    calls = {
        "velocity": lambda: pt.AdvectionOp(pt.Velocity(grid, f"x * {number!r}")).strain(),
        "rate": lambda: pt.SourceOp(u, f"u * {number!r}"),
        "inflow": lambda: pt.RemeshOp(u, inflow=lambda t: t + number),
    }
    for name, call in calls.items():
        with pytest.raises(
            ValueError,
            match=f"^{name} must contain numbers that float32 can hold, but "
            f".* would become -?{there}",
        ):
            call()
    if np.float64 in device.dtypes:
        wide = pt.Velocity(grid, f"x * {number!r}")
        pt.AdvectionOp(wide, dtype="float64", device=device).strain()


@pytest.mark.parametrize("name", ["x", "y", "z", "t"])
def test_zero_times_what_is_always_finite_is_zero(name):
    place = variable(name)
    for one in (place, -place, np.sin(place), np.where(place < 1, np.tanh(place), 3)):
        assert 0 * one is one * 0 is -0.0 * one is expression(0.0)
    assert 1 + 0 * place is expression(1.0)


def test_zero_times_what_may_be_infinite_is_computed():
    """It may be NaN."""
    u, x = variable("u"), variable("x")
    for one in (u, np.sin(u), np.exp(x), 1 / x, x * x, x + x, np.sqrt(x), np.tan(x)):
        assert (0 * one).operation == "*"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("operation", sorted(ALWAYS_FINITE - {"select"}))
def test_what_is_taken_for_finite_is_so(operation, dtype):
    most, least = np.finfo(dtype).max, np.finfo(dtype).tiny
    places = np.array([sign * x for sign in (1, -1) for x in (0, least, 1, 1e9, most)], dtype)
    function = EVALUATE[operation]
    for operands in itertools.product(places, repeat=function.nin):
        assert np.isfinite(function(*operands))
