# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of sets of particles."""

import numpy as np
import particles as pt
import pytest

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def figures():
    """Draw nowhere, and leave no figure behind."""
    plt.switch_backend("agg")
    yield
    plt.close("all")


def made(ndim, n=20):
    grid = pt.Grid((4,) * ndim, origin=(1,) * ndim, extent=(2,) * ndim)
    return pt.ParticleSet.random(grid, n, seed=1, mass=np.arange(n, dtype="float32") - 3)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_particles_are_drawn_where_they_are(ndim):
    swarm = made(ndim)
    axes = pt.plot.particles(swarm, color="mass")
    marks = axes.collections[0]
    np.testing.assert_array_equal(marks.get_array(), swarm["mass"])
    places = marks._offsets3d if ndim == 3 else np.asarray(marks.get_offsets()).T
    for axis in range(ndim):
        np.testing.assert_allclose(places[axis], swarm.positions[:, axis])
    assert axes.get_xlim() == (1, 3)
    assert (axes.get_ylabel() if ndim == 1 else axes.get_title()) == "mass"
    axes.figure.canvas.draw()


def test_without_an_attribute_and_in_axes_of_ones_own():
    _, ax = plt.subplots()
    assert pt.plot.particles(made(2, 0), ax=ax, s=3, color=None) is ax
    assert ax.get_title() == ""
    ax = pt.plot.particles(made(2), color="mass", vmin=0, vmax=5, cmap="gray")
    assert ax.collections[0].get_clim() == (0, 5)


def test_what_cannot_be_drawn():
    swarm = made(2)
    swarm["v"] = np.ones((20, 2))
    with pytest.raises(
        ValueError, match=r"^color must name an attribute of one component, not v, w"
    ):
        pt.plot.particles(swarm, color="v")
    with pytest.raises(
        TypeError, match=r'^ax must be three-dimensional Axes, projection="3d", not '
    ):
        pt.plot.particles(made(3), ax=plt.subplots()[1])
