# SPDX-License-Identifier: BSD-3-Clause
"""What works on a device, and belongs to it."""

from typing import NoReturn

from particles._fixed import Fixed


class OnDevice(Fixed):
    """Refuses the copy module and pickle, for which memory and programs of a device are nothing."""

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"{name} works on a device and can be neither copied nor pickled: make another one, "
            "or write its fields with pt.io"
        )
