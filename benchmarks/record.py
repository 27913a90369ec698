# SPDX-License-Identifier: BSD-3-Clause
"""Take all measurements of a device and keep them with the date.

``python -m benchmarks.record --device 0``
    everything, which takes long: the device should have nothing else to do
``python -m benchmarks.record --device 1 sweep``
    the sweeps and the operations on fields alone: some minutes

The forms are those that suit the device, not tuned ones. What is found goes to
``benchmarks/results/<date>-<device>/<module>.jsonl``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from particles.cli.machine import facts
from particles.runtime.device import Device
from particles.runtime.devices import as_device

RESULTS = Path(__file__).parent / "results"
MODULES = {
    "sweep": [],
    "peers": [],
    "scaling": [],
    "units": [],
    "overhead": [],
    "paper": [],
    "schemes": [],
    "first_minute": [],
    "accuracy": [],
    "unsplit": [],
    "gyre": [],
    "tracers": [],
    "interpolation": ["--sides", "2048x2048", "256x256x256", "--sweep"],
    "gpu_model": [],
}


def folder_for(device: Device) -> Path:
    """Return where today's measurements of a device are kept."""
    name = re.sub(r"[^a-z0-9.]+", "-", f"{device.name} {device.driver}".lower()).strip("-")
    return RESULTS / f"{facts(device)['date'][:10]}-{name}"


def main() -> None:
    """Read the command line and run one child process for each module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, help="index, see: particles info")
    parser.add_argument("modules", nargs="*", default=list(MODULES), metavar="module")
    arguments = parser.parse_args()
    device = as_device(arguments.device)
    folder = folder_for(device)
    folder.mkdir(parents=True, exist_ok=True)
    for module in arguments.modules:
        file = folder / f"{module}.jsonl"
        subprocess.run(
            [sys.executable, "-m", f"benchmarks.{module}", *MODULES[module], "--json", str(file)],
            env={**os.environ, "PARTICLES_DEVICE": str(device.index), "PARTICLES_TUNE": "off"},
            check=True,
        )


if __name__ == "__main__":
    main()
