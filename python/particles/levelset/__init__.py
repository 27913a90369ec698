# SPDX-License-Identifier: BSD-3-Clause
"""The level-set test: a ball drawn out to a thin sheet by a vortical flow, and carried back.

The field is 1 inside a ball of radius 0.15 at (0.35, 0.35, 0.35) and 0 elsewhere, in the periodic
unit box [1]_. The volume where it exceeds 0.5 should be constant, and the reversed flow should
restore the ball. Flow, radius, 256 points and steps of 0.05 are those of the publication, which
gives the time of the steps, but no errors.

References
----------
.. [1] J.-M. Etancelin, G.-H. Cottet, C. Picard, F. Pérignon, "Particle method on GPU", section 4.1;
   A. Magni, G.-H. Cottet, "Accurate, non-oscillatory, remeshing schemes for particle methods",
   J. Comput. Phys. 231 (2012).

Examples
--------
>>> from particles import levelset
>>> result = levelset.run(shape=32, dt=0.1, progress=False)
>>> print(result)  # doctest: +ELLIPSIS
Level-set test: 32 x 32 x 32 particles, float32, M'6, RK2, velocity on the grid, Strang, dt = 0.1
...
"""

from particles.levelset.runner import LevelSetResult, Row, ball, exact, flow, run

__all__ = ["LevelSetResult", "Row", "ball", "exact", "flow", "run"]
