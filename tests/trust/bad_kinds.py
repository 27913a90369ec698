# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of arguments, each with values that are wrong for it and the words that refuse them."""

from collections.abc import Callable
from datetime import datetime, timezone
from typing import NamedTuple

import numpy as np
from particles.base.checks import shown

NAN, INF = float("nan"), float("inf")
HUGE = 10**400


class Of(NamedTuple):
    """A value that is made of the objects at hand."""

    make: Callable


class Wrong(NamedTuple):
    """A value that is refused.

    The words follow the argument's name, unless that is within them or they begin with "="; {} is
    what came.
    """

    what: str
    value: object
    error: type[Exception]
    words: str

    def given(self, world):
        return self.value.make(world) if isinstance(self.value, Of) else self.value

    def template(self, name):
        """Return the words in which {} stands for what came."""
        if self.words.startswith("="):
            return self.words[1:]
        words = self.words if "{name}" in self.words else "{name} " + self.words
        return words.replace("{name}", name)

    def refusal(self, name, value):
        return self.template(name).replace("{}", shown(value))


class Kind(NamedTuple):
    """A kind of argument, and what is wrong for it."""

    name: str
    wrong: tuple[Wrong, ...]

    def but(self, *whats):
        """The same kind, for which some values are right."""
        assert set(whats) <= {wrong.what for wrong in self.wrong}
        return Kind(self.name, tuple(wrong for wrong in self.wrong if wrong.what not in whats))

    def also(self, *wrong):
        return Kind(self.name, self.wrong + wrong)


class Raising:
    """An object that fails in every way in which it may be asked what it is."""

    def _fail(self, *_, **__):
        raise RuntimeError("not this one")

    __len__ = __array__ = __index__ = __float__ = __iter__ = __getitem__ = __eq__ = __bool__ = _fail
    __fspath__ = __repr__ = _fail
    __hash__ = object.__hash__


STRANGERS = {
    "None": None,
    "a text": "1.5",
    "bytes": b"1",
    "a truth value": True,
    "a complex number": 1j,
    "NumPy's complex number": np.complex64(1),
    "a date": np.datetime64("2020-01-01"),
    "a list": [1.0],
    "an array": np.array([1.0, 2.0]),
    "a dict": {"a": 1},
    "a class": int,
    "an object": object(),
    "an object that raises": Raising(),
}


def _refused(error, words, *without, **more):
    values = {what: value for what, value in STRANGERS.items() if what not in without} | more
    return tuple(Wrong(what, value, error, words) for what, value in values.items())


def kind(name, error, words, *without):
    """A kind that refuses strangers with the same words."""
    return Kind(name, _refused(error, words, *without))


REAL = kind("a number", TypeError, "must be a number, not {}").also(
    Wrong("an array of one number", np.array([1.0]), TypeError, "must be a number, not {}"),
    Wrong("beyond all numbers", HUGE, TypeError, "must be a number, not {}"),
    Wrong("NaN", NAN, ValueError, "must be finite, not nan"),
    Wrong("infinity", INF, ValueError, "must be finite, not inf"),
    Wrong("minus infinity", -INF, ValueError, "must be finite, not -inf"),
    Wrong("NumPy's NaN", np.float32(NAN), ValueError, "must be finite, not nan"),
)
POSITIVE = Kind("a positive number", REAL.wrong).also(
    Wrong("zero", 0, ValueError, "must be positive, not 0.0"),
    Wrong("minus zero", -0.0, ValueError, "must be positive, not -0.0"),
    Wrong("negative", -0.5, ValueError, "must be positive, not {}"),
)
BOUND = REAL.but("None", "NaN", "NumPy's NaN", "infinity", "minus infinity").also(
    Wrong("NaN", NAN, ValueError, "must be a number or None, not nan"),
)


def integer(least, most=None):
    words = "must be an integer, not {}"
    below = Wrong("too small", least - 1, ValueError, f"must be at least {least}, not {{}}")
    result = kind("an integer", TypeError, words).also(
        Wrong("1.0", 1.0, TypeError, words), Wrong("NaN", NAN, TypeError, words), below
    )
    if most is None:
        return result
    above = f"must be at most {most}, not {{}}"
    return result.also(
        Wrong("too large", most + 1, ValueError, above),
        Wrong("beyond 64 bits", HUGE, ValueError, above),
    )


