# SPDX-License-Identifier: BSD-3-Clause
"""Programs that try a driver in a process of their own."""
