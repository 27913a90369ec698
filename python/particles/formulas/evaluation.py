# SPDX-License-Identifier: BSD-3-Clause
"""Expressions as values of NumPy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from particles.formulas.expressions import EVALUATE, Expression, nodes_of


def evaluate(
    expressions: Iterable[Expression], variables: Mapping[str, NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return the values of the expressions in double precision."""
    roots = list(expressions)
    values: dict[Expression, Any] = {}
    with np.errstate(all="ignore"):
        for node in nodes_of(roots):
            if node.operation == "constant":
                values[node] = np.asarray(node.value)
            elif node.operation in ("variable", "parameter"):
                values[node] = variables[str(node.value)]
            else:
                values[node] = EVALUATE[node.operation](*(values[o] for o in node.operands))
    return [values[root] for root in roots]
