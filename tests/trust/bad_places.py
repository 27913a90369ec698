# SPDX-License-Identifier: BSD-3-Clause
"""All public arguments that there are, found by looking."""

import argparse
import inspect

import particles as pt
from particles.cli import main

IN_PLACE = tuple(
    f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
)
MODULES = ("io", "kernels", "levelset", "plot", "problems")


def public_callables():
    """Give names and callables: functions, classes, their methods and what can be set."""
    owners = [("", pt, pt.__all__)]
    owners += [(f"{name}.", getattr(pt, name), getattr(pt, name).__all__) for name in MODULES]
    for prefix, module, names in owners:
        for name in names:
            found = getattr(module, name)
            if inspect.isclass(found):
                yield from _of_class(prefix + name, found)
            elif callable(found):
                yield prefix + name, found


def _of_class(name, found):
    if issubclass(found, BaseException):
        return
    yield name, found
    for attribute, value in inspect.getmembers(found):
        if isinstance(value, property):
            if value.fset is not None:
                yield f"{name}.{attribute}", lambda value: None
        elif callable(value) and _is_ours(found, attribute):
            yield f"{name}.{attribute}", value


def _is_ours(found, attribute):
    """Whether a method is public, or an operator that takes arguments, and not inherited from Python."""
    owner = next(c for c in found.__mro__ if attribute in vars(c))
    is_ours = owner.__module__.startswith("particles")
    operators = ("__call__", "__getitem__", "__setitem__")
    named = not attribute.startswith("_") or attribute in operators or attribute in IN_PLACE
    return is_ours and named


def arguments_of(function):
    """Return the names of the arguments that a caller gives."""
    return [name for name in inspect.signature(function).parameters if name != "self"]


def public_arguments():
    """Return every public argument as ``callable.argument``."""
    return [
        f"{name}({argument})"
        for name, function in public_callables()
        for argument in arguments_of(function)
    ]


def options_of_commands():
    """Return every option of every command as ``command --option``."""
    parser = argparse.ArgumentParser()
    found = []
    for name, command in main.COMMANDS.items():
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        for action in parser._actions:
            if not isinstance(action, argparse._HelpAction):
                found.append(f"{name} {(action.option_strings or [action.dest])[-1]}")
    return found
