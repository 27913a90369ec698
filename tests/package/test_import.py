# SPDX-License-Identifier: BSD-3-Clause
"""What importing the package does, and does not do."""

import sysconfig

import particles as pt
import pytest

from tests.support import child


def test_import_is_light():
    child.check("""
        import sys
        import numpy
        before = set(sys.modules)
        import particles
        from particles import Device, Field, Grid, Splitting, devices
        added = set(sys.modules) - before
        packages = {name.partition(".")[0] for name in added} - sys.stdlib_module_names
        assert packages <= {"numpy", "particles"}, packages
        slow = {"asyncio", "email", "importlib.metadata", "multiprocessing", "unittest"}
        assert not slow & added, slow & added
        assert not particles._core.opencl_is_loaded()
    """)


def test_import_needs_no_opencl():
    child.check("""
        import sys
        sys.modules["pyopencl"] = None
        from particles.runtime import loader
        loader.SYSTEM_LIBRARIES.clear()
        import particles as pt
        grid = pt.Grid((8, 8, 8))
        assert grid.shape == (8, 8, 8)
    """)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="Python has a GIL")
def test_a_free_threaded_python_stays_so():
    child.check(
        """
        import sys
        import particles as pt
        pt.Field(pt.Grid(8)).sum()
        assert "pyopencl" in sys.modules or not sys._is_gil_enabled()
        """,
        PYTHON_GIL=None,
    )


@pytest.mark.parametrize("name", pt.__all__)
def test_every_public_name_is_there(name):
    assert getattr(pt, name) is not None
    assert name in dir(pt)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'particles' has no attribute 'Fields'"):
        _ = pt.Fields


def test_other_libraries_before_and_after():
    for imports in (
        "matplotlib.pyplot, skimage, particles",
        "particles, skimage, matplotlib.pyplot",
    ):
        child.check(f"import {imports}; particles.default_device().core.run_self_test()")
