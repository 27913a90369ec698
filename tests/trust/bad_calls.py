# SPDX-License-Identifier: BSD-3-Clause
"""What can be called, with right arguments and with wrong ones."""

from collections.abc import Callable
from typing import NamedTuple

from tests.trust.bad_kinds import Kind, Of


class Together(NamedTuple):
    """Arguments that are right alone and wrong together; {} is what came."""

    what: str
    given: dict
    error: type[Exception]
    words: str


class Call(NamedTuple):
    """Something public that can be called: rightly, with one wrong argument, or with several."""

    name: str
    function: Callable
    right: dict
    wrong: dict[str, Kind]
    together: tuple[Together, ...] = ()
    is_slow: bool = False

    def arguments(self, world, **given):
        return {
            name: value.make(world) if isinstance(value, Of) else value
            for name, value in {**self.right, **given}.items()
        }


GRID = Of(lambda w: w.grid)
U = Of(lambda w: w.u)


def beside(name, kind, **others):
    """Return what is wrong for an argument that is right only beside others."""
    return tuple(
        Together(f"{name}: {one.what}", {**others, name: one.value}, one.error, one.template(name))
        for one in kind.wrong
    )
