# SPDX-License-Identifier: BSD-3-Clause
"""Pictures show what is in the fields."""

import numpy as np
import particles as pt
import pytest
from matplotlib.text import Text
from particles import kernels, plot
from particles.plot.drawing import mesh, spread
from skimage.measure import marching_cubes

from tests.support import child, words

pytestmark = pytest.mark.one_device

CENTRE, RADIUS = np.array([0.7, 0.1, 1.2]), 0.3


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.fixture
def grid():
    return pt.Grid((30, 40, 50), origin=(0, -1, 0.5), extent=(1.5, 2.0, 1.25))


@pytest.fixture
def hill(grid):
    """A field that is the negative distance from the centre, RADIUS at level 0."""
    field = pt.Field(grid)
    squares = ((c - middle) ** 2 for c, middle in zip(grid.coordinates(), CENTRE, strict=True))
    field[...] = RADIUS - np.sqrt(sum(squares))
    return field


def areas(corners):
    sides = np.diff(corners, axis=1)
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2


def test_a_sphere_lies_where_its_field_says(hill, grid):
    points, faces, facing = mesh(hill.get(), 0.0, grid)
    away = points - CENTRE
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), RADIUS, atol=0.02 * RADIUS)
    assert areas(points[faces]).sum() == pytest.approx(4 * np.pi * RADIUS**2, rel=0.01)
    assert np.all(np.einsum("ij,ij->i", away, facing) > 0.9 * RADIUS)


def test_a_surface_goes_on_to_the_end_of_the_period():
    values = np.zeros((8, 8, 8))
    values[:, :, :4] = 1
    points, faces, _ = mesh(values, 0.5, pt.Grid((8, 8, 8)))
    corners = points[faces]
    assert corners[..., :2].min() == 0
    assert corners[..., :2].max() == 1
    assert areas(corners).sum() == pytest.approx(2)  # from 1 to 0, and back to 1 at the end


@pytest.mark.parametrize("boundary", ["periodic", "wall"])
def test_triangles_are_looked_for_where_they_are_alone(boundary):
    """A surface is the same, wherever in the box it lies, and whichever side of it is rarer."""
    grid = pt.Grid((12, 14, 10), boundary=boundary)
    values = np.random.default_rng(3).random(grid.shape)
    for shift in (None, (0, 0, 0), (5, 0, 3), (9, 11, 7)):
        if shift is not None:
            values = np.zeros(grid.shape)
            values[tuple(np.s_[k : k + 3] for k in shift)] = 1
        closed = np.pad(values, (0, int(boundary == "periodic")), mode="wrap")
        expected, triangles, _, _ = marching_cubes(closed, 0.3, spacing=grid.spacing)
        for sign in (1,) if shift is None else (1, -1):
            points, faces, _ = mesh(sign * values, sign * 0.3, grid)
            assert len(faces) == len(triangles)
            place = np.lexsort(points.round(6).T)
            wanted = expected + grid.first
            wanted = wanted[np.lexsort(wanted.round(6).T)]
            np.testing.assert_allclose(points[place], wanted, atol=1e-6)


def test_what_is_infinite_has_no_surface(hill):
    values = np.zeros((6, 6, 6))
    values[2, 3, 4] = np.inf
    assert len(plot.isosurface(values).collections) == 0


def test_where_there_is_no_surface_values_are_told(hill):
    (text,) = plot.isosurface(hill, level=1e6).texts
    low, high = float(hill.min()), float(hill.max())
    assert text.get_text() == f"no surface at 1e+06: values go from {low:.4g} to {high:.4g}"
    assert not plot.isosurface(hill, level=0.0).texts
    values = np.full((4, 4, 4), np.nan)
    assert plot.isosurface(values, 1.0).texts[0].get_text() == "no surface at 1: no value is finite"
    values[0] = 0.5
    assert plot.isosurface(values, 1.0).texts[0].get_text().endswith("values go from 0.5 to 0.5")


