# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of particles: functions of one, whose attributes they ask for by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from itertools import count, islice
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from particles.base.checks import entries, is_function, shown
from particles.base.kinds import is_a
from particles.formulas.expressions import (
    Components,
    Expression,
    apply,
    check_numbers,
    expression,
    nodes_of,
    parameter,
    reads,
    real,
    variable,
)
from particles.formulas.opencl import opencl_results

AXES = ("x", "y", "z")
POSITION = "position"
RESERVED = (*AXES, POSITION)
_TYPES_TO_WIDEN = {np.dtype(name) for name in ("float64", "int32", "uint32", "int64", "uint64")}


class AttributeType(NamedTuple):
    """What an attribute is like."""

    components: int
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        vector = f" ({self.components})" if self.components > 1 else ""
        return f"{self.dtype.name}{vector}"


class Particle:
    """What a formula takes: ``p.mass``, ``p.x``, ``p.position``; vectors are indexed, ``p.v[0]``."""

    __slots__ = ("_known",)

    _known: Mapping[str, Expression | Components]

    def __init__(self, known: Mapping[str, Expression | Components]) -> None:
        object.__setattr__(self, "_known", known)

    def __getattr__(self, name: str) -> Expression | Components:
        if name.startswith("__") or name not in self._known:
            raise AttributeError(f"a particle has no {name}: it has {', '.join(self._known)}")
        return self._known[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f'{name} cannot be assigned to: return {{"{name}": ...}}')

    def __dir__(self) -> list[str]:
        return list(self._known)

    def __repr__(self) -> str:
        return "a particle"


class Computation(NamedTuple):
    """What a device is to compute.

    Attributes
    ----------
    operands : tuple of str
        Attributes that are read.
    text, numbers, real
        The program, its numbers, and what it computes in.
    reads_places : bool
        Whether it reads coordinates.
    """

    operands: tuple[str, ...]
    text: str
    numbers: tuple[float, ...]
    real: np.dtype[Any]
    reads_places: bool


class Move(NamedTuple):
    """By how much a coordinate changes; whether that is the difference of two places."""

    change: Expression
    is_difference: bool


class Formula:
    """A function of a particle and numbers, called once.

    Attributes
    ----------
    result : object
        What it returned.
    """

    def __init__(
        self,
        name: str,
        function: object,
        types: Mapping[str, AttributeType],
        ndim: int,
        numbers: Mapping[str, float],
    ) -> None:
        self._name = name
        self._types = tuple(types.items())
        self._ndim = ndim
        self._given = tuple(numbers.values())
        self._parameters = {given: f"given{k}" for k, given in enumerate(numbers)}
        known = _known_of(self._types, ndim)
        self._places = [variable(axis) for axis in AXES[:ndim]]
        self.result = self._called(function, Particle(known))

    def _called(self, function: object, particle: Particle) -> object:
        name = self._name
        if not is_function(function) or is_a(function, np.ufunc):
            raise TypeError(f"{name} must be a function of a particle, not {shown(function)}")
        try:
            own = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            raise TypeError(
                f"{name} must be a function whose arguments have names, not {shown(function)}"
            ) from None
        taken = [p for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if not taken or taken[0].kind is taken[0].KEYWORD_ONLY:
            raise TypeError(
                f"{name} must take a particle first, as lambda p: ..., not ({', '.join(map(str, own))})"
            )
        numbers = taken[1:]
        for one in numbers:
            if one.name not in self._parameters and one.default is one.empty:
                raise TypeError(f"{name} takes {one.name}, so give a number {one.name}= with it")
        for given in self._parameters:
            if given not in [one.name for one in numbers]:
                raise TypeError(f"{name} must take {given}, because a number {given}= is given")
        symbols = {given: parameter(text) for given, text in self._parameters.items()}
        try:
            return function(particle, **symbols)
        except Exception as error:
            if error.args and type(error.args[0]) is str:
                error.args = (f"{name}: {error.args[0]}", *error.args[1:])
            raise

    def condition(self) -> Expression:
        """Return a result that is true or false."""
        result = self.result
        if is_a(result, bool | np.bool_):
            result = expression(result)
        if not is_a(result, Expression) or not result.is_mask:
            raise TypeError(
                f"{self._name} must return a condition, as p.x > 0, not {shown(result)}"
            )
        return result

    def roots(self, value: object, target: str, components: int) -> list[Expression]:
        """Return one expression for each component of what is returned for a target."""
        several = list(value) if is_a(value, Components) else entries(value)
        if several is None:
            several = [value]
        if len(several) != components:
            raise ValueError(
                f"{self._name} must return {components} components for {target}, not {len(several)}"
            )
        try:
            return [real(expression(one)) for one in several]
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self._name}, {target}: {error}") from None

    def moves(self, value: object) -> list[Move]:
        """Return by how much a position changes: where it can be, what is added to it."""
        roots = self.roots(value, POSITION, self._ndim)
        return [_change(place, root) for place, root in zip(self._places, roots, strict=True)]

    def compiled(
        self,
        roots: list[Expression],
        targets: list[np.dtype[Any]],
        dtypes: tuple[np.dtype[Any], ...],
    ) -> Computation:
        """Return results as a program for a device that has these dtypes of real numbers.

        It computes in float64, if the device has it, where that or an integer wider than 16 bits is
        read or set, and where a place is read, which would be known no better than the box is long.
        Where places are set, one target is the dtype of offsets in cells.
        """
        computation = _computation(
            self._name,
            tuple(roots),
            tuple(targets),
            dtypes,
            self._types,
            tuple(self._parameters.values()),
        )
        for name, number in zip(self._parameters, self._given, strict=True):
            check_numbers(f"{name} of {self._name}", [expression(number)], computation.real)
        return computation._replace(numbers=(*computation.numbers, *self._given))


