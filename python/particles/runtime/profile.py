# SPDX-License-Identifier: BSD-3-Clause
"""What the kernels cost: the result of `particles.profile`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class KernelTime(NamedTuple):
    """The time on the device of all launches of one kernel.

    Examples
    --------
    >>> time = KernelTime(launches=2, seconds=0.5, bytes=1e9)
    >>> time.gigabytes_per_second
    2.0
    """

    launches: int
    seconds: float
    bytes: float

    @property
    def gigabytes_per_second(self) -> float:
        """Gigabytes per second, of the bytes that must be read and written."""
        return self.bytes / self.seconds * 1e-9 if self.seconds > 0 else 0.0


@dataclass(repr=False)
class Profile:
    """The times of all kernels that ran in a ``with`` block; ``print`` shows a table.

    Examples
    --------
    >>> print(Profile({"sweep": KernelTime(2, 0.5, 1e9)}))
    kernel  launches  seconds   share    GB/s
    sweep          2   0.5000  100.0%    2.00
    """

    kernels: dict[str, KernelTime] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """The time on the device of all launches."""
        return sum(time.seconds for time in self.kernels.values())

    def __repr__(self) -> str:
        if not self.kernels:
            return "no kernel ran"
        width = max(map(len, [*self.kernels, "kernel"]))
        lines = [f"{'kernel':{width}}  launches  seconds   share    GB/s"]
        slowest_first = sorted(self.kernels.items(), key=lambda item: -item[1].seconds)
        for name, time in slowest_first:
            share = time.seconds / self.seconds if self.seconds > 0 else 0.0
            lines.append(
                f"{name:{width}}  {time.launches:8d}  {time.seconds:7.4f}  {share:6.1%}"
                f"  {time.gigabytes_per_second:6.2f}"
            )
        return "\n".join(lines)
