# SPDX-License-Identifier: BSD-3-Clause
"""The number that says in which order tests run and what they draw; ``PARTICLES_SEED`` sets it.

Without it, it is the same for everyone: whoever runs the tests asks whether all is well on a machine, and
what they draw has been seen to pass. With ``new`` it is a new one, to look for what nobody has seen,
as continuous integration does. With 0 tests run in the order in which they are written.
``PARTICLES_SHARE`` says which share of the tests is drawn; without it, a quarter of the long tests.
"""

import math
import os
import random
import secrets
import sys
from collections import defaultdict
from fractions import Fraction


def as_number(given):
    """Return the number that a text tells, or end with a line that says what is wrong with it."""
    if given == "new":
        return 1 + secrets.randbelow(999_999)
    if not (given.isascii() and given.isdigit()):
        sys.exit(f'PARTICLES_SEED must be a whole number, such as 123456, or "new", not {given!r}')
    return int(given)


def as_share(given):
    """Return the share that a text tells, or end in the same way."""
    try:
        share = Fraction(given)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        sys.exit(f"PARTICLES_SHARE must be a number up to 1, such as 1/6, not {given!r}")
    return share


NUMBER = as_number(os.environ.get("PARTICLES_SEED", "1"))
os.environ["PARTICLES_SEED"] = str(NUMBER)  # where workers and other child processes find it


def given_share():
    """Return the share that is asked for, if any."""
    given = os.environ.get("PARTICLES_SHARE")
    return as_share(given) if given else None


SHARE = given_share()
SHORT = Fraction(1, 4)  # of what takes long, where nothing is chosen


def lots(name):
    """Return a random generator of this number for what has this name."""
    return random.Random(f"{NUMBER} {name}")


def some(values, count, name):
    """Return so many of the values, which this number decides for what has this name."""
    return lots(name).sample(list(values), count)


def drawn(names, share, name):
    """Return a share of the names, one at least if there is any."""
    names = sorted(names)
    return set(some(names, math.ceil(share * len(names)), f"the share of {name}"))


def shuffled(items):
    """Return the tests module by module, device by device, in the order of this number.

    So a fixture of a module is made once for each device.
    """
    if NUMBER == 0:
        return items
    modules = defaultdict(list)
    for item in items:
        modules[item.nodeid.partition("::")[0]].append(item)
    order = []
    for name in lots("modules").sample(sorted(modules), len(modules)):
        tests = modules[name]
        lots(name).shuffle(tests)
        order += sorted(tests, key=_index_of_device)
    return order


def _index_of_device(item):
    device = item.callspec.params.get("device") if hasattr(item, "callspec") else None
    return -1 if device is None else device.index
