# SPDX-License-Identifier: BSD-3-Clause
"""What an object was made of cannot be replaced by something else."""

import re

import numpy as np
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
            with pytest.raises(
                AttributeError, match=f"^{name} of an? {type(thing).__name__} cannot"
            ):
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
        with pytest.raises(AttributeError, match=rf"^an? {type(thing).__name__} has no quux$"):
            thing.quux = 7
        assert [*vars(thing)] == before


def test_a_slip_is_told_what_is_meant():
    diffusion = pt.Diffusion(pt.Field(GRID), viscosity=0.1)
    with pytest.raises(
        AttributeError, match=r"^a Diffusion has no viscosty; is viscosity meant\?$"
    ):
        diffusion.viscosty = 3.0


def test_an_attribute_that_is_not_there_is_told_what_to_use(tmp_path):
    """Whatever an array of NumPy has, and what libraries call values and coordinates."""
    u, series = pt.Field(GRID), pt.io.Series(tmp_path / "u.h5")
    for name in dir(np.ndarray):
        if not name.startswith("_") and not hasattr(u, name):
            with pytest.raises(AttributeError, match=rf"use np\.asarray\(field\)\.{name}$"):
                getattr(u, name)
            assert hasattr(np.asarray(u), name)
    for thing, name, words in (
        (u, "values", "a Field has no values: use np.asarray(field)"),
        (u, "isel", "a Field has no isel: use field.to_xarray().isel"),
        (u, "component_", "a Field has no component_; is component meant?"),
        (u.grid, "dx", "a Grid has no dx: use spacing"),
        (u.grid, "x", "a Grid has no x: use coordinates()"),
        (series, "read", "a Series has no read: use load(-1), or to_xarray()"),
        (series, "tmies", "a Series has no tmies; is times meant?"),
        (
            pt.ParticleSet(u.grid, [[0.5] * u.grid.ndim]),
            "names",
            "a ParticleSet has no names: use swarm",
        ),
        (u, "_quux", "'Field' object has no attribute '_quux'"),
    ):
        with pytest.raises(AttributeError, match=f"^{re.escape(words)}"):
            getattr(thing, name)
        assert not hasattr(thing, name)
    with pytest.raises(AttributeError) as refusal:
        u.maxx  # noqa: B018
    assert refusal.value.obj is None  # or Python would guess as well


def test_what_a_property_raises_is_not_taken_for_its_absence():
    class Broken(pt.Field):
        @property
        def salt(self):
            return self.grid.quux

    with pytest.raises(AttributeError, match=r"^a Grid has no quux$"):
        Broken(GRID).salt  # noqa: B018


def test_a_series_is_read_by_load_alone(tmp_path):
    series = pt.io.Series(tmp_path / "u.h5")
    series.append(0.0, pt.Field(GRID, name="u"))
    for use in (
        lambda: series[0],
        lambda: list(series),
        lambda: 0.0 in series,
        lambda: next(reversed(series)),
    ):
        with pytest.raises(TypeError, match=r"^a Series is read .* series\.load\(-1\); .*times"):
            use()


def test_classes_of_users_have_attributes_of_their_own():
    class Salt(pt.Field):
        def __init__(self, grid):
            super().__init__(grid)
            self.unit = "g/kg"

    assert Salt(GRID).unit == "g/kg"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: pt.Grid(8, 8),
            "Grid takes by position only shape, not 8, 8: is Grid((8, 8)) meant?",
        ),
        (
            lambda: pt.Diffusion(pt.Field(GRID), 1.0, 2.0),
            "Diffusion takes by position only fields, viscosity, not 3 arguments; by name it takes inflow",
        ),
        (lambda: pt.Grid((8, 8), extend=2), "Grid takes no extend; is extent meant?"),
        (
            lambda: pt.VelocitySeries([], [], unit=1),
            "VelocitySeries takes no unit, but fields, times",
        ),
        (
            lambda: pt.VelocitySeries([], [], 1),
            "VelocitySeries takes by position only fields, times, not 3 arguments",
        ),
        (lambda: pt.Field(GRID, grid=GRID), "Field is given grid twice, by position and by name"),
        (
            lambda: pt.SourceOp(pt.Field(GRID), lambda u, rate: -rate * u, rate=2.0),
            "SourceOp is given rate twice, by position and by name; a parameter needs another name",
        ),
        (lambda: pt.VelocitySeries(), "VelocitySeries needs fields and times"),
        (lambda: pt.ParticleSet(GRID, tag=[1]), "ParticleSet needs positions"),
    ],
)
def test_arguments_that_nothing_is_made_of_are_told(make, words):
    with pytest.raises(TypeError, match=f"^{re.escape(words)}$"):
        make()


def test_what_goes_wrong_later_is_told_as_it_is():
    class Broken(pt.Field):
        def __init__(self, grid):
            super().__init__(grid)
            len(3)

    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        Broken(GRID)
