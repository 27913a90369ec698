# SPDX-License-Identifier: BSD-3-Clause
"""What a problem that ends as it began found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from particles.base.stopwatch import line_of
from particles.levelset.result import Row


@dataclass(frozen=True, kw_only=True)
class ProblemResult:
    """Accuracy and speed of a problem that ends as it began; ``print`` shows a table.

    Attributes
    ----------
    problem, shape, preset, kernel, limiter, dt, cfl, steps, dtype, device
        The arguments of the run; `cfl` is the number of cells that the fastest particles move in a step.
    end : Row
        The state at the end, compared with the initial one.
    limits : dict
        Upper bounds for the figures at the end: "l1_error" if this package has recorded one,
        "mass_change", and "undershoot" below 0 if a limiter forbids it.
    sweeps : int
        Sweeps along an axis.
    seconds : float
        Wall time of the steps.
    parts : dict
        Seconds of wall time of all parts: "set-up", "steps" and "comparison", and "pictures" if
        the command has drawn them.
    snapshots : dict
        The field at the start, at half the time and at the end, as arrays.

    Examples
    --------
    >>> from particles import problems
    >>> result = problems.zalesak(64, progress=False)
    >>> result.steps, result.missed, sorted(result.snapshots)
    (50, [], [0.0, 0.5, 1.0])
    """

    problem: str
    shape: tuple[int, ...]
    preset: str
    kernel: str
    limiter: str | None
    dt: float
    cfl: float
    steps: int
    dtype: str
    device: str
    end: Row
    limits: dict[str, float]
    sweeps: int
    seconds: float
    parts: dict[str, float]
    snapshots: dict[float, npt.NDArray[Any]]

    @property
    def figures(self) -> dict[str, float]:
        """The figures that `limits` apply to."""
        return {
            "l1_error": self.end.l1_error,
            "mass_change": abs(self.end.mass_change),
            "undershoot": max(0.0, -self.end.minimum),
        }

    @property
    def missed(self) -> list[str]:
        """The names of the figures that miss their limits."""
        return [name for name, limit in self.limits.items() if not self.figures[name] <= limit]

    @property
    def nanoseconds(self) -> float:
        """Wall time per particle and sweep."""
        return self.seconds / self.sweeps / math.prod(self.shape) * 1e9

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the snapshots.

        Returns
        -------
        dict

        Examples
        --------
        >>> from particles import problems
        >>> problems.zalesak(64, progress=False).to_dict()["steps"]
        50
        """
        plain = ("problem", "shape", "preset", "kernel", "limiter", "dt", "cfl", "steps", "dtype")
        found = ("limits", "missed", "sweeps", "seconds", "nanoseconds", "parts")
        return {
            **{name: getattr(self, name) for name in (*plain, "device")},
            "end": self.end._asdict(),
            **{name: getattr(self, name) for name in found},
        }

    def __str__(self) -> str:
        points = " x ".join(map(str, self.shape))
        limiter = f", {self.limiter}" if self.limiter else ""
        lines = [
            f"{self.problem}: {points} particles, {self.dtype}, {self.kernel}{limiter}, "
            + f"preset {self.preset}, dt = {self.dt:g}, CFL {self.cfl:.3g}",
            f"on {self.device}",
            "",
            "  time    volume       mass        L1       min      max",
            self.end.text(),
            "",
            f"{self.steps} steps in {self.seconds:.3f} s: "
            + f"{self.nanoseconds:.2f} ns per particle and sweep",
            line_of(self.parts),
        ]
        for name, limit in self.limits.items():
            verdict = "failed" if name in self.missed else "passed"
            lines.append(f"{name} {self.figures[name]:.3g}, limit {limit:.3g}: {verdict}")
        return "\n".join(lines)
