# SPDX-License-Identifier: BSD-3-Clause
"""Formulas written in OpenCL C, read into expressions. All their numbers are real: 1/2 is 0.5."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial

from particles.formulas.expressions import (
    FUNCTIONS,
    Expression,
    apply,
    combine,
    expression,
    power,
    select,
)

CONSTANTS = {
    "M_PI": math.pi,
    "M_PI_2": math.pi / 2,
    "M_PI_4": math.pi / 4,
    "M_1_PI": 1 / math.pi,
    "M_2_PI": 2 / math.pi,
    "M_E": math.e,
    "M_LN2": math.log(2),
    "M_LN10": math.log(10),
    "M_LOG2E": 1 / math.log(2),
    "M_LOG10E": 1 / math.log(10),
    "M_SQRT2": math.sqrt(2),
    "M_SQRT1_2": math.sqrt(0.5),
}

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?!0\d+(?![\d.eE]))(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fF]?(?![\w.])"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator>&&|\|\||[<>=!]=|-(?!-)|\+(?!\+)|[*/()?:,<>!&|]))",
    re.ASCII,
)
_BINDING = {"?": 1, "||": 2, "&&": 3, "|": 4, "^": 4, "&": 5, "==": 6, "!=": 6}
_BINDING |= {"<": 7, "<=": 7, ">": 7, ">=": 7, "+": 8, "-": 8, "*": 9, "/": 9}
_UNARY = 10
_LOGIC = {"&&": "&", "||": "|", "&": "&", "|": "|"}


def _clamp(a: Expression, low: Expression, high: Expression) -> Expression:
    return apply("fmin", apply("fmax", a, low), high)


def _mix(a: Expression, b: Expression, share: Expression) -> Expression:
    return apply("+", a, apply("*", apply("-", b, a), share))


def _sign(a: Expression) -> Expression:
    """Return 0 of NaN, in OpenCL C."""
    return select(apply("==", a, a), apply("sign", a), expression(0.0))


_DERIVED: dict[str, tuple[int, Callable[..., Expression]]] = {
    "pow": (2, power),
    "sign": (1, _sign),
    "min": (2, partial(apply, "fmin")),
    "max": (2, partial(apply, "fmax")),
    "mad": (3, lambda a, b, c: apply("+", apply("*", a, b), c)),
    "clamp": (3, _clamp),
    "mix": (3, _mix),
}


def parse(text: str, variables: Mapping[str, Expression]) -> Expression:
    """Return the expression of a formula.

    Parameters
    ----------
    text : str
        Numbers, the variables, the constants ``M_PI``, ``M_E``, ``M_SQRT2`` and the like, the operators
        ``+ - * / ?: && || ! < <= > >= == !=`` and the functions of OpenCL C.
    variables : mapping of str to Expression
        The names that the formula may use.

    Returns
    -------
    Expression
    """
    return Parser(text, variables).formula()


class Parser:
    """A reader of one formula, token by token.

    Parameters
    ----------
    text : str
        The formula.
    variables : mapping of str to Expression
        The names that it may use.

    Attributes
    ----------
    token
        What a formula is made of.
    """

    token = _TOKEN

    def __init__(self, text: str, variables: Mapping[str, Expression]) -> None:
        self.text = text
        self.variables = variables
        self.tokens = self._tokens()
        self.position = 0

    def _tokens(self) -> list[tuple[str, str]]:
        tokens, start = [], 0
        text = self.text.rstrip()
        while start < len(text):
            match = self.token.match(text, start)
            if match is None:
                raise self.error(f"unexpected {text[start:].lstrip()[:8]!r}")
            kind = str(match.lastgroup)
            tokens.append((kind, match[kind]))
            start = match.end()
        return [*tokens, ("end", "")]

    def error(self, reason: str) -> ValueError:
        """Return what says where a formula is wrong."""
        return ValueError(f"{reason} in {self.text!r}")

    def peek(self) -> str:
        """Return the next token if it is an operator."""
        kind, token = self.tokens[self.position]
        return token if kind == "operator" else ""

    def take(self, expected: str) -> None:
        """Go on behind an operator that must come next."""
        if self.peek() != expected:
            found = self.tokens[self.position][1]
            raise self.error(
                f"expected {expected!r} but found {repr(found) if found else 'the end'}"
            )
        self.position += 1

    def formula(self) -> Expression:
        """Read all."""
        result = self.operation(0)
        if self.tokens[self.position][0] != "end":
            raise self.error(f"unexpected {self.tokens[self.position][1]!r}")
        return result

    def operation(self, loosest: int) -> Expression:
        """Read operands joined by operators that bind tighter than ``loosest``."""
        left = self.operand()
        while (binding := _BINDING.get(self.peek(), 0)) > loosest:
            operator = self.peek()
            self.position += 1
            if operator == "?":
                chosen = self.operation(0)
                self.take(":")
                left = select(self.condition(left, "?"), chosen, self.operation(0))
            else:
                left = self.joined(operator, left, self.operation(binding))
        return left

    def joined(self, operator: str, left: Expression, right: Expression) -> Expression:
        """Return two operands joined by an operator."""
        if operator in _LOGIC:
            right = self.condition(right, operator)
            return combine(_LOGIC[operator], self.condition(left, operator), right)
        return apply(operator, self.number(left, operator), self.number(right, operator))

    def operand(self) -> Expression:
        """Read what stands between operators."""
        kind, token = self.tokens[self.position]
        self.position += 1
        if kind == "number":
            return self.constant(token)
        if kind == "name":
            return self.name(token)
        if token == "(":
            inner = self.operation(0)
            self.take(")")
            return inner
        if token in ("-", "+"):
            inner = self.number(self.operation(_UNARY), token)
            return apply("negative", inner) if token == "-" else inner
        if token == "!":
            return combine("!", self.condition(self.operation(_UNARY), token))
        raise self.error(f"unexpected {token!r}" if token else "unexpected end")

    def constant(self, digits: str) -> Expression:
        """Return a number."""
        number = float(digits)
        if number == 0 and re.search("[1-9]", digits.lower().partition("e")[0]):
            raise self.error(f"{digits} would be 0 in float64")
        return expression(number)

    def name(self, name: str) -> Expression:
        """Read what begins with a name."""
        if self.peek() == "(":
            return self.call(name)
        if name in self.variables:
            return self.variables[name]
        if name.removesuffix("_F") in CONSTANTS:
            return expression(CONSTANTS[name.removesuffix("_F")])
        known = ", ".join([*self.variables, *CONSTANTS])
        raise self.error(f"unknown name {name!r} (known: {known})")

    def call(self, function: str) -> Expression:
        """Read the arguments of a function."""
        if function not in FUNCTIONS and function not in _DERIVED:
            known = ", ".join(sorted({*FUNCTIONS, *_DERIVED}))
            raise self.error(f"unknown function {function!r} (known: {known})")
        self.take("(")
        arguments = [self.number(self.operation(0), function)]
        while self.peek() == ",":
            self.position += 1
            arguments.append(self.number(self.operation(0), function))
        self.take(")")
        if function in _DERIVED:
            count, build = _DERIVED[function]
        else:
            count, build = FUNCTIONS[function].nin, partial(apply, function)
        if len(arguments) != count:
            raise self.error(f"{function} takes {count} arguments, not {len(arguments)},")
        return build(*arguments)

    def condition(self, operand: Expression, operator: str) -> Expression:
        """Return an operand that must be a comparison."""
        if not operand.is_mask:
            raise self.error(f"{operator!r} needs a comparison and found a number")
        return operand

    def number(self, operand: Expression, operator: str) -> Expression:
        """Return an operand that must be a number."""
        if operand.is_mask:
            raise self.error(f"{operator!r} needs a number and found a comparison")
        return operand
