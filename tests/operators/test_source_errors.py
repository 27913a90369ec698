# SPDX-License-Identifier: BSD-3-Clause
"""Sources that are refused."""

import particles as pt
import pytest
from particles import _core

from tests.support.refusals import GRID, NAN, OTHER, refused, scalar, vector


def test_refused_fields():
    words = "fields must be a Field or a sequence of them, not 3"
    refused(TypeError, words, pt.SourceOp, 3, "u")
    words = "given must be a Field or a sequence of them, not 3"
    refused(TypeError, words, pt.SourceOp, scalar(), "u", 3)
    words = "given must be a Field or a sequence of them, not 3 in it"
    refused(TypeError, words, pt.SourceOp, scalar(), "u", [scalar(), 3])
    words = f"given must be on one grid, not on {OTHER} and {GRID}"
    refused(ValueError, words, pt.SourceOp, scalar(), "u", scalar(OTHER))
    words = "given must not share memory with the fields that change"
    both = vector()
    refused(ValueError, words, pt.SourceOp, both, ["u0", "u1"], both.component(1))


def test_refused_rates():
    u, g = scalar(), vector()
    place = "for 1 components of the fields and 2 given ones on a grid of 2 dimensions"
    may = "first u, g0, g1 (by any name), then any of x, y, t"
    words = f"rate must take {may} {place}, not (u)"
    refused(ValueError, words, pt.SourceOp, u, lambda u: u, g)
    words = f"rate must have 1 components {place}, not 2"
    refused(ValueError, words, pt.SourceOp, u, ["u", "u"], g)
    words = "rate, component 0 of the source (u): a formula cannot contain the number nan"
    refused(ValueError, words, pt.SourceOp, u, lambda u, a, b, x, y: NAN, g)
    words = "rate must be a function of values and coordinates or a sequence of expressions and numbers, not 3"
    refused(TypeError, words, pt.SourceOp, u, 3)
    words = "rate must return a tuple of 2 components, not "
    with pytest.raises(TypeError, match=words):
        pt.SourceOp(g, lambda u, v, x, y: u)
    with pytest.raises(
        ValueError, match=r"rate, component 0 of the source \(u\): unknown name 'g'"
    ):
        pt.SourceOp(u, "g")


def test_refused_durations():
    source = pt.SourceOp(scalar(), "-u")
    refused(ValueError, "dt must be positive, not 0.0", source.apply, 0)
    refused(ValueError, "dt must be finite, not nan", source.apply, NAN)
    refused(TypeError, "time must be a number, not None", source.apply, 1.0, time=None)


def test_refused_in_a_splitting():
    u = scalar()
    operators = pt.AdvectionOp(vector()), pt.RemeshOp(u)
    words = "source must be a SourceOp or None, not 'u'"
    refused(TypeError, words, pt.Splitting, *operators, source="u")
    other = scalar()
    words = f"source must change only carried fields, not {other!r}"
    refused(ValueError, words, pt.Splitting, *operators, source=pt.SourceOp(other, "-u"))


def test_the_core_guards_itself(device):
    u, other = scalar(device=device).core, scalar(OTHER, device=device).core
    refused(ValueError, "fields: expected at least one, got none", _core.SourceOp, [], [], "")
    words = "fields: expected one grid, dtype and device for all"
    refused(ValueError, words, _core.SourceOp, [u], [other], "")
