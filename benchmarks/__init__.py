# SPDX-License-Identifier: BSD-3-Clause
"""Measurements of speed; run as ``python -m benchmarks.sweep``."""
