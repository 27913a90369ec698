# SPDX-License-Identifier: BSD-3-Clause
"""A driver that links its kernels: an exception, never an abort, where it cannot."""

import json
import os
import shutil
from pathlib import Path

import particles as pt
import pytest
from particles.base.errors import BuildError
from particles.runtime import cache, drivers
from particles.runtime import linker as linker_module
from particles.runtime.cache import cache_folder
from particles.runtime.child import Outcome
from particles.trials import driver_trial

from tests.support import child

RUN = """
    import os, sys
    import particles as pt
    from particles.runtime import drivers
    drivers.PARTS = ("across",)  # of a trial, and of that nothing but the linker
    drivers.CHILD = (
        "-c",
        "import sys; from particles.trials import driver_trial as t;"
        "t._check_formula = t._check_sums = t._check_sweeps = print; t.main(*sys.argv[1:])",
    )
    try:
        pt.devices()[int(sys.argv[1])].core.run_self_test()
    except pt.DeviceError as error:
        print(error)
    else:
        print("ran", os.environ.get("LIBRARY_PATH", ""))
"""


@pytest.fixture
def pocl(device):
    """Return the index of a device that needs a linker."""
    if not device.info.needs_linker:
        pytest.skip(f"{device.name} needs no linker")
    return device.index


@pytest.fixture
def run(pocl, tmp_path):
    """Return a function that runs a kernel in a child whose PATH begins with a linker's folder."""

    def run_with(linker, *others):
        tools = tmp_path / "tools"
        tools.mkdir(exist_ok=True)
        if linker is not None:
            (tools / "ld").write_text(linker)
            (tools / "ld").chmod(0o755)
        kernels = tmp_path / "kernels"  # PoCL runs a kernel that it has cached without a linker
        shutil.rmtree(kernels, ignore_errors=True)
        kernels.mkdir()
        return child.check(
            RUN,
            pocl,
            PATH=os.pathsep.join([str(tools), *others]),
            POCL_CACHE_DIR=str(kernels),
            PARTICLES_CACHE=str(tmp_path / "cache"),
        )

    return run_with


def real_linker():
    linker = shutil.which("ld")
    assert linker, "these tests need binutils"
    return linker


def test_no_linker(run):
    output = run(None)
    assert "starts the linker ld, and there is none on PATH" in output
    assert "apt-get install binutils" in output
    assert "pip install intel-opencl-rt intel-cmplr-lib-rt" in output


@pytest.mark.sampled
def test_a_linker_that_fails(run):
    output = run("#!/bin/sh\necho 'ld: the disk is on fire' >&2\nexit 1\n", "/usr/bin", "/bin")
    assert "tried to link one with" in output
    assert "ld: the disk is on fire" in output
    assert "apt-get install binutils" in output


@pytest.mark.sampled
def test_a_linker_without_the_libraries_of_gcc(run, tmp_path):
    needs_archives = f"""#!/bin/sh
case "$*" in
  *empty-archives*) exec {real_linker()} "$@" ;;
  *) echo "ld: cannot find -lgcc" >&2; exit 1 ;;
esac
"""
    folder = tmp_path / "cache" / "empty-archives"
    for _ in ("tried", "remembered"):
        output = run(needs_archives, "/usr/bin", "/bin")
        assert output.startswith("ran ")
        assert output.strip().endswith(str(folder))
    assert {archive.name for archive in folder.iterdir()} == {"libc.a", "libgcc.a", "libgcc_s.a"}
    assert {archive.read_bytes() for archive in folder.iterdir()} == {b"!<arch>\n"}


@pytest.mark.sampled
def test_a_whole_toolchain_is_left_alone(run):
    library_path = os.environ.get("LIBRARY_PATH", "")
    assert run(f'#!/bin/sh\nexec {real_linker()} "$@"\n', "/usr/bin", "/bin") == (
        f"ran {library_path}\n"
    )


def test_what_the_compiler_refuses_is_not_the_linkers(device, monkeypatch, capsys):
    """It is the driver's trial that tells of it."""

    def open_device(driver, vectors):
        raise BuildError("error: unknown target CPU 'generic'")

    monkeypatch.setattr(driver_trial, "_device", open_device)
    with pytest.raises(SystemExit, match="unknown target CPU"):
        driver_trial.main("across", json.dumps([DRIVER, (64, True)]))
    assert capsys.readouterr().out.strip() == drivers.LINKED


