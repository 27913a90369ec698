# SPDX-License-Identifier: BSD-3-Clause
"""The core's table of Runge-Kutta schemes."""

from particles import _core

SCHEMES = {scheme.name: scheme for scheme in _core.schemes()}
