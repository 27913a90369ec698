# SPDX-License-Identifier: BSD-3-Clause
"""The publication's steps and figures: ``python -m benchmarks.paper`` measures them."""
