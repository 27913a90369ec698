# SPDX-License-Identifier: BSD-3-Clause
"""Small pictures of fields that may be large."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles.fields.grid import refuse_on_ranks
from particles.plot.drawing import PLAIN, draw_plane, import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from particles.fields.field import Field

_MOST_POINTS = {1: 512, 2: 128, 3: 128}
"""Along an axis; of more, only every second, third, ... leaves the device."""


def thumbnail(field: Field) -> bytes | None:
    """Return a picture as PNG, or None where there is none, for whatever reason.

    What is shown is the length of the vectors where there are several components, and the plane in
    the middle of the last axis in three dimensions.
    """
    try:
        return _drawn(field)
    except Exception:  # noqa: BLE001  a notebook shows the rest, whatever goes wrong
        return None


def _drawn(field: Field) -> bytes:
    if field.grid.is_divided:
        refuse_on_ranks("a picture of a field")
    figure = import_optional("matplotlib.figure").Figure((3.4, 2.6), layout="constrained")
    axes: Axes = figure.add_subplot()
    values, title = _sampled(field), field.name or ""
    if field.components > 1:
        values, title = np.linalg.norm(values, axis=0), f"|{title or '·'}|"
    grid = field.grid
    if grid.ndim == 1:
        axes.plot(grid.coordinates()[0][:: _step(field, 0)], values)
        axes.set(xlabel="x")
    else:
        draw_plane(axes, values, grid, (0, 1))
        figure.colorbar(axes.images[0], ax=axes)
    if grid.ndim == 3:
        height = grid.coordinates()[2].ravel()[grid.shape[2] // 2]
        title = f"{title}  z = {height:.3g}"
    axes.set_title(title, fontsize="medium", **PLAIN)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=80)
    return picture.getvalue()


def _sampled(field: Field) -> npt.NDArray[Any]:
    """Return few of the values, with components as the first axis where there are several."""
    axes = range(min(field.grid.ndim, 2))
    key: tuple[Any, ...] = tuple(np.s_[:: _step(field, axis)] for axis in axes)
    if field.grid.ndim == 3:
        key = (*key, field.grid.shape[2] // 2)
    return field[(slice(None), *key) if field.components > 1 else key].astype(np.float64)


def _step(field: Field, axis: int) -> int:
    return -(-field.grid.shape[axis] // _MOST_POINTS[field.grid.ndim])
