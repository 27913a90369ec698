# SPDX-License-Identifier: BSD-3-Clause
"""Values that are looked at before their next reader."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

from particles.base.guards import Fixed

_lock = threading.Lock()


class Seen(Fixed):
    """What may have to be looked at before its next reader, as may views of it.

    Examples
    --------
    >>> values = Seen()
    >>> values.unseen = lambda: print("look")
    >>> values._be_seen()
    look
    """

    _changing = ("unseen",)
    unseen: Callable[[], None] | None = None
    _whole: Seen | None = None  # of which these are some
    _views: tuple[weakref.ref[Seen], ...] = ()

    def _be_seen(self) -> None:
        """Look, if nobody has."""
        whole = self if self._whole is None else self._whole
        for values in (whole, *(view() for view in whole._views)):
            if values is not None and (look := values.unseen) is not None:
                look()

    def _be_replaced(self) -> None:
        """Let nobody look for what is all overwritten."""
        for values in (self, *(view() for view in self._views)):
            if values is not None:
                values.unseen = None

    def _add_view(self, view: Seen) -> None:
        """Let readers of either see what is written to the other."""
        whole = self if self._whole is None else self._whole
        view._whole = whole
        with _lock:
            alive = (other for other in whole._views if other() is not None)
            whole._views = (*alive, weakref.ref(view))
