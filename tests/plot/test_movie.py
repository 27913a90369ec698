# SPDX-License-Identifier: BSD-3-Clause
"""Movies have the frames that were asked for, and show the fields at their times."""

import numpy as np
import particles as pt
import pytest
from matplotlib import animation
from matplotlib.figure import Figure


@pytest.fixture
def u():
    u = pt.Field(pt.Grid((16, 16)), name="u")
    u[3] = 1
    return u


@pytest.fixture
def transport(u):
    wind = pt.Velocity(u.grid, lambda x, y: (1.0, 0.0))
    return pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))


@pytest.mark.sampled
def test_a_gif_has_the_frames_and_lasts_as_long_as_told(transport, tmp_path):
    from PIL import Image

    path = pt.plot.movie(tmp_path / "wind.gif", transport, until=0.5, dt=0.1, frames=3, fps=10)
    assert path == tmp_path / "wind.gif"
    with Image.open(path) as picture:
        assert picture.n_frames == 3
        assert picture.info["duration"] == 100
        first = np.asarray(picture.convert("L")).astype(int)
        picture.seek(2)
        assert np.abs(np.asarray(picture.convert("L")) - first).max() > 100
    assert transport.time == 0.5


def test_a_frame_shows_the_fields_at_its_time(transport, u, tmp_path):
    seen = []
    axes = Figure().add_subplot()

    def draw(given):
        assert given is axes
        assert not given.images
        pt.plot.slice(u, ax=given)
        seen.append((transport.time, u.get()))

    pt.plot.movie(tmp_path / "u.gif", transport, 0.5, lcfl=0.5, frames=5, draw=draw, ax=axes)
    assert [time for time, _ in seen] == [0.0, 0.125, 0.25, 0.375, 0.5]
    for time, values in seen:  # by whole cells
        np.testing.assert_array_equal(np.argwhere(values[:, 0] > 0.999), [[(3 + 16 * time) % 16]])
    assert axes.get_title() == "t = 0.5"


@pytest.mark.sampled
@pytest.mark.parametrize("own", [False, True], ids=["slice", "draw"])
def test_a_colour_bar_stands_beside_an_image_in_every_frame(transport, u, tmp_path, own):
    seen = []

    def draw(axes):
        seen.append([*axes.images, *axes.child_axes])  # cleared
        pt.plot.slice(u, ax=axes, cmap="gray", vmax=1 + len(seen))

    made = []
    with pytest.MonkeyPatch.context() as patch:
        grab = animation.PillowWriter.grab_frame
        patch.setattr(
            animation.PillowWriter,
            "grab_frame",
            lambda writer: (made.append(limits_and_bar(writer.fig)), grab(writer)),
        )
        how = {"draw": draw} if own else {"cmap": "gray", "vmax": 2}
        pt.plot.movie(tmp_path / "own.gif", transport, until=0.2, dt=0.1, frames=3, **how)
    assert len(made) == 3
    assert all(limits == pytest.approx(bar) for limits, bar in made)
    assert [bar[1] for _, bar in made] == pytest.approx([2, 3, 4] if own else [2, 2, 2])
    assert not any(seen)


def limits_and_bar(figure):
    (axes,) = figure.axes
    (bar,) = axes.child_axes
    return (axes.images or axes.collections)[0].get_clim(), bar.get_ylim()


@pytest.mark.sampled
def test_axes_stay_where_they_are(transport, tmp_path, monkeypatch):
    places = []
    grab = animation.PillowWriter.grab_frame
    monkeypatch.setattr(
        animation.PillowWriter,
        "grab_frame",
        lambda writer: (grab(writer), places.append(writer.fig.axes[0].get_position().bounds)),
    )
    # Values beyond the colours, of which the bar's points tell, come in on the way.
    pt.plot.movie(tmp_path / "u.gif", transport, until=0.1, dt=0.02, frames=4, vmin=0, vmax=1)
    assert len(places) == 4
    np.testing.assert_array_equal(places, [places[0]] * 4)


