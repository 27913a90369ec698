# SPDX-License-Identifier: BSD-3-Clause
"""Operators of what stays on a device: they change it in place, and make nothing new."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from particles.base.kinds import is_a

if TYPE_CHECKING:
    from typing_extensions import Self

IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}


class Operators:
    """Has `_change` compute what is assigned, and refuses others, saying what to do `_instead`."""

    def _change(self, symbol: str, other: object) -> Self:
        """Compute one of `IN_PLACE` with something else."""
        raise NotImplementedError

    def _instead(self) -> str:
        """Return that operators make nothing new, and what to do instead."""
        raise NotImplementedError

    def _refuse(self) -> NoReturn:
        raise TypeError(self._instead())

    def _operate(self, other: object) -> Any:  # noqa: ANN401
        """Leave operators to an array of NumPy on the other side; there are no others."""
        if is_a(other, np.ndarray | np.generic):
            return NotImplemented
        return self._refuse()

    def __iadd__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("+", other)

    def __isub__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("-", other)

    def __imul__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("*", other)

    def __itruediv__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("/", other)

    def __ifloordiv__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("//", other)

    def __imod__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("%", other)

    def __ipow__(self, other: object) -> Self:  # type: ignore[misc]
        return self._change("**", other)

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _operate
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = _operate
    __neg__ = __pos__ = __abs__ = _refuse
