# SPDX-License-Identifier: BSD-3-Clause
"""Functions of the time that factors of formulas are."""

from __future__ import annotations

from particles import _core
from particles.formulas.expressions import Expression, apply, expression, nodes_of

_ONE = expression(1.0)


def amplitude_of(component: Expression) -> Expression | None:
    """Return a function of the time that leaves none in the component when divided by it."""
    known: dict[Expression, Expression | None] = {}
    for node in nodes_of([component]):
        known[node] = _amplitude_of(node, [known[operand] for operand in node.operands])
    return known[component]


def _amplitude_of(node: Expression, operands: list[Expression | None]) -> Expression | None:
    """Return that of an operation, given those of its operands."""
    if all(operand is _ONE for operand in operands):
        return node if node.value == "t" else _ONE
    if not (node.varies or node.is_mask):
        return node
    first, last = operands[0], operands[-1]
    if first is None or last is None:
        return None
    if node.operation in ("*", "/"):
        return apply(node.operation, first, last)
    if node.operation == "negative":
        return first
    if node.operation == "select" and first is _ONE:  # a mask without the time
        first = operands[1]
    return first if node.operation in ("+", "-", "select") and first is last else None


def nodes_for_core(amplitude: Expression, parameters: tuple[str, ...]) -> list[_core.NodeOfFormula]:
    """Return what the core computes an amplitude by: operations, of the results of earlier ones."""
    numbers: dict[Expression, int] = {}
    nodes: list[_core.NodeOfFormula] = []
    for node in nodes_of([amplitude]):
        numbers[node] = len(nodes)
        operands = [numbers[operand] for operand in node.operands]
        if node.operation == "parameter":
            nodes.append(("parameter", [], float(parameters.index(str(node.value)))))
        elif node.operation == "variable":
            nodes.append(("time", [], 0.0))
        else:
            nodes.append((node.operation, operands, float(node.value or 0)))
    return nodes
