# SPDX-License-Identifier: BSD-3-Clause
"""Expressions as lists that a file can hold, whatever later versions make of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from particles.formulas.expressions import (
    EVALUATE,
    LOGIC,
    Expression,
    apply,
    combine,
    expression,
    parameter,
    select,
    variable,
)

_ARITY = {name: getattr(function, "nin", 3) for name, function in EVALUATE.items()}
_LEAVES = {"constant": expression, "variable": variable, "parameter": parameter}


def record(formulas: Mapping[str, Expression]) -> dict[str, Any]:
    """Return expressions by name as ``nodes``, each an operation and its operands, and ``roots``.

    What occurs twice is one node. A number stands for the node in that place of the list.
    """
    places: dict[Expression, int] = {}
    nodes: list[list[Any]] = []
    waiting = [*formulas.values()][::-1]  # in the order in which they are written
    while waiting:
        node = waiting[-1]
        unknown = [operand for operand in reversed(node.operands) if operand not in places]
        waiting.extend(unknown)
        if unknown:
            continue
        waiting.pop()
        if node not in places:
            places[node] = len(nodes)
            operands = [places[operand] for operand in node.operands]
            nodes.append([node.operation, *(operands if node.operands else [node.value])])
    return {"nodes": nodes, "roots": {name: places[root] for name, root in formulas.items()}}


def recorded(formulas: Mapping[str, Any]) -> dict[str, Expression]:
    """Return the expressions of a `record`; what is none raises an exception."""
    made: list[Expression] = []
    for operation, *rest in formulas["nodes"]:
        if operation in _LEAVES:
            (value,) = rest
            made.append(_LEAVES[operation](value))
            continue
        if len(rest) != _ARITY[operation] or not all(0 <= place < len(made) for place in rest):
            raise ValueError(f"{operation} of {rest} after {len(made)} expressions")
        operands = [made[place] for place in rest]
        build = combine if operation in LOGIC else apply
        made.append(select(*operands) if operation == "select" else build(operation, *operands))
    return {name: made[place] for name, place in formulas["roots"].items()}
