# SPDX-License-Identifier: BSD-3-Clause
"""Particles anywhere in a box."""
