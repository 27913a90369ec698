# SPDX-License-Identifier: BSD-3-Clause
"""Time steps made of operators: their order, limits and reports."""
