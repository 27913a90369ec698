# SPDX-License-Identifier: BSD-3-Clause
"""The choice of the fastest form of a sweep, by measurement."""
