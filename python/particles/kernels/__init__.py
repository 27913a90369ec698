# SPDX-License-Identifier: BSD-3-Clause
"""Remeshing kernels, built in exact rational arithmetic.

A particle at the offset ``y`` in its cell (``0 <= y < 1``, in grid spacings) gives the share
``W(y - j)`` of its strength to the node ``j`` cells further. `get` knows these kernels:

``"Lp_q"``
    the family of even ``p``, ``2 q + 1 >= p``: conserves the moments ``0`` to ``p``, is ``q`` times
    continuously differentiable, and leaves a particle on a node where it is;
``"M'4"``, ``"M'6"``
    the usual names of ``"L2_1"`` and ``"L4_2"``;
``"M'8"``
    the extrapolated B-spline of order 8, which smooths: ``W(0) < 1``;
``"L1"``
    the hat function: linear, two nodes;
``"nearest"``
    all to the nearest node.

`custom` makes your own kernel from its pieces. `describe` returns the properties of a kernel.
"""

from typing import TYPE_CHECKING, NoReturn

from particles.base.guards import absent
from particles.kernels.description import KernelDescription, describe
from particles.kernels.family import custom, get
from particles.kernels.kernel import RemeshingKernel
from particles.kernels.opencl import opencl_source

__all__ = ["KernelDescription", "RemeshingKernel", "custom", "describe", "get", "opencl_source"]

_WAYS = {
    **{f"M{number}": f'get("M\'{number}")' for number in (4, 6, 8)},
    **{
        name: f'get("{name}")'
        for name in ("L1", "L2_1", "L2_2", "L4_2", "L4_3", "L4_4", "L6_4", "L8_4")
    },
    **dict.fromkeys(
        ("names", "list", "available", "all"), 'get("M\'6") and the like: see help(get)'
    ),
    **dict.fromkeys(("Kernel", "from_pieces", "make"), "custom"),
}


if not TYPE_CHECKING:  # to which every attribute would be there

    def __getattr__(name: str) -> NoReturn:
        raise absent("particles.kernels", name, __all__, _WAYS)


def __dir__() -> list[str]:
    return sorted(__all__)
