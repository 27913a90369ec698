# SPDX-License-Identifier: BSD-3-Clause
"""The bandwidth of a device, which takes seconds to measure where caches are large."""

from particles import _core


def some_bandwidth(monkeypatch):
    """Let any number be found, for tests that only pass it on."""
    let_any_be_found(monkeypatch.setattr)


def let_any_be_found(replace):
    """Do so by a function that replaces attributes."""
    for name in ("measure_triad", "measure_axpy"):
        replace(_core.Context, name, lambda *_: 2e10)
