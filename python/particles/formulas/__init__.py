# SPDX-License-Identifier: BSD-3-Clause
"""Formulas of users, as expressions that can be evaluated, bounded and written as OpenCL C."""
