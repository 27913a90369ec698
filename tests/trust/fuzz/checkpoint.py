# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: restored whole, or refused with nothing changed."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import particles as pt
from particles.io.checkpoints import _MAGIC, _MAGIC_1, _MAGIC_2

from tests.support.sealed import sealed
from tests.trust.fuzz.choices import Choices


@cache
def world():
    """Two transports that are made alike, and the path of a file."""
    grid = pt.Grid(4, boundary="outflow")
    folder = tempfile.TemporaryDirectory()
    return made(grid), made(grid), Path(folder.name, "file"), folder


def made(grid):
    wind, u = pt.Field(grid), pt.Field(grid)
    wind[...], u[...] = [0.25, 0.5, 0.5, 0.25], [1, 2, 3, 4]
    operators = pt.AdvectionOp(wind, form="private"), pt.RemeshOp(u, form="private")
    return pt.Splitting(*operators)


def run(data):
    transport, _, path, _ = world()
    choose = Choices(data)
    magic = (b"", _MAGIC_1, _MAGIC_2, _MAGIC)[choose.below(4)]
    content = magic + choose.rest()
    if magic:
        content = sealed(content)
    path.write_bytes(content)
    before = state(transport)
    try:
        pt.io.restore(path, transport)
    except ValueError as error:
        assert 0 < len(str(error)) < 3000  # noqa: PT017
        assert same(state(transport), before)
        return
    _header, _, values = content[len(_MAGIC) : -32].partition(b"\n")
    assert values == b"".join(one.get().tobytes() for one in fields(transport))
    assert np.isfinite(transport.outflow).all()
    assert np.isfinite(transport.time)
    assert transport.last_dt is None or transport.last_dt > 0
    pt.io.restore(original(), transport)
    assert same(state(transport), state(world()[1]))


@cache
def original():
    """The path of a checkpoint of the second transport, which nobody changes."""
    path = world()[2].with_name("original")
    pt.io.checkpoint(path, world()[1])
    return path


def fields(transport):
    return transport.remesh.fields + transport.advection.fields


def state(transport):
    values = [one.get().tobytes() for one in fields(transport)]
    return values, transport.time, transport.last_dt, transport.outflow.tobytes()


def same(one, other):
    return repr(one) == repr(other)
