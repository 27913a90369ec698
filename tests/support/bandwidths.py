# SPDX-License-Identifier: BSD-3-Clause
"""The bandwidth of a device, which takes seconds to measure where caches are large."""

from particles import _core


def some_bandwidth(monkeypatch):
    """Let any number be found, for tests that only pass it on."""
    for name in ("measure_triad", "measure_axpy"):
        monkeypatch.setattr(_core.Context, name, lambda *_: 2e10)
