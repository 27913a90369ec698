# SPDX-License-Identifier: BSD-3-Clause
"""List and test all OpenCL devices; add the output to a report of a problem."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib import metadata

from particles import __version__, _core
from particles.base.errors import DeviceError
from particles.cli.common import Command
from particles.cli.machine import Facts
from particles.runtime import drivers, environment, loader, processor_name
from particles.runtime.cache import cache_folder, why_not_used
from particles.runtime.child import failure_in_child
from particles.runtime.device import Device
from particles.runtime.devices import choose_device, devices
from particles.tuning import tuner

VARIABLES = (*environment.VARIABLES, *loader.HIDING_VARIABLES, "POCL_CACHE_DIR")
SIZES = ("memory", "largest_allocation", "local_memory", "cache_size")
PASSED = "passed"
CHILD = ("-m", "particles.trials.self_test")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``particles info``."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print everything; return 1 when no device works, 2 when PARTICLES_DEVICE names none."""
    facts = gather()
    print(json.dumps(facts, indent=2) if arguments.json else as_text(facts))
    tests = [device["self_test"] for entry in facts["platforms"] for device in entry["devices"]]
    if PASSED not in tests:
        return 1
    return 0 if facts["choice"]["device"] is not None else 2


def gather() -> Facts:
    """Return all that is known, problems included, as what JSON can hold."""
    problem = ""
    listed: list[_core.PlatformInfo] = []
    try:
        devices()
        listed = _core.list_platforms()
    except DeviceError as error:
        problem = str(error)
    return {
        "versions": _versions(),
        "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "cache_folder": cache_folder(),
        "cache_problem": why_not_used(),
        "tuned": tuner.remembered(),
        "libraries": [attempt._asdict() for attempt in loader.attempts],
        "drivers": [attempt._asdict() for attempt in loader.drivers],
        "platforms": [_platform_facts(entry) for entry in listed],
        "problem": problem,
        "choice": _choice(),
    }


def _versions() -> Facts:
    try:
        pyopencl = metadata.version("pyopencl")
    except metadata.PackageNotFoundError:
        pyopencl = "not installed"
    return {
        "particles": __version__,
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "pyopencl": pyopencl,
        "system": platform.platform(),
    }


def _platform_facts(entry: _core.PlatformInfo) -> Facts:
    return {
        "name": entry.name,
        "vendor": entry.vendor,
        "version": entry.version,
        "error": entry.error,
        "devices": [_device_facts(Device(info)) for info in entry.devices],
    }


def _device_facts(device: Device) -> Facts:
    info = device.info
    self_test = _self_test(device)
    return {
        "index": device.index,
        "name": device.name,
        "type": device.kind,
        "vendor": info.vendor,
        "driver": device.driver,
        "version": info.version,
        "c_version": info.c_version,
        "dtypes": [dtype.name for dtype in device.dtypes],
        "images": self_test == PASSED and device.has_images,
        "compute_units": device.compute_units,
        "largest_work_group": device.largest_work_group,
        "native_float_width": info.native_float_width,
        **{name: getattr(device, name) for name in SIZES},
        "extensions": info.extensions.split(),
        "self_test": self_test,
        "told_processor": processor_name.told(info),
        "vector_bytes": device.info.widest_vector,
        "vector_fma": device.info.vector_fma,
    }


def _self_test(device: Device) -> str:
    """Run one kernel in a child process, as a broken driver may end the process it is in."""
    try:
        device.info = drivers.usable(device.info)
    except DeviceError as error:
        return f"failed: {error}"
    failure = failure_in_child(*CHILD, str(device.index))
    return PASSED if failure is None else f"failed: {failure}"


def _choice() -> Facts:
    try:
        device, reason, nanoseconds = choose_device()
    except (DeviceError, ValueError) as error:
        return {"device": None, "reason": str(error)}
    return {
        "device": device.index,
        "name": device.name,
        "reason": reason,
        "nanoseconds": nanoseconds,
    }


def as_text(facts: Facts) -> str:
    """Return the facts for people."""
    lines = [f"{name} {version}" for name, version in facts["versions"].items()]
    lines += [f"{name}={value}" for name, value in facts["environment"].items()]
    lines.append(f"cache folder: {facts['cache_folder'] or 'none'}")
    if facts["cache_problem"]:
        lines.append(facts["cache_problem"])
    lines.append(f"forms chosen by measurement there: {facts['tuned']}")
    for library in facts["libraries"]:
        lines.append(f"library {library['path']}: {library['error'] or 'in use'}")
    for driver in facts["drivers"]:
        lines.append(f"driver {driver['path']}: {driver['error'] or 'in use'}")
    for entry in facts["platforms"]:
        lines += ["", *_platform_lines(entry)]
    if facts["problem"]:
        lines += ["", facts["problem"]]
    choice = facts["choice"]
    if choice["device"] is not None:
        lines += ["", f"chosen: {choice['device']}: {choice['name']}, because {choice['reason']}"]
        for index, time in choice["nanoseconds"].items():
            lines.append(f"   {index}: {time:.3g} ns per particle and sweep")
    elif choice["reason"] != facts["problem"]:
        lines += ["", f"no device is chosen: {choice['reason']}"]
    return "\n".join(lines)


def _platform_lines(entry: Facts) -> list[str]:
    lines = [f"platform {entry['name']}: {entry['version']}"]
    if entry["error"]:
        lines.append(f"  error: {entry['error']}")
    for device in entry["devices"]:
        lines += [f"  {line}" for line in _device_lines(device)]
    return lines


def _device_lines(device: Facts) -> list[str]:
    sizes = {name: size_text(device[name]) for name in SIZES}
    return [
        f"{device['index']}: {device['name']}, {device['type']}, driver {device['driver']}",
        f"   {device['version']}, {device['c_version']}",
        f"   dtypes {', '.join(device['dtypes'])}; images {'yes' if device['images'] else 'no'}; "
        + f"float width {device['native_float_width']}",
        f"   compute units {device['compute_units']}; "
        + f"largest work-group {device['largest_work_group']}",
        "   " + "; ".join(f"{name.replace('_', ' ')} {size}" for name, size in sizes.items()),
        f"   vectors of {device['vector_bytes']} bytes"
        + (", with fused multiply-add" if device["vector_fma"] else ""),
        *_told_lines(device["told_processor"]),
        f"   self-test {device['self_test']}",
    ]


def _told_lines(processor: str) -> list[str]:
    if not processor:
        return []
    return [
        f"   its compiler is older than this processor and is told, in memory, that it is {processor}"
    ]


def size_text(count: float) -> str:
    """Return a number of bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"


COMMAND = Command(
    "List and test all OpenCL devices; add the output to a report of a problem.", add_arguments, run
)
