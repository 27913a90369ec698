# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a formula that may change between two steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping, Sequence
from threading import Lock
from typing import Any, NoReturn
from weakref import WeakSet

import numpy as np

from particles import _core
from particles.base.checks import as_identifier, as_real, shown
from particles.base.guards import Alone
from particles.base.kinds import is_a
from particles.formulas.expressions import check_numbers, expression

_MOST = 16  # of the 1024 bytes that every device has for arguments


class Parameters(MutableMapping[str, float]):
    """Numbers of a formula by name; they are set like the entries of a dict, but none can be added.

    Parameters
    ----------
    name : str
        Of what the formula describes, for messages.
    values : mapping of str to float
        The numbers.
    taken : collection of str
        Names that they cannot have.

    Attributes
    ----------
    core
        The same numbers where kernels are launched.
    """

    def __init__(self, name: str, values: Mapping[str, object], taken: Collection[str]) -> None:
        values = {as_identifier(own): value for own, value in values.items()}
        for own in values:
            if own in taken:
                raise ValueError(
                    f"{own} must have another name, as the formula of the {name} takes it already"
                )
        if len(values) > _MOST:
            raise ValueError(f"parameters must be at most {_MOST}, not {len(values)}")
        self._name = name
        self._names = tuple(values)
        self.core = _core.Parameters([as_real(own, value) for own, value in values.items()])
        self._dtypes: tuple[np.dtype[Any], ...] = ()
        self._guards: WeakSet[Alone] = WeakSet()
        self._changing = Lock()

    def __getitem__(self, name: object) -> float:
        if not is_a(name, str):
            raise KeyError(name)
        return dict(zip(self._names, self.core.values, strict=True))[as_identifier(name)]

    def __setitem__(self, name: object, value: float) -> None:
        text = as_identifier(name) if is_a(name, str) else ""
        if text not in self._names:
            known = ", ".join(self._names) or "none"
            raise ValueError(f"parameters of the {self._name} are {known}, not {shown(name)}")
        self._set({text: as_real(text, value)}, tuple(self._guards))

    def __delitem__(self, name: str) -> NoReturn:
        raise TypeError(f"parameters of the {self._name} can be set, not deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[Parameters], tuple[str, dict[str, float], tuple[str, ...]]]:
        """Give a copy the numbers alone; what computes with them keeps the original."""
        return Parameters, (self._name, dict(self), ())

    def set_all(self, values: Sequence[float]) -> None:
        """Set all, in their order."""
        self._set(dict(zip(self._names, values, strict=True)), tuple(self._guards))

    @property
    def version(self) -> int:
        """Another one after each change."""
        return self.core.version

    def serve(self, dtype: np.dtype[Any]) -> None:
        """Be computed with in a dtype: numbers that it has not are refused, now and later."""
        self._check(self, dtype)
        self._dtypes = (*self._dtypes, dtype)

    def guard(self, alone: Alone) -> None:
        """Stay as they are while another one is in, but for what that one calls."""
        self._guards.add(alone)

    def _check(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> None:
        for name, value in values.items():
            check_numbers(f"{name} of the {self._name}", [expression(value)], dtype)

    def _set(self, values: Mapping[str, float], guards: Sequence[Alone]) -> None:
        """Set some, alone with all that are guarded."""
        if guards:
            with guards[0].or_called():
                self._set(values, guards[1:])
            return
        for dtype in self._dtypes:
            self._check(values, dtype)
        with self._changing:
            changed = {**self, **values}
            if changed != dict(self):
                self.core.values = list(changed.values())
