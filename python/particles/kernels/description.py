# SPDX-License-Identifier: BSD-3-Clause
"""What is to be known of a remeshing kernel."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from particles.kernels.family import get
from particles.kernels.kernel import RemeshingKernel
from particles.kernels.opencl import opencl_source
from particles.kernels.polynomials import value

FINE = 4096
"""Places of a cell at which sums and values are compared."""


@dataclass(frozen=True, repr=False)
class KernelDescription:
    """The properties of a kernel: moments, smoothness and cost; ``print`` shows a table.

    Attributes
    ----------
    name : str
        The kernel's name.
    family : str or None
        ``Lp_q``, if the kernel belongs to that family.
    nodes : int
        Number of nodes over which a particle is spread.
    degree : int
        Degree of the pieces.
    smoothness : int
        Number of continuous derivatives; -1 where the kernel itself jumps.
    moments : int
        The largest a for which the moments 0 to a are conserved exactly.
    interpolating : bool
        Whether a particle on a node gives everything to that node.
    values_at_nodes : tuple of Fraction
        ``W(0), W(1), ...``
    least, least_at : float
        The least value, and its ``|x|``. If it is negative, fields undershoot.
    lebesgue : float
        Largest sum of ``|w|``: the factor by which one remeshing may increase the greatest value.
    operations : int
        Additions and multiplications for the weights of a particle.
    order : int
        Order of the error in the grid spacing at a fixed CFL number.
    order_at_rest : int
        Order of the greatest error of masses at stagnation points with strain, such as at walls,
        where the smoothness limits it. Values keep `order`.

    Examples
    --------
    >>> from particles import kernels
    >>> description = kernels.describe("M'4")
    >>> description.nodes, description.smoothness, description.interpolating
    (4, 1, True)
    """

    name: str
    family: str | None
    nodes: int
    degree: int
    smoothness: int
    moments: int
    interpolating: bool
    values_at_nodes: tuple[Fraction, ...]
    least: float
    least_at: float
    lebesgue: float
    operations: int
    order: int
    order_at_rest: int

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict for JSON, with fractions as strings.

        Returns
        -------
        dict

        Examples
        --------
        >>> from particles import kernels
        >>> kernels.describe("M'4").as_dict()["values_at_nodes"]
        ['1', '0']
        """
        return {**asdict(self), "values_at_nodes": [str(v) for v in self.values_at_nodes]}

    def __repr__(self) -> str:
        also = "" if self.family in (None, self.name) else f" = {self.family}"
        half = self.nodes // 2
        at_nodes = ", ".join(f"W({i}) = {v}" for i, v in enumerate(self.values_at_nodes))
        smooth = f"C{self.smoothness}" if self.smoothness >= 0 else "discontinuous"
        kept = "0" if self.moments == 0 else f"0 to {self.moments}"
        rows = {
            "support": f"[-{half}, {half}]: {self.nodes} nodes",
            "degree": self.degree,
            "smoothness": smooth,
            "conserved moments": f"{kept}, exactly",
            "values at nodes": f"{at_nodes}: {'interpolates' if self.interpolating else 'smooths'}",
            "least value": f"{self.least:.6g} at |x| = {self.least_at:.3g}",
            "largest sum |w|": f"{self.lebesgue:.6g} (Lebesgue constant)",
            "operations": f"{self.operations} for the weights of a particle, "
            f"{2 * self.nodes} to add it to its nodes",
            "order": f"{self.order} at a fixed CFL number; of masses {self.order_at_rest} at worst, "
            "where the flow rests",
        }
        lines = [f"  {name:<17}  {said}" for name, said in rows.items()]
        return "\n".join([f"{self.name}{also}", *lines])


def describe(kernel: str | RemeshingKernel) -> KernelDescription:
    """Return the properties of a kernel; ``print`` shows a table.

    Parameters
    ----------
    kernel : str or RemeshingKernel
        As for `get`.

    Returns
    -------
    KernelDescription

    Examples
    --------
    >>> from particles import kernels
    >>> kernels.describe("M'6")
    M'6 = L4_2
      support            [-3, 3]: 6 nodes
      degree             5
      smoothness         C2
      conserved moments  0 to 4, exactly
      values at nodes    W(0) = 1, W(1) = 0, W(2) = 0: interpolates
      least value        -0.116634 at |x| = 1.34
      largest sum |w|    1.39062 (Lebesgue constant)
      operations         29 for the weights of a particle, 12 to add it to its nodes
      order              4 at a fixed CFL number; of masses 2 at worst, where the flow rests
    >>> kernels.describe("M'6").lebesgue
    1.390625
    """
    kernel = get(kernel)
    at_nodes = tuple(value(piece, i) for i, piece in enumerate(kernel.pieces))
    sums = np.abs(kernel.weights(np.linspace(0, 1, FINE + 1))).sum(axis=0)
    x = np.linspace(0, kernel.half_width, kernel.half_width * FINE, endpoint=False)
    values = kernel(x)
    least = values.argmin()
    return KernelDescription(
        name=kernel.name,
        family=None if kernel.p is None else f"L{kernel.p}_{kernel.q}",
        nodes=kernel.stencil,
        degree=kernel.degree,
        smoothness=kernel.smoothness,
        moments=kernel.moments,
        interpolating=at_nodes == (1,) + (0,) * (len(at_nodes) - 1),
        values_at_nodes=at_nodes,
        least=float(min(values[least], 0.0)),
        least_at=float(x[least]),
        lebesgue=float(sums.max()),
        operations=_operations_of(kernel),
        order=kernel.moments,
        order_at_rest=max(0, min(kernel.moments, kernel.smoothness)),
    )


def _operations_of(kernel: RemeshingKernel) -> int:
    """Return what the weights of a particle take, in the OpenCL C that computes them."""
    body = opencl_source(kernel).partition("{")[2].partition("}")[0]
    return 2 * body.count("MAD(") + sum(body.count(sign) for sign in (" * ", " + ", " - "))
