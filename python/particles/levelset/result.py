# SPDX-License-Identifier: BSD-3-Clause
"""What a level-set test found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from particles.base.stopwatch import line_of
from particles.runtime.profile import Profile
from particles.stepping.schedule import SPLITTINGS


class Row(NamedTuple):
    """The state at one time.

    Attributes
    ----------
    time : float
        The time.
    volume_change, mass_change : float
        Change of the number of points above 0.5 and of the sum, relative to the initial ones.
    l1_error : float
        Sum of the errors over the sum of the initial values.
    minimum, maximum : float
        Extrema of the field.

    Examples
    --------
    >>> from particles import levelset
    >>> levelset.run(32, dt=0.1, until=0.1, back=False, progress=False).rows[0].volume_change
    0.0
    """

    time: float
    volume_change: float
    mass_change: float
    l1_error: float
    minimum: float
    maximum: float

    def text(self) -> str:
        """Return a line of a table.

        Returns
        -------
        str

        Examples
        --------
        >>> from particles import levelset
        >>> levelset.Row(0.5, 0.01, 0.0, 0.02, -0.1, 1.1).text().split()
        ['0.500', '+1.000%', '+0.0e+00', '0.0200', '-0.1000', '1.1000']
        """
        return (
            f"{self.time:6.3f}  {self.volume_change:+8.3%}  {self.mass_change:+9.1e}  "
            f"{self.l1_error:8.4f}  {self.minimum:8.4f} {self.maximum:8.4f}"
        )


@dataclass(frozen=True, kw_only=True)
class LevelSetResult:
    """Accuracy and speed of a level-set test; ``print`` shows a table.

    Attributes
    ----------
    shape, kernel, dt, until, order, dtype, device, velocity
        The arguments of the run.
    rows : tuple of Row
        Accuracy at the times of the snapshots, and at the end of the way back.
    steps : int
        Steps to the time `until`.
    sweeps : int
        Sweeps along an axis in these steps.
    seconds : float
        Wall time of the steps.
    parts : dict
        Seconds of wall time of all parts: "set-up", the "exact solution", "steps", the "way back"
        and the "comparison", and "pictures" if the command has drawn them.
    profile : Profile
        The kernels of the steps.
    snapshots : dict
        The field at the times of `rows`, as arrays.

    Examples
    --------
    >>> from particles import levelset
    >>> result = levelset.run(32, dt=0.1, until=0.2, back=False, progress=False)
    >>> result.steps, [row.time for row in result.rows]
    (2, [0.0, 0.1, 0.2])
    """

    shape: tuple[int, ...]
    kernel: str
    dt: float
    until: float
    order: int
    dtype: str
    device: str
    velocity: str
    rows: tuple[Row, ...]
    steps: int
    sweeps: int
    seconds: float
    parts: dict[str, float]
    profile: Profile
    snapshots: dict[float, npt.NDArray[Any]]

    @property
    def seconds_a_step(self) -> float:
        """Wall time per step."""
        return self.seconds / self.steps

    @property
    def nanoseconds(self) -> float:
        """Wall time per particle and sweep."""
        return self.seconds / self.sweeps / self.snapshots[0.0].size * 1e9

    @property
    def times(self) -> dict[str, float]:
        """Seconds of each kernel, of the rest on the host, and of the set-up."""
        kernels = {name: kernel.seconds for name, kernel in self.profile.kernels.items()}
        host = max(0.0, self.seconds - self.profile.seconds)
        return {**kernels, "host": host, "set-up": self.parts["set-up"]}

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the snapshots.

        Returns
        -------
        dict

        Examples
        --------
        >>> from particles import levelset
        >>> result = levelset.run(32, dt=0.1, until=0.1, back=False, progress=False)
        >>> result.to_dict()["rows"][0]["time"]
        0.0
        """
        plain = ("shape", "kernel", "dt", "until", "order", "dtype", "device", "velocity")
        speed = ("steps", "sweeps", "seconds", "seconds_a_step", "nanoseconds", "parts")
        return {
            **{name: getattr(self, name) for name in plain},
            "rows": [row._asdict() for row in self.rows],
            **{name: getattr(self, name) for name in speed},
            "profile": {name: time._asdict() for name, time in self.profile.kernels.items()},
        }

    def to_json(self) -> str:
        """Return everything but the snapshots, as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> import json
        >>> from particles import levelset
        >>> result = levelset.run(32, dt=0.1, until=0.1, back=False, progress=False)
        >>> json.loads(result.to_json())["kernel"]
        "M'6"
        """
        return json.dumps(self.to_dict(), indent=2)

    def __str__(self) -> str:
        points = " x ".join(map(str, self.shape))
        velocity = {"grid": "velocity on the grid", "formula": "velocity by formula"}
        lines = [
            f"Level-set test: {points} particles, {self.dtype}, {self.kernel}, RK2, "
            + f"{velocity[self.velocity]}, {SPLITTINGS[self.order]}, dt = {self.dt:g}",
            f"on {self.device}",
            "",
            "  time    volume       mass        L1       min      max",
            *map(self._row_text, self.rows),
            "",
            f"{self.steps} steps in {self.seconds:.3f} s: {self.seconds_a_step:.4f} s a step, "
            + f"{self.nanoseconds:.2f} ns per particle and sweep",
            line_of(self.parts),
            "",
            str(self.profile),
        ]
        return "\n".join(lines)

    def _row_text(self, row: Row) -> str:
        return row.text() + ("  (flow reversed)" if row.time > self.until else "")
