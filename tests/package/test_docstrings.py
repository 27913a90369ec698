# SPDX-License-Identifier: BSD-3-Clause
"""Everything public says what it takes and has an example, and every example is true."""

import doctest
import inspect
import pkgutil
from functools import cached_property
from importlib import import_module
from inspect import ismodule

import particles as pt
import pytest
from numpydoc.validate import validate

MODULES = [
    module.name
    for module in pkgutil.walk_packages(pt.__path__, "particles.")
    if not module.name.endswith("__main__")
]
PUBLIC_MODULES = [pt, *(thing for n in pt.__all__ if ismodule(thing := getattr(pt, n)))]
WANTED = {
    "GL08": "has no docstring",
    "PR01": "leaves out",
    "PR02": "knows parameters that there are not",
    "PR03": "has parameters in another order",
    "EX01": "has no example",
}


def is_data(cls):
    """Tell whether a class is made of its attributes, which stand in place of parameters."""
    return "Attributes\n" in inspect.getdoc(cls) and "Parameters\n" not in inspect.getdoc(cls)


def wanted_of(name, thing):
    """Yield what is public in a thing of that name, and the errors that it must not have."""
    if inspect.isroutine(thing):
        yield name, WANTED.keys()
    elif inspect.isclass(thing):
        yield name, WANTED.keys() - ({"PR01"} if is_data(thing) else set())
        for attribute, member in inspect.getmembers(thing):
            here = attribute in {key for c in thing.__mro__ if is_ours(c) for key in vars(c)}
            if here and not attribute.startswith("_") and not is_private(member):
                if inspect.isfunction(member) or inspect.ismethod(member):
                    yield f"{name}.{attribute}", WANTED.keys()
                elif isinstance(member, property | cached_property):
                    yield f"{name}.{attribute}", {"GL08"}


def is_ours(cls):
    return cls.__module__.startswith("particles.") and not cls.__module__.endswith("_core")


def is_private(member):
    """Tell whether what is public in Python is meant for the package alone."""
    return ":meta private:" in (inspect.getdoc(member) or "")


def complaints(module):
    for name in module.__all__:
        for path, codes in wanted_of(f"{module.__name__}.{name}", getattr(module, name)):
            for code, text in validate(path)["errors"]:
                if code in codes:
                    yield f"{path} {WANTED[code]}: {text}"


@pytest.mark.sampled
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    if name == "particles.fields.field":
        pytest.importorskip("numpy", minversion="2.1", reason="it tells DLPack the device")
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(import_module(name), optionflags=flags)
    assert result.failed == 0


@pytest.mark.sampled
@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_everything_public_says_what_it_takes_and_shows_it(module):
    found = sorted(complaints(module))
    assert not found, "\n".join(found)
