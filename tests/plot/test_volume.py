# SPDX-License-Identifier: BSD-3-Clause
"""Clouds lie where the points are seen, and what is nearer hides what is behind it."""

import numpy as np
import particles as pt
import pytest
from matplotlib import pyplot
from particles import plot

pytestmark = pytest.mark.one_device

VIEWS = [(25, -60), (25, 30), (-40, 130), (80, 10), (5, 200), (-70, -20)]


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    pyplot.close("all")


def cover(axes):
    """How much each pixel of the drawn axes hides, and where its middle is in their data."""
    figure = axes.figure
    figure.patch.set_facecolor("white")
    for artist in (*axes.lines, *axes.texts, *axes.child_axes):
        artist.remove()
    figure.canvas.draw()
    picture = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3].astype(float)
    rows, columns = np.indices(picture.shape[:2]) + 0.5
    places = axes.transData.inverted().transform(np.stack([columns.ravel(), rows.ravel()], axis=1))
    return 255 - picture.mean(axis=2), places.reshape(*picture.shape[:2], 2)


def seen_from(place, elev, azim):
    """Where a point is seen, from the definition of the two angles."""
    e, a = np.radians([elev, azim])
    x, y, z = place
    right = -np.sin(a) * x + np.cos(a) * y
    up = -np.sin(e) * (np.cos(a) * x + np.sin(a) * y) + np.cos(e) * z
    return right, up


@pytest.mark.parametrize(("elev", "azim"), VIEWS)
def test_a_point_is_where_it_is_seen(elev, azim):
    grid = pt.Grid((24, 16, 20), origin=(1, -2, 0), extent=(1.5, 0.8, 1.0), boundary="wall")
    field = pt.Field(grid)
    index = (18, 3, 14)
    field[index] = 1
    place = [c.ravel()[k] for c, k in zip(grid.coordinates(), index, strict=True)]
    hidden, places = cover(plot.volume(field, elev=elev, azim=azim, density=200, cmap="gray_r"))
    middle = (hidden[..., None] * places).sum(axis=(0, 1)) / hidden.sum()
    assert middle == pytest.approx(seen_from(place, elev, azim), abs=0.25 * max(grid.spacing))


@pytest.mark.sampled
@pytest.mark.parametrize(("elev", "azim"), VIEWS)
def test_what_is_nearer_hides_what_is_behind(elev, azim):
    e, a = np.radians([elev, azim])
    eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    points = np.stack(np.broadcast_arrays(*pt.Grid((24, 24, 24)).coordinates()), axis=-1) - 0.5

    def ball(shift):
        return np.linalg.norm(points - shift * eye, axis=-1) < 0.15

    def middle(values):
        axes = plot.volume(values, elev=elev, azim=azim, density=300, vmin=-1, vmax=1)
        axes.figure.canvas.draw()
        at = axes.transData.transform(seen_from((0.5, 0.5, 0.5), elev, azim))
        column, row = at.astype(int)
        return np.asarray(axes.figure.canvas.buffer_rgba())[::-1][row, column, :3].astype(int)

    near, far = 1.0 * ball(0.3), 1.0 * ball(-0.3)
    red, _, blue = middle(near - far)
    assert red > blue + 30
    red, _, blue = middle(far - near)
    assert blue > red + 30


def test_light_is_weakened_as_told():
    values = np.ones((8, 8, 8))
    axes = plot.volume(values, density=0.5, elev=0, azim=0, cmap="gray_r", vmin=0, vmax=1)
    (image,) = axes.images
    assert image.get_array()[4, 4, 3] == pytest.approx(1 - np.exp(-0.5), rel=1e-5)


def test_what_is_above_shades_what_is_below():
    values = np.zeros((16, 16, 16))
    values[4:12, 4:12, 2:5] = 1
    alone = plot.volume(values, elev=0, azim=0).images[0].get_array()[3, 8, :3].sum()
    values[4:12, 4:12, 10:13] = 1
    shaded = plot.volume(values, elev=0, azim=0).images[0].get_array()[3, 8, :3].sum()
    assert shaded < 0.8 * alone


def test_zero_is_clear_or_the_lowest_colour_where_it_is_outside():
    x = np.linspace(-1, 1, 9)[:, None, None] + np.zeros((9, 9, 9))

    def opacities(values):
        (image,) = plot.volume(values, density=1, elev=0, azim=90).images
        row = image.get_array()[4, :, 3]
        return row[row > 1e-6]

    at_zero_clear = opacities(x)
    assert len(at_zero_clear) == 8
    np.testing.assert_allclose(at_zero_clear, at_zero_clear[::-1], rtol=1e-4)
    lowest_clear = opacities(x + 300)
    assert len(lowest_clear) == 8
    assert (np.diff(lowest_clear) > 0).all()


def test_what_is_not_finite_is_clear():
    values = np.full((6, 6, 6), np.nan)
    values[0, 0, 0] = np.inf
    assert not plot.volume(values, vmin=0, vmax=1).images[0].get_array()[..., 3].any()


def test_new_axes_say_what_is_drawn_and_what_its_colours_mean():
    smoke = pt.Field(pt.Grid((4, 4, 4)), name="$smoke")
    smoke[1:3] = 2
    axes = plot.volume(smoke)
    assert axes.get_title() == "$smoke"
    assert axes.child_axes[0].get_ylim() == pytest.approx((0, 2))
    given = axes.figure.add_subplot()
    assert plot.volume(smoke, given) is given
    assert (given.get_title(), given.child_axes) == ("", [])


def test_colours_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="vmin must be below vmax = 1, not 2"):
        plot.volume(np.zeros((2, 2, 2)), vmin=2, vmax=1)
    with pytest.raises(TypeError, match="volume takes cmap, vmin and vmax, not norm"):
        plot.volume(np.zeros((2, 2, 2)), norm="log")
