# SPDX-License-Identifier: BSD-3-Clause
"""A field of three dimensions as a cloud."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_duration, as_real
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.plot.drawing import (
    PLAIN,
    add_color_bar,
    axes_for,
    import_optional,
    towards_viewer,
    with_colors,
)
from particles.plot.planes import Drawn, checked, taken

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_SHADE = 0.45  # brightness of what no light reaches
_EDGES = {"color": "0.7", "linewidth": 0.8}


def volume(
    field: Field | npt.ArrayLike,
    ax: Axes | None = None,
    *,
    density: float = 15.0,
    elev: float = 25.0,
    azim: float = -60.0,
    **options: object,
) -> Drawn:
    """Draw a three-dimensional field as a cloud that is denser where values are farther from 0.

    Each point has the colour of its value, and hides part of what is behind it. The light comes from
    above.

    Parameters
    ----------
    field : Field or array
        An array is drawn in the unit box, an xarray array on its coordinates. A field of several ranks,
        which all must call this, is gathered and drawn by the first one.
    ax : Axes, optional
        Where to draw: ordinary two-dimensional axes.
    density : float
        Density at the greatest values: if the whole box were that dense, light that crosses it
        would be weakened by ``exp(-density)``.
    elev, azim : float
        Position of the viewer, in degrees, as for Matplotlib's three-dimensional axes.
    **options
        The colours: ``cmap``, ``vmin`` and ``vmax``, as for `slice`. The value 0 is transparent, or
        `vmin` if 0 is outside the range.

    Returns
    -------
    Axes
        New ones have a colour bar. On other ranks than the first, `ax` as it was given.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> x, y, z = pt.Grid((32, 32, 32)).coordinates()
    >>> smoke = np.exp(-30 * ((x - 0.5) ** 2 + (y - 0.5) ** 2 + (z - 0.3) ** 2))
    >>> axes = pt.plot.volume(smoke, cmap="gray", vmin=0)
    """
    values, grid = checked(field, (3,))
    density = as_duration("density", density)
    elev, azim = as_real("elev", elev), as_real("azim", azim)
    whole = taken(values)
    if whole is None:
        return ax
    array = np.nan_to_num(np.asarray(whole, np.float32), posinf=0, neginf=0)
    chosen = with_colors(array, options)
    colors = import_optional("matplotlib.cm").ScalarMappable(cmap=chosen.pop("cmap", None))
    ends = [chosen.pop("vmin", None), chosen.pop("vmax", None)]
    if chosen:
        raise TypeError(f"volume takes cmap, vmin and vmax, not {', '.join(chosen)}")
    low = array.min() if ends[0] is None else as_real("vmin", ends[0])
    high = array.max() if ends[1] is None else as_real("vmax", ends[1])
    if not low < high:
        raise ValueError(f"vmin must be below vmax = {high:g}, not {low:g}")
    colors.set_clim(low, high)
    axes: Axes = axes_for(ax)
    eye, right = towards_viewer(elev, azim), towards_viewer(0, azim + 90)
    screen = np.array([right, np.cross(eye, right)])
    _draw_box(axes, grid, eye, screen)
    _draw_cloud(axes, array, grid, eye, screen, colors, density / max(grid.extent))
    if ax is None:
        axes.set_title(getattr(field, "name", None) or "", **PLAIN)
        add_color_bar(axes, colors, array)
    return axes


def _draw_box(axes: Axes, grid: Grid, eye: npt.NDArray[Any], screen: npt.NDArray[Any]) -> None:
    """Draw the edges of the box but for those in front, name the axes, and set the limits."""
    low = np.array(grid.origin)
    ends = np.stack([low, low + grid.extent])
    nearest = (eye > 0).astype(int)
    middle = screen @ ends.mean(axis=0)
    reach = max(grid.extent)
    for axis, (one, other) in product(range(3), product((0, 1), (0, 1))):
        corner = np.array([one, other])
        places = np.insert(corner, axis, 0), np.insert(corner, axis, 1)
        start, end = (screen @ ends[place, range(3)] for place in places)
        differing = np.count_nonzero(np.delete(nearest, axis) != corner)
        if differing:
            axes.plot(*zip(start, end, strict=True), zorder=0, **_EDGES)  # type: ignore[arg-type]
        centre = (start + end) / 2
        is_outline = differing == 1 and (
            centre[1] < middle[1] if axis < 2 else centre[0] < middle[0]
        )
        if is_outline:
            away = (centre - middle) / np.linalg.norm(centre - middle)
            x, y = centre + 0.06 * reach * away
            axes.text(x, y, "xyz"[axis], ha="center", va="center")
    corners = np.array([ends[place, range(3)] for place in product((0, 1), repeat=3)]) @ screen.T
    (left, bottom), (most, top) = corners.min(axis=0), corners.max(axis=0)
    margin = 0.1 * reach
    axes.set(xlim=(left - margin, most + margin), ylim=(bottom - margin, top + margin))
    axes.set_aspect("equal")
    axes.set_axis_off()


def _draw_cloud(
    axes: Axes,
    array: npt.NDArray[Any],
    grid: Grid,
    eye: npt.NDArray[Any],
    screen: npt.NDArray[Any],
    colors: ScalarMappable,
    density: float,
) -> None:
    """Lay the planes across the axis that looks at the viewer most over each other, the nearest first.

    Planes are shifted so that rays go straight through all of them; the picture of that, which is
    oblique, is turned by Matplotlib.
    """
    low, high = colors.get_clim()
    clear = 0.0 if low <= 0 <= high else low
    opaque = np.abs(np.clip(array, low, high) - clear) / max(high - clear, clear - low)
    # Light comes from above: what is opaque shades what is below it.
    shade = density * grid.spacing[2] * np.cumsum(opaque[..., ::-1], axis=2)[..., ::-1]
    light = _SHADE + (1 - _SHADE) * np.exp(-0.5 * shade)

    across = int(np.argmax(np.abs(eye)))
    others = [axis for axis in range(3) if axis != across]
    thickness = density * grid.spacing[across] / abs(eye[across])
    # By how many cells a plane is shifted against the one before it.
    slopes = np.array(
        [-eye[k] / eye[across] * grid.spacing[across] / grid.spacing[k] for k in others]
    )
    shifts = np.outer(np.arange(array.shape[across]), slopes)
    begin = np.floor(shifts.min(axis=0))
    sizes = [
        array.shape[k] + 1 + int(np.ptp(np.floor(shifts[:, place])))
        for place, k in enumerate(others)
    ]
    picture = np.zeros((*sizes, 4), np.float32)
    planes = range(array.shape[across])
    for plane in reversed(planes) if eye[across] > 0 else planes:
        key = (slice(None),) * across + (plane,)
        layer = colors.to_rgba(array[key]).astype(np.float32)
        covers = -np.expm1(-thickness * opaque[key])
        layer[..., :3] *= (light[key] * covers)[..., None]
        layer[..., 3] = covers
        whole = np.floor(shifts[plane])
        i, j = (whole - begin).astype(int)
        target = picture[i : i + layer.shape[0] + 1, j : j + layer.shape[1] + 1]
        target += (1 - target[..., 3:]) * _moved(layer, *(shifts[plane] - whole))
    picture[..., :3] /= np.maximum(picture[..., 3:], 1e-6)

    first, spacing = (np.array(each)[others] for each in (grid.first, grid.spacing))
    start = first + (begin - 0.5) * spacing
    end = start + sizes * spacing
    turn = import_optional("matplotlib.transforms").Affine2D(
        np.vstack(
            [
                np.column_stack([screen[:, others], screen[:, across] * grid.first[across]]),
                [0, 0, 1],
            ]
        )
    )
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(
        picture.swapaxes(0, 1).clip(0, 1),
        origin="lower",
        extent=(start[0], end[0], start[1], end[1]),
        transform=turn + axes.transData,
        interpolation="bilinear",
    )
    axes.set(xlim=limits[0], ylim=limits[1])


def _moved(layer: npt.NDArray[Any], *parts: float) -> npt.NDArray[Any]:
    """Return a layer moved by a part of a cell along both axes, and a cell longer."""
    for axis, part in enumerate(parts):
        wide = [(0, 0)] * 3
        wide[axis] = (1, 1)
        padded = np.pad(layer, wide)
        keys = [(slice(None),) * axis + (ends,) for ends in (np.s_[1:], np.s_[:-1])]
        layer = np.float32(1 - part) * padded[keys[0]] + np.float32(part) * padded[keys[1]]
    return layer
