# SPDX-License-Identifier: BSD-3-Clause
"""How much may be measured to choose what is fastest."""

import os

EFFORTS = ("off", "quick", "full")


def effort() -> str:
    """Return what ``PARTICLES_TUNE`` says, ``"quick"`` where it says nothing."""
    wanted = os.environ.get("PARTICLES_TUNE", "").strip().lower() or "quick"
    if wanted not in EFFORTS:
        raise ValueError(f"PARTICLES_TUNE must be one of {', '.join(EFFORTS)}, not {wanted!r}")
    return wanted
