# SPDX-License-Identifier: BSD-3-Clause
"""Everything public has a docstring with an example, and every example is true."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import particles as pt
import pytest

MODULES = [module.name for module in pkgutil.iter_modules(pt.__path__) if module.name != "__main__"]
PUBLIC = [
    public
    for name, public in sorted(vars(pt).items())
    if name in pt.__all__ and (inspect.isclass(public) or inspect.isroutine(public))
]
METHODS = {
    f"{cls.__name__}.{name}": method
    for cls in filter(inspect.isclass, PUBLIC)
    for name, method in vars(cls).items()
    if not name.startswith("_") and not inspect.ismemberdescriptor(method)
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.testmod(import_module(f"particles.{name}"), optionflags=flags)
    assert result.failed == 0


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.__name__)
def test_everything_public_has_an_example(public):
    assert ">>> " in inspect.getdoc(public)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_docstring(name):
    assert inspect.getdoc(METHODS[name])
