# SPDX-License-Identifier: BSD-3-Clause
"""Axes, planes, and triangles and light for pictures of surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.base.checks import as_real, shown
from particles.base.disk import replacing
from particles.base.kinds import is_a

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.axes3d import Axes3D  # type: ignore[import-untyped]

    from particles.fields.grid import Grid
    from particles.plot.surface import Surface

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options of texts that contain names: what a user calls something is shown, not set."""
MARKERS = "os^Dv*XP<>ph"
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
"""Curves are told apart without their colours."""
_NOTHING = "\u200b"

_AMBIENT, _GLOSS = 0.3, 0.35  # brightness of what faces away from the light, and of highlights


def import_optional(name: str) -> ModuleType:
    """Import a module that only pictures need."""
    try:
        return import_module(name)
    except ImportError as error:
        package = {"skimage": "scikit-image"}.get(name.partition(".")[0], "matplotlib")
        raise ImportError(f"pictures need {package}: pip install {package} ({error})") from error


def new_axes(**options: str) -> Any:  # noqa: ANN401
    """Return axes of a new figure of pyplot."""
    figure = import_optional("matplotlib.pyplot").figure(layout="constrained")
    return figure.add_subplot(**options)


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
        **with_colors(plane, options),
    }
    axes.imshow(plane.T, **image)
    axes.set(xlabel="xyz"[drawn[0]], ylabel="xyz"[drawn[1]])


