# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of the user - functions or texts - as expressions, one for each result."""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from particles.base.checks import are_arrays, as_sequence, entries, refusal, shown
from particles.base.kinds import is_a
from particles.formulas.expressions import Expression, expression, parameter, real, variable
from particles.formulas.parser import parse

Formula: TypeAlias = Callable[..., Any] | str | Sequence[str | float] | npt.NDArray[Any]

FROM_ARRAYS = "values on the points of a grid make a Field: pt.Field.from_arrays(grid, *{})"
COORDINATES = ("x", "y", "z")
TIMES = ("t", "time")

_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w*", re.ASCII)


class Signature(NamedTuple):
    """What a formula takes, and what it gives.

    Attributes
    ----------
    name : str
        Of what it describes, for messages.
    argument, taken : str
        Name of the formula itself, and of what it is a function of, for messages.
    values : tuple of str
        Components of fields, which a function takes first, by any names but those below.
    known : mapping of str to Expression
        What it may take by name: coordinates and the time.
    results : tuple of str
        Names of what it gives, or empty texts.
    place : str
        Where that is so, for messages.
    parameters : tuple of str or None
        Names of numbers that it takes besides; None where it can take none.
    labels : sequence of str or None
        What the user calls each of the values; None where it has no name.
    """

    name: str
    argument: str
    taken: str
    values: tuple[str, ...]
    known: Mapping[str, Expression]
    results: tuple[str, ...]
    place: str
    parameters: tuple[str, ...] | None = None
    labels: Sequence[str | None] = ()

    @property
    def symbols(self) -> dict[str, Expression]:
        """What a function takes by name."""
        return {**self.known, **{name: parameter(name) for name in self.parameters or ()}}


def places(ndim: int, time: Expression | None = None) -> dict[str, Expression]:
    """Return what coordinates are called, and the time where there is one."""
    known = {name: variable(name) for name in COORDINATES[:ndim]}
    return known if time is None else {**known, **dict.fromkeys(TIMES, time)}


def traced(formula: object, signature: Signature) -> tuple[Expression, ...]:
    """Return the results of a formula, which is called once if it is a function."""
    if is_a(formula, str):
        formula = (formula,)
    if callable(formula):
        return _called(formula, signature)
    several = entries(formula)
    is_of_points = are_arrays(several) or (
        are_arrays(formula) and (several is None or len(several) != len(signature.results))
    )
    if several is not None and not is_of_points:
        return _listed(several, signature)
    raise TypeError(
        f"{signature.argument} must be a function of {signature.taken} or a sequence of "
        f"expressions and numbers, not {shown(formula)}"
        + (f": {FROM_ARRAYS.format(signature.argument)}" if is_of_points else "")
    )


def _called(function: Callable[..., Any], signature: Signature) -> tuple[Expression, ...]:
    result = result_of(function, signature)
    count = len(signature.results)
    several = entries(result)
    if several is None:
        if count > 1:
            raise TypeError(
                f"{signature.argument} must return a tuple of {count} components, "
                f"not {shown(result)}"
            )
        several = [result]
    _check_count(len(several), signature)
    return tuple(_component(k, signature, expression, value) for k, value in enumerate(several))


def result_of(function: Callable[..., Any], signature: Signature) -> object:
    """Call a function with symbols; its errors say which argument it is."""
    bound = _bound(function, signature)
    try:
        return function(*bound.args, **bound.kwargs)
    except Exception as error:
        if error.args and type(error.args[0]) is str:
            error.args = (f"{signature.argument}: {error.args[0]}", *error.args[1:])
        raise


def _bound(function: Callable[..., Any], signature: Signature) -> inspect.BoundArguments:
    """Return symbols for what a function takes.

    The values come first, by any names but those that mean something else: a coordinate, the time
    or a parameter, which go by their names.
    """
    expected = f"{signature.argument} must be a function whose arguments have names"
    if is_a(function, np.ufunc):
        raise TypeError(refusal(expected, function))
    try:
        own = inspect.signature(function)
    except (TypeError, ValueError):
        raise TypeError(refusal(expected, function)) from None
    taken = [p for p in own.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if own.parameters and not taken:
        raise TypeError(refusal(expected, function))
    _check_parameters_are_in([p.name for p in taken], signature)
    symbols = signature.symbols
    own_names = [
        p.name
        for p in taken
        if p.name in signature.known or (p.name not in symbols and p.default is p.empty)
    ]
    free = [name for name in own_names if name not in symbols]
    if len(free) != len(signature.values) or free != own_names[: len(free)]:
        raise ValueError(_refusal(list(own.parameters), free, signature))
    if {*free} == {*signature.labels} and free != [*signature.labels]:
        raise ValueError(
            f"{signature.argument} must take the fields of these names in their order, "
            f"({', '.join(map(str, signature.labels))}), not ({', '.join(free)})"
        )
    symbols |= dict(zip(free, map(variable, signature.values), strict=True))
    return inspect.BoundArguments(
        own, OrderedDict((p.name, symbols[p.name]) for p in taken if p.name in symbols)
    )


def _refusal(own: Sequence[str], free: Sequence[str], signature: Signature) -> str:
    """Say what a function may take, and what to do with what it takes besides."""
    named = ", ".join(name for name in signature.known if name != TIMES[1])
    may = f"only {named}"
    if signature.values:
        values = ", ".join(signature.values)
        may = f"first {values} (by any name), then any of {named}"
    advice = []
    if len(free) > len(signature.values):
        advice += ["call the time t or time"] if TIMES[0] in signature.known else []
        advice += (
            ["write numbers into the formula"]
            if signature.parameters is None
            else [f"give a number beside the formula, as {free[-1]}=1.0"]
        )
    return (
        f"{signature.argument} must take {may} {signature.place}, not ({', '.join(own)})"
        + (": " if advice else "")
        + ", and ".join(advice)
    )


def _check_parameters_are_in(names: Sequence[str], signature: Signature) -> None:
    for name in signature.parameters or ():
        if name not in names:
            raise ValueError(
                f"{signature.argument} must take {name}, because a number {name}= is given"
            )


def _listed(formulas: object, signature: Signature) -> tuple[Expression, ...]:
    """Return texts and numbers as expressions."""
    several = as_sequence(formulas, f"{signature.argument} must be a sequence of expressions")
    _check_count(len(several), signature)
    texts = " ".join(text for text in several if is_a(text, str))
    _check_parameters_are_in(_NAME.findall(texts), signature)
    variables = {name: variable(name) for name in signature.values} | signature.symbols

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