def test_a_device_is_not_opened_without_a_linker(pocl, tmp_path):
    output = child.check(
        """
        import sys
        import particles as pt
        try:
            pt.devices()[int(sys.argv[1])].core
        except pt.DeviceError as error:
            print(error)
        """,
        pocl,
        PATH=str(tmp_path),
    )
    assert "starts the linker ld, and there is none on PATH" in output


@pytest.fixture
def tried(monkeypatch, tmp_path):
    """Stand in for trials; list with which LIBRARY_PATH each was made."""
    tried = []

    def run_trial(task, driver, vectors):
        tried.append(os.environ.get("LIBRARY_PATH", ""))
        return Outcome(drivers.LINKED, None, is_final=True)

    monkeypatch.setattr(drivers, "run_trial", run_trial)
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LIBRARY_PATH", "/usr/own")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "ld").write_text("#!/bin/sh\n")
    (tmp_path / "ld").chmod(0o755)
    return tried


DRIVER = drivers.Driver("PoCL", "3", "3.0", "CPU", has_fma=True, needs_linker=True)


def try_in_a_new_process(**changes):
    return drivers._vectors.__wrapped__(DRIVER._replace(**changes))


def test_a_linker_is_tried_once_per_machine(tried):
    try_in_a_new_process()
    try_in_a_new_process()
    assert tried == ["/usr/own"]


def test_a_driver_without_a_linker_is_tried_without_one(tried, tmp_path):
    (tmp_path / "ld").unlink()
    try_in_a_new_process(needs_linker=False)
    with pytest.raises(pt.DeviceError, match="none on PATH"):
        try_in_a_new_process()
    assert len(tried) == 1


def test_what_stops_before_the_linker_tells_nothing_of_it(tried, monkeypatch):
    killed = Outcome("", "exit status -9: ", is_final=False)
    monkeypatch.setattr(drivers, "run_trial", lambda *args: tried.append(args) or killed)
    with pytest.raises(pt.DeviceError, match="exit status -9"):
        try_in_a_new_process()
    assert len(tried) == 1


@pytest.mark.parametrize("changed", ["driver", "linker", "gcc", "LIBRARY_PATH", "stamp"])
def test_what_decides_makes_it_tried_again(tried, changed, tmp_path, monkeypatch):
    try_in_a_new_process()
    if changed == "driver":
        try_in_a_new_process(driver="3.1")
    elif changed == "linker":
        os.utime(tmp_path / "ld", (1, 1))
    elif changed == "gcc":
        (tmp_path / "gcc").write_text("#!/bin/sh\n")
        (tmp_path / "gcc").chmod(0o755)
    elif changed == "LIBRARY_PATH":
        monkeypatch.setenv("LIBRARY_PATH", str(tmp_path))
    else:
        for stamp in (tmp_path / "cache").iterdir():
            stamp.write_bytes(b"\xff")
    try_in_a_new_process()
    assert len(tried) == 2


def test_without_a_cache_folder_it_is_tried_in_each_process(tried, tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "ld" / "cache"))
    assert cache_folder() == ""
    try_in_a_new_process()
    try_in_a_new_process()
    assert len(tried) == 2


def test_archives_without_a_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", os.devnull)
    monkeypatch.setenv("LIBRARY_PATH", "/usr/own")
    cache.temporary_folder.cache_clear()
    for _ in range(2):
        linker_module.add_archives()
        first, last = os.environ["LIBRARY_PATH"].split(os.pathsep)
    assert first == "/usr/own"
    assert {path.name for path in Path(last).iterdir()} == set(linker_module.ARCHIVES)
    linker_module.remove_archives()
    assert os.environ["LIBRARY_PATH"] == "/usr/own"


def test_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PARTICLES_CACHE", str(tmp_path / "own"))
    assert cache_folder() == str(tmp_path / "own")
    assert (tmp_path / "own").is_dir()
    monkeypatch.delenv("PARTICLES_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == str(tmp_path / "xdg" / "particles")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == str(tmp_path / "home" / ".cache" / "particles")
