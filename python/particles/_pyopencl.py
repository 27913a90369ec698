# SPDX-License-Identifier: BSD-3-Clause
"""Objects of PyOpenCL for what the core has opened; PyOpenCL is imported when first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from particles import _core

if TYPE_CHECKING:
    import pyopencl


def ensure_installed() -> None:
    """Refuse clearly where PyOpenCL, which not every platform is given, is missing."""
    try:
        import pyopencl  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"this needs PyOpenCL: pip install 'particles-opencl[opencl]' ({error})"
        ) from error


def context_of(core: _core.Context) -> pyopencl.Context:
    """Return the context, not copied."""
    ensure_installed()
    import pyopencl

    return pyopencl.Context.from_int_ptr(core.context_pointer, retain=True)


def queue_of(core: _core.Context) -> pyopencl.CommandQueue:
    """Return the queue, not copied."""
    ensure_installed()
    import pyopencl

    return pyopencl.CommandQueue.from_int_ptr(core.queue_pointer, retain=True)
