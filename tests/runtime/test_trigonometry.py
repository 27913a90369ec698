# SPDX-License-Identifier: BSD-3-Clause
"""Sine and cosine of the kernels, seen through formulas evaluated by an operator."""

import numpy as np
import particles as pt
import pytest

FUNCTIONS = {"sine": np.sin, "cosine": np.cos}


def computed(function, start, device, dtype, form=None):
    """Values at places that both dtypes hold exactly; a push by one unit of time shows them."""
    grid = pt.Grid((40, 100), origin=(0, start), spacing=(1 / 40, 1 / 8))
    velocity = pt.Velocity(grid, lambda x, y: (function(y) / 40, 0))
    advection = pt.AdvectionOp(velocity, dtype=dtype, device=device, form=form)
    moved = advection.apply(dt=1.0, axis=0).displacement
    return np.asarray(moved)[0], grid.coordinates()[1].ravel()


# Around zero, within reach of the polynomial, across its end in float32, beyond in both dtypes.
@pytest.mark.parametrize("start", [-6.25, -1000.0, 4321.0, 8186.0, 1e5, 1e6])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function, start, device, dtype):
    if start == 1e6 and dtype == np.float32:
        pytest.skip("float32 does not tell places so far out from each other")
    exact = FUNCTIONS[function]
    found, y = computed(exact, start, device, dtype)
    np.testing.assert_allclose(found, exact(y), rtol=0, atol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("function", [*FUNCTIONS, "tangent"])
def test_bits_do_not_depend_on_what_is_known_of_an_angle(function, device, dtype):
    """Nothing is known of parameters."""
    exact = {**FUNCTIONS, "tangent": np.tan}[function]
    grid = pt.Grid((40, 100), origin=(0, -6.25), spacing=(1 / 40, 1 / 8))
    known = pt.Velocity(grid, lambda x, y: (exact(y) / 4000, 0))
    unknown = pt.Velocity(grid, lambda x, y, A: (exact(A * y) / 4000, 0), A=1)
    assert "near_" in known.source(0)
    assert "near_" not in unknown.source(0)
    bits = [
        np.asarray(pt.AdvectionOp(one, dtype=dtype, device=device).apply(1.0, 0).displacement)
        for one in (known, unknown)
    ]
    np.testing.assert_array_equal(*bits)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_same_bits_in_every_form(function, device, dtype):
    exact = FUNCTIONS[function]
    lanes, single = (
        computed(exact, -6.25, device, dtype, form)[0] for form in ("lanes", "private")
    )
    np.testing.assert_array_equal(lanes, single)
