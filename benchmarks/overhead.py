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
long        wall time of a step in a run of 1000 steps
apart       the same where each sweep has a launch of its own

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
from benchmarks.tables import POWERS

STEPS = 50  # of a run: so few that all their launches are enqueued without a wait
REPEATS = 40
LONG = 1000  # steps
LONG_REPEATS = 5
COLUMNS = ("run", "kernel", "added", "python", "enqueue", "wait", "step")


def transport_on(
    shape: tuple[int, ...], device: pt.Device, form: str | None = None
) -> pt.Splitting:
    """Level-set flow on a cube, or in the middle plane of one."""
    grid = pt.Grid(shape)
    points = [*grid.coordinates(), 0.25][:3]
    velocity = pt.Field(grid, len(shape), device=device)
    for axis, component in enumerate(levelset.flow(*points)[: len(shape)]):
        velocity[axis] = component
    u = pt.Field(grid, device=device)
    u[...] = levelset.ball(*points)
    return pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(u, form=form))


def long_step(shape: tuple[int, ...], device: pt.Device, form: str | None) -> float:
    """Shortest time of a step in runs of LONG steps."""
    transport, dt, walls = transport_on(shape, device, form), 1 / shape[0], []
    for _ in range(LONG_REPEATS + 1):
        begin = time.perf_counter()
        transport.run(transport.time + LONG * dt, dt, progress=False)
        walls.append(time.perf_counter() - begin)
    return min(walls[1:]) / LONG


def seconds_in(function: str, profile: cProfile.Profile) -> float:
    """Time in the compiled functions of that name."""
    return sum(
        entry.totaltime
        for entry in profile.getstats()
        if isinstance(entry.code, str) and entry.code.endswith(f".{function}>")
    )


class Run:
    """A run of STEPS steps, looked at in several ways."""

    def __init__(self, shape: tuple[int, ...], device: pt.Device) -> None:
        self.device = device
        self.transport = transport_on(shape, device)
        self.dt = 1 / shape[0]
        self.go()
        before = self.transport.sweeps
        self.go()
        self.sweeps = self.transport.sweeps - before

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
    parser.add_argument("--points", type=int, nargs="+", default=[1, 16, 32, 64], help="of cubes")
    parser.add_argument("--planes", type=int, nargs="+", default=[32], help="points of squares")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    device = pt.default_device()
    print(f"{device.name}, {device.platform} {device.driver}; microseconds")
    columns = (*COLUMNS, "long", "apart")
    print("points  sweeps a step" + "".join(f"{name:>9}" for name in columns))
    rows = []
    shapes = [(n,) * 3 for n in arguments.points] + [(n,) * 2 for n in arguments.planes]
    for shape in shapes:
        run = Run(shape, device)
        row = run.measure()
        for name, form in (("long", None), ("apart", "lanes")):
            row[name] = long_step(shape, device, form) * 1e6
        points = f"{shape[0]}{POWERS[len(shape)]}"
        rows.append({"points": points, "sweeps": run.sweeps, "steps": STEPS, **row})
        cells = "".join(f"{row[name]:9.2f}" for name in columns)
        print(f"{points:6}  {run.sweeps / STEPS:13.2f}{cells}", flush=True)
    write({**facts(device), "rows": rows}, arguments.json)


if __name__ == "__main__":
    main()
