# SPDX-License-Identifier: BSD-3-Clause
"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from particles import __version__
from particles.runtime.device import Device

Facts = dict[str, Any]


def facts(device: Device) -> Facts:
    """Return the date, the machine, the device and the version, as what JSON can hold."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "particles": __version__,
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory": _memory(),
            "system": platform.platform(terse=True),
            "python": platform.python_version(),
        },
        "device": {
            "name": device.name,
            "kind": device.kind,
            "platform": device.platform,
            "driver": device.driver,
            "version": device.info.version,
            "compute_units": device.compute_units,
            "memory": device.memory,
        },
    }


def free_memory() -> int | None:
    """Bytes that the host can still give; None where nobody says."""
    return _from_file("/proc/meminfo", "MemAvailable", scale=1024)


def _memory() -> int | None:
    return _from_file("/proc/meminfo", "MemTotal", scale=1024)


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _from_file(path: str, key: str, scale: int) -> int | None:
    for line in _lines(path):
        if line.startswith(key):
            return int(line.split()[1]) * scale
    return None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
