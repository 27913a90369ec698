# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of sets of particles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from particles.base.checks import exact, shown
from particles.base.kinds import is_a
from particles.plot.drawing import (
    PLAIN,
    add_color_bar,
    axes_for,
    label_axes,
    show_box,
    with_colors,
)
from particles.sets.particle_set import ParticleSet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AREA = 40_000.0
"""Of all marks together, in square points, up to the largest of one."""
_LARGEST, _LEAST = 20.0, 0.2

BEHIND_WHITE = "0.8"
"""Colour behind particles whose colours tell values: white stands for zero."""


def particles(
    swarm: ParticleSet, color: str | None = None, ax: Axes | None = None, **options: object
) -> Axes:
    """Draw the particles of a set where they are.

    In one dimension they are drawn over x at the height of the attribute, in three in axes of three
    dimensions.

    Parameters
    ----------
    swarm : ParticleSet
        The set.
    color : str, optional
        An attribute of one component, which tells the colours; by default all have one.
    ax : Axes, optional
        Where to draw; three-dimensional for three dimensions.
    **options
        For Matplotlib's ``scatter``, such as ``s``, the area of a mark, ``cmap`` or ``vmin``.

    Returns
    -------
    Axes
        New ones have a colour bar and a title if there is an attribute. Of a divided grid all ranks
        call it, and the first one draws; elsewhere it is `ax` as it was given.

    Examples
    --------
    >>> import particles as pt
    >>> swarm = pt.ParticleSet.random(pt.Grid((8, 8)), 100, seed=1)
    >>> swarm["mass"] = range(100)
    >>> pt.plot.particles(swarm, color="mass").get_title()
    'mass'
    """
    if not is_a(swarm, ParticleSet):
        raise TypeError(f"swarm must be a ParticleSet, not {shown(swarm)}")
    with swarm._alone:  # so that both are of the same particles
        label = None if color is None else label_of(swarm, color)
        places = swarm.gather("position")
        values = None if label is None else swarm.gather(label)
    if places is None:  # the first rank draws
        return ax  # type: ignore[return-value]
    if values is not None:
        values = values.astype(np.float64)
    grid = swarm.grid
    kind = {"projection": "3d"} if grid.ndim == 3 else {}
    axes = axes_for(ax, **kind)
    if grid.ndim == 3 and not hasattr(axes, "set_zlim"):
        raise TypeError(f'ax must be three-dimensional Axes, projection="3d", not {shown(ax)}')
    drawn: dict[str, Any] = {
        "s": np.clip(_AREA / max(1, len(places)), _LEAST, _LARGEST),
        "linewidths": 0,
        "rasterized": True,
        **options,
    }
    if values is not None:
        drawn = {"c": values, **with_colors(values, drawn)}
        axes.set_facecolor(BEHIND_WHITE)
    along = [places[:, axis] for axis in range(grid.ndim)]
    if grid.ndim == 1:
        along.append(np.zeros(len(places)) if values is None else values)
    marks = axes.scatter(*along, **drawn)
    if grid.ndim == 3:
        show_box(axes, grid)
    else:
        label_axes(axes, grid)
    if grid.ndim == 2:
        axes.set_aspect("equal")
    if values is not None and ax is None:
        if grid.ndim == 1:
            axes.set_ylabel(color, **PLAIN)
        else:
            axes.set_title(color, **PLAIN)
            add_color_bar(axes, marks, values)
    return axes  # type: ignore[no-any-return]


def label_of(swarm: ParticleSet, color: object) -> str:
    """Return the name of an attribute that can tell colours."""
    if not is_a(color, str):
        raise TypeError(f"color must be the name of an attribute or None, not {shown(color)}")
    label = exact(color)
    if label not in swarm:
        has = ", ".join(swarm.attributes) or "none"
        raise ValueError(
            f"color must name an attribute that the set has ({has}), not {shown(color)}"
        )
    attribute = swarm[label]
    if attribute.components > 1:
        raise ValueError(
            f"color must name an attribute of one component, not {label}, which has "
            f"{attribute.components}"
        )
    return label
