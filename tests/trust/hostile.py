# SPDX-License-Identifier: BSD-3-Clause
"""Objects that raise, lie about what they are, or have no end."""

import itertools
from collections.abc import Mapping, Sequence
from unittest.mock import Mock

import matplotlib.axes
import numpy as np
import particles as pt


class Own(Exception):
    """What such an object raises."""


def fails(*_, **__):
    raise Own("of the object")


def lies(*_, **__):
    return object()


def claiming(kind):
    """Return an object that claims a class and has nothing of it."""
    return type(f"Claims{kind.__name__}", (), {"__class__": property(lambda _: kind)})()


ASKED = [
    f"__{name}__" for name in ("array", "index", "len", "iter", "eq", "bool", "float", "fspath")
]
ASKED += [f"__{name}__" for name in ("repr", "getattr", "getitem", "call", "dlpack", "contains")]
CLASSES = [pt.Field, pt.Grid, pt.Velocity, pt.VelocitySeries, pt.AdvectionOp, pt.RemeshOp]
CLASSES += [pt.SourceOp, pt.Splitting, pt.Unsplit, pt.Form, pt.Device, pt.kernels.RemeshingKernel]
CLASSES += [str, bytes, int, float, bool, list, tuple, dict, slice, type(None), np.ndarray]
CLASSES += [np.float64, matplotlib.axes.Axes]


class Text(str):
    __slots__ = ()
    __eq__ = __len__ = __iter__ = strip = encode = lower = fails
    __str__ = __repr__ = lies
    __hash__ = str.__hash__


class Integer(int):
    __index__ = __float__ = __eq__ = __lt__ = __add__ = __mul__ = fails
    __hash__ = int.__hash__


class Float(float):
    __float__ = __repr__ = lies
    __lt__ = __add__ = __mul__ = fails


class List(list):
    __iter__ = lambda _: itertools.count()
    __len__ = lambda _: 10**18


class Tuple(tuple):
    __slots__ = ()
    __iter__ = lambda _: itertools.count()
    __len__ = lambda _: 10**18


class Dict(dict):
    items = keys = __iter__ = fails
    __len__ = lambda _: 5


class Array(np.ndarray):
    __getitem__ = __iter__ = fails


class Endless(Sequence):
    """A sequence of the same, again and again, whatever its length."""

    def __init__(self, entry, length=2):
        self._entry, self._length = entry, length

    def __len__(self):
        return self._length

    def __getitem__(self, _):
        return self._entry

    def __iter__(self):
        return itertools.repeat(self._entry)


class EndlessMapping(Mapping):
    __len__ = lambda _: 1
    __iter__ = lambda _: itertools.count()
    __getitem__ = lambda *_: [1.0, 2.0]


HOSTILE = {
    "endless numbers": Endless(1.0),
    "endless texts": Endless("1"),
    "numbers of a length that lies": Endless(1.0, 10**18),
    "numbers of a length below zero": Endless(1.0, -1),
    "endless numbers within a list": [Endless(1.0)],
    "an endless mapping": EndlessMapping(),
    **{f"fails at {name}": type("Fails", (), {name: fails})() for name in ASKED},
    **{f"lies at {name}": type("Lies", (), {name: lies})() for name in ASKED},
    **{f"claims {kind.__name__}": claiming(kind) for kind in CLASSES},
    "fails to tell its class": type("Fails", (), {"__class__": property(fails)})(),
    "a mock of a field": Mock(spec=pt.Field),
    "a text": Text("u"),
    "an integer": Integer(1),
    "a float": Float(1.0),
    "a list": List([1.0]),
    "a tuple": Tuple((1.0,)),
    "a dict": Dict(u=1),
    "an array": np.zeros(2).view(Array),
    "a count": itertools.count(),
    "a long range": range(10**18),
    "a text with a null": "a\0b",
    "a lone surrogate": "\ud800",
    "a text of formats": "{a}{%s%d$x^2^3$\\frac{\n",
    "a deep text": "(" * 3000,
    "a long path": "a/" * 3000,
    "the bytes of a path": b"/tmp/x",
    "a loop of links": "loop",
    "a device": "/dev/zero",
}
