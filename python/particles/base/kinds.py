# SPDX-License-Identifier: BSD-3-Clause
"""What kind of thing an argument is, whatever it claims to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from builtins import isinstance as is_a
else:

    def is_a(value: object, kinds: Any) -> bool:  # noqa: ANN401  as isinstance takes them
        """Whether a value is of a class; what it claims by `__class__`, as mocks do, is not asked."""
        return issubclass(type(value), kinds)


def with_article(kind: type) -> str:
    """Return the name of a class with its article.

    Examples
    --------
    >>> with_article(int), with_article(OSError)
    ('an int', 'an OSError')
    """
    name = kind.__name__
    return f"an {name}" if name[0] in "AEIOUaeiou" else f"a {name}"


__all__ = ["is_a", "with_article"]
