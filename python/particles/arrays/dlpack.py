# SPDX-License-Identifier: BSD-3-Clause
"""Values handed to other libraries by the DLPack protocol, which NumPy speaks for us."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from particles import _core
from particles.runtime.device import Device

DlpackDevice = tuple[int, int]

_HOST: DlpackDevice = (1, 0)
_OPENCL = 4
_SPEAKS_VERSIONS = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


class Exporter(Protocol):
    """Who has values in memory of a device."""

    core: _core.Array | _core.Field
    device: Device

    def get(self) -> npt.NDArray[Any]:
        """Copy them to the host."""

    def _be_seen(self) -> None: ...


def place_of(exporter: Exporter) -> DlpackDevice:
    """Return where the values lie: in the host's memory, or in that of an OpenCL device."""
    if exporter.core.host_values() is not None:
        return _HOST
    return _OPENCL, max(exporter.device.index, 0)


def export(
    exporter: Exporter,
    stream: object,
    max_version: tuple[int, int] | None,
    dl_device: DlpackDevice | None,
    copy: bool | None,
) -> Any:  # noqa: ANN401  a capsule
    """Return a capsule of the values, or of a copy of them in the host's memory."""
    if stream is not None:
        raise ValueError(f"stream must be None, because the values are on the host, not {stream!r}")
    values = _values(exporter, None if dl_device is None else tuple(dl_device), copy)
    if _SPEAKS_VERSIONS:
        return values.__dlpack__(max_version=max_version)
    return values.__dlpack__()


def _values(
    exporter: Exporter, wanted: tuple[int, ...] | None, copy: bool | None
) -> npt.NDArray[Any]:
    here = place_of(exporter)
    if wanted not in (None, here, _HOST):
        raise BufferError(f"dl_device must be {_HOST}, the host, not {wanted}")
    exporter._be_seen()
    if copy or (copy is None and wanted == _HOST != here):
        return exporter.get()
    values = exporter.core.host_values()
    if values is None:
        raise BufferError(
            f"the host does not share the memory of {exporter.device.name}: copy the values to the "
            "host by np.from_dlpack(values, device='cpu')"
        )
    exporter.core.mark_shared()
    exporter.device.finish()
    return values
