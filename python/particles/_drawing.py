# SPDX-License-Identifier: BSD-3-Clause
"""Axes, planes, and triangles and light for pictures of surfaces."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles._check import shown
from particles._disk import replacing
from particles._kinds import is_a

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from particles._surface import Surface
    from particles.grid import Grid

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of texts that contain names: what a user calls something is shown, not set."""
_NOTHING = "\u200b"

_AMBIENT, _GLOSS = 0.3, 0.35  # brightness of what faces away from the light, and of highlights


def import_optional(name: str) -> ModuleType:
    """Import a module that only pictures need."""
    try:
        return import_module(name)
    except ImportError as error:
        package = {"skimage": "scikit-image"}.get(name.partition(".")[0], "matplotlib")
        raise ImportError(
            f"pictures need {package}: pip install 'particles-opencl[plot]' ({error})"
        ) from error


def new_axes(**options: str) -> Any:  # noqa: ANN401
    """Return axes of a new figure of pyplot."""
    return import_optional("matplotlib.pyplot").figure().add_subplot(**options)


def axes_for(ax: object, **options: str) -> Any:  # noqa: ANN401
    """Return the axes given, or those of a new figure."""
    if ax is None:
        return new_axes(**options)
    if not is_a(ax, import_optional("matplotlib.axes").Axes):
        raise TypeError(f"ax must be Axes of Matplotlib, not {shown(ax)}")
    return ax


def save(
    figure: Figure, path: Path, dpi: int = 100, metadata: dict[str, str | None] | None = None
) -> None:
    """Write a picture as PNG; `savefig` would lay it out and draw it twice."""
    figure.set_dpi(dpi)
    canvas = import_optional("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    with replacing(path) as file:
        canvas.print_png(file, metadata=metadata)


def draw_plane(
    axes: Axes, plane: npt.NDArray[Any], grid: Grid, drawn: tuple[int, ...], **options: object
) -> None:
    """Draw values of a plane along two axes of a grid, all of it, as an image."""
    # A point is in the middle of its pixel.
    left, bottom = (grid.first[k] - grid.spacing[k] / 2 for k in drawn)
    width, height = (grid.extent[k] for k in drawn)
    image: dict[str, Any] = {
        "origin": "lower",
        "extent": (left, left + width, bottom, bottom + height),
        **options,
    }
    axes.imshow(plane.T, **image)
    axes.set(xlabel="xyz"[drawn[0]], ylabel="xyz"[drawn[1]])


def add_color_bar(axes: Axes) -> None:
    """Put what the colours of an image mean beside it, as high as it is."""
    divided = import_optional("mpl_toolkits.axes_grid1").make_axes_locatable(axes)
    beside = divided.append_axes("right", size="5%", pad=0.1)
    axes.get_figure(root=True).colorbar(axes.images[0], cax=beside)  # type: ignore[union-attr]


def as_label(text: str) -> str:
    """Return a label that a legend does not leave out, as it does those that begin with "_"."""
    return _NOTHING + text if text.startswith("_") else text


def add_legend(axes: Axes, **options: Any) -> None:  # noqa: ANN401
    """Add a legend of names, as they are."""
    for text in axes.legend(**options).get_texts():
        text.set(text=text.get_text().removeprefix(_NOTHING), **PLAIN)


def without_frame(axes: Axes) -> Axes:
    """Return axes without a frame at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def surface(
    values: npt.NDArray[Any],
    level: float,
    grid: Grid,
    color: str | tuple[float, float, float],
    view: tuple[float, float],
) -> Surface:
    """Return a surface, shaded for a view from an elevation and azimuth."""
    rgb = np.array(import_optional("matplotlib.colors").to_rgb(color))
    points, faces, facing = mesh(values, level, grid)
    made: Surface = import_optional("particles._surface").Surface(
        points, faces, _shaded(facing, rgb, *view)
    )
    return made


def mesh(
    values: npt.NDArray[Any], level: float, grid: Grid
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the points of a surface, its triangles of three of them, and where the points face.

    They face lower values. There are no triangles beside values that are not finite.
    """
    around = _around(values > level, [entry == "periodic" for entry in grid.boundary])
    near = values[
        np.ix_(*(np.arange(*ends) % n for ends, n in zip(around, grid.shape, strict=True)))
    ]
    points, faces, facing, _ = import_optional("skimage.measure").marching_cubes(
        near, level, spacing=grid.spacing
    )
    faces = faces[np.isfinite(points).all(axis=1)[faces].all(axis=1)]
    start = [
        first + begin * spacing
        for first, (begin, _), spacing in zip(grid.first, around, grid.spacing, strict=True)
    ]
    return points + start, faces, facing


def _around(above: npt.NDArray[np.bool_], periodic: list[bool]) -> list[tuple[int, int]]:
    """Return the box of points, from one to before another, between which all changes lie.

    On a periodic axis it may go on to the first point again.
    """
    rarer = above if np.count_nonzero(above) <= above.size // 2 else ~above
    box = []
    for axis, (n, goes_on) in enumerate(zip(above.shape, periodic, strict=True)):
        others = tuple(k for k in range(above.ndim) if k != axis)
        (planes,) = rarer.any(axis=others).nonzero()
        touches = goes_on and planes[0] == 0
        end = n + goes_on if touches else min(planes[-1] + 2, n + goes_on)
        box.append((max(planes[0] - 1, 0), int(end)))
    return box


def _shaded(
    facing: npt.NDArray[Any], color: npt.NDArray[Any], elevation: float, azimuth: float
) -> npt.NDArray[Any]:
    """Return the colors of points under a light above the viewer's right shoulder."""
    eye, light = _direction(elevation, azimuth), _direction(elevation + 25, azimuth + 35)
    halfway = (eye + light) / np.linalg.norm(eye + light)
    brightness = _AMBIENT + (1 - _AMBIENT) * np.clip(facing @ light, 0, 1)
    highlight = _GLOSS * np.clip(facing @ halfway, 0, 1) ** 30
    shades: npt.NDArray[Any] = np.clip(np.outer(brightness, color) + highlight[:, None], 0, 1)
    return shades


def _direction(elevation: float, azimuth: float) -> npt.NDArray[Any]:
    e, a = np.radians([elevation, azimuth])
    return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
