# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of the paper's run goes: to each kernel, to its start, to the host."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import particles as pt

from benchmarks.paper.ladder import DT, Problem, Rung

STEPS = 20
INITIALISATION, HOST = "initialisation", "host"

Step = Callable[[], None]


def shares(device: pt.Device, sizes: list[int]) -> list[dict[str, Any]]:
    """Return the seconds of each part of the paper's run, for every size and two forms.

    A row for each: in two kernels, as in the paper, and in one, which is what `Splitting` does.
    """
    forms = {"two kernels": two_kernels, "one kernel": one_kernel}
    rows = []
    for points in sizes:
        for name, prepare in forms.items():
            prepare(Problem(device, points))()  # builds what the driver keeps
            rows.append({"form": name, "points": points, "seconds": parts(device, points, prepare)})
    return rows


def parts(device: pt.Device, points: int, prepare: Callable[[Problem], Step]) -> dict[str, float]:
    """Return the seconds of a run by kernel, and what the host takes beside them."""
    begin = perf_counter()
    step = prepare(Problem(device, points))
    device.finish()
    initialised = perf_counter()
    with pt.profile(device) as profile:
        for _ in range(STEPS):
            step()
        device.finish()
        end = perf_counter()
    seconds = {name: time.seconds for name, time in sorted(profile.kernels.items())}
    host = max(0.0, end - initialised - profile.seconds)
    return {**seconds, HOST: host, INITIALISATION: initialised - begin}


def one_kernel(problem: Problem) -> Step:
    """Return a Strang step with the fused kernel."""
    advection, remesh = pt.AdvectionOp(problem.velocity), pt.RemeshOp(problem.u)
    transport = pt.Splitting(advection, remesh)
    return lambda: transport.step(DT)


def two_kernels(problem: Problem) -> Step:
    """Return a Strang step in which one kernel pushes and another remeshes."""
    sweep = problem.sweep(Rung("two kernels", pt.Form(), pt.Form()))
    schedule = [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)]

    def step() -> None:
        for axis, length in schedule:
            sweep(axis, length * DT)

    return step
