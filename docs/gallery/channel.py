# SPDX-License-Identifier: BSD-3-Clause
"""
A channel with inflow and outflow
=================================

Puffs of dye enter a channel on the left. A wave that runs down the channel bends them, and they leave on the right.
The program counts the dye that crosses the ends.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

length = 4.0


def flow(x, y, t):
    """Return a parabolic profile with a wave, which grows along the channel; it has no divergence."""
    grows = 0.5 - 0.5 * np.cos(np.pi * x / length)
    slope = 0.5 * np.pi / length * np.sin(np.pi * x / length)
    phase = 2 * np.pi * (x - 0.7 * t)
    u = 6 * y * (1 - y) + 0.2 * np.pi * np.sin(2 * np.pi * y) * grows * np.sin(phase)
    wave = slope * np.sin(phase) + 2 * np.pi * grows * np.cos(phase)
    v = -0.2 * np.sin(np.pi * y) ** 2 * wave
    return u, v


grid = pt.Grid((512, 128), extent=(length, 1.0), boundary=[("inflow", "outflow"), "wall"])
dye = pt.Field(grid, name="dye")

# %%
# ``inflow`` is the value of the dye that flows in, as a function of the time.

advection = pt.AdvectionOp(pt.Velocity(grid, flow))
remesh = pt.RemeshOp(
    dye, inflow=lambda t: 0.5 + 0.5 * np.tanh(8 * np.sin(4 * np.pi * t)), limiter="positive"
)
transport = pt.Splitting(advection, remesh)

figure, panels = plt.subplots(3, 1, figsize=(6, 5.5), sharex=True, layout="constrained")
for axes, time in zip(panels, (0.7, 1.6, 3.2)):
    transport.run(until=time, lcfl=0.2)
    pt.plot.slice(dye, ax=axes, vmin=0, vmax=1)
    axes.set(title=f"t = {time:g}", xlabel="")
panels[-1].set_xlabel("x")
figure.colorbar(panels[0].images[0], ax=panels, label="dye", shrink=0.6)

came, went = -transport.outflow[0, 0] * (1, -1) * np.prod(grid.spacing)
print(f"came in {came:.4f}, went out {went:.4f}, still there {dye.integral():.4f}")
print(f"missing {came - went - dye.integral():.1e}")
plt.show()

# %%
# Try a number as ``inflow``, for a steady stream. Or change the strength of the wave, 0.2.
