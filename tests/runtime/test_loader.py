# SPDX-License-Identifier: BSD-3-Clause
"""Finding an OpenCL library, and saying what to do when there is none or it has no device."""

import platform
import sys
from pathlib import Path

import particles as pt
import pytest
from particles import _core
from particles.runtime import loader

from tests.support import child

NO_OPENCL = """
    import platform, sys
    from particles.runtime import loader
    sys.modules["pyopencl"] = None
    loader.SYSTEM_LIBRARIES[platform.system()] = "/nowhere/libOpenCL.so"
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
    from particles.runtime import loader
    pt.default_device().core.run_self_test()
    for attempt in loader.attempts:
        print(attempt.path, attempt.error or "in use", sep=": ")
"""


def bundled_library():
    """Return the loader in PyOpenCL's wheel; a PyOpenCL built elsewhere has none."""
    pyopencl = pytest.importorskip("pyopencl")
    found = sorted((Path(pyopencl.__file__).parent / ".libs").glob("libOpenCL*"))
    if not found:
        pytest.skip("PyOpenCL bundles no loader here")
    return found[0]


def bundled_driver():
    """Return the driver in PyOpenCL's wheel."""
    found = sorted(bundled_library().parent.glob("libpocl*"))
    if not found:
        pytest.skip("PyOpenCL bundles no driver here")
    return found[0]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package which brings a driver, for this process's children.

    It gives the path of the driver's library.
    """
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def install(content=None, target=None):
        facts = tmp_path / "site" / "intel_opencl_rt-1.0.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text("Name: intel-opencl-rt\nVersion: 1.0\n")
        (facts / "RECORD").write_text("../libintelocl.so,,\n../libother.so,,\n")
        library = tmp_path / "libintelocl.so"
        if target is None:
            library.write_text(content)
        else:
            library.symlink_to(target)
        return library

    return install


def test_no_library():
    output = child.check(NO_OPENCL + PRINT_ERROR)
    assert "no OpenCL library was found" in output
    assert loader.what_to_install() in output
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
    assert loader.attempts[-1].path == sys.argv[1]
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


def test_a_named_library_that_is_missing_is_told_recorded_and_passed_over(tmp_path):
    library = tmp_path / "libOpenCL.so"
    status, output, errors = child.run(SELF_TEST, PARTICLES_OPENCL=str(library))
    assert status == 0
    assert f"PARTICLES_OPENCL names {library}, which cannot be used, so " in errors
    first, last = output.splitlines()
    assert first.startswith(f"{library}: ")
    assert "No such file" in first
    assert last.endswith(": in use")


def test_pyopencl_finds_the_same_devices():
    child.check("""
        import particles as pt
        from particles.runtime import loader
        listed = {device.info.pointer for device in pt.devices()}
        import pyopencl
        theirs = {d.int_ptr for p in pyopencl.get_platforms() for d in p.get_devices()}
        assert theirs <= listed
        assert theirs == listed or loader.drivers  # those no loader knows of
    """)


LIST = """
    import particles as pt
    from particles.runtime import loader
    for device in pt.devices():
        print(device.platform, device.driver)
    print(loader.drivers)
