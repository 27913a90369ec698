# SPDX-License-Identifier: BSD-3-Clause
"""Whatever stands for an argument, it is right or refused by name, and data stay as they are."""

import re
import warnings
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import particles as pt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from particles.base.checks import shown

from tests.trust.bad_inputs import CALLS
from tests.trust.bad_kinds import Raising
from tests.trust.bad_world import World, figures

SCALARS = [
    kind(value)
    for kind in (
        np.bool_,
        np.int8,
        np.uint8,
        np.int16,
        np.int64,
        np.float16,
        np.float32,
        np.float64,
    )
    for value in (0, 1)
] + [
    np.float32("nan"),
    np.longdouble(1),
    np.complex64(1),
    np.datetime64("2020-01-01"),
    np.timedelta64(1, "s"),
    np.str_("1"),
    np.bytes_(b"1"),
    np.void(b"1"),
]


class Held:
    """A value that can be shown, whatever it is."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return shown(self.value)


HOPELESS = st.one_of(
    st.builds(Raising),
    st.complex_numbers(),
    st.builds(timedelta),
    st.recursive(
        st.builds(lambda: [Raising()]), lambda inner: st.lists(inner, min_size=1, max_size=2)
    ),
    st.lists(st.complex_numbers(), min_size=1, max_size=3),
    st.sampled_from(
        [object, ..., NotImplemented, range(0), np.array([None, 1]), np.zeros(2, complex)]
    ),
)
STRANGE = st.one_of(
    HOPELESS,
    st.sampled_from(SCALARS),
    st.integers(min_value=2**70) | st.integers(max_value=-(2**70)),
    st.builds(lambda: 10**5000),
    st.sampled_from([float("nan"), float("inf"), -float("inf"), 5e-324]),
    st.text(max_size=4),
    st.binary(max_size=4),
    st.sampled_from(["\ud800", Decimal("NaN"), Decimal(1), Fraction(1, 3)]),
    st.lists(st.text(max_size=2) | st.none() | st.booleans(), max_size=4),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from([np.array(1.0), np.array([]), np.zeros((0, 3)), np.array(["a"]), np.ma.masked]),
)
PLACES = {f"{call.name}({name})": (call, name) for call in CALLS for name in call.wrong}
STARRED = ("Velocity.__call__(coordinates)", "Field.assign(fields)")
FAMILY = (TypeError, ValueError, LookupError, OSError)
NAMES = {
    "key": "ind(ex|ices)",
    "shown": "kernel",
    "until": "until|dt",
    "spacing": "spacing|extent",
    "value": "values?|outflow|fields?|name|time|viscosity",
    "attributes": "mass",  # the one that is given
    "numbers": "dt",
    "ParticleSet(positions)": "positions|mass",  # which may be for another number of particles
    "ParticleSet.random(n)": "n|mass",
    "ParticleSet.__setitem__(values)": "mass",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with figures(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield World(tmp_path_factory.mktemp("strange"))


def untold(world):
    """The fields that are not finite, of which no reader is warned."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wrong = [name for name, field in world.readable.items() if not np.isfinite(field).all()]
    warned = " ".join(str(w.message) for w in told if w.category is pt.NotFiniteWarning)
    return [name for name in wrong if f"field {name!r} is " not in warned]


@pytest.mark.sampled
@settings(
    max_examples=300,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(place=st.sampled_from(sorted(PLACES)), data=st.data())
def test_strange_arguments(place, data, world):
    call, name = PLACES[place]
    strange = data.draw((HOPELESS if call.is_slow else STRANGE).map(Held)).value
    if place in STARRED:
        strange = (strange, 0.5)
    arguments = call.arguments(world, **{name: strange})
    function = call.function(world)
    before = world.sum()
    try:
        function(**arguments)
    except FAMILY as error:
        says = name if isinstance(error, OSError) else str(error)  # which names the file
    else:
        if not call.name.startswith(("Field.", "Array.")):  # what is stored is what was asked for
            assert untold(world) == []
        world.restore()
        return
    finally:
        plt.close("all")
    assert re.search(rf"\b({NAMES.get(place, NAMES.get(name, name))})\b", says)
    assert world.sum() == before
