# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of one's own, checked exactly, and what is said of any kernel."""

import json
from fractions import Fraction

import numpy as np
import particles as pt
import pytest
from particles import kernels
from particles.operators.positions import Positions

from tests.reference.reference import kernel_value, remesh
from tests.support.kernel_tables import OPERATIONS, PIECES, PROPERTIES, SUMS

pytestmark = pytest.mark.one_device

SPLINE = [["2/3", 0, -1, "1/2"], ["4/3", -2, 1, "-1/6"]]  # the cubic B-spline


def ascending(name):
    divisor, rows = PIECES[name]
    return [[Fraction(c, divisor) for c in reversed(row)] for row in rows]


def mirrored(pieces):
    """The whole support of a kernel given on its right half."""
    left = {-i - 1: [c * (-1) ** k for k, c in enumerate(piece)] for i, piece in enumerate(pieces)}
    return {**left, **dict(enumerate(pieces))}


@pytest.mark.sampled
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", PIECES)
def test_known_kernels_may_be_given_by_their_pieces(name, whole):
    pieces, known = ascending(name), kernels.get(name)
    own = kernels.custom("own", mirrored(pieces) if whole else pieces)
    assert own.pieces == known.pieces
    assert (own.name, own.p, own.q) == ("own", None, None)
    assert (own.moments, own.smoothness) == (known.moments, known.smoothness)
    assert kernels.opencl_source(own) == kernels.opencl_source(known)


def test_integers_may_be_numpys():
    one = np.int64(1)
    hat = kernels.custom("hat", [[1, -1]]).pieces
    for pieces in (
        [[one, -one]],
        [np.array([1, -1], np.int8)],
        {np.int32(-1): np.array([1, 1]), np.int32(0): [one, -one]},
    ):
        assert kernels.custom("hat", pieces).pieces == hat


def test_a_spline_of_texts_smooths():
    spline = kernels.custom("spline", SPLINE)
    said = kernels.describe(spline)
    assert (said.moments, said.smoothness, said.degree, said.nodes) == (1, 2, 3, 4)
    assert said.values_at_nodes == (Fraction(2, 3), Fraction(1, 6))
    assert not said.interpolating
    assert said.least == 0
    assert said.lebesgue == pytest.approx(1, abs=1e-15)
    assert kernels.get(spline) is spline
    assert kernels.custom("spline", [*SPLINE, [0]]) == spline


def test_a_kernel_may_jump():
    flat = kernels.custom("flat", [["1/2"]])
    said = kernels.describe(flat)
    assert (said.smoothness, said.moments, said.order) == (-1, 0, 0)
    assert "discontinuous" in repr(said)
    np.testing.assert_array_equal(flat.weights([0, 0.25]), 0.5)


def test_particles_are_remeshed_with_a_kernel_of_ones_own(device, dtype):
    grid = pt.Grid(40)
    rng = np.random.default_rng(5)
    start, moves = rng.random(40), 3 * rng.random(40)
    moved, u = (pt.Field(grid, dtype=dtype, device=device) for _ in range(2))
    moved[...], u[...] = moves, start
    pt.RemeshOp(u, kernels.custom("own", ascending("L4_3"))).apply(Positions(moved, axis=0))
    expected = remesh(start, moves.astype(dtype).astype(np.float64), 0, "L4_3")
    bound = {"float32": 3e-6, "float64": 1e-14}[dtype.name]
    np.testing.assert_allclose(np.asarray(u), expected, rtol=0, atol=bound)


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_description_is_that_of_the_table(name):
    said = kernels.describe(name)
    assert (said.nodes, said.degree, said.moments, said.smoothness) == PROPERTIES[name]
    assert said.order == said.moments
    assert said.interpolating == (name != "M'8")
    assert said.lebesgue == pytest.approx(float(SUMS[name]), abs=1e-14)
    assert said.operations <= OPERATIONS[name]
    x = np.linspace(0, said.nodes / 2, 20001)
    values = kernel_value(name, x)
    assert said.least == pytest.approx(values.min(), abs=1e-7)
    assert said.least_at == pytest.approx(x[values.argmin()], abs=1e-3)


