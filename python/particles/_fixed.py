# SPDX-License-Identifier: BSD-3-Clause
"""What an object was made of stays what it is."""

from __future__ import annotations

from typing import Any, ClassVar

from particles._check import as_name


class Fixed:
    """Refuses to replace public attributes: kernels and memory were made for them.

    Examples
    --------
    >>> thing = Fixed()
    >>> thing.size = 3
    >>> thing.size = 4
    Traceback (most recent call last):
    AttributeError: size of a Fixed cannot be replaced: make another one
    """

    _changing: ClassVar[tuple[str, ...]] = ()

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        if name in vars(self) and not name.startswith("_") and name not in self._changing:
            raise AttributeError(
                f"{name} of a {type(self).__name__} cannot be replaced: make another one"
            )
        super().__setattr__(name, value)


class Named(Fixed):
    """Has a name, which may be another one later."""

    _name: str | None = None

    @property
    def name(self) -> str | None:
        """For messages and plots."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = as_name("name", name)
