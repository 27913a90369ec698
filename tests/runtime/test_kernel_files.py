# SPDX-License-Identifier: BSD-3-Clause
"""Every kernel file compiles alone, with the defaults of its macros and with other lanes."""

import numpy as np
import particles as pt
import pyopencl
import pytest
from particles import _core
from particles._core import testing
from particles.formulas.expressions import FUNCTIONS

FILES = sorted(_core.embedded_kernels())
ON_LANES = [
    "motion/advect.cl",
    "motion/farthest.cl",
    "motion/strain.cl",
    "sweep/sweep.cl",
    "sweep/gather.cl",
]
SWEEPS = ON_LANES[2:]
"""Kernels of lines; they include every other file that knows of lanes."""


OPTIONS = {"motion/motion_formula.cl": "-DMOTION=FORMULA"}
"""Without which a file is empty."""


@pytest.mark.drawn(30)
@pytest.mark.parametrize("file", FILES)
def test_a_file_compiles_alone(device, file):
    device.core.build(testing.kernel_source(file), OPTIONS.get(file, ""))


def test_functions_are_declared_as_the_drivers_header_does(device):
    if not testing.reads_header(device.info):
        pytest.skip(f"{device.name} reads no header")
    text = testing.kernel_source("common/functions.cl") + testing.kernel_source(
        "runtime/selftest.cl"
    )
    pyopencl.Program(device.context, text).build(["-cl-std=CL1.2", "-DOWN_FUNCTIONS"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_function_of_a_formula_is_declared(device, dtype):
    if np.dtype(dtype) not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    before = testing.programs_that_read_header(device.core)
    field = pt.Field(pt.Grid(8), dtype=dtype, device=device)
    field[...] = lambda x: sum(
        function(*[x] * function.nin) for name, function in FUNCTIONS.items() if name != "acosh"
    )
    assert testing.programs_that_read_header(device.core) == before


def test_what_is_not_declared_is_built_all_the_same(device):
    core = _core.Context.open(device.info, "")
    core.build("__kernel void f(__global float* a) { a[0] = erf(a[0]); }")
    assert testing.programs_that_read_header(core) == testing.reads_header(device.info)


@pytest.mark.parametrize("file", ON_LANES)
@pytest.mark.parametrize(
    ("lanes", "dtype"),
    [(1, "float64"), (4, "float64"), (8, "float64"), (8, "float32"), (16, "float32")],
)
def test_lanes(device, file, lanes, dtype):
    if np.dtype(dtype) not in device.dtypes:
        pytest.skip(f"{device.name} has no {dtype}")
    options = f"-DLANES={lanes}" + " -DREAL_IS_DOUBLE" * (dtype == "float64")
    source = testing.kernel_source(file)
    device.core.build(source, options)
    if lanes > 1:
        device.core.build(source, f"{options} -DALONG_MEMORY")


@pytest.mark.one_device
@pytest.mark.parametrize("motion", ["FORMULA", "GIVEN"])
@pytest.mark.parametrize("file", ON_LANES[:1] + SWEEPS)
def test_motions(device, file, motion):
    device.core.build(testing.kernel_source(file), f"-DMOTION={motion}")


@pytest.mark.one_device
@pytest.mark.parametrize("rows", ["", "-DSEGMENT", "-DCOPY_MOTION", "-DSEGMENT -DCOPY_MOTION"])
@pytest.mark.parametrize("sums", ["", "-DLINES_IN_LOCAL", "-DLINES_IN_GLOBAL"])
def test_sweeps_of_every_form(device, rows, sums):
    for file in SWEEPS:
        device.core.build(testing.kernel_source(file), f"{rows} {sums}")


@pytest.mark.parametrize("rows", ["", "-DCOPY_MOTION"])
@pytest.mark.parametrize("file", ON_LANES)
def test_motion_in_an_image(device, file, rows):
    if not device.has_images:
        pytest.skip(f"{device.name} has no images")
    device.core.build(testing.kernel_source(file), f"-DMOTION_IN_IMAGE {rows}")


@pytest.mark.one_device
@pytest.mark.parametrize("action", ["ADD", "ADD_SQUARES", "LARGEST"])
@pytest.mark.parametrize("term", ["VALUE", "NEGATIVE", "MAGNITUDE", "INSIDE"])
def test_reductions(device, action, term):
    device.core.build(
        testing.kernel_source("arrays/reduce.cl"), f"-DACTION={action} -DTERM={term} -DLANES=8"
    )


@pytest.mark.one_device
def test_a_summary(device):
    device.core.build(testing.kernel_source("arrays/summary.cl"), "-DLANES=8")
    device.core.build(testing.kernel_source("arrays/summary.cl"), "-DGROUP=64")


@pytest.mark.one_device
@pytest.mark.parametrize("ends", ["1 2", "3 1", "2 3"])
@pytest.mark.parametrize("file", SWEEPS)
@pytest.mark.parametrize("limiter", ["", "-DLIMITER=POSITIVE", "-DLIMITER=MONOTONE"])
def test_lines_with_ends(device, ends, file, limiter):
    low, high = ends.split()
    options = f"-DSEGMENT -DLOW_END={low} -DHIGH_END={high} {limiter}"
    device.core.build(testing.kernel_source(file), options)
    device.core.build(testing.kernel_source(file), f"{options} -DLANES=8 -DALONG_MEMORY")
