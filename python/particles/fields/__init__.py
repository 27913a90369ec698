# SPDX-License-Identifier: BSD-3-Clause
"""Values on the points of grids, in memory of a device."""
