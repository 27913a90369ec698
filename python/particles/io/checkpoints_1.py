# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of format 1, which kept formulas as the OpenCL C that had been made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from particles.formulas.expressions import (
    FUNCTIONS,
    Expression,
    apply,
    combine,
    expression,
    parameter,
    real,
    select,
    variable,
)
from particles.formulas.parser import Parser

_ENDS = ("low", "high")
_PLACES = {name: variable(name) for name in ("x", "y", "z", "t")}
_NAMES = {"sine": "sin", "cosine": "cos", "tangent": "tan", "modulo": "fmod", "power": "pow"}
_STATEMENT = re.compile(r"^ *(?:const (?:V|real) )?(?:([\w.\[\]]+) = |return )(.+);$", re.MULTILINE)
_RESULT = ""  # the name of what a function returns
_VALUE = re.compile(r"values\[\d+\]")


def as_in_format_2(
    made_of: Mapping[str, Any], state: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Expression], dict[str, Any]]:
    """Return what a transport is made of, its formulas, and its state.

    The formulas are of operations that OpenCL C has.
    """
    made_of, formulas = dict(made_of), {}
    named = {
        what: made_of[f"{what}'s parameters"]
        for what in ("velocity", "source")
        if f"{what}'s parameters" in made_of
    }
    velocity, source, inflow = made_of.get("velocity"), made_of.get("source"), made_of.pop("inflow")
    if isinstance(velocity, list) and velocity[:1] != ["series"]:
        made_of["velocity"] = "a formula"
        for k, text in enumerate(velocity):
            formulas[f"velocity[{k}]"] = _results(text, named.get("velocity", ()))[_RESULT]
    if source is not None:
        made_of["source"] = "a formula"
        rates = _results(source, named.get("source", ()))
        for k in range(sum(name.startswith("rates") for name in rates)):
            formulas[f"source[{k}]"] = rates[f"rates[{k}]"]
    formulas |= _inflow("inflow", inflow)
    for number, (places, own) in enumerate(made_of.get("diffusion", ())):
        counts = made_of["fields' components"]
        components = [sum(counts[:place]) + k for place in places for k in range(counts[place])]
        of_remesh = [[[end[k] for k in components if end] for end in axis] for axis in inflow]
        formulas |= _inflow(f"diffusion[{number}]'s inflow", of_remesh if own is None else own)
    if "diffusion" in made_of:
        made_of["diffusion"] = [places for places, _ in made_of["diffusion"]]
    parameters = {}
    for (what, names), values in zip(named.items(), state.get("parameters", ()), strict=True):
        parameters[what] = dict(zip(names, values, strict=True))
        made_of[f"{what}'s parameters"] = sorted(names)
    return made_of, formulas, {**state, "parameters": parameters}


def _inflow(what: str, sources: Sequence[Sequence[Sequence[str]]]) -> dict[str, Expression]:
    """Return functions of the time, which stood where a coordinate does."""
    return {
        f"{what}[{k}] at {(axis, end)}": _results(text, (), {"x": _PLACES["t"]})[_RESULT]
        for axis, ends in enumerate(sources)
        for end, texts in zip(_ENDS, ends, strict=True)
        for k, text in enumerate(texts)
    }


def _results(
    text: str, parameters: Sequence[str], known: Mapping[str, Expression] = _PLACES
) -> dict[str, Expression]:
    """Return what functions in OpenCL C compute, by the names to which it is given."""
    made = {**known, **{f"p_{k}": parameter(name) for k, name in enumerate(parameters)}}
    for name, value in re.findall(_STATEMENT, text):
        if _VALUE.fullmatch(value):
            made[name] = variable(name)
        elif value != "at":  # the instant of a velocity
            plain = value.replace("(V)", "").replace("at->", "at.")
            made[name] = real(_Generated(plain, made).formula())
    return made


class _Generated(Parser):
    """A reader of what was generated, in which nothing is to be expanded again."""

    token = re.compile(
        Parser.token.pattern.replace("<>!&|]", "<>!&|^]").replace(r"\w*)", r"[\w.]*)"), re.ASCII
    )

    def call(self, function: str) -> Expression:
        self.take("(")
        arguments = [self.operation(0)]
        while self.peek() == ",":
            self.take(",")
            arguments.append(self.operation(0))
        self.take(")")
        if function == "REAL":
            return arguments[0]
        if function == "SELECT":
            return select(*arguments)
        function = _NAMES.get(function, function)
        if function not in FUNCTIONS:
            raise self.error(f"unknown function {function!r}")
        return apply(function, *arguments)

    def joined(self, operator: str, left: Expression, right: Expression) -> Expression:
        if operator == "^":
            return combine("^", left, right)
        if operator in ("==", "!=") and right is expression(0.0):
            mask = _mask_of(left)  # kept as a number where it is long
            if mask is not None:
                return combine("!", mask) if operator == "==" else mask
        return super().joined(operator, left, right)


def _mask_of(number: Expression) -> Expression | None:
    """Return a condition that is kept as a number, 1 where it holds."""
    if number.is_mask:
        return number
    if number.operation != "select":
        return None
    mask, chosen, other = number.operands
    return mask if chosen is expression(1.0) and other is expression(0.0) else None
