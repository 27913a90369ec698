# SPDX-License-Identifier: BSD-3-Clause
"""The orders that a splitting can have."""

from __future__ import annotations

from particles._check import as_integer, shown

SPLITTINGS = {1: "Lie", 2: "Strang", 4: "Suzuki"}


def as_order(order: object) -> int:
    """Return the order of a splitting that there is."""
    number = as_integer("order", order)
    if number not in SPLITTINGS:
        raise ValueError(f"order must be 1 (Lie), 2 (Strang) or 4 (Suzuki), not {shown(number)}")
    return number
