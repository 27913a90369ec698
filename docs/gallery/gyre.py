# SPDX-License-Identifier: BSD-3-Clause
"""
Dye in a double gyre
====================

Two vortices side by side stir a drop of dye, and the border between them swings to and fro. This flow is the usual
example of chaotic mixing. Walls surround it, so no dye is lost.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt


def gyres(x, y, t):
    """Return the velocity of the stream function ``0.1 sin(pi f) sin(pi y)``."""
    swing = 0.25 * np.sin(2 * np.pi * t / 10)
    f = swing * x**2 + (1 - 2 * swing) * x
    slope = 2 * swing * x + 1 - 2 * swing
    u = -0.1 * np.pi * np.sin(np.pi * f) * np.cos(np.pi * y)
    v = 0.1 * np.pi * np.cos(np.pi * f) * np.sin(np.pi * y) * slope
    return u, v


grid = pt.Grid((512, 256), extent=(2.0, 1.0), boundary="wall")
dye = pt.Field(grid, name="dye")
dye[...] = lambda x, y: np.exp(-40 * ((x - 1.0) ** 2 + (y - 0.4) ** 2))

# %%
# ``lcfl`` limits the strain in a step. With ``lcfl=0.2`` a concentration stays within its range except
# for a few percent. The report below the picture shows this.

transport = pt.Splitting.from_preset("positive", pt.Velocity(grid, gyres), dye)

figure, panels = plt.subplots(3, 1, figsize=(5.5, 8), sharex=True, layout="constrained")
for axes, time in zip(panels, (0.0, 6.0, 18.0)):
    transport.run(until=time, lcfl=0.2)
    pt.plot.slice(dye, ax=axes, vmin=0, vmax=1)
    axes.set(title=f"t = {time:g}", xlabel="")
panels[-1].set_xlabel("x")
figure.colorbar(panels[0].images[0], ax=panels, label="dye", extend="max", shrink=0.6)

print(transport.report())
plt.show()

# %%
# Change the strength of the swing, 0.25, to 0. Then the dye never leaves its half.
