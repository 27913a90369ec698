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
        pt.Diffusion(u, 0.1),
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


def test_no_attribute_is_added(tmp_path):
    for thing in made(tmp_path):
        before = [*vars(thing)]
        with pytest.raises(AttributeError, match=rf"^a {type(thing).__name__} has no quux$"):
            thing.quux = 7
        assert [*vars(thing)] == before


def test_a_slip_is_told_what_is_meant():
    diffusion = pt.Diffusion(pt.Field(GRID), viscosity=0.1)
    with pytest.raises(
        AttributeError, match=r"^a Diffusion has no viscosty; is viscosity meant\?$"
    ):
        diffusion.viscosty = 3.0


def test_classes_of_users_have_attributes_of_their_own():
    class Salt(pt.Field):
        def __init__(self, grid):
            super().__init__(grid)
            self.unit = "g/kg"

    assert Salt(GRID).unit == "g/kg"
