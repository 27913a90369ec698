# SPDX-License-Identifier: BSD-3-Clause
"""Errors and orders: ``python -m benchmarks.accuracy`` measures those of every choice."""
