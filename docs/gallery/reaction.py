# SPDX-License-Identifier: BSD-3-Clause
"""
Patterns that grow while they are stirred
=========================================

In the Gray-Scott reaction, a substance B feeds on A. Both diffuse, A twice as fast. A few spots grow into stripes,
which a slow flow bends. One splitting does transport, diffusion and reaction in turn.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

size = 192
grid = pt.Grid((size, size), extent=(float(size), float(size)))
x, y = grid.coordinates()
a, b = pt.Field(grid, name="A"), pt.Field(grid, name="B")

random = np.random.default_rng(1)
spots = size * random.random((12, 2))
seeds = np.any([np.hypot(x - i, y - j) < 5 for i, j in spots], axis=0)
a[...] = np.where(seeds, 0.5, 1.0)
b[...] = np.where(seeds, 0.3, 0.0)

feed, kill = 0.037, 0.06
reaction = pt.SourceOp(
    [a, b],
    lambda a, b, x, y: (-a * b**2 + feed * (1 - a), a * b**2 - (feed + kill) * b),
)
diffusion = pt.Diffusion([a, b], viscosity=[0.2, 0.1])
stirring = pt.Velocity(
    grid,
    lambda x, y: (0.02 * np.sin(2 * np.pi * y / size), 0.02 * np.sin(2 * np.pi * x / size)),
)
transport = pt.Splitting(
    pt.AdvectionOp(stirring), pt.RemeshOp([a, b]), source=reaction, diffusion=diffusion
)

figure, panels = plt.subplots(
    2, 2, figsize=(6, 5.6), sharex=True, sharey=True, layout="constrained"
)
for axes, time in zip(panels.flat, (0.0, 1000.0, 2000.0, 4000.0)):
    transport.run(until=time, dt=4.0)
    pt.plot.slice(b, ax=axes, vmin=0, vmax=0.4)
    axes.set(title=f"t = {time:g}", xlabel="", ylabel="")
figure.colorbar(axes.images[0], ax=panels, label="B", shrink=0.6)
print(f"{transport.steps} steps, B from {b.min():.3f} to {b.max():.3f}")
plt.show()

# %%
# Change ``feed`` to 0.0367 and ``kill`` to 0.0649 to get dividing spots instead of stripes.
