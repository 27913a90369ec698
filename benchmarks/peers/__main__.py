# SPDX-License-Identifier: BSD-3-Clause
"""Our sweeps and steps beside those of other libraries, in one run.

``python -m benchmarks.peers --json FILE``
    Numba, Taichi, JAX, PyTorch and SciPy, as far as they are installed, at CFL 2 and 25: 5 minutes
    on two cores
``python -m benchmarks.peers --quick``
    on fewer points
``python -m benchmarks.peers --hysop hysop/gpu/cl_src``
    HySoP's kernels as well, from this folder of its sources of 2016, which you have
"""

from __future__ import annotations

import argparse
from pathlib import Path

from particles.cli.bench import POINTS, QUICK_POINTS, device_of
from particles.cli.machine import facts

from benchmarks.json_lines import write
from benchmarks.options import add_common_arguments
from benchmarks.peers.comparison import compare


def main() -> None:
    """Read the command line, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_common_arguments(parser)
    parser.add_argument("--hysop", type=Path, metavar="FOLDER", help="sources of HySoP's kernels")
    arguments = parser.parse_args()
    if arguments.hysop and not (arguments.hysop / "kernels").is_dir():
        parser.error(f"--hysop: expected a folder with kernels/, got {arguments.hysop}")
    device = device_of(arguments)
    points = QUICK_POINTS if arguments.quick else POINTS
    found = {**facts(device), **compare(device, points[0], arguments.hysop)}
    for row in found["rows"]:
        print(
            f"{row['name']:40} axis {row['axis']!s:4}  CFL {row['cfl']:4g}  {row['ns']:8.3f} ns"
            f"  {row['times_ours']:6.2f} times ours  {row['version']}"
        )
    write(found, arguments.json)


if __name__ == "__main__":
    main()
