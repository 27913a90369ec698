# SPDX-License-Identifier: BSD-3-Clause
"""What importing the package does, and does not do."""

import re
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
        assert not particles._core.testing.opencl_is_loaded()
    """)


@pytest.mark.sampled
def test_without_ranks_mpi_is_not_imported():
    child.check("""
        import sys
        import particles as pt
        grid = pt.Grid((8, 8))
        u = pt.Field(grid)
        pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, (1.0, 0.5))), pt.RemeshOp(u)).step(0.1)
        swarm = pt.ParticleSet.random(grid, 9, seed=1)
        pt.GridToParticles(u, swarm, "u").apply()
        u.sum()
        assert not [name for name in sys.modules if name.partition(".")[0] == "mpi4py"]
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


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        (pt, "Fields", "particles has no Fields; is Field meant?"),
        (pt, "zeros", "particles has no zeros: use pt.Field(grid), which is zero"),
        (pt, "Series", "particles has no Series: use pt.io.Series"),
        (pt, "quux", "particles has no quux"),
        (pt.plot, "imshow", "particles.plot has no imshow: use slice(field)"),
        (pt.plot, "slices", "particles.plot has no slices; is slice meant?"),
        (pt.io, "to_hdf5", 'particles.io has no to_hdf5: use Series("run.h5")'),
        (pt.kernels, "M6", """particles.kernels has no M6: use get("M'6")"""),
    ],
)
def test_a_name_that_is_not_there(module, name, words):
    with pytest.raises(AttributeError) as refusal:
        getattr(module, name)
    assert str(refusal.value) == words
    # Python would add a guess of its own.
    assert refusal.value.obj is None


@pytest.mark.parametrize("module", [pt, pt.io, pt.kernels, pt.plot])
def test_what_is_named_instead_is_there(module):
    for name, way in module._WAYS.items():
        assert name not in module.__all__
        used = re.match(r"(pt\.)?([a-z_A-Z]+)(?:\.([A-Za-z_]+))?\b", way)
        assert used, way
        if module is not pt:
            assert used[2] in module.__all__, way
        elif used[1]:
            assert used[2] in pt.__all__, way
            assert used[3] is None or hasattr(getattr(pt, used[2]), used[3]), way


@pytest.mark.sampled
def test_other_libraries_before_and_after():
    for imports in (
        "matplotlib.pyplot, skimage, particles",
        "particles, skimage, matplotlib.pyplot",
    ):
        child.check(f"import {imports}; particles.default_device().core.run_self_test()")


@pytest.mark.sampled
def test_no_module_is_hidden_by_what_has_its_name():
    child.check("""
        import sys
        from importlib import import_module
        from pkgutil import walk_packages
        import particles
        public = {name: getattr(particles, name) for name in particles.__all__}
        for info in walk_packages(particles.__path__, "particles."):
            if not info.name.endswith("__main__"):
                module = import_module(info.name)
                parent, _, name = info.name.rpartition(".")
                assert getattr(sys.modules[parent], name) is module, info.name
        for name, value in public.items():
            assert getattr(particles, name) is value, name
    """)
