# SPDX-License-Identifier: BSD-3-Clause
"""Objects that raise, lie or have no end are refused by name, or what they raise is told."""

import re
from contextlib import suppress
from pathlib import Path

import matplotlib.pyplot as plt
import particles as pt
import pytest

from tests.support import lot
from tests.trust.bad_inputs import CALLS
from tests.trust.bad_world import World, figures
from tests.trust.hostile import HOSTILE, Own
from tests.trust.test_strange_inputs import FAMILY, NAMES, STARRED

TRIED = len(HOSTILE) // 6
"""Of these objects each argument is given so many, which are drawn."""

pytestmark = [pytest.mark.one_device, pytest.mark.filterwarnings("ignore")]
GROUPS = sorted({call.name.partition(".")[0].partition(" ")[0] for call in CALLS})


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with figures(), pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        Path("loop").symlink_to("loop")
        yield World(tmp_path_factory.mktemp("hostile"))


def wrong_end(world, call, name, value):
    """Return what a call ended with if that is not as it should be, None otherwise."""
    place = f"{call.name}({name})"
    given = (value, 0.5) if place in STARRED else value
    try:
        call.function(world)(**call.arguments(world, **{name: given}))
    except (Own, pt.NotFiniteError):
        return None
    except FAMILY as error:
        is_of_file = isinstance(error, OSError) or (
            name == "path" and issubclass(type(value), str) and str.__str__(value) in str(error)
        )
        says = name if is_of_file else str(error)
        is_told = re.search(rf"\b({NAMES.get(place, NAMES.get(name, name))})\b", says)
        return None if is_told and not isinstance(error, UnicodeError) else repr(error)
    except Exception as error:  # noqa: BLE001
        return repr(error)
    finally:
        plt.close("all")
        for stepper in world.steppers:
            stepper.time = 0.0
        world.u.name = "u"
    return None


@pytest.mark.sampled
@pytest.mark.parametrize("group", GROUPS)
def test_hostile_objects_are_refused_by_name(group, world):
    found = {
        f"{call.name}({name}) of what {what}": wrong_end(world, call, name, value)
        for call in CALLS
        if call.name.partition(".")[0].partition(" ")[0] == group and not call.is_slow
        for name in call.wrong
        for what, value in lot.some(HOSTILE.items(), TRIED, f"{call.name}({name})")
    }
    assert {place: end for place, end in found.items() if end is not None} == {}


def test_what_formulas_make_of_hostile_objects_is_told():
    for value in HOSTILE.values():
        for use in (lambda x, value=value: value, lambda x, value=value: x + value):
            with suppress(Own, TypeError, ValueError):
                pt.Velocity(pt.Grid(4), use)
