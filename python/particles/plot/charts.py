# SPDX-License-Identifier: BSD-3-Clause
"""Charts of kernels, errors and times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from particles import kernels
from particles.base.checks import as_duration, as_mapping, as_numbers, shown
from particles.base.kinds import is_a
from particles.plot.drawing import (
    DASHES,
    MARKERS,
    PLAIN,
    add_legend,
    as_label,
    axes_for,
    import_optional,
    label_ends,
    without_frame,
)
from particles.runtime.profile import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kernel(*shown: str | kernels.RemeshingKernel, ax: Axes | None = None) -> Axes:
    """Draw remeshing kernels, ``W(x)`` over the distance from a node in cells.

    Parameters
    ----------
    *shown : str or RemeshingKernel
        One or more, as for `particles.kernels.get`.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import particles as pt
    >>> pt.plot.kernel("M'4", "M'6").get_xlim() == (-3, 3)
    True
    """
    drawn = [kernels.get(one) for one in shown]
    if not drawn:
        raise ValueError("kernel must be one or more kernels to draw, not none")
    axes: Axes = axes_for(ax)
    half = max(one.half_width for one in drawn)
    for one, dashes in zip(drawn, cycle(DASHES), strict=False):
        x = np.linspace(-one.half_width, one.half_width, 200 * one.half_width + 1)
        (line,) = axes.plot(x, one(x), linestyle=dashes, label=as_label(one.name))
        nodes = np.arange(1 - one.half_width, one.half_width)
        axes.plot(nodes, one(nodes), "o", color=line.get_color(), markersize=4)
    axes.axhline(0, color="gray", linewidth=0.8, zorder=0)
    axes.set(xlabel="distance from the node, in cells", ylabel="W", xlim=(-half, half))
    axes.set_xticks(range(-half, half + 1))
    add_legend(axes)
    return without_frame(axes)


def convergence(
    points: npt.ArrayLike,
    errors: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
    ax: Axes | None = None,
) -> Axes:
    """Draw errors over the number of points, with the observed orders.

    An order is the slope of the best straight line on logarithmic axes. Dotted lines have the slopes
    of whole orders.

    Parameters
    ----------
    points : array_like
        Points along an axis, or steps in a run.
    errors : mapping of str to array_like, or array_like
        One error for each of `points`, all positive; or several such series by name.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import particles as pt
    >>> axes = pt.plot.convergence([32, 64, 128], {"M'6": [1.6e-3, 1e-4, 6e-6]})
    >>> axes.texts[0].get_text()
    "M'6: 4.0"
    """
    expected = "errors must be numbers, or a mapping of names and numbers"
    series = as_mapping(errors, expected) if is_a(errors, Mapping) else {"error": errors}
    sizes = _positive("points", points)
    if not series:
        raise ValueError("errors must have a series, not none")
    if len(sizes) < 2:
        raise ValueError(f"points must be two or more, not {len(sizes)}")
    checked = {name: _positive(f"errors of {name!r}", values) for name, values in series.items()}
    for name, values in checked.items():
        if len(values) != len(sizes):
            raise ValueError(f"errors of {name!r} must be {len(sizes)}, not {len(values)}")
    axes: Axes = axes_for(ax)
    palette = "tab10" if len(checked) <= 10 else "tab20"
    colors = cycle(import_optional("matplotlib").colormaps[palette].colors)
    labels: list[tuple[float, float, str, Any]] = []
    guides: dict[int, list[float]] = {}
    for (name, values), color, marker in zip(checked.items(), colors, cycle(MARKERS), strict=False):
        order = -np.polyfit(np.log(sizes), np.log(values), 1)[0]
        axes.loglog(sizes, values, marker=marker, color=color, markersize=5)
        last = sizes.argmax()
        labels.append((sizes[last], values[last], f"{name}: {order:.1f}", color))
        guides.setdefault(max(round(order), 0), []).append(values[sizes.argmin()])
    for order, starts in guides.items():
        line = 0.6 * min(starts) * (sizes / sizes.min()) ** -order
        axes.loglog(sizes, line, ":", color="gray", linewidth=0.8, zorder=0)
    axes.set(xlabel="points along an axis", ylabel="error, and its order")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    label_ends(axes, labels)
    return without_frame(axes)


def profile(times: Profile | Mapping[str, float], ax: Axes | None = None) -> Axes:
    """Draw the time of each kernel as bars.

    Parameters
    ----------
    times : Profile or mapping of str to float
        The result of `particles.profile`, or seconds by name.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import particles as pt
    >>> axes = pt.plot.profile({"sweep": 0.8, "host": 0.2})
    >>> [round(bar.get_width()) for bar in axes.patches]
    [80, 20]
    """
    if is_a(times, Profile):
        times = {name: time.seconds for name, time in times.kernels.items()}
    seconds_of = _by_name("times", times)
    times = dict(zip(seconds_of, as_numbers("times", list(seconds_of.values())), strict=True))
    total = sum(times.values())
    if total <= 0 or min(times.values()) < 0:
        raise ValueError(f"times must have a positive sum and none below zero, not {total}")
    shares = [100 * seconds / total for seconds in times.values()]
    axes: Axes = axes_for(ax)
    bars = axes.barh(range(len(times)), shares, color="tab:blue")
    axes.set_yticks(range(len(times)), list(map(str, times)), **PLAIN)
    texts = [
        f" {share:.1f} %, {seconds:.3g} s"
        for share, seconds in zip(shares, times.values(), strict=True)
    ]
    axes.bar_label(bars, texts)
    axes.invert_yaxis()
    axes.set(xlabel="share of the time (%)", xlim=(0, 1.35 * max(shares)))
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 100])
    return without_frame(axes)


def roofline(
    work: Mapping[str, tuple[float, float]],
    bandwidth: float,
    peak: float,
    ax: Axes | None = None,
) -> Axes:
    """Draw the speed of kernels below the limits of memory and processors.

    Parameters
    ----------
    work : mapping of str to (float, float)
        For each kernel, by name: operations per byte that crosses the memory, and operations per
        second.
    bandwidth : float
        Bytes per second of the memory.
    peak : float
        Operations per second of the processors.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import particles as pt
    >>> axes = pt.plot.roofline({"sweep": (4.25, 75e9)}, bandwidth=39e9, peak=219e9)
    >>> [text.get_text() for text in axes.texts]
    ['39 GB/s', '219 GFLOP/s', 'sweep: 75 GFLOP/s']
    """
    ticker = import_optional("matplotlib.ticker")
    limits = as_duration("bandwidth", bandwidth) / 1e9, as_duration("peak", peak) / 1e9
    pairs = _by_name("work", work).items()
    rates = {name: _positive(f"work of {name!r}", pair) for name, pair in pairs}
    if any(len(pair) != 2 for pair in rates.values()):
        raise ValueError(f"work must be pairs of numbers by name, not {shown(work)}")
    ridge = limits[1] / limits[0] if limits[0] else math.inf
    if not 0 < ridge < math.inf:
        raise ValueError(f"bandwidth and peak must be rates that can be drawn, not {limits} 1e9/s")
    intensities = [ridge, *(intensity for intensity, _ in rates.values())]
    ends = min(intensities) / 4, max(intensities) * 4
    axes: Axes = axes_for(ax)
    far = 1e3 * ends[1]  # the limits come later
    axes.loglog([ends[0], ridge, far], [limits[0] * ends[0], limits[1], limits[1]], color="black")
    near = ends[0] ** 0.25 * ridge**0.75  # where there is room for the text
    above: dict[str, Any] = {"xytext": (-4, 4), "textcoords": "offset points", "ha": "right"}
    axes.annotate(f"{limits[0]:.3g} GB/s", (near, limits[0] * near), **above)
    flat = axes.get_yaxis_transform()
    axes.annotate(f"{limits[1]:.3g} GFLOP/s", (1, limits[1]), xycoords=flat, **above)
    labels: list[tuple[float, float, str, Any]] = []
    for (name, (intensity, rate)), marker in zip(rates.items(), cycle(MARKERS), strict=False):
        (dot,) = axes.plot(intensity, rate / 1e9, marker)
        labels.append((intensity, rate / 1e9, f"{name}: {rate / 1e9:.3g} GFLOP/s", dot.get_color()))
    axes.set(xlabel="operations per byte", ylabel="GFLOP/s")
    slowest = min([limits[0] * ends[0], *(rate / 1e9 for _, rate in rates.values())])
    axes.set(xlim=ends, ylim=(slowest / 4, 2 * limits[1]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(ticker.NullLocator())
    axes.grid(alpha=0.3)
    if labels:
        label_ends(axes, labels)
    return without_frame(axes)


def _positive(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    numbers = np.array(as_numbers(name, values))
    if not (numbers > 0).all():
        raise ValueError(f"{name} must be positive numbers, not {shown(values)}")
    return numbers


def _by_name(name: str, value: object) -> dict[str, Any]:
    return as_mapping(value, f"{name} must be a mapping by name")
