# SPDX-License-Identifier: BSD-3-Clause
"""Finding an OpenCL library, and saying what to do when there is none or it has no device."""

import platform
from pathlib import Path

import child
import particles as pt
import pytest
from particles import _loader

NO_OPENCL = """
    import platform, sys
    from particles import _loader
    sys.modules["pyopencl"] = None
    _loader.SYSTEM_LIBRARIES[platform.system()] = "/nowhere/libOpenCL.so"
    import particles as pt
"""
PRINT_ERROR = """
    try:
        pt.default_device()
    except pt.DeviceError as error:
        print(error)
"""
SELF_TEST = """
    import particles as pt
    from particles import _loader
    pt.default_device().core.run_self_test()
    for attempt in _loader.attempts:
        print(attempt.path, attempt.error or "in use", sep=": ")
"""


def bundled_library():
    """Return the loader in PyOpenCL's wheel; a PyOpenCL built elsewhere has none."""
    pyopencl = pytest.importorskip("pyopencl")
    found = sorted((Path(pyopencl.__file__).parent / ".libs").glob("libOpenCL*"))
    if not found:
        pytest.skip("PyOpenCL bundles no loader here")
    return found[0]


def test_no_library():
    output = child.check(NO_OPENCL + PRINT_ERROR)
    assert "no OpenCL library was found" in output
    assert _loader.what_to_install() in output
    assert "\n  pyopencl: " in output
    assert "\n  /nowhere/libOpenCL.so: " in output


def test_no_library_is_said_each_time_and_can_be_mended():
    library = child.check(SELF_TEST).splitlines()[-1].removesuffix(": in use")
    child.check(
        NO_OPENCL
        + """
    for _ in range(2):
        try:
            pt.devices()
        except pt.DeviceError as error:
            assert "no OpenCL library" in str(error)
        else:
            raise AssertionError("a library was found")
    del sys.modules["pyopencl"]
    assert pt.devices()
    assert _loader.attempts[-1].path == sys.argv[1]
    """,
        library,
        PARTICLES_OPENCL=None,
    )


def test_the_library_that_is_named_is_used():
    library = str(bundled_library())
    assert child.check(SELF_TEST, PARTICLES_OPENCL=library) == f"{library}: in use\n"


def test_the_bundled_library_without_pyopencls_variable():
    library = str(bundled_library())
    output = child.check(SELF_TEST, PARTICLES_OPENCL=library, PYOPENCL_HOME=None)
    assert output == f"{library}: in use\n"


def test_a_named_library_that_is_missing_is_recorded_and_passed_over(tmp_path):
    library = tmp_path / "libOpenCL.so"
    first, last = child.check(SELF_TEST, PARTICLES_OPENCL=str(library)).splitlines()
    assert first.startswith(f"{library}: ")
    assert "No such file" in first
    assert last.endswith(": in use")


def test_pyopencl_finds_the_same_devices():
    child.check("""
        import particles as pt
        listed = {device.info.pointer for device in pt.devices()}
        import pyopencl
        theirs = {d.int_ptr for p in pyopencl.get_platforms() for d in p.get_devices()}
        assert listed == theirs
    """)


def test_no_platform(tmp_path):
    vendors = str(tmp_path / "none")
    output = child.check("\n    import particles as pt" + PRINT_ERROR, OCL_ICD_VENDORS=vendors)
    assert "no OpenCL platform is known to " in output
    assert f"OCL_ICD_VENDORS is set to {vendors!r}, which hides other drivers" in output
    assert _loader.what_to_install() in output


def test_a_platform_with_no_devices(tmp_path):
    bundled_library()
    not_a_folder = tmp_path / "file"
    not_a_folder.touch()
    output = child.check(
        "\n    import particles as pt" + PRINT_ERROR,
        POCL_CACHE_DIR=str(not_a_folder / "cache"),
        OPENCL_VENDOR_PATH="/nonexistent",  # only the driver in PyOpenCL's wheel is left
    )
    assert "no OpenCL platform has a device" in output
    assert f"POCL_CACHE_DIR is {str(not_a_folder / 'cache')!r}" in output
    assert "set POCL_CACHE_DIR to a folder that can be written" in output
    assert "Portable Computing Language: lists no device and gives no error" in output


def test_an_empty_pocl_cache_folder_is_as_none():
    assert child.check(SELF_TEST, POCL_CACHE_DIR="").endswith(": in use\n")


@pytest.mark.parametrize(
    ("system", "machine", "words"),
    [
        ("Linux", "x86_64", 'pip install "pyopencl[pocl]"'),
        ("Linux", "x86_64", "apt-get install pocl-opencl-icd"),
        ("Linux", "aarch64", "apt-get install ocl-icd-libopencl1 pocl-opencl-icd"),
        ("Linux", "aarch64", "Linux aarch64"),
        ("Darwin", "arm64", "OpenCL.framework"),
        ("Windows", "AMD64", "graphics drivers"),
        ("FreeBSD", "amd64", "set PARTICLES_OPENCL"),
    ],
)
def test_what_to_install(monkeypatch, system, machine, words):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert words in _loader.what_to_install()


def test_devices_are_listed_once_the_loader_is_there():
    assert pt.devices()
    assert _loader.attempts[-1].error is None
    assert all(attempt.error for attempt in _loader.attempts[:-1])
