# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks show of grids, fields and what carries them."""

import base64
import io
import re
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import particles as pt
import pytest
from particles.plot import thumbnail

from tests.support import child

pytestmark = pytest.mark.one_device


def cells(html):
    """Return the texts of each row of the tables, in their order."""
    root = ElementTree.fromstring(f"<html>{html}</html>")
    return ["|".join("".join(cell.itertext()) for cell in row) for row in root.iter("tr")]


def well_formed(html):
    """Return HTML as XML, in which an image is closed."""
    return re.sub(r"(<img [^>]*)>", r"\1/>", html)


def transport_of(u, order=2, **options):
    formulas = ["0", "1", "x"][: u.grid.ndim]
    advection = pt.AdvectionOp(pt.Velocity(u.grid, formulas))
    return pt.Splitting(advection, pt.RemeshOp(u), order, **options)


def test_a_grid_is_a_table_of_its_axes():
    grid = pt.Grid((4, 8), extent=(1, 4), boundary=["periodic", ("wall", "outflow")])
    assert cells(grid._repr_html_()) == [
        "axis|points|from, to|spacing|boundary",
        "x|4|0 to 1|0.25|periodic",
        "y|8|0 to 4|0.5|wall, outflow",
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("shape", [7, (300, 5), (3, 400, 2)])
@pytest.mark.parametrize("components", [1, 2])
def test_a_field_is_a_table_and_a_picture(shape, components):
    u = pt.Field(pt.Grid(shape), components, name="<u>")
    html = well_formed(u._repr_html_())
    facts = dict(row.split("|") for row in cells(html))
    assert facts["components"] == str(components)
    assert facts["dtype"] == "float32"
    assert facts["device"] == u.device.name
    assert "Field &lt;u&gt;" in html
    picture = re.search(r"base64,([^\"]*)", html)[1]
    assert matplotlib.image.imread(io.BytesIO(base64.b64decode(picture))).shape == (208, 272, 4)


def test_of_a_large_field_little_leaves_the_device(monkeypatch):
    u = pt.Field(pt.Grid((1000, 3, 200)), components=3)
    u[1, 8 * 50] = 5
    moved = []
    monkeypatch.setattr(pt.Field, "get", lambda self: pytest.fail("the whole field was copied"))
    read = pt.Field._read
    monkeypatch.setattr(
        pt.Field, "_read", lambda self, box, host: (moved.append(host.size), read(self, box, host))
    )
    values = thumbnail._sampled(u)
    assert values.shape == (3, 125, 3)
    assert moved == [3 * 125 * 3]
    assert values[1, 50].tolist() == [5, 5, 5]
    assert values.sum() == 15


def test_a_picture_of_values_that_are_no_numbers():
    u = pt.Field(pt.Grid((5, 5)), dtype="float16")
    u[2] = np.nan
    u[3] = np.inf
    assert "<img" in u._repr_html_()


def test_a_field_that_cannot_be_read_still_has_its_table(monkeypatch):
    u = pt.Field(pt.Grid(5))

    def fail(*arguments):
        raise pt.DeviceError("the device is gone")

    monkeypatch.setattr(pt.Field, "_read", fail)
    assert "<img" not in u._repr_html_()
    assert "components|1" in cells(u._repr_html_())


def test_a_splitting_is_a_table_of_its_schedule():
    u = pt.Field(pt.Grid((4, 4, 4)), name="u")
    transport = transport_of(u)
    transport.step(0.125)
    html = transport._repr_html_()
    rows = cells(html)
    assert "time|0.125 after 1 steps" in rows
    assert f"carried|{u!r}" in rows
    assert "kernel|M'6" in rows
    stages = [f"{'xyz'[s.axis]}|{s.begin:g}|{s.begin + s.length:g}|" for s in transport.schedule]
    assert rows[-5:] == [f"{number}|{stage}" for number, stage in enumerate(stages, 1)]
    bars = re.findall(r"left:([\d.]+)%;width:([\d.]+)%", html)
    assert [(float(left) / 100, float(width) / 100) for left, width in bars] == [
        (s.begin, s.length) for s in transport.schedule
    ]


def test_steps_back_and_sources_are_seen():
    u = pt.Field(pt.Grid((4, 4)), name="u")
    transport = transport_of(u, 4, source=pt.SourceOp(u, lambda u, x, y: -u))
    html = transport._repr_html_()
    backwards = sum(stage.length < 0 for stage in transport.schedule)
    assert 0 < backwards == html.count("#e08e45")
    assert sum("|source|" in row for row in cells(html)) == sum(
        stage.axis is None for stage in transport.schedule
    )


def test_a_velocity_that_is_no_number_is_shown():
    grid = pt.Grid((4, 4))
    velocity = pt.Field(grid, components=2)
    transport = pt.Splitting(pt.AdvectionOp(velocity), pt.RemeshOp(pt.Field(grid)))
    velocity[0, 1] = np.nan
    assert "sweeps unknown" in repr(transport)
    assert "kernel|M'6" in cells(transport._repr_html_())


def test_unsplit_has_no_schedule():
    u = pt.Field(pt.Grid((4, 4)))
    transport = pt.Unsplit(pt.AdvectionOp(pt.Velocity(u.grid, ["0", "1"])), pt.RemeshOp(u))
    assert cells(transport._repr_html_())[0] == "time|0 after 0 steps"
    assert "part of the step" not in transport._repr_html_()


def test_without_matplotlib_there_is_no_picture():
    output = child.check(
        """
        import sys
        sys.modules["matplotlib"] = None
        import particles as pt
        print(pt.Field(pt.Grid(3))._repr_html_())
        """
    )
    assert "components" in output
    assert "<img" not in output
