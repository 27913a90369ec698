# SPDX-License-Identifier: BSD-3-Clause
"""The steps of "Particle method on GPU" by Cottet, Etancelin, Pérignon and Picard, measured.

``python -m benchmarks.paper --shape 128 --out FOLDER``

Prints how long every step of its section 3, and ours after them, takes for a particle and a sweep
of its level-set test; how many operations the kernels do for each byte; and whether buffers or
images suit the device. Draws its figure 3, where the time of a run goes, and the roofline.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean
from typing import Any

import particles as pt
from particles.cli.bench import Bandwidths
from particles.cli.machine import facts

from benchmarks.json_lines import write
from benchmarks.paper import intensity, ladder, shares
from benchmarks.tables import bandwidths

Found = dict[str, Any]

# What the paper says of its run. For the Fortran program it also says 12.4 s a step, which is four
# times what its 62 s make.
PARTICLES, STEPS, GPU_SECONDS, FORTRAN_SECONDS = 256**3, 20, 25.0, 62.0
INTENSITIES = {"push": 2.25, "remesh": 9.5}


def measure(device: pt.Device, points: int, repeats: int) -> Found:
    """Return all that is measured on a device."""
    problem = ladder.Problem(device, points)
    sizes = [size for size in (16, 32, 64, 128, 256) if size <= points]
    return {
        **facts(device),
        "points": points,
        **Bandwidths.best([Bandwidths.of(device) for _ in range(repeats)])._asdict(),
        "peak": intensity.peak(device),
        "ladder": ladder.climb(problem, repeats),
        "kernel_ns": ladder.kernel_times(problem, repeats),
        "shares": shares.shares(device, sizes),
    }


def table(found: Found) -> str:
    """Return the ladder as a table."""
    first = ladder.undisturbed(found["ladder"][0])
    heads = ("axis 0", "axis 1", "axis 2", "mean", "unit", "faster")
    lines = [f"{'ns per particle and sweep':34}" + "".join(f"{head:>9}" for head in heads)]
    for row in found["ladder"]:
        alone = ladder.undisturbed(row)
        times = "".join(f"{ns:9.3f}" for ns in [*row["ns"], fmean(row["ns"]), alone])
        lines.append(f"{row['name']:34}{times}{first / alone:8.1f}x")
    return "\n".join([*lines, "unit: what a compute unit takes, if other programs rest"])


def papers_figures(found: Found) -> str:
    """Return the times that the paper gives, and ours beside them."""
    gpu, fortran = (run / STEPS / PARTICLES * 1e9 for run in (GPU_SECONDS, FORTRAN_SECONDS))
    sweeps = 5  # of a Strang step in three dimensions
    ours = sweeps * ladder.undisturbed(found["ladder"][-1])
    return (
        f"ns per particle and step: paper's GPU {gpu:.1f}, its Fortran on 4 cores {fortran:.0f}; "
        f"here {ours:.2f} for {sweeps} sweeps"
    )


def intensities(found: Found, works: tuple[intensity.Work, ...]) -> str:
    """Return operations per byte and what the kernels reach of the roof above."""
    bandwidth = max(bandwidths(found).values())
    lines = [f"{'kernel':8}operations  bytes  per byte  paper  GFLOP/s  share of the roof"]
    for work in works:
        reached = work.operations / found["kernel_ns"][work.name]
        roof = min(found["peak"], work.intensity * bandwidth) / 1e9
        papers = INTENSITIES.get(work.name, "")
        lines.append(
            f"{work.name:8}{work.operations:10}{work.bytes:7}{work.intensity:10.2f}{papers!s:>7}"
            f"{reached:9.1f}{reached / roof:19.0%}"
        )
    return "\n".join(lines)


def answer(found: Found) -> str:
    """Return which type of memory object suits the device, the paper's open question."""
    times = {row["name"]: ladder.undisturbed(row) for row in found["ladder"]}
    if ladder.IMAGE not in times:
        return "buffers or images: buffers, for the device has no images"
    buffer, image = times[ladder.BUFFER], times[ladder.IMAGE]
    better = "buffers" if image > buffer else "images"
    return (
        f"buffers or images: {better}; the same kernel takes {buffer:.2f} ns with a buffer and "
        f"{image:.2f} ns with an image"
    )


def main() -> None:
    """Read the command line, measure, print, draw and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, default=128, help="particles along each axis")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--json", type=Path, help="write what was found to a file")
    parser.add_argument("--out", type=Path, help="draw into a folder")
    arguments = parser.parse_args()
    device = pt.default_device()
    found = measure(device, arguments.shape, arguments.repeats)
    works = intensity.works(ladder.KERNEL)
    reached = ", ".join(f"{name} {rate / 1e9:.1f} GB/s" for name, rate in bandwidths(found).items())
    print(f"{device!r}\n{arguments.shape}³ particles, {reached}")
    for text in (table(found), papers_figures(found), intensities(found, works), answer(found)):
        print(f"\n{text}")
    write(found, arguments.json)
    if arguments.out:
        from benchmarks.paper import pictures

        for path in pictures.write(found, works, arguments.out):
            print(path)


if __name__ == "__main__":
    main()