@pytest.mark.sampled
def test_colours_of_particles_are_explained_and_stay(tmp_path, monkeypatch):
    grid = pt.Grid((8, 8), boundary=[("inflow", "outflow"), "wall"])
    swarm = pt.ParticleSet(grid, [[0.1, 0.5], [0.5, 0.5], [0.9, 0.5]], mass=[0.0, 1.0, 2.0])
    made = []
    grab = animation.PillowWriter.grab_frame
    monkeypatch.setattr(
        animation.PillowWriter,
        "grab_frame",
        lambda writer: (
            made.append((*limits_and_bar(writer.fig), writer.fig.axes[0].get_facecolor())),
            grab(writer),
        ),
    )
    tracers = pt.Tracers(swarm, pt.Velocity(grid, lambda x, y: (1.0, 0.0)))
    pt.plot.movie(tmp_path / "run.gif", tracers, until=0.3, dt=0.1, frames=4, color="mass")
    assert len(swarm) == 2  # the one of the greatest mass has left
    assert made == [((0, 2), (0, 2), (0.8, 0.8, 0.8, 1))] * 4  # zero is white


def test_a_norm_of_ones_own(transport, tmp_path):
    from matplotlib.colors import LogNorm

    norm = LogNorm(0.1, 1)
    pt.plot.movie(tmp_path / "u.gif", transport, until=0.1, dt=0.1, frames=2, norm=norm)
    assert (norm.vmin, norm.vmax) == (0.1, 1)


@pytest.mark.sampled
def test_no_colour_bar_is_added_to_figures_or_pictures_of_ones_own(transport, u, tmp_path):
    def colors(axes):
        axes.imshow(np.zeros((4, 4, 3)))

    def with_bar(axes):
        pt.plot.slice(u, ax=axes)
        if len(axes.figure.axes) == 1:
            axes.figure.colorbar(axes.images[0])

    axes = Figure().add_subplot()
    for options in ({"draw": colors}, {"draw": with_bar}, {"ax": axes}):
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "particles.plot.movies.add_color_bar", lambda *given, seen=seen: seen.append(given)
            )
            end = transport.time + 0.1
            pt.plot.movie(tmp_path / "own.gif", transport, until=end, dt=0.1, frames=2, **options)
        assert not seen


@pytest.mark.sampled
def test_a_movie_of_a_long_box_is_long(tmp_path):
    from PIL import Image

    u = pt.Field(pt.Grid((16, 8), extent=(2.0, 1.0)))
    wind = pt.Velocity(u.grid, lambda x, y: (1.0, 0.0))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(u))
    path = pt.plot.movie(tmp_path / "u.gif", transport, until=0.1, dt=0.1, frames=2)
    with Image.open(path) as picture:
        assert 1.5 < picture.width / picture.height < 2


def test_options_for_slice_and_a_drawing_of_ones_own_are_refused(transport, tmp_path):
    with pytest.raises(
        TypeError, match="draw is called with axes only: pass cmap to the functions that it calls"
    ):
        pt.plot.movie(tmp_path / "u.gif", transport, 0.1, dt=0.1, draw=print, cmap="gray")


def test_a_title_of_ones_own_stays(transport, tmp_path):
    axes = Figure().add_subplot()
    pt.plot.movie(
        tmp_path / "u.gif",
        transport,
        until=0.1,
        dt=0.1,
        frames=2,
        draw=lambda axes: axes.set_title("mine"),
        ax=axes,
    )
    assert axes.get_title() == "mine"


def test_colours_and_limits_are_those_of_the_first_frame(tmp_path):
    from particles.plot.movies import _drawer_of

    for shape in ((8, 8), 8):
        u = pt.Field(pt.Grid(shape))
        u[2] = 2
        draw, axes = _drawer_of(u, {}), Figure().add_subplot()
        u.fill(0.5)
        draw(axes)
        limits = axes.images[0].get_clim() if axes.images else axes.get_ylim()
        assert limits == pytest.approx((-0.2, 2.2))  # a tenth more on either side


