# SPDX-License-Identifier: BSD-3-Clause
"""Interpolation between particles anywhere and the points of a grid."""
