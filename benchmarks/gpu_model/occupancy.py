# SPDX-License-Identifier: BSD-3-Clause
"""How many sub-groups of 32 a multiprocessor can hold, by local memory and registers, as published.

All have 65 536 registers, room for 64 sub-groups and 32 groups, and give a group 48 KiB at most, as
OpenCL's drivers report it. They differ in how much local memory there is for all groups.
"""

from __future__ import annotations

KIB = 1024
POOLS = (48, 100, 228)
LIMIT = 48 * KIB
REGISTERS, SUB_GROUPS, GROUPS = 65536, 64, 32
LANES = 32
GRANULARITY = 8  # registers are given in so many
PROCESSORS = 100
"""Multiprocessors of a GPU, where it must be told how many sub-groups fill it."""


def occupancy(group: int, local: int, registers: int | None, pool: int) -> float:
    """Return the share of the sub-groups of a multiprocessor that groups of work-items fill.

    Lanes that have no work-item count as empty.
    """
    if local > min(LIMIT, pool * KIB):
        return 0.0
    sub_groups = -(-group // LANES)
    fit = [GROUPS, SUB_GROUPS // sub_groups]
    if local:
        fit.append(pool * KIB // local)
    if registers:
        each = -(-registers // GRANULARITY) * GRANULARITY
        fit.append(REGISTERS // (each * LANES * sub_groups))
    return min(fit) * group / LANES / SUB_GROUPS


def filled(items: float, share: float) -> float:
    """Return how much of what all multiprocessors hold at once so many work-items fill."""
    return min(1.0, items / (LANES * SUB_GROUPS * PROCESSORS * share)) if share else 0.0


def occupancies(group: int, local: int, registers: int | None) -> list[float]:
    """Return that of each published size of local memory."""
    return [occupancy(group, local, registers, pool) for pool in POOLS]
