# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of fields, profiles and remeshing kernels, with Matplotlib; the extra ``particles-opencl[plot]``.

Every function draws into `ax`, or into axes of a new figure, and returns the axes.

Examples
--------
>>> from particles import plot
>>> axes = plot.profile({"sweep": 0.8, "host": 0.2})  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import kernels
from particles._check import as_index
from particles._drawing import import_optional, surface
from particles._profile import Profile
from particles.field import Field
from particles.grid import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

__all__ = ["isosurface", "kernel", "profile", "slice"]


def isosurface(
    field: Field | npt.ArrayLike,
    level: float = 0.5,
    ax: Axes3D | None = None,
    *,
    color: str | tuple[float, float, float] = "goldenrod",
) -> Axes3D:
    """Draw the surface where a three-dimensional field has a value.

    Parameters
    ----------
    field : Field or array
        An array stands for a field of the unit box. It is periodic.
    level : float
        The value.
    ax : Axes3D, optional
        Where to draw; the light comes from its present point of view.
    color : color
        Of the surface, before shading.

    Returns
    -------
    Axes3D

    Examples
    --------
    >>> import numpy as np
    >>> from particles import plot
    >>> x = np.linspace(0, 1, 32, endpoint=False)
    >>> r = (x[:, None, None] - 0.5) ** 2 + (x[:, None] - 0.5) ** 2 + (x - 0.5) ** 2
    >>> axes = plot.isosurface(r, level=0.1)  # doctest: +SKIP
    """
    values, grid = _checked(field, (3,))
    array = np.asarray(values)
    axes: Axes3D = _new_axes(projection="3d") if ax is None else ax
    if array.min() < level < array.max():
        axes.add_collection3d(surface(array, level, grid, color, (axes.elev, axes.azim)))
    limits = [
        (start, start + length) for start, length in zip(grid.origin, grid.extent, strict=True)
    ]
    axes.set(xlim=limits[0], ylim=limits[1], zlim=limits[2], xlabel="x", ylabel="y", zlabel="z")
    axes.set_box_aspect(grid.extent)
    return axes


def slice(
    field: Field | npt.ArrayLike,
    axis: int = -1,
    index: int | None = None,
    ax: Axes | None = None,
    **options: object,
) -> Axes:
    """Draw a field of two dimensions, or a plane of one of three, as an image.

    Parameters
    ----------
    field : Field or array
        An array stands for a field of the unit box.
    axis : int
        The axis across the plane, in three dimensions.
    index : int, optional
        Where the plane lies along `axis`; by default in the middle.
    ax : Axes, optional
        Where to draw.
    **options
        For Matplotlib's ``imshow``, such as ``cmap`` or ``vmin``.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from particles import plot
    >>> axes = plot.slice(np.eye(8), cmap="gray")  # doctest: +SKIP
    """
    values, grid = _checked(field, (2, 3))
    drawn: tuple[int, ...] = (0, 1)
    plane: Any = values
    if grid.ndim == 3:
        across = as_index("axis", axis, 3)
        points = grid.shape[across]
        place = as_index("index", points // 2 if index is None else index, points)
        drawn = tuple(other for other in range(3) if other != across)
        key: Any = tuple(place if other == across else np.s_[:] for other in range(3))
        plane = values[key]
    # A point is in the middle of its pixel.
    left, bottom = (grid.first[k] - grid.spacing[k] / 2 for k in drawn)
    width, height = (grid.extent[k] for k in drawn)
    axes: Axes = _new_axes() if ax is None else ax
    image: dict[str, Any] = {
        "origin": "lower",
        "extent": (left, left + width, bottom, bottom + height),
        **options,
    }
    axes.imshow(np.asarray(plane).T, **image)
    axes.set(xlabel="xyz"[drawn[0]], ylabel="xyz"[drawn[1]])
    return axes


def profile(times: Profile | Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Draw where the time went, as bars.

    Parameters
    ----------
    times : Profile or mapping of str to float
        What `particles.profile` found, or seconds by name.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from particles import plot
    >>> axes = plot.profile({"sweep": 0.8, "host": 0.2})  # doctest: +SKIP
    """
    if isinstance(times, Profile):
        times = {name: time.seconds for name, time in times.kernels.items()}
    total = sum(times.values())
    if total <= 0:
        raise ValueError(f"times must have a positive sum, not {total}")
    shares = [100 * seconds / total for seconds in times.values()]
    axes: Axes = _new_axes() if ax is None else ax
    bars = axes.barh(list(times), shares, color="tab:blue")
    texts = [
        f" {share:.1f} %, {seconds:.3g} s"
        for share, seconds in zip(shares, times.values(), strict=True)
    ]
    axes.bar_label(bars, texts)
    axes.invert_yaxis()
    axes.set(xlabel="share of the time (%)", xlim=(0, 1.35 * max(shares)))
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 100])
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def kernel(*shown: str | kernels.RemeshingKernel, ax: Axes | None = None) -> Axes:
    """Draw remeshing kernels, ``W(x)`` over the distance from a node in cells.

    Parameters
    ----------
    *shown : str or RemeshingKernel
        One or more, as for `kernels.get`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from particles import plot
    >>> axes = plot.kernel("M'4", "M'6")  # doctest: +SKIP
    """
    drawn = [kernels.get(one) for one in shown]
    if not drawn:
        raise ValueError("kernel must be given one or more kernels to draw, not none")
    axes: Axes = _new_axes() if ax is None else ax
    half = max(one.half_width for one in drawn)
    for one in drawn:
        x = np.linspace(-one.half_width, one.half_width, 200 * one.half_width + 1)
        (line,) = axes.plot(x, one(x), label=one.name)
        nodes = np.arange(1 - one.half_width, one.half_width)
        axes.plot(nodes, one(nodes), "o", color=line.get_color(), markersize=4)
    axes.axhline(0, color="gray", linewidth=0.8, zorder=0)
    axes.set(xlabel="distance from the node, in cells", ylabel="W", xlim=(-half, half))
    axes.set_xticks(range(-half, half + 1))
    axes.legend()
    return axes


def _checked(
    field: Field | npt.ArrayLike, dimensions: tuple[int, ...]
) -> tuple[Field | npt.NDArray[Any], Grid]:
    """Return the values and their grid when they can be drawn."""
    values = field if isinstance(field, Field) else np.asarray(field)
    components = values.components if isinstance(values, Field) else 1
    if components > 1:
        raise ValueError(
            f"field must have one component, not {components}: take one with field.component(0)"
        )
    if values.ndim not in dimensions:
        allowed = " or ".join(map(str, dimensions))
        raise ValueError(f"field must have {allowed} dimensions, not {values.ndim}")
    return values, values.grid if isinstance(values, Field) else Grid(values.shape)


def _new_axes(**options: str) -> Any:  # noqa: ANN401
    return import_optional("matplotlib.pyplot").figure().add_subplot(**options)
