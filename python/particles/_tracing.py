# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of the user - functions or texts - as expressions, one for each result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from particles._kinds import is_a

from ._check import as_sequence, listed, shown
from ._expressions import Expression, expression, real, variable
from ._formula_parser import parse

Formula: TypeAlias = Callable[..., Any] | str | Sequence[str]

COORDINATES = ("x", "y", "z")


class Signature(NamedTuple):
    """What a formula takes, but for the time, and what it gives.

    Attributes
    ----------
    name : str
        Of what it describes, for messages.
    argument, taken : str
        Name of the formula itself, and of what it is a function of, for messages.
    variables, results : tuple of str
        Names of what it takes and gives.
    place : str
        Where that is so, for messages.
    """

    name: str
    argument: str
    taken: str
    variables: tuple[str, ...]
    results: tuple[str, ...]
    place: str


def traced(formula: Formula, signature: Signature) -> tuple[Expression, ...]:
    """Return the results of a formula, which is called once if it is a function."""
    if is_a(formula, str):
        formula = (formula,)
    if callable(formula):
        return _called(formula, signature)
    if is_a(formula, Sequence):
        return _parsed(formula, signature)
    raise TypeError(
        f"{signature.argument} must be a function of {signature.taken} or a sequence of "
        f"expressions, not {shown(formula)}"
    )


def _called(function: Callable[..., Any], signature: Signature) -> tuple[Expression, ...]:
    names = signature.variables + ("t",) * _takes_time(function, signature)
    result = _result(function, names, signature.argument)
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


def _result(function: Callable[..., Any], names: Sequence[str], argument: str) -> object:
    """Call a function with symbols; its errors say which argument it is."""
    try:
        return function(*map(variable, names))
    except Exception as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument} must be made of formulas, but raised {error!r}") from error


def _takes_time(function: Callable[..., Any], signature: Signature) -> bool:
    """Whether the function has one more argument without default than there are variables."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"{signature.argument} must tell its arguments, unlike {shown(function)}"
        ) from None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    taken = [
        p.name
        for p in parameters
        if p.kind in positional and (p.default is inspect.Parameter.empty or p.name == "t")
    ]
    count = len(signature.variables)
    if len(taken) not in (count, count + 1):
        names = ", ".join(signature.variables)
        raise ValueError(
            f"{signature.argument} must take ({names}) or ({names}, t) "
            f"{signature.place}, not ({', '.join(taken)})"
        )
    return len(taken) > count


def _parsed(formulas: Sequence[str], signature: Signature) -> tuple[Expression, ...]:
    refusal = f"{signature.argument} must be a sequence of expressions, not {shown(formulas)}"
    texts = as_sequence(formulas, refusal)
    _check_count(len(texts), signature)
    variables = {name: variable(name) for name in (*signature.variables, "t")}

    def parsed(formula: object) -> Expression:
        if not is_a(formula, str):
            raise TypeError(f"expected an expression of OpenCL C, not {shown(formula)}")
        return parse(formula, variables)

    return tuple(_component(k, signature, parsed, text) for k, text in enumerate(texts))


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
        place = f"component {index} of the {signature.name} ({signature.results[index]})"
        raise kind(f"{signature.argument}, {place}: {error}") from None
