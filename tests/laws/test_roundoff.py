# SPDX-License-Identifier: BSD-3-Clause
"""What rounding leaves of each operator: the figures that docs/reliability.md publishes."""

from itertools import product

import pytest

from tests.laws import roundoff

MEDIAN = {"float32": 2e-6, "float64": 1e-13}
DRIFT = {"float32": 3e-7, "float64": 1e-15}
CASES = {f"{operator} {kernel}": case for operator, kernel, case in roundoff.cases()}


@pytest.mark.sampled
@pytest.mark.drawn(12)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"], indirect=True)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_error(device, dtype, case):
    """Halves are rounded once by each operator as they are stored: by half a unit of 2^-10, at most."""
    median, greatest = roundoff.errors(case, device, dtype)
    if dtype.name in MEDIAN:
        assert median <= MEDIAN[dtype.name]
    else:
        roundings = 3 * roundoff.STEPS if case[0] is roundoff.run else 1  # a step has three sweeps
        assert greatest <= roundings * 2**-11


@pytest.mark.sampled
def test_the_drift_of_mass_in_a_run(device, dtype):
    for kernel, drift in roundoff.drifts(device, dtype, roundoff.STEPS):
        assert abs(drift) <= DRIFT[dtype.name], kernel


@pytest.mark.sampled
def test_the_drift_of_mass_in_a_sweep(device):
    """A steady flow rounds in the same way in each step; coarse grids have few places to average."""
    cases = product((32, 48), ("M'6", "L8_4"))
    found = [roundoff.greatest_drift(device, "float32", n, kernel) for n, kernel in cases]
    assert 1e-9 <= max(found) <= roundoff.DRIFT_A_SWEEP


def test_the_drift_of_mass_in_a_sweep_of_a_uniform_flow(device):
    """Nothing to average over: what the weights miss of one, all particles lose or gain alike."""
    found = [roundoff.uniform_drift(device, "float32", kernel) for kernel in ("M'6", "L8_4")]
    assert roundoff.DRIFT_A_SWEEP < max(found) <= roundoff.DRIFT_IF_UNIFORM
