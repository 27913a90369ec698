# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of the user - functions or texts - as expressions, one for each result."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles._kinds import is_a

from ._check import as_sequence, entries, listed, shown
from ._expressions import Expression, expression, parameter, real, variable
from ._formula_parser import parse

Formula: TypeAlias = Callable[..., Any] | str | Sequence[str | float] | npt.NDArray[Any]

COORDINATES = ("x", "y", "z")


class Signature(NamedTuple):
    """What a formula takes, and what it gives.

    Attributes
    ----------
    name : str
        Of what it describes, for messages.
    argument, taken : str
        Name of the formula itself, and of what it is a function of, for messages.
    forms : tuple of tuple of str
        Names of what it takes, the longest list last.
    results : tuple of str
        Names of what it gives, or empty texts.
    place : str
        Where that is so, for messages.
    parameters : tuple of str
        Names of numbers that it takes besides.
    """

    name: str
    argument: str
    taken: str
    forms: tuple[tuple[str, ...], ...]
    results: tuple[str, ...]
    place: str
    parameters: tuple[str, ...] = ()


def with_time(names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the forms of a formula that may take the time, too."""
    return names, (*names, "t")


def traced(formula: object, signature: Signature) -> tuple[Expression, ...]:
    """Return the results of a formula, which is called once if it is a function."""
    if is_a(formula, str):
        formula = (formula,)
    if callable(formula):
        return _called(formula, signature)
    several = entries(formula)
    is_of_points = any(is_a(one, np.ndarray) and one.ndim for one in several or [formula])
    if several is not None and not is_of_points:
        return _listed(several, signature)
    raise TypeError(
        f"{signature.argument} must be a function of {signature.taken} or a sequence of "
        f"expressions and numbers, not {shown(formula)}"
        + (": values on the points of a grid make a Field" if is_of_points else "")
    )


def _called(function: Callable[..., Any], signature: Signature) -> tuple[Expression, ...]:
    result = _result(function, _bound(function, signature), signature.argument)
    count = len(signature.results)
    several = listed(result)
    if several is None:
        if count > 1:
            raise TypeError(
                f"{signature.argument} must return a tuple of {count} components, "
                f"not {shown(result)}"
            )
        several = [result]
    _check_count(len(several), signature)
    return tuple(_component(k, signature, expression, value) for k, value in enumerate(several))


def _result(function: Callable[..., Any], bound: inspect.BoundArguments, argument: str) -> object:
    """Call a function with symbols; its errors say which argument it is."""
    try:
        return function(*bound.args, **bound.kwargs)
    except Exception as error:
        if error.args and type(error.args[0]) is str:
            error.args = (f"{argument}: {error.args[0]}", *error.args[1:])
        raise


def _bound(function: Callable[..., Any], signature: Signature) -> inspect.BoundArguments:
    """Return symbols for what a function takes, by the number of its arguments without default.

    Parameters go by their names.
    """
    try:
        own = inspect.signature(function)
    except (TypeError, ValueError):
        raise TypeError(
            f"{signature.argument} must tell its arguments, unlike {shown(function)}"
        ) from None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    named = (*positional[1:], inspect.Parameter.KEYWORD_ONLY)
    times = ("t",) if "t" in signature.forms[-1] else ()
    symbols = {
        p.name: parameter(p.name)
        for p in own.parameters.values()
        if p.kind in named and p.name in signature.parameters
    }
    for name in signature.parameters:
        if name not in symbols:
            raise ValueError(f"{signature.argument} must take {name}, which is given as a number")
    taken = [
        p.name
        for p in own.parameters.values()
        if p.kind in positional
        and p.name not in symbols
        and (p.default is inspect.Parameter.empty or p.name in times)
    ]
    for names in signature.forms:
        if len(taken) == len(names) and not _is_confused(taken, names):
            symbols |= dict(zip(taken, map(variable, names), strict=True))
            return inspect.BoundArguments(own, OrderedDict(symbols))
    forms = " or ".join(f"({', '.join(names)})" for names in signature.forms)
    raise ValueError(
        f"{signature.argument} must take {forms} {signature.place}, not ({', '.join(taken)})"
    )


def _is_confused(own: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a coordinate is called as another one, or the time as a coordinate.

    In two dimensions the second coordinate may well be called z, and a field x.
    """
    return any(
        called in COORDINATES
        and (name == "t" or (name in COORDINATES and called != name and called in names))
        for called, name in zip(own, names, strict=True)
    )


def _listed(formulas: object, signature: Signature) -> tuple[Expression, ...]:
    """Return texts and numbers as expressions."""
    refusal = f"{signature.argument} must be a sequence of expressions, not {shown(formulas)}"
    several = as_sequence(formulas, refusal)
    _check_count(len(several), signature)
    variables = {name: variable(name) for name in signature.forms[-1]}
    variables |= {name: parameter(name) for name in signature.parameters}

    def converted(formula: object) -> Expression:
        return parse(formula, variables) if is_a(formula, str) else expression(formula)

    return tuple(_component(k, signature, converted, one) for k, one in enumerate(several))


def _check_count(count: int, signature: Signature) -> None:
    expected = len(signature.results)
    if count != expected:
        raise ValueError(
            f"{signature.argument} must have {expected} components {signature.place}, not {count}"
        )


def _component(
    index: int, signature: Signature, convert: Callable[[object], Expression], value: object
) -> Expression:
    """Convert one component; its errors say which one it is."""
    try:
        return real(convert(value))
    except (RecursionError, TypeError, ValueError) as error:
        kind = ValueError if isinstance(error, RecursionError) else type(error)
        result = signature.results[index]
        place = f"component {index} of the {signature.name}" + (f" ({result})" if result else "")
        raise kind(f"{signature.argument}, {place}: {error}") from None
