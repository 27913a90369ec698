# SPDX-License-Identifier: BSD-3-Clause
"""Texts of expressions: with the brackets that they need, and in the manner of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from particles.formulas.expressions import COMPARISONS, LOGIC, Expression

ATOM = 5
PRECEDENCE = {"*": 3, "/": 3, "+": 2, "-": 2} | dict.fromkeys(COMPARISONS, 1)

_DEEPEST = 16


class Text(NamedTuple):
    """An expression's text, how tightly its outermost operation binds, and how deep it is nested."""

    text: str
    precedence: int
    depth: int

    def within(self, precedence: int) -> str:
        """Return it as an operand of an operation, bracketed if it binds less tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def infix(operator: str, left: Text, right: Text, precedence: int) -> Text:
    """Join two operands; what is as loose as the operator is bracketed, but on the left of it."""
    text = f"{left.within(precedence)} {operator} {right.within(precedence + 1)}"
    return Text(text, precedence, 1 + max(left.depth, right.depth))


def call(function: str, *arguments: Text) -> Text:
    """Return a call of a function."""
    text = f"{function}({', '.join(argument.text for argument in arguments)})"
    return Text(text, ATOM, 1 + max(argument.depth for argument in arguments))


def readable(root: Expression, longest: int = 100) -> str:
    """Return the expression in the manner of Python, cut short where it is long."""
    text = _readable(root, _DEEPEST, longest, {}).text
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _readable(
    node: Expression, depth: int, longest: int, known: dict[tuple[Expression, int], Text]
) -> Text:
    """Return a text whose first letters are right, up to one more than the longest one has."""
    if (node, depth) not in known:
        inner = [
            _readable(operand, depth - 1, longest, known) for operand in node.operands if depth
        ]
        text = _readable_from(node, inner) if depth or not node.operands else Text("...", ATOM, 0)
        known[node, depth] = text._replace(text=text.text[: longest + 1])
    return known[node, depth]


def _readable_from(node: Expression, inner: Sequence[Text]) -> Text:
    operation = node.operation
    if operation == "constant":
        negative = isinstance(node.value, float) and node.value < 0
        text = f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
        return Text(text, 4 if negative else ATOM, 0)
    if operation in ("variable", "parameter"):
        return Text(str(node.value), ATOM, 0)
    if operation in ("negative", "!"):
        return Text(f"{'-' if operation == 'negative' else '~'}{inner[0].within(ATOM)}", 4, 0)
    if operation in LOGIC:
        return Text(f" {operation} ".join(text.within(ATOM) for text in inner), 0, 0)
    if operation in PRECEDENCE:
        return infix(operation, inner[0], inner[1], PRECEDENCE[operation])
    return call({"select": "where"}.get(operation, operation), *inner)
