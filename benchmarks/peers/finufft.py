# SPDX-License-Identifier: BSD-3-Clause
"""Spreading and interpolation of FINUFFT, with as many points a particle, in float32, on all cores.

It takes complex numbers, so a call does both directions for two real components. Its points are
sorted as it likes before it is timed. Its kernel keeps no moments; how wide it is decides the cost.
"""

from __future__ import annotations

import finufft
import numpy as np
import numpy.typing as npt

ACCURACY = {4: 1e-3, 6: 1e-5}
"""By the points of its kernel along an axis, for twice as many points as modes."""
COMPONENTS = 2


class Rival:
    """Both directions for one set of particles, of two components.

    Parameters
    ----------
    width : int
        Points around a particle along an axis: 4 or 6.
    shape : tuple of int
        Points of a periodic grid.
    positions : numpy.ndarray
        In cells, (N, d).
    threads : int
        How many to use.
    """

    def __init__(
        self,
        width: int,
        shape: tuple[int, ...],
        positions: npt.NDArray[np.float64],
        threads: int,
    ) -> None:
        angles = (positions / shape * (2 * np.pi) - np.pi).astype("float32")
        limit = np.float32(np.nextafter(np.float32(np.pi), np.float32(0)))
        columns = [np.ascontiguousarray(np.clip(one, -limit, limit)) for one in angles.T]
        rng = np.random.default_rng(0)
        self._values = _complex(rng, len(positions))
        self._points = _complex(rng, shape)
        self._plans = [
            finufft.Plan(
                kind,
                shape,
                eps=ACCURACY[width],
                dtype="complex64",
                nthreads=threads,
                upsampfac=2.0,
                spreadinterponly=1,
            )
            for kind in (1, 2)
        ]
        for plan in self._plans:
            plan.setpts(*columns)

    def to_grid(self) -> npt.NDArray[np.complex64]:
        """Give what the particles carry."""
        given: npt.NDArray[np.complex64] = self._plans[0].execute(self._values)
        return given

    def to_particles(self) -> npt.NDArray[np.complex64]:
        """Sample what the grid has."""
        sampled: npt.NDArray[np.complex64] = self._plans[1].execute(self._points)
        return sampled

    def check(self) -> None:
        """See that one direction is the transpose of the other, and that no number is left out."""
        given = np.vdot(self.to_grid(), self._points)
        sampled = np.vdot(self._values, self.to_particles())
        size = float(np.abs(self._values).sum())
        if not 0 < abs(given - sampled) + abs(given) < np.inf or abs(given - sampled) > 1e-3 * size:
            raise RuntimeError("FINUFFT's directions are not transposes")


def _complex(rng: np.random.Generator, shape: int | tuple[int, ...]) -> npt.NDArray[np.complex64]:
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("complex64")
