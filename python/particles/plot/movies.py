# SPDX-License-Identifier: BSD-3-Clause
"""Movies of fields while they are carried, and of particles on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from particles.base.checks import (
    as_duration,
    as_integer,
    as_optional_flag,
    as_path,
    as_real,
    shown,
)
from particles.base.disk import replacing_by_name
from particles.base.kinds import is_a
from particles.base.progress import share_bar
from particles.communication.ranks import together
from particles.fields.field import Field
from particles.plot.drawing import add_color_bar, axes_for, import_optional, with_colors
from particles.plot.planes import slice
from particles.plot.swarms import BEHIND_WHITE, label_of, particles
from particles.sets.particle_set import ParticleSet
from particles.stepping.tracers import Tracers
from particles.stepping.transport import Transport

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter
    from matplotlib.axes import Axes

_WRITERS = {".gif": "PillowWriter", ".mp4": "FFMpegWriter"}


def movie(
    path: str | PathLike[str],
    transport: Transport | Tracers,
    until: float,
    *,
    dt: float | None = None,
    lcfl: float | None = None,
    frames: int = 50,
    fps: float = 15,
    draw: Callable[[Axes], object] | None = None,
    ax: Axes | None = None,
    progress: bool | None = None,
    **options: object,
) -> Path:
    """Advance fields or particles to a time, and write a movie of the run.

    The frames are evenly spaced in time, the first one at the present time and the last one at
    `until`; a step ends at each. After an interrupt, the frames drawn so far are a complete movie.

    All ranks of a divided grid must call this. The first one makes the movie; what is seen of a field
    is gathered.

    Parameters
    ----------
    path : str or path-like
        The file: ``.gif``, or ``.mp4`` where the program ffmpeg is installed.
    transport : Splitting or Unsplit or Tracers
        Carries the fields, or moves the particles.
    until : float
        Final time.
    dt, lcfl : float, optional
        One of them, as for `Splitting.run`.
    frames : int
        Number of frames.
    fps : float
        Frames per second.
    draw : callable, optional
        Draws a frame into axes, which are cleared before. By default it is `slice` of the first
        component of the first carried field, or `particles` of the set. The range of the colours is
        that of the first frame's values, for a field extended by a tenth at either end. The time is
        the title unless `draw` sets one. A single image, or a single set of coloured marks, has a
        colour bar. All ranks call it, as functions of `plot` gather what they draw; on all but the
        first, nobody sees the axes.
    ax : Axes, optional
        Where to draw, such as three-dimensional axes for `isosurface`. Their whole figure is in the
        movie, and no colour bar is added.
    progress : bool, optional
        Whether to show a progress bar; by default in a terminal or notebook.
    **options
        For `slice`, such as ``cmap``, ``vmin`` or ``axis``, or for `particles`, such as ``color``; not
        with `draw`.

    Returns
    -------
    pathlib.Path
        Path of the movie.

    Examples
    --------
    >>> import numpy as np
    >>> import particles as pt
    >>> grid = pt.Grid((32, 32))
    >>> x, y = grid.coordinates()
    >>> u = pt.Field(grid)
    >>> u[...] = np.exp(-50 * ((x - 0.5) ** 2 + (y - 0.25) ** 2))
    >>> shear = pt.Velocity(grid, lambda x, y: (np.sin(2 * np.pi * y), 0 * x))
    >>> transport = pt.Splitting(pt.AdvectionOp(shear), pt.RemeshOp(u))
    >>> pt.plot.movie("shear.gif", transport, until=0.5, dt=0.1, frames=6).name
    'shear.gif'
    >>> transport.time
    0.5
    """
    if not is_a(transport, Transport | Tracers):
        raise TypeError(
            f"transport must be a Splitting, Unsplit or Tracers, not {shown(transport)}"
        )
    end = as_real("until", until)
    if end <= transport.time:
        raise ValueError(f"until must be after the present time {transport.time}, not {end}")
    times = np.linspace(transport.time, end, as_integer("frames", frames, least=2)).tolist()
    target = as_path("path", path)
    rate = as_duration("fps", fps)
    ranks = transport.remesh.grid.ranks if is_a(transport, Transport) else None
    is_drawn_here = ranks is None or ranks.rank == 0
    with together(ranks, "to begin a movie"):
        writer = _writer(target, rate) if is_drawn_here else None
    if draw is not None and not callable(draw):
        raise TypeError(f"draw must be a function of axes, not {shown(draw)}")
    if draw is not None and options:
        raise TypeError(
            f"draw is called with axes only: pass {', '.join(options)} to the functions that it calls"
        )
    as_optional_flag("progress", progress)
    what = transport.swarm if is_a(transport, Tracers) else transport.fields[0]
    axes = _axes_of_movie(what, options) if ax is None else axes_for(ax)
    # Refuses wrong steps before anything is written.
    transport.run(times[0], dt, lcfl=lcfl, progress=False)
    draw_frame = _drawer_of(what, options) if draw is None else draw

    def draw_at(time: float) -> None:
        axes.clear()
        draw_frame(axes)
        if not axes.get_title():
            axes.set_title(f"t = {time:.3g}")
        if ax is None:
            _explain_colors(axes)

    # A writer has no way to end without a frame, so one that cannot be drawn never begins.
    with together(ranks, "the first frame of a movie"):
        draw_at(times[0])
        if ax is None and is_drawn_here:
            _lay_out(axes)
    ended_by = None
    with ExitStack() as opened:
        with together(ranks, "a file of a movie"):
            grab = opened.enter_context(_written(target, writer, axes)) if writer else None
            show = opened.enter_context(share_bar(progress if is_drawn_here else False))
        try:
            for count, time in enumerate(times, 1):
                if count > 1:
                    transport.run(time, dt, lcfl=lcfl, progress=False)
                with together(ranks, "a frame of a movie"):
                    if count > 1:
                        draw_at(time)
                    if grab:
                        grab()
                    if show:
                        show(count / len(times))
        except BaseException as error:  # noqa: BLE001  what has been drawn is a movie
            ended_by = error
        with together(ranks, "the end of a movie"):
            opened.close()
    if ended_by is not None:
        raise ended_by
    return target


@contextmanager
def _written(
    target: Path, writer: AbstractMovieWriter, axes: Axes
) -> Iterator[Callable[[], object]]:
    """Give what adds a frame to a movie, which takes its place at the end."""
    figure = axes.get_figure(root=True)
    with (
        replacing_by_name(target) as unfinished,
        writer.saving(figure, unfinished, None),  # type: ignore[arg-type]
    ):
        yield writer.grab_frame


def _writer(path: Path, fps: float) -> AbstractMovieWriter:
    """Return what writes a movie of the kind that the suffix tells."""
    suffix = path.suffix.lower()
    if suffix not in _WRITERS:
        raise ValueError(f"path must end in .gif or .mp4, not {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"path must be in a folder that exists, not {str(path)!r}")
    kind = getattr(import_optional("matplotlib.animation"), _WRITERS[suffix])
    if not kind.isAvailable():
        raise RuntimeError(
            f"{path.name} needs the program ffmpeg, which Matplotlib does not find: install it, "
            "or write a .gif"
        )
    made: AbstractMovieWriter = kind(fps=fps)
    return made


def _axes_of_movie(what: Field | ParticleSet, options: dict[str, object]) -> Axes:
    """Return axes that no notebook shows besides the movie, as high as planes of a grid are."""
    grid = what.grid.whole
    width, height = (*grid.extent, *grid.extent)[:2]
    size = 5, 0.7 + 4 * min(max(height / width, 0.4), 1.5)
    figure = import_optional("matplotlib.figure").Figure(size, layout="constrained")
    is_deep = is_a(what, ParticleSet) and grid.ndim == 3
    axes: Axes = figure.add_subplot(projection="3d" if is_deep else None)
    if is_a(what, ParticleSet) and options.get("color") is not None:
        axes.set_facecolor(BEHIND_WHITE)
    return axes


def _lay_out(axes: Axes) -> None:
    """Lay a figure out once for all frames; a new layout for each would move the axes."""
    figure = axes.get_figure(root=True)
    for _ in range(4):  # Matplotlib approaches the layout of axes of a fixed aspect
        figure.draw_without_rendering()  # type: ignore[union-attr]
    figure.set_layout_engine("none")  # type: ignore[union-attr]


def _explain_colors(axes: Axes) -> None:
    """Put a colour bar beside a single image, or a single set of coloured marks, that has none."""
    figure = axes.get_figure(root=True)
    marks = import_optional("matplotlib.collections").PathCollection
    colored = list(axes.images) or [
        drawn for drawn in axes.collections if is_a(drawn, marks) and drawn.get_array() is not None
    ]
    if len(colored) == 1 and not axes.child_axes and len(figure.axes) == 1:  # type: ignore[union-attr]
        (drawn,) = colored
        values = np.asarray(drawn.get_array())
        if values.ndim == (2 if axes.images else 1):  # else of colours themselves
            add_color_bar(axes, drawn, values)


def _drawer_of(field: Field | ParticleSet, options: dict[str, object]) -> Callable[[Axes], object]:
    """Return what draws a field or a set in the colours of its present range.

    That of a field is extended by a tenth at either end.
    """
    if is_a(field, ParticleSet):
        colors = _colors_of(field, options)
        return lambda axes: particles(field, ax=axes, **colors)  # type: ignore[arg-type]
    drawn = field.component(0)
    least, most = drawn.min(), drawn.max()
    if least == most:  # from zero to it; nothing yet: what may come in
        least, most = min(least, 0.0), max(most, 0.0) or float(least == 0)
    ends = np.array([least, most]) + 0.1 * (most - least) * np.array([-1, 1])
    colors = options if "norm" in options else {"vmin": ends[0], "vmax": ends[1], **options}

    def draw(axes: Axes) -> None:
        if field.grid.ndim == 1:
            slice(drawn, ax=axes, **options).set_ylim(*ends)  # type: ignore[arg-type]
        else:
            slice(drawn, ax=axes, **colors)  # type: ignore[arg-type]

    return draw


def _colors_of(swarm: ParticleSet, options: dict[str, object]) -> dict[str, object]:
    """Return options for `particles` in which an attribute's present values set the colours."""
    color = options.get("color")
    if color is None or "norm" in options:
        return options
    values = swarm.gather(label_of(swarm, color))
    if values is None or not np.isfinite(values).any():  # the first rank draws
        return options
    values = values[np.isfinite(values)].astype(np.float64)
    return {"vmin": values.min(), "vmax": values.max(), **with_colors(values, options)}