"""


def test_a_driver_that_a_package_brings_is_found(package):
    library = package(content="")
    assert list(loader._packaged_drivers()) == [str(library)]


def test_a_driver_that_the_loader_knows_as_well_is_listed_once(package):
    driver = bundled_driver()
    library = package(content="not a library")
    *expected, _ = child.check(LIST, OPENCL_VENDOR_PATH=None, OCL_ICD_VENDORS=None).splitlines()
    library.unlink()
    library.symlink_to(driver)
    *listed, drivers = child.check(LIST, OPENCL_VENDOR_PATH=None, OCL_ICD_VENDORS=None).splitlines()
    assert listed == expected
    assert len(set(listed)) == len(listed)
    assert drivers == f"[Attempt(path={str(driver)!r}, error=None)]"


def test_a_driver_that_cannot_be_opened_hides_no_other(package):
    library = package(content="not a library")
    output = child.check(LIST, OPENCL_VENDOR_PATH=None, OCL_ICD_VENDORS=None)
    *listed, drivers = output.splitlines()
    assert listed
    assert f"OpenCL driver {library} cannot be opened: " in drivers


@pytest.mark.parametrize("variable", ["OPENCL_VENDOR_PATH", "OCL_ICD_VENDORS"])
def test_a_user_who_names_drivers_sees_no_other(package, variable):
    package(target=bundled_driver())
    hidden = child.check(LIST, **{variable: "/nowhere"}).splitlines()
    assert hidden[-1] == "[]"


def test_a_driver_that_no_loader_knows_works():
    status, output, errors = child.run(
        """
        import sys
        import particles as pt
        from particles import _core
        from particles.runtime import loader
        loader.load()
        assert not pt._core.list_platforms()
        for _ in range(2):
            _core.add_driver(sys.argv[1])
        (device,) = pt.devices()
        device.core.run_self_test()
        assert device.queue.device.int_ptr == device.info.pointer
        assert pt.Device.from_pyopencl(device.queue) is device
        u = pt.Field(pt.Grid(4), device=device)
        u.fill(2)
        print(u.sum())
        """,
        bundled_driver(),
        OCL_ICD_VENDORS="/nowhere/",
    )
    if "does not know it" in errors:
        pytest.skip("the driver that PyOpenCL brings is too old for this processor")
    assert (status, output) == (0, "8.0\n"), errors


def test_what_needs_pyopencl_says_so(monkeypatch):
    device = pt.default_device()
    field = pt.Field(pt.Grid(8), device=device)
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    for use in (lambda: device.context, lambda: device.queue, field.to_pyopencl):
        with pytest.raises(ImportError, match=r"needs PyOpenCL: pip install pyopencl "):
            use()


def test_a_process_uses_one_library():
    child.check(
        """
        import sys
        import particles as pt
        from particles import _core
        from particles.runtime import loader

        def refusal(call, *arguments):
            try:
                call(*arguments)
            except pt.DeviceError as error:
                return str(error)
            raise AssertionError("nothing was refused")

        assert refusal(_core.list_platforms) == "no OpenCL library is loaded"
        words = f"{_core.__file__} is not an OpenCL 1.2 library: it lacks clGetPlatformIDs, clGet"
        assert refusal(_core.load_opencl, _core.__file__).startswith(words)
        loader.load()
        used = loader.attempts[-1].path
        _core.load_opencl(used)
        words = f"OpenCL library {_core.__file__} asked for, but {used} is already in use; "
        assert refusal(_core.load_opencl, _core.__file__).startswith(words)
        assert pt.devices()
        """
    )


def test_what_is_no_driver_is_refused(tmp_path):
    with pytest.raises(
        pt.DeviceError, match=r"driver /nowhere/lib\.so cannot be opened: .*No such"
    ):
        _core.add_driver("/nowhere/lib.so")
    with pytest.raises(pt.DeviceError, match="is not an OpenCL driver: it lacks clIcdGetPlatform"):
        _core.add_driver(_core.__file__)


def test_no_platform(tmp_path):
    vendors = str(tmp_path / "none")
    output = child.check("\n    import particles as pt" + PRINT_ERROR, OCL_ICD_VENDORS=vendors)
    assert "no OpenCL platform is known to " in output
    assert f"OCL_ICD_VENDORS is set to {vendors!r}, which hides other drivers" in output
    assert loader.what_to_install() in output


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
        ("Linux", "aarch64", "PyPI has no OpenCL device for Linux aarch64"),
        ("Darwin", "arm64", "OpenCL.framework"),
        ("Windows", "AMD64", "graphics drivers"),
        ("FreeBSD", "amd64", "set PARTICLES_OPENCL"),
    ],
)
def test_what_to_install(monkeypatch, system, machine, words):
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert words in loader.what_to_install()


def test_devices_are_listed_once_the_loader_is_there():
    assert pt.devices()
    assert loader.attempts[-1].error is None
    assert all(attempt.error for attempt in loader.attempts[:-1])
