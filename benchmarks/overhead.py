# SPDX-License-Identifier: BSD-3-Clause
"""What the host adds to the kernels of small runs, and where.

``python -m benchmarks.overhead [--json FILE]``

Times in microseconds, each the shortest of many runs of the level-set flow at CFL 2:

run         wall time of `Splitting.run`, per sweep
kernel      time of its kernels on the device, per sweep, as the device's own clock has it
added       the difference: what a sweep costs beyond its kernel. It can be negative, because the
            clock is not free either
python      what the host does in Python, per sweep, and the profiler that tells
enqueue     what it does in C++, per sweep: arguments set, launches handed to the driver
wait        how long it waits for the device then, per sweep
step        what `Splitting.step` takes to enqueue one step

The sweeps of a single point have next to nothing to do: their run is what the driver needs for a
launch.
"""

from __future__ import annotations

import argparse
import cProfile
import time
from pathlib import Path

import particles as pt
from particles import levelset
from particles.cli.machine import facts

from benchmarks.json_lines import write

STEPS = 50  # of a run: so few that all their launches are enqueued without a wait
REPEATS = 40
COLUMNS = ("run", "kernel", "added", "python", "enqueue", "wait", "step")


def transport_on(n: int, device: pt.Device) -> pt.Splitting:
    """Level-set flow on n**3 points."""
    grid = pt.Grid((n,) * 3)
    velocity = pt.Field(grid, 3, device=device)
    for axis, component in enumerate(levelset.flow(*grid.coordinates())):
        velocity[axis] = component
    u = pt.Field(grid, device=device)
    u[...] = levelset.ball(*grid.coordinates())
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u))


def seconds_in(function: str, profile: cProfile.Profile) -> float:
    """Time in the compiled functions of that name."""
    return sum(
        entry.totaltime
        for entry in profile.getstats()
        if isinstance(entry.code, str) and entry.code.endswith(f".{function}>")
    )


class Run:
    """A run of STEPS steps, looked at in several ways."""

    def __init__(self, n: int, device: pt.Device) -> None:
        self.device = device
        self.transport = transport_on(n, device)
        self.dt = 1 / n
        self.go()
        with pt.profile(device) as profile:
            self.go()
        self.sweeps = profile.kernels["sweep"].launches

    def go(self) -> None:
        self.transport.run(self.transport.time + STEPS * self.dt, self.dt, progress=False)

    def wall(self) -> float:
        begin = time.perf_counter()
        self.go()
        return time.perf_counter() - begin

    def kernels(self) -> float:
        with pt.profile(self.device) as profile:
            self.go()
        return profile.seconds

    def shares(self) -> tuple[float, float, float]:
        """Time in Python, in the enqueueing and in waits."""
        with cProfile.Profile() as profile:
            self.go()
        total = sum(entry.inlinetime for entry in profile.getstats())
        enqueue = seconds_in("advance", profile) + seconds_in("close", profile)
        wait = seconds_in("finish", profile)
        return total - enqueue - wait, enqueue, wait

    def step(self) -> float:
        begin = time.perf_counter()
        for _ in range(STEPS):
            self.transport.step(self.dt)
        end = time.perf_counter()
        self.device.finish()
        return (end - begin) / STEPS

    def measure(self) -> dict[str, float]:
        """Microseconds of each column, each look taken in turn with the others."""
        looks = [(self.wall(), self.kernels(), *self.shares(), self.step()) for _ in range(REPEATS)]
        run, kernel, python, enqueue, wait, step = map(min, zip(*looks, strict=True))
        seconds = (run, kernel, run - kernel, python, enqueue, wait, step * self.sweeps)
        return {
            name: value / self.sweeps * 1e6 for name, value in zip(COLUMNS, seconds, strict=True)
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, nargs="+", default=[1, 16, 32, 64])
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    device = pt.default_device()
    print(f"{device.name}, {device.platform} {device.driver}; microseconds")
    print("points  sweeps a step" + "".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for n in arguments.points:
        run = Run(n, device)
        row = run.measure()
        rows.append({"points": n, "sweeps": run.sweeps, "steps": STEPS, **row})
        cells = "".join(f"{row[name]:9.2f}" for name in COLUMNS)
        print(f"{n:4}**3  {run.sweeps / STEPS:13.2f}{cells}", flush=True)
    write({**facts(device), "rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
