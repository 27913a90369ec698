# SPDX-License-Identifier: BSD-3-Clause
"""
Share data with PyTorch, JAX or NumPy
=====================================

Four vortices of a fluid carry each other and merge. `particles` carries the vorticity. Another library computes the
velocity from it with Fourier transforms. If the device is a CPU, PyTorch and NumPy use the memory of the field itself,
through DLPack.

The program uses PyTorch if it is installed, or else JAX, or else NumPy. The same lines work with each of them. The
first line printed below names the one that made this page.
"""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import particles as pt
from matplotlib import pyplot as plt

modules = {"torch": "torch", "jax": "jax.numpy", "numpy": "numpy"}
name = next(name for name in modules if find_spec(name))
xp = import_module(modules[name])
print("Fourier transforms by", name)

n = 256
grid = pt.Grid((n, n))
x, y = grid.coordinates()
vorticity = pt.Field(grid, name="vorticity")
velocity = pt.Field(grid, components=2)
centres = [(0.38, 0.44), (0.6, 0.42), (0.46, 0.6), (0.64, 0.63)]
vorticity[...] = sum(20 * np.exp(-250 * ((x - a) ** 2 + (y - b) ** 2)) for a, b in centres)

# %%
# The velocity is the curl of a stream function psi with ``-div grad psi = w``, where w is the vorticity.

kx = 2 * np.pi * np.fft.fftfreq(n, 1 / n)[:, None].astype(np.float32)
ky = 2 * np.pi * np.fft.rfftfreq(n, 1 / n)[None, :].astype(np.float32)
squares = kx**2 + ky**2
squares[0, 0] = 1  # the mean induces nothing
kx, ky, squares = map(xp.asarray, (kx, ky, squares))
receive = (
    xp.asarray if name == "jax" else xp.from_dlpack
)  # JAX takes rows without gaps alone: a copy


def induce():
    """Hand the vorticity over, and take the velocity back."""
    psi = xp.fft.rfft2(receive(vorticity)) / squares
    velocity[0] = xp.fft.irfft2(1j * ky * psi)
    velocity[1] = xp.fft.irfft2(-1j * kx * psi)


# %%
# The midpoint rule in time. First take half a step with the velocity at the beginning. Then go back, and
# take the whole step with the velocity in the middle.

begin = pt.Field(grid)
transport = pt.Splitting(
    pt.AdvectionOp(velocity, interpolation="cubic"), pt.RemeshOp(vorticity, "M'6")
)
dt = 0.02
figure, panels = plt.subplots(
    2, 2, figsize=(6, 5.6), sharex=True, sharey=True, layout="constrained"
)
time = 0.0
for axes, end in zip(panels.flat, (0.0, 1.0, 2.0, 4.0)):
    while time < end - dt / 2:
        begin[...] = vorticity
        induce()
        transport.step(dt / 2)
        induce()
        vorticity[...] = begin
        transport.step(dt)
        time += dt
    pt.plot.slice(vorticity, ax=axes, vmin=-5, vmax=20)
    axes.set(title=f"t = {end:g}", xlabel="", ylabel="")
figure.colorbar(axes.images[0], ax=panels, label="vorticity", shrink=0.6)
plt.show()

# %%
# On a GPU, make a copy: ``xp.from_dlpack(vorticity, copy=True)``. An assignment such as
# ``velocity[0] = tensor`` accepts arrays of each of these libraries.