def test_the_description_is_printed_and_kept():
    said = kernels.describe("M'8")
    assert json.loads(json.dumps(said.as_dict())) == said.as_dict()
    assert said.as_dict()["values_at_nodes"] == ["151/168", "17/224", "-17/560", "17/3360"]
    for words in ("M'8\n", "[-4, 4]: 8 nodes", "C4", "0 to 5, exactly", "17/224", "smooths"):
        assert words in str(said)
    assert str(kernels.describe("L4_2")).startswith("M'6 = L4_2\n")
    assert str(kernels.describe("L6_4")).startswith("L6_4\n")


def test_the_widest_kernel_there_may_be():
    widest = kernels.custom("wide", [["1/11", "-1/121"]] * 11)
    assert widest.half_width == 11
    with pytest.raises(ValueError, match="must end at x = 11 at most, not at 12"):
        kernels.custom("wider", [["1/12", "-1/144"]] * 12)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], "must sum to one over the nodes, .* the weights sum to 0"),
        ([[1]], "must sum to one .* a particle at 1/2 of its cell the weights sum to 2"),
        ([[1, "-4/3", 0, "4/3"]], "must sum to one .* a particle at 0 of its cell .* sum to 2"),
        ({-1: [1, 1], 0: [1, -1, 1]}, r"must be even, .* on \[-1, 0\] does not mirror .* \[0, 1\]"),
        ({0: [1, -1]}, r"for each i from -n to n - 1, not for \[0\]"),
        ({-1: [1, 1], 1: [1, -1]}, r"for each i from -n to n - 1, not for \[-1, 1\]"),
        ([["1/0", 1]], r"pieces on \[0, 1\] must have rational coefficients: Fraction\(1, 0\)"),
        ([["one"]], r"pieces on \[0, 1\] must have rational coefficients: .*'one'"),
        ([[0]] * 11 + [[1]], "must end at x = 11 at most, not at 12"),
        ([[0] * 44 + [1]], "must be of degree 43 at most"),
        ({-1: [1] * 50_000, 0: [1] * 50_000}, "must be of degree 43 at most"),
        ([["1e999999999"]], "rational coefficients: numbers of at most 100 digits, not '1e9"),
        ([["1e-9_99_999"]], "rational coefficients: numbers of at most 100 digits"),
        ([["1" * 4000]], "rational coefficients: numbers of at most 100 digits"),
        ([[10**5000]], "numbers of at most 100 digits, not an object of int"),
        ([[Fraction(1, 10**100)]], "numbers of at most 100 digits"),
        ([[1 + Fraction(1, 4 * 10**29), -1]], r"at 1/2 of its cell .* sum to 20{28}1/20{29}$"),
        ([[1 + Fraction(1, 2 * 10**30), -1]], "at 1/2 of its cell the weights sum to about 1$"),
        ([[Fraction(1 - 10**31, 2), 10**31]], r"at most 1e30 about its middle, not 10{31}$"),
    ],
)
def test_pieces_that_are_no_kernel_are_refused(pieces, words):
    with pytest.raises(ValueError, match=words):
        kernels.custom("own", pieces)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (
            [[1, -1.0]],
            r"pieces on \[0, 1\] .* integers, fractions or texts such as '1/3', not -1.0",
        ),
        ([[None]], r"not None"),
        (["1, -1"], r"pieces on \[0, 1\] must be a sequence of coefficients, not '1, -1'"),
        ([[]], r"must be a sequence of coefficients, not \[\]"),
        ("1", "pieces must be a sequence or a mapping of sequences, not '1'"),
        (3, "pieces must be a sequence or a mapping of sequences, not 3"),
        ({"0": [1]}, "must have as keys the integers at which they begin, not '0'"),
    ],
)
def test_what_is_no_piece_is_refused(pieces, words):
    with pytest.raises(TypeError, match=words):
        kernels.custom("own", pieces)


@pytest.mark.parametrize("name", ["L1", "M'6", "M'8", "L6_4", "L3_1"])
def test_the_name_of_another_kernel_is_refused(name):
    with pytest.raises(ValueError, match="name must not be that of another kernel"):
        kernels.custom(name, SPLINE)


@pytest.mark.parametrize(("name", "error"), [("", ValueError), (None, TypeError)])
def test_a_kernel_has_a_name(name, error):
    with pytest.raises(error, match="name must"):
        kernels.custom(name, SPLINE)
