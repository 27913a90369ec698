# SPDX-License-Identifier: BSD-3-Clause
"""A keyword that nothing takes is told with the name of what was called."""

import inspect
import re

import particles as pt
import pytest
from particles import io, kernels, levelset, plot, problems


def own_methods(kind):
    """Yield the names of the methods that are the package's own."""
    for name in dir(kind):
        method = getattr(kind, name)
        is_own = str(getattr(method, "__module__", "")).startswith("particles")
        if is_own and callable(method) and not name.startswith("_"):
            yield name


def callables():
    for module in (pt, io, kernels, levelset, plot, problems):
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                yield name, thing
            if inspect.isclass(thing):
                yield from ((f"{name}.{own}", getattr(thing, own)) for own in own_methods(thing))


CALLABLES = dict(callables())
TAKES_ANY = "ParticleSet.lattice"  # and needs no more than a grid: others are attributes
TAKE_NUMBERS = {"ParticleSet", "SourceOp", "Velocity"}  # or attributes, by any name


def test_there_is_what_is_tried():
    assert {"Splitting.run", "Unsplit.run", "Field.get", "Field.from_xarray"} <= set(CALLABLES)


@pytest.mark.parametrize("name", sorted(CALLABLES.keys() - {TAKES_ANY}))
def test_a_wrong_keyword_is_told_with_what_was_called(name):
    """No object is needed, as Python looks at keywords before it misses one."""
    with pytest.raises(TypeError) as refusal:
        CALLABLES[name](*[None] * ("." in name), no_such_keyword=1)
    in_our_words = " needs " if name in TAKE_NUMBERS else " takes no no_such_keyword, but "
    said = rf"{re.escape(name)}(\(\) |{in_our_words}|\.__(init|new)__\(\) )"
    assert re.match(said, str(refusal.value))