@pytest.mark.parametrize("extent", [(5, 1, 1), (1, 5, 1), (1, 1, 5), (1, 5, 5)])
def test_axes_of_long_boxes_have_their_names_in_the_picture(extent):
    swarm = pt.ParticleSet.random(pt.Grid((4, 4, 4), extent=extent), 5, seed=1)
    axes = plot.particles(swarm)
    axes.figure.canvas.draw()
    for axis in axes.xaxis, axes.yaxis, axes.zaxis:
        ends = axis.label.get_window_extent().get_points()
        assert np.all((ends >= 0) & (ends <= axes.figure.bbox.size)), axis.label.get_text()


def test_an_isosurface_is_drawn_in_its_box(hill, grid):
    axes = plot.isosurface(hill, level=0.0)
    (surface,) = axes.collections
    points, faces, _ = mesh(hill.get(), 0.0, grid)
    np.testing.assert_array_equal(surface.points, points)
    np.testing.assert_array_equal(surface.faces, faces)
    assert len(surface.get_facecolor()) == len(points)
    assert axes.get_xlim() == pytest.approx((0, 1.5))
    assert axes.get_ylim() == pytest.approx((-1, 1))
    assert axes.get_zlim() == pytest.approx((0.5, 1.75))


def test_light_follows_the_view(hill):
    from matplotlib.figure import Figure

    def colors(azimuth):
        axes = Figure().add_subplot(projection="3d", elev=0, azim=azimuth)
        assert plot.isosurface(hill, level=0.0, ax=axes) is axes
        return axes.collections[0].get_facecolor()

    assert not np.array_equal(colors(0), colors(90))


