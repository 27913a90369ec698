# SPDX-License-Identifier: BSD-3-Clause
"""Values that are looked at before their next reader."""

from __future__ import annotations

from collections.abc import Callable


class Seen:
    """What may have to be looked at before its next reader.

    Examples
    --------
    >>> values = Seen()
    >>> values.unseen = lambda: print("look")
    >>> values._be_seen()
    look
    """

    unseen: Callable[[], None] | None = None

    def _be_seen(self) -> None:
        """Look, if nobody has."""
        unseen = self.unseen  # another reader's thread may be looking, and done
        if unseen is not None:
            unseen()