def one_of_integers(words):
    return kind("one of some integers", TypeError, "must be an integer, not {}").also(
        *(Wrong(str(value), value, ValueError, words) for value in (0, 3, -1, 10**30))
    )


def index(length):
    words = f"must be from {-length} to {length - 1}, not {{}}"
    return kind("an index", TypeError, "must be an integer, not {}").also(
        Wrong("a fraction", 0.5, TypeError, "must be an integer, not {}"),
        Wrong("one too large", length, IndexError, words),
        Wrong("one too small", -length - 1, IndexError, words),
        Wrong("beyond 64 bits", HUGE, IndexError, words),
    )


FLAG = kind("True or False", TypeError, "must be True or False, not {}", "a truth value").also(
    Wrong("1", 1, TypeError, "must be True or False, not 1"),
    Wrong("NumPy's truth value", np.True_, TypeError, "must be True or False, not {}"),
)
OPTIONAL_FLAG = FLAG.but("None")


def a(what):
    """An object of a class of ours."""
    return kind(what, TypeError, f"must be {what}, not {{}}")


def choice(*names, end="must be one of {names}, not {}"):
    return kind("a name", ValueError, end.replace("{names}", ", ".join(names))).also(
        *(
            Wrong(what, value, ValueError, end.replace("{names}", ", ".join(names)))
            for what, value in (("in capitals", names[-1].upper()), ("empty", ""))
        )
    )


def dtype(known="float16, float32 or float64"):
    words = f"must be {known}, not {{}}"
    values = {
        "an integer's": "int32",
        "byte-swapped": ">f4",
        "complex": np.complex64,
        "no name": "x",
    }
    several = {"a structure": [("a", "f4")], "a pair": "f4,f4", "a number": 4}
    return kind("a dtype", TypeError, words).also(
        *(Wrong(what, value, TypeError, words) for what, value in (values | several).items())
    )


_NO_DEVICE = "must be a Device, an index, a part of a name or None, not "
DEVICES = kind(
    "devices", TypeError, "must be a sequence of devices, not {}", "None", "a list", "an array"
).also(
    Wrong("no device", [], ValueError, "must name at least one device, not []"),
    Wrong("no list", 0, TypeError, "must be a sequence of devices, not 0: [0] for one"),
    Wrong("no device among them", [None], TypeError, "must be a sequence of devices, not [None]"),
    Wrong("an array", np.ones(2), TypeError, "must be a Device, an index, a part"),
    Wrong("unknown", ["no such"], ValueError, "'no such' is none of the devices"),
    Wrong("one twice", [0, 0], ValueError, "must each be given once, not"),
)
_COMM = 'must be "world", "self", an intracommunicator of mpi4py or None, not {}'
COMM = kind("a communicator", TypeError, _COMM, "None", "a text").also(
    Wrong("unknown", "earth", ValueError, 'must be "world", "self", a communicator or None, not'),
)
CUTS = kind(
    "cuts", TypeError, "must be a number for each axis, not {}", "None", "a list", "an array"
)
_UNDIVIDED = "must be None on a grid that is not divided (comm, devices), not {}"
CUTS = CUTS.also(Wrong("without comm", (1, 1), ValueError, _UNDIVIDED))
DEVICE = Kind(
    "a device",
    tuple(
        Wrong(what, value, TypeError, _NO_DEVICE + type(value).__name__)
        for what, value in (STRANGERS | {"a number": 1.5}).items()
        if what not in ("None", "a text")
    )
    + tuple(
        Wrong(what, value, ValueError, "{} is none of the devices")
        for what, value in (
            ("too large", 99),
            ("negative", -1),
            ("no name", "no such"),
            ("empty", ""),
        )
    ),
)
FORM = kind(
    "a form",
    ValueError,
    "must be a Form, one of lanes, private, local, global, registers, team or None, not {}",
    "None",
).also(Wrong("in capitals", "LANES", ValueError, "must be a Form, one of lanes, private"))
NAME = kind("a text", TypeError, "must be a string or None, not {}", "None", "a text").also(
    Wrong("no Unicode", "\ud800", ValueError, "must be text that UTF-8 can encode, not {}")
)
RENAMED = Kind(NAME.name, tuple(w._replace(words=f"=name {w.words}") for w in NAME.wrong))
PATH = kind("a path", TypeError, "must be a text or a path, not {}", "a text").also(
    Wrong("empty", "", ValueError, "must name a file, not be ''"),
    Wrong("with a zero", "a\0b", ValueError, "must name a file, not be {}"),
)
_UNKNOWN = """must be "M'4", "M'6", "M'8", "L1", "nearest", or "Lp_q" with p even"""
LIMITER = choice("positive", "monotone", end="must be one of {names} or None, not {}").but("None")
KERNEL = kind("a kernel", TypeError, "must be a name or a RemeshingKernel, not {}", "a text").also(
    *(
        Wrong(f"named {name!r}", name, ValueError, _UNKNOWN)
        for name in ("", "M6", "m'6", "1.5", "L4_2 ", "L-2_2", "L2.5_2")
    ),
    Wrong("of odd p", "L3_1", ValueError, "{name} {} must have an even p of at least 2, not 3"),
    Wrong("of p = 0", "L0_0", ValueError, "{name} {} must have an even p of at least 2, not 0"),
    Wrong("too rough", "L6_2", ValueError, "{name} {} must have 2 q + 1 >= p: with p = 6 q must"),
    Wrong("too large", "L22_22", ValueError, "{name} {} must have p and q of at most 20, not 22"),
    Wrong("far too large", f"L{HUGE}_{HUGE}", ValueError, "=kernel 'L1000"),
)