def with_colors(values: npt.NDArray[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return options of ``imshow`` with colours in which zero is white, unless some are chosen.

    What lies far from zero, such as temperatures in kelvins, has Matplotlib's colours.
    """
    if options.keys() & {"cmap", "norm"}:
        return options
    finite = values[np.isfinite(values)]
    ends = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    low, high = (
        end if options.get(name) is None else as_real(name, options[name])
        for name, end in zip(("vmin", "vmax"), ends, strict=True)
    )
    if options.get("vmin") is None and low > 0 and (low <= high / 4 or low == high):
        low = 0.0
    if options.get("vmax") is None and high < 0 and (high >= low / 4 or low == high):
        high = 0.0
    if low == high == 0:
        high = 1.0
    if not low <= 0 <= high or low == high:
        return options
    return {**options, "cmap": zero_white(low, high), "vmin": low, "vmax": high}


def zero_white(low: float, high: float) -> Any:  # noqa: ANN401
    """Return a map of colours from `low` to `high`: white at 0, red above, and blue below.

    The farther from 0, the darker, as far on either side. What is no number is gray.
    """
    known = import_optional("matplotlib").colormaps["RdBu_r"].resampled(1025)
    places = 0.5 + 0.5 * np.linspace(low, high, 256) / max(-low, high)
    colors = np.minimum(known(places) / known(0.5), 1)  # its middle is light gray
    colored = import_optional("matplotlib.colors").ListedColormap(colors, "zero_white")
    return colored.with_extremes(bad="gray")


def add_color_bar(axes: Axes, colors: ScalarMappable, values: npt.NDArray[Any]) -> None:
    """Put what colours mean beside axes, as high as they are.

    The ends of the bar are pointed where values lie outside the colours.
    """
    low, high = colors.get_clim()
    slack = 1e-6 * (high - low)
    is_under = bool((values < low - slack).any())
    is_over = bool((values > high + slack).any())
    extend = ("both" if is_over else "min") if is_under else "max" if is_over else "neither"
    beside = axes.inset_axes((1.03, 0, 0.05, 1))
    axes.get_figure(root=True).colorbar(colors, cax=beside, extend=extend)  # type: ignore[union-attr]


def as_label(text: str) -> str:
    """Return a label that a legend does not leave out, as it does those that begin with "_"."""
    return _NOTHING + text if text.startswith("_") else text


def add_legend(axes: Axes, **options: Any) -> None:  # noqa: ANN401
    """Add a legend of names, as they are."""
    for text in axes.legend(**options).get_texts():
        text.set(text=text.get_text().removeprefix(_NOTHING), **PLAIN)


def label_ends(axes: Axes, labels: Sequence[tuple[float, float, str, Any]]) -> None:
    """Write beside points of curves what they are, apart from each other: x, y, text, colour.

    They stand in a column behind the last point, so that they cover none; there is made room for them.
    The limits of the axes are final from then on.
    """
    size, fraction = axes.get_window_extent(), axes.transAxes.inverted()
    point = axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
    room = (22 + 6.5 * max(len(text) for _, _, text, _ in labels)) * point / size.width
    scale = axes.xaxis.get_transform()
    low, high, most = scale.transform(
        [axes.get_xlim()[0], max(x for x, *_ in labels), axes.get_xlim()[1]]
    )
    needed = low + (high - low) / (1 - min(room, 0.6))
    (right,) = scale.inverted().transform([max(needed, most)])
    axes.set(xlim=(axes.get_xlim()[0], right), ylim=axes.get_ylim())
    places = fraction.transform(axes.transData.transform([(x, y) for x, y, *_ in labels]))
    column = places[:, 0].max() + 16 * point / size.width
    order = np.argsort(places[:, 1], kind="stable")
    heights = spread(places[order, 1], min(14 * point / size.height, 1 / len(labels)))
    for k, height in zip(order, heights, strict=True):
        x, y, text, color = labels[k]
        axes.annotate(
            text,
            (x, y),
            (column, height),
            textcoords="axes fraction",
            va="center",
            color="0.15",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.8,
                "relpos": (0, 0.5),  # to where the text begins
            },
            **PLAIN,
        )


def spread(places: npt.NDArray[Any], gap: float) -> npt.NDArray[Any]:
    """Return ascending places moved as little as possible, at least `gap` apart, within 0 and 1."""
    groups: list[list[float]] = []
    for place in places - gap * np.arange(len(places)):
        groups.append([float(place)])
        while len(groups) > 1 and np.mean(groups[-2]) >= np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    even = np.concatenate([[np.mean(group)] * len(group) for group in groups])
    most = 1 - gap * (len(places) - 1)
    result: npt.NDArray[Any] = np.clip(even, 0, max(most, 0)) + gap * np.arange(len(places))
    return result


def without_frame(axes: Axes) -> Axes:
    """Return axes without a frame at the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def label_axes(axes: Axes, grid: Grid) -> None:
    """Show the ends of a box, and how its axes are called."""
    for name, start, length in zip("xyz", grid.origin, grid.extent, strict=False):
        axes.set(**{f"{name}lim": (start, start + length), f"{name}label": name})


def show_box(axes: Axes3D, grid: Grid) -> None:
    """Show a box of three dimensions whole, however long, with few numbers along its short sides."""
    label_axes(axes, grid)
    locator = import_optional("matplotlib.ticker").MaxNLocator
    longest = max(grid.extent)
    for axis, length in zip((axes.xaxis, axes.yaxis, axes.zaxis), grid.extent, strict=True):
        bins = max(2, round(4 * length / longest))
        axis.set_major_locator(locator(bins, prune="both"))  # axes meet at their ends
        axis.labelpad = 7  # seen from above, numbers are nearer
    axes.set_box_aspect(grid.extent, zoom=0.75 + 0.23 * min(grid.extent) / longest)


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
    made: Surface = import_optional("particles.plot.surface").Surface(
        points, faces, _shaded(_smoothed(facing, faces), rgb, *view)
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


def _smoothed(facing: npt.NDArray[Any], faces: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return where points of a surface face on the average over the triangles around.

    What jumps within a cell is cut in steps, whose light would hide the shape.
    """
    for _ in range(3):
        corners = facing[faces].sum(axis=1).repeat(3, axis=0)
        sums = [np.bincount(faces.ravel(), along, len(facing)) for along in corners.T]
        facing = np.stack(sums, axis=1)
        facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-30)
    return facing


def _shaded(
    facing: npt.NDArray[Any], color: npt.NDArray[Any], elevation: float, azimuth: float
) -> npt.NDArray[Any]:
    """Return the colors of points under a light above the viewer's right shoulder."""
    eye, light = towards_viewer(elevation, azimuth), towards_viewer(elevation + 25, azimuth + 35)
    facing = np.where(facing @ eye < 0, -1, 1)[:, None] * facing  # either side of a surface is lit
    halfway = (eye + light) / np.linalg.norm(eye + light)
    brightness = _AMBIENT + (1 - _AMBIENT) * np.clip(facing @ light, 0, 1)
    highlight = _GLOSS * np.clip(facing @ halfway, 0, 1) ** 30
    shades: npt.NDArray[Any] = np.clip(np.outer(brightness, color) + highlight[:, None], 0, 1)
    return shades


def towards_viewer(elevation: float, azimuth: float) -> npt.NDArray[Any]:
    """Return the direction to a viewer, or to a light."""
    e, a = np.radians([elevation, azimuth])
    return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