def drawn(values, **options):
    """The picture of a surface alone, as numbers of pixels times 4."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure((2, 2))
    axes = figure.add_axes((0, 0, 1, 1), projection="3d", elev=0, azim=0)
    axes.set_axis_off()
    plot.isosurface(values, ax=axes, **options)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).astype(int)


def test_what_is_nearer_hides_the_rest():
    x, y, z = pt.Grid((24, 24, 24)).coordinates()

    def ball(x_centre, radius):
        return radius - np.sqrt((x - x_centre) ** 2 + (y - 0.5) ** 2 + (z - 0.5) ** 2)

    far, near = ball(0.2, 0.15), ball(0.8, 0.15)  # seen along the x axis, one behind the other
    middle = np.s_[88:106, 93:111]
    alone = drawn(near, level=0.0, color="red")[middle]
    both = drawn(np.maximum(far, near), level=0.0, color="red")[middle]
    np.testing.assert_allclose(both, alone, atol=2)
    assert alone[..., 0].max() > 200  # what faces away from the viewer, and from the light, is dark
    assert (alone[..., 0] > alone[..., 1] + 50).all()  # white shows nowhere between triangles


def test_a_file_of_vectors_holds_a_surface(hill, tmp_path):
    for kind in ("svg", "pdf"):
        path = tmp_path / f"surface.{kind}"
        plot.isosurface(hill, level=0.0).figure.savefig(path)
        assert 10_000 < path.stat().st_size < 1_000_000


def test_an_array_is_a_field_of_the_unit_box():
    values = np.zeros((4, 4, 4))
    values[1, 2, 3] = 1
    assert plot.isosurface(values).get_xlim() == (0, 1)


def test_what_is_not_finite_leaves_a_hole_in_a_surface(hill):
    whole = len(plot.isosurface(hill, level=0.0).collections[0].faces)
    values = hill.get()
    values[np.unravel_index(np.abs(values).argmin(), values.shape)] = np.nan
    axes = plot.isosurface(values, level=0.0)
    assert 0.5 * whole < len(axes.collections[0].faces) < whole
    axes.figure.canvas.draw()
    assert len(plot.isosurface(np.full((4, 4, 4), np.nan)).collections) == 0


@pytest.mark.parametrize("level", [-10, 10])
def test_a_level_that_is_not_reached_draws_nothing(hill, level):
    assert len(plot.isosurface(hill, level=level).collections) == 0


@pytest.mark.parametrize(("axis", "labels"), [(0, "yz"), (1, "xz"), (2, "xy"), (-1, "xy")])
def test_a_slice_shows_a_plane(hill, grid, axis, labels):
    axes = plot.slice(hill, axis=axis, index=7, cmap="gray")
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), np.take(hill.get(), 7, axis).T)
    drawn = [k for k in range(3) if k != axis % 3]
    ends = [
        grid.origin[k] - grid.spacing[k] / 2 + end for k in drawn for end in (0, grid.extent[k])
    ]
    assert image.get_extent() == pytest.approx(ends)
    assert axes.get_xlabel() + axes.get_ylabel() == labels
    assert image.get_cmap().name == "gray"


def test_a_slice_is_in_the_middle_unless_it_is_placed(hill):
    (image,) = plot.slice(hill, axis=0).images
    np.testing.assert_array_equal(image.get_array(), hill.get()[15].T)


def test_new_axes_say_what_is_drawn_and_what_its_colours_mean(hill, grid):
    u = pt.Field(grid, name="hill")
    u[...] = hill
    axes = plot.slice(u, axis=1, index=3)
    assert axes.get_title() == f"hill, y = {grid.coordinates()[1].flat[3]:.4g}"
    (bar,) = axes.child_axes
    assert bar.get_ylim() == pytest.approx((u[:, 3].min(), u[:, 3].max()))
    axes.figure.canvas.draw()
    assert bar.get_position().height == pytest.approx(axes.get_position().height, rel=0.02)
    given = axes.figure.add_subplot()
    assert plot.slice(u, ax=given).get_title() == ""
    assert not given.child_axes


def test_a_plane_is_shown_whole():
    values = np.arange(12.0).reshape(3, 4)
    (image,) = plot.slice(values).images
    np.testing.assert_array_equal(image.get_array(), values.T)


def test_a_line_is_shown_as_a_curve():
    grid = pt.Grid(8, origin=1, boundary="wall")
    u = pt.Field(grid, name="u")
    u[3] = 1
    axes = plot.slice(u, color="red")
    x, values = axes.lines[0].get_data()
    np.testing.assert_array_equal(x, grid.coordinates()[0])
    np.testing.assert_array_equal(values, u.get())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "u")
    assert axes.lines[0].get_color() == "red"


def test_orders_are_the_slopes_of_the_errors():
    points = [16, 32, 64]
    errors = {f"order {p}": [3.0 * n**-p for n in points] for p in (1, 2.5, 4)}
    axes = plot.convergence(points, errors)
    for line, values in zip(axes.lines, errors.values(), strict=False):
        np.testing.assert_array_equal(line.get_data(), [points, values])
    assert {text.get_text() for text in axes.texts} == {
        "order 1: 1.0",
        "order 2.5: 2.5",
        "order 4: 4.0",
    }
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["16", "32", "64"]


def test_dotted_lines_have_the_slopes_of_whole_orders():
    points = np.array([64, 16, 32])  # in any order
    errors = {"a": 2.0 * points**-1.9, "b": 5.0 * points**-2.1, "c": 1.0 * points**-4.2}
    axes = plot.convergence(points, errors)
    guides = [line for line in axes.lines if line.get_linestyle() == ":"]
    slopes = [np.polyfit(*np.log(line.get_data()), 1)[0] for line in guides]
    assert slopes == pytest.approx([-2, -4])


def test_one_series_of_errors_needs_no_name():
    (text,) = plot.convergence([10, 20], [0.4, 0.1]).texts
    assert text.get_text() == "error: 2.0"


def test_curves_are_told_apart_without_their_colours():
    twelve = plot.convergence([1, 2], {str(k): [2.0, 1.0 + k] for k in range(12)})
    lines = [line for line in twelve.lines if line.get_marker() != "None"]
    assert len({line.get_marker() for line in lines}) == 12
    assert len({line.get_color() for line in lines}) == 12
    ends = {tuple(line.get_xydata()[-1]) for line in lines}
    assert {tuple(text.xy) for text in twelve.texts} == ends  # a thin line leads there
    kernels_drawn = plot.kernel("M'4", "M'6", "L4_4", "L6_4").lines[0:8:2]
    assert len({line.get_linestyle() for line in kernels_drawn}) == 4
    work = dict.fromkeys("abc", (1.0, 1000000000.0))
    dots = plot.roofline(work, 1e9, 1e9).lines[1:]
    assert len({dot.get_marker() for dot in dots}) == 3


@pytest.mark.parametrize("spacing", [0.0, 1e-3, 0.5])
def test_labels_of_curves_do_not_overlap(spacing):
    names = [f"series {k}" for k in range(9)]
    errors = {name: [1.0, 1e-2 * (1 + spacing * k)] for k, name in enumerate(names)}
    axes = plot.convergence([8, 64], errors)
    axes.figure.canvas.draw()
    height = axes.get_window_extent().height
    heights = sorted(text.get_position()[1] * height for text in axes.texts)
    assert min(np.diff(heights)) >= axes.texts[0].get_fontsize() * axes.figure.dpi / 72
    assert heights[0] >= 0
    assert heights[-1] <= height + 1e-9


def test_labels_cover_no_mark():
    work = {"one": (13.0, 76e9), "two": (13.0, 71e9), "three": (41.0, 81e9), "four": (41.0, 107e9)}
    work = {f"{name}, with a long name": pair for name, pair in work.items()}
    axes = plot.roofline(work, 35e9, 222e9)
    axes.figure.canvas.draw()
    _, *dots = axes.lines
    marks = [axes.transData.transform((dot.get_xdata()[0], dot.get_ydata()[0])) for dot in dots]
    boxes = [Text.get_window_extent(text).padded(2) for text in axes.texts]  # without the lines
    assert not any(box.contains(*mark) for box in boxes for mark in marks)


def test_places_are_moved_apart_and_no_farther():
    assert spread(np.array([0.1, 0.5, 0.9]), 0.1) == pytest.approx([0.1, 0.5, 0.9])
    assert spread(np.array([0.5, 0.5]), 0.1) == pytest.approx([0.45, 0.55])
    assert spread(np.array([0.0, 0.01, 0.8]), 0.1) == pytest.approx([0.0, 0.1, 0.8])
    assert spread(np.array([1.0, 1.0, 1.0]), 0.25) == pytest.approx([0.5, 0.75, 1.0])


WHITE = (1, 1, 1, 1)


@pytest.mark.parametrize(
    "ends",
    [
        (-1, 1),
        (-1e-7, 1),
        (-0.1, 1.2),
        (0, 3),
        (1e-9, 1),
        (0.2, 1),
        (-5, -1e-3),
        (-3, 0),
        (0, 0),
        (7, 7),
    ],
)
def test_zero_is_white_and_the_rest_darker_the_farther_it_is(ends):
    (image,) = plot.slice(np.linspace(*ends, 16).reshape(4, 4)).images
    low, high = image.get_clim()
    assert low <= 0 <= high
    assert image.to_rgba(0.0) == pytest.approx(WHITE, abs=0.01)
    largest = max(-low, high)
    for sign in (s for s in (-1, 1) if low <= s * largest / 2 <= high):
        shades = [sum(image.to_rgba(sign * part * largest)[:3]) for part in (0.0, 0.25, 0.5)]
        assert shades == sorted(shades, reverse=True)
        red, _, blue, _ = image.to_rgba(sign * largest / 2)
        assert (red > blue) == (sign > 0)


def test_what_is_far_from_zero_or_has_colours_keeps_them():
    warm = np.linspace(290, 310, 16).reshape(4, 4)
    (image,) = plot.slice(warm).images
    assert image.get_clim() == (290, 310)
    assert image.get_cmap().name != "zero_white"
    (image,) = plot.slice(warm - 300, cmap="gray").images
    assert image.get_cmap().name == "gray"
    (image,) = plot.slice(warm - 300, vmin=-20).images
    assert image.get_clim() == (-20, 10)
    assert image.to_rgba(0.0) == pytest.approx(WHITE, abs=0.01)
    (image,) = plot.slice(np.full((3, 3), np.nan)).images
    assert image.get_cmap().name == "zero_white"


def test_a_colour_bar_is_pointed_where_values_lie_outside():
    values = np.linspace(-1, 1, 16).reshape(4, 4)
    for options, ends in {(): "neither", (0, 2): "min", (-1, 0.5): "max", (0, 0.5): "both"}.items():
        limits = dict(zip(("vmin", "vmax"), options, strict=False))
        (image,) = plot.slice(values, **limits).images
        assert image.colorbar.extend == ends


def test_kernels_lie_below_the_roof():
    work = {"push": (0.5, 4e9), "remesh": (8.0, 90e9)}
    axes = plot.roofline(work, bandwidth=10e9, peak=100e9)
    roof, *kernels_drawn = axes.lines
    for intensity, rate in zip(*roof.get_data(), strict=True):
        assert rate == pytest.approx(min(10 * intensity, 100))
    assert roof.get_xdata()[1] == pytest.approx(10)
    drawn = [(float(dot.get_xdata()[0]), float(dot.get_ydata()[0])) for dot in kernels_drawn]
    assert drawn == [(0.5, 4), (8, 90)]
    low, high = axes.get_xlim()
    assert low < 0.5
    assert high > 10
    assert {note.get_text() for note in axes.texts} == {
        "10 GB/s",
        "100 GFLOP/s",
        "push: 4 GFLOP/s",
        "remesh: 90 GFLOP/s",
    }


def test_bars_share_the_time():
    axes = plot.profile({"sweep": 3.0, "host": 1.0})
    assert [bar.get_width() for bar in axes.patches] == [75, 25]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["sweep", "host"]


def test_a_profile_is_drawn_by_kernel(device):
    with pt.profile(device) as profile:
        pt.Field(pt.Grid(100), device=device).sum()
    axes = plot.profile(profile)
    assert len(axes.patches) == len(profile.kernels) > 0
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(100)


def test_kernels_are_drawn_over_the_distance_from_a_node():
    own = kernels.custom("flat", [["1/2"]])
    axes = plot.kernel("M'4", own, "L6_4")
    curves = axes.lines[0:6:2]
    assert [line.get_label() for line in curves] == ["M'4", "flat", "L6_4"]
    for line, kernel in zip(curves, map(kernels.get, ["M'4", own, "L6_4"]), strict=True):
        x, values = line.get_data()
        np.testing.assert_allclose(values, kernel(x), rtol=0, atol=1e-15)
        assert (x[0], x[-1]) == (-kernel.half_width, kernel.half_width)
    nodes, values = axes.lines[5].get_data()
    assert dict(zip(nodes, values, strict=True)) == {k: float(k == 0) for k in range(-3, 4)}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["M'4", "flat", "L6_4"]
    assert axes.get_xlim() == (-4, 4)


def test_kernels_are_drawn_where_they_shall_be():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plot.kernel("M'8", ax=axes) is axes


def test_a_surface_needs_axes_of_three_dimensions(hill):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    with pytest.raises(TypeError, match='ax must be three-dimensional Axes, projection="3d", not'):
        plot.isosurface(hill, level=0.0, ax=axes)
    assert not axes.collections


def test_what_is_no_number_is_gray():
    values = np.eye(4)
    values[1, 2] = np.nan
    image = plot.slice(values).images[0]
    seen = image.cmap(image.norm(image.get_array()))
    gray = seen[2, 1]  # of row y, column x
    assert gray[0] == gray[1] == gray[2] == pytest.approx(0.5, abs=0.01)
    assert (np.delete(seen.reshape(16, 4), 9, 0)[:, 0] != gray[0]).all()


def test_several_fields_are_not_drawn_as_one():
    u = pt.Field(pt.Grid((4, 4)))
    with pytest.raises(TypeError, match=r"^field must be one Field, not 2 of them: draw each by"):
        plot.slice([u, u])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plot.isosurface(np.zeros((3, 3))), "field must have 3 dimensions, not 2"),
        (lambda: plot.slice(np.zeros((1,) * 4)), "field must have 1 to 3 dimensions, not 4"),
        (
            lambda: plot.slice(pt.Field(pt.Grid((3, 3)), components=2)),
            "field must have one component, not 2: take one with",
        ),
        (lambda: plot.kernel(), "kernel must be one or more kernels to draw, not none"),
        (lambda: plot.profile({}), "times must have a positive sum and none below zero, not 0"),
        (lambda: plot.convergence([1], [1]), "points must be two or more, not 1"),
        (lambda: plot.convergence([1, 2], {}), "errors must have a series, not none"),
        (
            lambda: plot.convergence([1, 0], [1, 1]),
            r"points must be positive numbers, not \[1, 0\]",
        ),
        (lambda: plot.convergence([1, 2], {"a": [1]}), "errors of 'a' must be 2, not 1"),
        (
            lambda: plot.convergence([1, 2], [1, np.nan]),
            "errors of 'error' must be finite, not nan",
        ),
        (lambda: plot.roofline({}, 0, 1), "bandwidth must be positive, not 0.0"),
        (lambda: plot.roofline({"a": (1, -1)}, 1, 1), "work of 'a' must be positive numbers, not"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_plane_must_exist():
    with pytest.raises(IndexError, match="index must be from -3 to 2, not 3"):
        plot.slice(np.zeros((3, 3, 3)), index=3)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("module", "package"), [("matplotlib", "matplotlib"), ("skimage", "scikit-image")]
)
def test_a_missing_package_is_named(module, package):
    output = child.check(
        """
        import sys
        sys.modules[sys.argv[1]] = None
        import numpy as np
        from particles import kernels, plot
        try:
            plot.isosurface(np.eye(3)[None].repeat(3, 0))
        except ImportError as error:
            print(error)
        """,
        module,
    )
    assert f"pictures need {package}: pip install {package}" in output


def test_importing_it_imports_no_matplotlib():
    child.check("import sys, particles.plot; assert 'matplotlib' not in sys.modules")


@pytest.mark.parametrize("view", [{}, {"elev": 25, "azim": 120}, {"elev": 60, "azim": 20}], ids=str)
def test_words_of_axes_that_meet_do_not_hide_each_other(monkeypatch, view):
    axes = plot.isosurface(np.pad(np.ones((2, 2, 2)), 3))
    axes.view_init(**view)
    assert words.assert_apart(axes.figure, monkeypatch) >= 9


@pytest.mark.sampled
@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot.slice(np.eye(5)),
        lambda: plot.volume(np.ones((4, 4, 4))),
        lambda: plot.kernel("M'4", "M'6"),
        lambda: plot.convergence([8, 16], {name: [1, 0.1] for name in "abcdef"}),
        lambda: plot.roofline({"a": (2, 5e10), "b": (2.1, 5e10)}, 4e10, 4e11),
        lambda: plot.profile({"sweep": 3.0, "host": 1.0}),
    ],
    ids=["slice", "volume", "kernel", "convergence", "roofline", "profile"],
)
def test_no_word_hides_another_or_is_cut(monkeypatch, draw):
    assert words.assert_apart(draw().figure, monkeypatch) >= 3
