# SPDX-License-Identifier: BSD-3-Clause
"""
Zalesak's slotted disk
======================

A disk with a slot is rotated once around the centre of the box. It should return unchanged. Its edge is as sharp as the
grid, and no method carries such an edge without an error. Kernels without a limiter overshoot. Kernels with a limiter
smear the edge a little.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

grid = pt.Grid((128, 128))
x, y = grid.coordinates()
disk = (np.hypot(x - 0.5, y - 0.75) < 0.15) & ((abs(x - 0.5) > 0.025) | (y > 0.85))
turning = pt.Velocity(grid, lambda x, y: (2 * np.pi * (0.5 - y), 2 * np.pi * (x - 0.5)))

# %%
# The sweeps of a rotation shear but do not strain, so ``lcfl`` sets no step. Give ``dt``: 30 steps for a turn.

figure, panels = plt.subplots(2, 2, figsize=(6, 6), layout="constrained")
for axes, limiter in zip(panels.flat, ("before", None, "positive", "monotone")):
    u = pt.Field(grid)
    u[...] = disk
    if limiter != "before":
        remesh = pt.RemeshOp(u, "M'6", limiter=limiter)
        pt.Splitting(pt.AdvectionOp(turning), remesh).run(until=1.0, dt=1 / 30)
        error = abs(u.get() - disk).sum() / disk.sum()
        print(f"limiter {limiter}: error {error:.3f}, from {u.min():.3f} to {u.max():.3f}")
    pt.plot.slice(u, ax=axes, vmin=-0.2, vmax=1.2)
    axes.contour(x.ravel(), y.ravel(), disk.T, [0.5], colors="black", linewidths=0.8)
    name = "before" if limiter == "before" else f"limiter {limiter}"
    axes.set(xlim=(0.3, 0.7), ylim=(0.55, 0.95), title=name, xlabel="", ylabel="")
figure.colorbar(axes.images[0], ax=panels, label="u", shrink=0.6)
plt.show()

# %%
# Change the kernel to ``"L6_4"``, or the number of steps. ``particles zalesak`` runs this test with any
# preset and prints the errors.
