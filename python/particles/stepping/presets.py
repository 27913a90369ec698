# SPDX-License-Identifier: BSD-3-Clause
"""Choices of kernel, scheme, interpolation and limiter that go well together."""

from __future__ import annotations

from typing import Any, NamedTuple

from particles.base.checks import shown
from particles.base.kinds import is_a
from particles.kernels.kernel import RemeshingKernel


class Preset(NamedTuple):
    """What operators are made with; the interpolation is of a velocity on a grid."""

    kernel: str | RemeshingKernel
    scheme: str
    interpolation: str
    limiter: str | None = None

    def but(self, **changes: Any) -> Preset:  # noqa: ANN401  as above
        """Return the same but for what is not None."""
        return self._replace(**{name: one for name, one in changes.items() if one is not None})


PRESETS = {
    "default": Preset("M'6", "rk2", "linear"),
    "accurate": Preset("L6_4", "rk4", "cubic"),
    "positive": Preset("M'6", "rk2", "linear", limiter="positive"),
}


def preset_of(name: object) -> Preset:
    """Return the preset of a name."""
    if not is_a(name, str) or name not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {shown(name)}")
    return PRESETS[name]
