# SPDX-License-Identifier: BSD-3-Clause
"""Names are shown as they are, whatever they mean to Matplotlib or HTML."""

from io import BytesIO

import numpy as np
import particles as pt
import pytest
from matplotlib.figure import Figure
from particles.plot.thumbnail import thumbnail

from tests.trust.bad_world import figures

pytestmark = pytest.mark.one_device

NAMES = ["$x^2^3$", r"$\frac{", "a $ b $ c", "_hidden", "%s {} {0!r}", r"\$", "<b>&"]


@pytest.fixture(autouse=True)
def nowhere():
    with figures():
        yield


def texts(axes):
    """Draw axes, and return all that is written there."""
    figure = axes.get_figure(root=True)
    figure.savefig(BytesIO(), format="png")
    legend = axes.get_legend()
    return [
        axes.get_title(),
        *(text.get_text() for text in axes.texts),
        axes.get_ylabel(),
        *(text.get_text() for text in ([] if legend is None else legend.get_texts())),
        *(text.get_text() for text in axes.get_yticklabels()),
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_names_are_drawn_as_they_are(name, tmp_path):
    kernel = pt.kernels.custom(name, [[1, -1]])
    shown = {
        name: texts(pt.plot.slice(pt.Field(pt.Grid(8), name=name))),
        name + ", z = 0.5": texts(pt.plot.slice(pt.Field(pt.Grid((4, 4, 4)), name=name))),
        name + ": 4.0": texts(pt.plot.convergence([2, 4], {name: [16, 1]})),
        f"{name}: 75 GFLOP/s": texts(pt.plot.roofline({name: (4.25, 75e9)}, 39e9, 219e9)),
    }
    for words, found in shown.items():
        assert words in found
    assert name in texts(pt.plot.profile({name: 1.0, "other": 2.0}))
    assert name in texts(pt.plot.kernel(kernel))


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES)
def test_fields_of_any_name_have_pictures_in_notebooks_and_movies(name, tmp_path):
    u = pt.Field(pt.Grid(8), name=name)
    u[...] = np.arange(8)
    assert thumbnail(u) is not None
    assert "<b>&<" not in u._repr_html_()
    wind = pt.Velocity(u.grid, lambda x: 1.0)
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    assert "<b>&<" not in transport._repr_html_()
    if name == NAMES[0]:
        pt.plot.movie(tmp_path / "u.gif", transport, until=0.1, dt=0.1, frames=2)


def test_names_are_not_set_by_tex():
    axes = pt.plot.slice(pt.Field(pt.Grid((4, 4)), name="$x$"), ax=Figure().add_subplot())
    assert axes.get_title() == ""
    title = pt.plot.slice(pt.Field(pt.Grid((4, 4)), name="$x$")).title
    assert not title.get_parse_math()
    assert not title.get_usetex()
