# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of an MPI program: who has which part of a grid, what they exchange, how they agree."""
