# SPDX-License-Identifier: BSD-3-Clause
"""Runs one kernel on the device of an index, in a process that a broken driver may end."""

from __future__ import annotations

import sys

from particles.base.errors import DeviceError
from particles.runtime.devices import devices


def main(index: str) -> None:
    """Run the kernel and compare what it computes."""
    try:
        devices()[int(index)].core.run_self_test()
    except DeviceError as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main(*sys.argv[1:])
