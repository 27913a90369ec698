# SPDX-License-Identifier: BSD-3-Clause
"""What an object was made of cannot be replaced by something else."""

import particles as pt
import pytest

GRID = pt.Grid((8, 8))


def made(folder):
    u, flow = pt.Field(GRID, name="u"), pt.Field(GRID, 2)
    wind = pt.Velocity(GRID, ["1", "0"])
    push, remesh = pt.AdvectionOp(wind), pt.RemeshOp(u)
    return [
        *(u, flow.component(0), wind, push, remesh),
        pt.VelocitySeries([flow, flow.copy()], [0, 1]),
        pt.SourceOp(u, "-u"),
        pt.Positions(u, 0),
        pt.Splitting(push, remesh),
        pt.Unsplit(push, remesh),
        pt.io.Series(folder / "u.h5"),
    ]


def test_attributes_stay(tmp_path):
    for thing in made(tmp_path):
        changing = {*thing._changing}
        names = [name for name in vars(thing) if not name.startswith("_") and name not in changing]
        assert names
        for name in names:
            before = getattr(thing, name)
            with pytest.raises(AttributeError, match=f"^{name} of a {type(thing).__name__} cannot"):
                setattr(thing, name, 7)
            assert getattr(thing, name) is before


def test_names_may_change():
    u = pt.Field(GRID)
    u.name = "salt"
    assert repr(u).startswith("Field('salt', ")
    u.name = None
    assert repr(u).startswith("Field((8, 8)")
