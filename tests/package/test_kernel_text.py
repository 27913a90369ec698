# SPDX-License-Identifier: BSD-3-Clause
"""Kernels are written in what compilers for GPUs take, too, not only PoCL's."""

import re

import pytest

from tests.package.test_kernel_includes import FILES, code

VARIADIC = re.compile(r"^\s*#\s*define\s+\w+\([^)]*\.\.\.\s*\)", re.MULTILINE)


@pytest.mark.parametrize("file", FILES)
def test_no_macro_takes_any_number_of_arguments(file):
    """NVIDIA's compiler says "variadic macros not supported in OpenCL"."""
    assert not VARIADIC.findall(code(file))


def test_such_macros_are_found():
    assert VARIADIC.findall("#define read(from, ...) read_of(from, __VA_ARGS__)")
