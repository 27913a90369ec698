# SPDX-License-Identifier: BSD-3-Clause
"""Test problems that end as they began: a rotated disk, and a body in a vortex that reverses.

Zalesak's slotted disk [1]_, and flows that reverse at half their period [2]_: at the end the field
should be the initial one again.

References
----------
.. [1] S. T. Zalesak, "Fully multidimensional flux-corrected transport algorithms for fluids",
   J. Comput. Phys. 31 (1979).
.. [2] R. J. LeVeque, "High-resolution conservative algorithms for advection in incompressible
   flow", SIAM J. Numer. Anal. 33 (1996).

Examples
--------
>>> from particles import problems
>>> print(problems.zalesak(128, progress=False))  # doctest: +ELLIPSIS
Zalesak's disk: 128 x 128 particles, float32, M'6, preset default, dt = 0.02, CFL 8.04
...
"""

from particles.problems.runner import ProblemResult, vortex_box, zalesak

__all__ = ["ProblemResult", "vortex_box", "zalesak"]