@pytest.mark.parametrize(("value", "ends"), [(0, (-0.1, 1.1)), (2, (-0.2, 2.2)), (-2, (-2.2, 0.2))])
def test_a_field_that_begins_constant_has_a_range(value, ends):
    from particles.plot.movies import _drawer_of

    for shape in ((8, 8), 8):
        u = pt.Field(pt.Grid(shape))
        u.fill(value)
        axes = Figure().add_subplot()
        _drawer_of(u, {})(axes)
        limits = axes.images[0].get_clim() if axes.images else axes.get_ylim()
        assert limits == pytest.approx(ends)


def test_a_surface_in_axes_of_ones_own(tmp_path):
    ball = pt.Field(pt.Grid((8, 8, 8)))
    ball[2:5, 2:5, 2:5] = 1
    wind = pt.Velocity(ball.grid, lambda x, y, z: (1.0, 0.0, 0.0))
    transport = pt.Splitting(pt.AdvectionOp(wind), pt.RemeshOp(ball))
    axes = Figure().add_subplot(projection="3d", azim=120)
    pt.plot.movie(
        tmp_path / "ball.gif",
        transport,
        until=0.25,
        dt=0.25,
        frames=2,
        draw=lambda axes: pt.plot.isosurface(ball, ax=axes),
        ax=axes,
    )
    assert axes.azim == 120
    assert len(axes.collections) == 1


def test_unsplit_transport_and_an_existing_file(u, tmp_path):
    path = tmp_path / "u.gif"
    path.write_text("old")
    wind = pt.Velocity(u.grid, lambda x, y: (1.0, 0.0))
    transport = pt.Unsplit(pt.AdvectionOp(wind), pt.RemeshOp(u))
    pt.plot.movie(str(path), transport, until=0.1, dt=0.1, frames=2)
    assert path.read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize("frames_before", [0, 2])
def test_an_error_of_the_drawing_is_told_as_it_is(transport, tmp_path, frames_before):
    path, drawn = tmp_path / "u.gif", []

    def draw(axes):
        if len(drawn) == frames_before:
            raise KeyError("no such colour")
        drawn.append(axes)

    with pytest.raises(KeyError, match="no such colour"):
        pt.plot.movie(path, transport, until=0.5, dt=0.1, frames=6, draw=draw)
    assert path.exists() == (frames_before > 0)


@pytest.mark.skipif(not animation.FFMpegWriter.isAvailable(), reason="there is no ffmpeg")
def test_mp4(transport, tmp_path):
    path = pt.plot.movie(tmp_path / "u.mp4", transport, until=0.1, dt=0.1, frames=2)
    assert b"ftyp" in path.read_bytes()[:16]


def test_mp4_needs_ffmpeg(transport, tmp_path, monkeypatch):
    monkeypatch.setattr(animation.FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(RuntimeError, match=r"u\.mp4 needs the program ffmpeg"):
        pt.plot.movie(tmp_path / "u.mp4", transport, until=0.1, dt=0.1)
    assert transport.time == 0


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"path": "u.avi"}, ValueError, "path must end in .gif or .mp4, not"),
        ({"path": "none/u.gif"}, FileNotFoundError, "path must be in a folder that exists"),
        (
            {"transport": None},
            TypeError,
            "transport must be a Splitting, Unsplit or Tracers, not None",
        ),
        ({"until": 0}, ValueError, "until must be after the present time 0.0, not 0.0"),
        ({"frames": 1}, ValueError, "frames must be at least 2, not 1"),
        ({"fps": 0}, ValueError, "fps must be positive, not 0"),
        ({"dt": None}, TypeError, "run needs dt, lcfl or both"),
        ({"dt": -1}, ValueError, "dt must be positive, not -1"),
    ],
)
def test_what_cannot_be_filmed_leaves_everything(
    transport, u, tmp_path, monkeypatch, options, error, words
):
    monkeypatch.chdir(tmp_path)
    arguments = {"path": "u.gif", "transport": transport, "until": 1, "dt": 0.1} | options
    before = u.get()
    with pytest.raises(error, match=words):
        pt.plot.movie(**arguments)
    np.testing.assert_array_equal(u.get(), before)
    assert transport.time == 0
    assert list(tmp_path.iterdir()) == []
