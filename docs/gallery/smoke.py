# SPDX-License-Identifier: BSD-3-Clause
"""
Smoke in three dimensions
=========================

A source feeds smoke into an upward wind with random eddies. `particles.plot.volume` draws the field as a cloud.
"""

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

n = 96
grid = pt.Grid((n, n, n))

# %%
# The eddies have no divergence: NumPy computes them as the curl of a random vector field of long waves.

random = np.random.default_rng(4)
k = 2 * np.pi * np.stack(np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij"))
waves = np.linalg.norm(k, axis=0) / (2 * np.pi)
vector = np.fft.fftn(random.standard_normal((3, n, n, n)), axes=(1, 2, 3))
vector *= waves * np.exp(-((waves / 3) ** 2))
eddies = np.fft.ifftn(1j * np.cross(k, vector, axis=0), axes=(1, 2, 3)).real
eddies *= 0.35 / eddies.std()

wind = pt.Field(grid, components=3)
wind[...] = eddies + np.array([0, 0, 1]).reshape(3, 1, 1, 1)

# %%
# The source is a formula, evaluated on the device.

smoke = pt.Field(grid, name="smoke")
fire = pt.SourceOp(
    smoke,
    lambda s, x, y, z: (
        30 * np.exp(-((x - 0.5) ** 2 + (y - 0.5) ** 2) / 0.08**2 - (z - 0.12) ** 2 / 0.05**2)
    ),
)
transport = pt.Splitting(
    pt.AdvectionOp(wind, interpolation="cubic"),
    pt.RemeshOp(smoke, limiter="positive"),
    source=fire,
)
transport.run(until=0.7, dt=0.05, lcfl=0.2)
print(f"{transport.steps} steps, {smoke.integral():.4f} of smoke")

figure, axes = plt.subplots(figsize=(5, 5.5), layout="constrained")
pt.plot.volume(smoke, axes, cmap="bone_r", density=60, elev=10)
plt.show()

# %%
# Change the strength of the eddies, 0.35. Use ``azim`` to rotate the cloud. To make a movie of it, call
# ``pt.plot.movie("smoke.gif", transport, until=0.7, dt=0.05, lcfl=0.2, draw=lambda ax: pt.plot.volume(smoke, ax))``.
