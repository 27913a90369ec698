# SPDX-License-Identifier: BSD-3-Clause
"""``particles info`` says everything and never fails."""

import json
import platform

import numpy as np
import particles as pt
import pytest
from particles.cli import info as info_module
from particles.cli.main import main
from particles.runtime import drivers
from particles.runtime.choice import Choice

from tests.support import child
from tests.support.usable import usable_devices

INFO = "import sys; from particles.cli.main import main; sys.exit(main(['info']))"


def test_everything_is_printed(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    chosen = pt.default_device()
    for words in (pt.__version__, platform.python_version(), np.__version__, "cache folder"):
        assert words in text
    for device in pt.devices():
        assert device.name in text
        assert device.driver in text
        assert f"vectors of {device.info.widest_vector} bytes" in text
    assert f"chosen: {chosen.index}: {chosen.name}, because " in text
    assert text.count("self-test passed") == len(usable_devices())
    assert ": in use\n" in text


def test_json_holds_the_same(capsys):
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    listed = [device for entry in facts["platforms"] for device in entry["devices"]]
    assert [device["name"] for device in listed] == [device.name for device in pt.devices()]
    usable = [device.index for device in usable_devices()]
    assert [device["index"] for device in listed if device["self_test"] == "passed"] == usable
    assert facts["choice"]["device"] == pt.default_device().index
    assert facts["versions"]["particles"] == pt.__version__


def test_the_module_is_the_command():
    output = child.check(
        "import runpy, sys; sys.argv = ['particles', 'info']; runpy.run_module('particles')",
        PARTICLES_DEVICE="0",
    )
    assert "PARTICLES_DEVICE=0" in output
    assert "because PARTICLES_DEVICE is '0'" in output


def test_a_machine_without_opencl():
    status, output, errors = child.run(
        "from particles.runtime import loader\nloader._candidates = lambda: iter(())\n" + INFO
    )
    assert (status, errors) == (1, "")
    assert pt.__version__ in output
    assert "no OpenCL library was found" in output


@pytest.mark.sampled
def test_a_library_that_cannot_be_used_is_printed(tmp_path):
    library = tmp_path / "libOpenCL.so"
    library.write_text("not a library")
    status, output, _ = child.run(INFO, PARTICLES_OPENCL=str(library))
    assert status == 0
    assert f"library {library}: " in output
    assert "cannot be opened" in output


@pytest.mark.sampled
def test_a_wrong_choice_is_printed():
    status, output, _ = child.run(INFO, PARTICLES_DEVICE="no such device")
    assert status == 2
    assert "no device is chosen: PARTICLES_DEVICE is 'no such device'" in output


def test_a_platform_without_devices_is_printed():
    if not all(device.info.is_pocl for device in pt.devices()):
        pytest.skip("only PoCL loses its devices without a cache")
    status, output, errors = child.run(INFO, POCL_CACHE_DIR="/proc/particles")
    assert (status, errors) == (1, "")
    assert "platform Portable Computing Language" in output
    assert "POCL_CACHE_DIR" in output


def test_a_device_that_ends_its_process_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(info_module, "CHILD", ("-c", "import os; os.abort()"))
    assert main(["info"]) == 1
    assert "self-test failed: exit status -6" in capsys.readouterr().out


def test_a_driver_that_is_refused_is_printed(monkeypatch, capsys):
    def refuse(info):
        raise pt.DeviceError(f"{info.name} is refused")

    monkeypatch.setattr(drivers, "usable", refuse)
    monkeypatch.setenv("PARTICLES_DEVICE", "0")
    assert main(["info"]) == 1
    text = capsys.readouterr().out
    for device in pt.devices():
        assert f"self-test failed: {device.name} is refused" in text


def test_the_times_that_decided_are_printed(monkeypatch, capsys):
    choice = Choice(pt.devices()[0], "it is the fastest", {0: 0.51234, 7: 1.5})
    monkeypatch.setattr(info_module, "choose_device", lambda: choice)
    main(["info"])
    last = capsys.readouterr().out.splitlines()[-3:]
    assert last[0].endswith("because it is the fastest")
    assert last[1:] == [
        "   0: 0.512 ns per particle and sweep",
        "   7: 1.5 ns per particle and sweep",
    ]
    main(["info", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["choice"]["nanoseconds"] == {"0": 0.51234, "7": 1.5}


def test_a_command_is_needed(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "command" in capsys.readouterr().err
