# SPDX-License-Identifier: BSD-3-Clause
"""Where the user's program called this package."""

import sys


def frames_of_package() -> int:
    """Return how many frames lead out of this package, for a warning."""
    frame, count = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("particles."):
        frame, count = frame.f_back, count + 1
    return count