def _variables_of(types: tuple[tuple[str, AttributeType], ...]) -> dict[str, list[str]]:
    """Return what the components of attributes are called."""
    names = (f"u{k}" for k in count())
    return {name: list(islice(names, its_type.components)) for name, its_type in types}


# Expressions that are made alike are the same. So what formulas are is found once, and the functions
# are called each time.
@lru_cache(maxsize=64)
def _known_of(
    types: tuple[tuple[str, AttributeType], ...], ndim: int
) -> Mapping[str, Expression | Components]:
    """Return what a particle has."""
    names = _variables_of(types)
    places = [variable(axis) for axis in AXES[:ndim]]
    return MappingProxyType(
        {
            **{name: _symbol(names[name], its_type.dtype) for name, its_type in types},
            **dict(zip(AXES, places, strict=False)),
            POSITION: Components(places),
        }
    )


@lru_cache(maxsize=64)
def _computation(
    formula: str,
    roots: tuple[Expression, ...],
    targets: tuple[np.dtype[Any], ...],
    dtypes: tuple[np.dtype[Any], ...],
    types: tuple[tuple[str, AttributeType], ...],
    parameters: tuple[str, ...],
) -> Computation:
    """Return what computes results, without the numbers of parameters."""
    variables = _variables_of(types)
    read = tuple(name for name, names in variables.items() if reads(roots, *names))
    reads_places = reads(roots, *AXES)
    known = {*targets, *(its_type.dtype for name, its_type in types if name in read)}
    is_wide = np.dtype(np.float64) in dtypes and (reads_places or known & _TYPES_TO_WIDEN)
    dtype = np.dtype(np.float64 if is_wide else np.float32)
    check_numbers(formula, roots, dtype)
    names = [name for attribute in read for name in variables[attribute]]
    text, numbers = opencl_results(roots, names, parameters)
    return Computation(read, text, numbers, dtype, reads_places)


def _symbol(names: list[str], dtype: np.dtype[Any]) -> Expression | Components:
    symbols = [variable(name) for name in names]
    if dtype.kind == "b":
        symbols = [apply("!=", symbol, expression(0.0)) for symbol in symbols]
    return symbols[0] if len(symbols) == 1 else Components(symbols)


@lru_cache(maxsize=64)
def _change(place: Expression, root: Expression) -> Move:
    """Return what a result has besides a place; the difference where that is no term of it.

    Sums may be long, and what is used twice is looked at once.
    """
    times, rest = {place: 1}, {place: expression(0.0)}
    for node in nodes_of([root], times):
        if node.operation in ("+", "-") and any(part in times for part in node.operands):
            first, second = node.operands
            sign = 1 if node.operation == "+" else -1
            times[node] = times.get(first, 0) + sign * times.get(second, 0)
            rest[node] = apply(node.operation, rest.get(first, first), rest.get(second, second))
    if times.get(root) == 1:
        return Move(rest[root], is_difference=False)
    return Move(apply("-", root, place), is_difference=True)