FIELD = a("a Field")
FIELDS = kind(
    "fields", TypeError, "must be a Field or a sequence of them, not {}", "a text", "a list"
)
FIELDS = FIELDS.but("bytes").also(
    Wrong("none", [], TypeError, "must be a Field or a sequence of them, not []"),
    Wrong(
        "a number among them", [1.0], TypeError, "must be a Field or a sequence of them, not 1.0 in"
    ),
    Wrong("on two grids", Of(lambda w: [w.u, w.elsewhere]), ValueError, "must be on one grid, not"),
    Wrong("of two dtypes", Of(lambda w: [w.u, w.double]), TypeError, "must have one dtype, not"),
    Wrong(
        "on two devices", Of(lambda w: [w.u, w.foreign]), ValueError, "must be on one device, not"
    ),
    Wrong("one twice", Of(lambda w: [w.u, w.u]), ValueError, "must each have memory of their own"),
    Wrong(
        "overlapping",
        Of(lambda w: [w.velocity, w.velocity.component(1)]),
        ValueError,
        "must each have memory of their own, but two of them overlap",
    ),
)
_FIELDS = "must be a Field, or a dict of Fields by name such as {'u': u}"
NAMED_FIELDS = kind("fields of a file", TypeError, _FIELDS, "a dict")
NAMED_FIELDS = NAMED_FIELDS.also(
    Wrong("no field", {}, TypeError, f"{_FIELDS}, not {{}}"),
    Wrong("a number by name", {"a": 1}, TypeError, _FIELDS),
    *(
        Wrong(
            what,
            Of(lambda w, name=name: {name: w.u}),
            ValueError,
            "must have names that can be stored",
        )
        for what, name in (
            ("under a number", 1),
            ("under a path", "a/b"),
            ("under no name", ""),
            ("under dots", ".."),
            ("under a line", "a\nb"),
        )
    ),
    Wrong("named time", Of(lambda w: {"time": w.u}), ValueError, "must not be named contents"),
    Wrong("on two grids", Of(lambda w: {"a": w.u, "b": w.elsewhere}), ValueError, "must be on one"),
)
_NAMED = "must be a Field, a ParticleSet, or a dict of them by name such as {'u': u}"
FIELDS_AND_SETS = kind("fields and sets of a file", TypeError, _NAMED, "a dict").also(
    *(
        wrong._replace(words=wrong.words.replace(_FIELDS, _NAMED))
        for wrong in NAMED_FIELDS.wrong
        if wrong.what not in {one.what for one in kind("", TypeError, "", "a dict").wrong}
    )
)
VALUES = Kind(
    "values",
    tuple(
        Wrong(what, value, TypeError, "must be real numbers")
        for what, value in {
            **STRANGERS,
            "a ragged list": [[1.0], [1.0, 2.0]],
            "texts": np.array(["1"]),
            "objects": np.array([1.0, None]),
            "beyond all numbers": HUGE,
            "a day": datetime(2020, 1, 1, tzinfo=timezone.utc),
            "complex numbers": np.ones((4, 6), complex),
        }.items()
        if what not in ("a truth value", "a list", "an array")
    ),
)
