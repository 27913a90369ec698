# SPDX-License-Identifier: BSD-3-Clause
"""
A kernel of your own
====================

A remeshing kernel is a piecewise polynomial with rational coefficients. This example uses the cubic
B-spline. It is smooth and never negative, so it keeps positive fields positive. But it has order 1, because each
remeshing smears the field a little.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

# %%
# Give one list for each cell from the node on, with the coefficients of 1, x, x², ... The conservation of
# mass is checked exactly.

spline = pt.kernels.custom("cubic B-spline", [["2/3", 0, -1, "1/2"], ["4/3", -2, 1, "-1/6"]])
print(pt.kernels.describe(spline))


def error(points, kernel):
    """Carry a hill once through the box, in steps of 2.3 cells; return the relative error."""
    grid = pt.Grid(points)
    (x,) = grid.coordinates()
    u = pt.Field(grid)
    u[...] = hill = np.exp(2.5 * np.cos(2 * np.pi * x))
    wind = pt.Velocity(grid, lambda x: 1.0)
    pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u, kernel)).run(until=1.0, dt=2.3 / points)
    return abs(u.get() - hill).sum() / hill.sum()


points = [32, 64, 128]
kernels = {spline.name: spline, "M'4": "M'4", "M'6": "M'6"}
errors = {name: [error(n, kernel) for n in points] for name, kernel in kernels.items()}

figure, (above, below) = plt.subplots(2, 1, figsize=(5.5, 7), layout="constrained")
pt.plot.kernel(*kernels.values(), ax=above)
pt.plot.convergence(points, errors, ax=below)
plt.show()

# %%
# Change a coefficient: a kernel that does not conserve mass is refused.
