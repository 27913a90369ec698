# SPDX-License-Identifier: BSD-3-Clause
"""What kernels ask of a GPU, counted without one: bytes, banks, lanes, registers, occupancy."""
