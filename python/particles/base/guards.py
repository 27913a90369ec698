# SPDX-License-Identifier: BSD-3-Clause
"""What objects refuse: other arguments, to be changed, to be copied, to be used twice at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from difflib import get_close_matches
from functools import update_wrapper, wraps
from inspect import Parameter, getattr_static, signature, unwrap
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec

from particles.base.checks import as_name
from particles.base.kinds import with_article


def absence(owner: str, name: str, known: Iterable[str], ways: Mapping[str, str]) -> str:
    """Return that something is not there, and what to use instead.

    Examples
    --------
    >>> absence("a door", "hinges", ["hinge", "key"], {"lock": "key"})
    'a door has no hinges; is hinge meant?'
    >>> absence("a door", "lock", ["hinge", "key"], {"lock": "key"})
    'a door has no lock: use key'
    """
    if name in ways:
        return f"{owner} has no {name}: use {ways[name]}"
    return f"{owner} has no {name}{meant(name, known)}"


def meant(name: str, known: Iterable[str]) -> str:
    """Return which known name may be meant, to end a message with."""
    return "".join(f"; is {one} meant?" for one in get_close_matches(name, known, 1, 0.7))


def absent(module: str, name: str, known: Iterable[str], ways: Mapping[str, str]) -> AttributeError:
    """Return the error of a module that is asked for what it has not."""
    # With a name, and without an object, Python adds no guess of its own.
    return AttributeError(absence(module, name, known, ways), name=name)


_Taken = ParamSpec("_Taken")


def misfit(
    kind: str, initialise: Callable[..., None], given: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """Return which arguments an object cannot be made of, if any.

    Examples
    --------
    >>> def initialise(self, shape, *, origin=0.0, extent=1.0): ...
    >>> misfit("Box", initialise, (8,), {"extend": 2})
    'Box takes no extend; is extent meant?'
    >>> misfit("Box", initialise, (8, 8), {})
    'Box takes by position only shape, not 8, 8: is Box((8, 8)) meant?'
    >>> misfit("Box", initialise, ("8", 1.0), {})
    'Box takes by position only shape, not 2 arguments; by name it takes origin, extent'
    >>> misfit("Box", initialise, (8,), {"shape": 8})
    'Box is given shape twice, by position and by name'
    >>> misfit("Box", initialise, (), {"origin": 1})
    'Box needs shape'
    """
    parameters = list(signature(initialise).parameters.values())[1:]
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters)
    names = [p.name for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    places = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    for name in named:
        if name not in names and not takes_any:
            return f"{kind} takes no {name}{meant(name, names) or ', but ' + ', '.join(names)}"
    if len(given) > len(places):
        words = f"{kind} takes by position only {', '.join(places)}, not "
        if len(places) == 1 and all(isinstance(one, int) for one in given):
            return f"{words}{', '.join(map(repr, given))}: is {kind}({given}) meant?"
        others = ", ".join(names[len(places) :])
        return f"{words}{len(given)} arguments" + (f"; by name it takes {others}" if others else "")
    placed = places[: len(given)]
    for name in placed:
        if name in named:
            other = "; a parameter needs another name" if takes_any else ""
            return f"{kind} is given {name} twice, by position and by name{other}"
    needed = [p.name for p in parameters if p.default is Parameter.empty and p.name in names]
    missing = [name for name in needed if name not in placed and name not in named]
    return f"{kind} needs {' and '.join(missing)}" if missing else None


def fitted(initialise: Callable[_Taken, None]) -> Callable[_Taken, None]:
    """Return how an object is made, with words of our own for arguments that it does not take."""

    @wraps(initialise)
    def make(*args: _Taken.args, **options: _Taken.kwargs) -> None:
        try:
            initialise(*args, **options)
        except TypeError:
            words = misfit(type(args[0]).__name__, initialise, args[1:], options)
            if words is None:
                raise
            raise TypeError(words) from None

    return make


class Told:
    """Tells who asks for an attribute that is not there what to use instead.

    Examples
    --------
    >>> class Thing(Told):
    ...     _ways = {"length": "len(thing)"}
    ...     size = 3
    >>> Thing().length
    Traceback (most recent call last):
    AttributeError: a Thing has no length: use len(thing)
    >>> Thing().sise
    Traceback (most recent call last):
    AttributeError: a Thing has no sise; is size meant?
    """

    __slots__ = ()

    _ways: ClassVar[Mapping[str, str]] = {}

    if not TYPE_CHECKING:  # to which every attribute would be there

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises as it has before
            # Without obj Python adds no guess of its own.
            raise AttributeError(self._absence(name), name=name)

    def _absence(self, name: str) -> str:
        known = [own for own in dir(self) if not own.startswith("_")]
        return absence(with_article(type(self)), name, known, self._ways)


class Fixed(Told):
    """Refuses to replace public attributes, for which kernels and memory were made, and to add some.

    Examples
    --------
    >>> class Thing(Fixed):
    ...     def __init__(self):
    ...         self.size = 3
    >>> thing = Thing()
    >>> thing.size = 4
    Traceback (most recent call last):
    AttributeError: size of a Thing cannot be replaced: make another one
    >>> thing.sise = 4
    Traceback (most recent call last):
    AttributeError: a Thing has no sise; is size meant?
    """

    _changing: ClassVar[tuple[str, ...]] = ()
    _is_made: bool = False

    def __init_subclass__(cls, **options: Any) -> None:  # noqa: ANN401
        super().__init_subclass__(**options)
        for name in dir(cls):
            method = getattr_static(cls, name)
            if not name.startswith("_") and type(method) is FunctionType:
                setattr(cls, name, _as_method_of(cls, method))
        initialise = vars(cls).get("__init__", unwrap(cls.__init__))
        if type(initialise) is FunctionType:
            initialise = fitted(_as_method_of(cls, initialise))

            @wraps(initialise)
            def make(self: Fixed, *args: Any, **options: Any) -> None:  # noqa: ANN401
                initialise(self, *args, **options)
                if type(self).__init__ is make:
                    self._is_made = True

            setattr(cls, "__init__", make)  # noqa: B010

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        if not name.startswith("_") and name not in self._changing:
            if name in vars(self):
                kind = with_article(type(self))
                raise AttributeError(f"{name} of {kind} cannot be replaced: make another one")
            if self._is_made and not hasattr(type(self), name):
                raise AttributeError(self._absence(name), name=name)
        super().__setattr__(name, value)


def _as_method_of(cls: type, method: FunctionType) -> FunctionType:
    """Return a method under the name of a class that inherits it: Python's own errors tell that."""
    name = f"{cls.__qualname__}.{method.__name__}"
    if method.__qualname__ == name:
        return method
    own = FunctionType(
        method.__code__,
        method.__globals__,
        method.__name__,
        method.__defaults__,
        method.__closure__,
    )
    update_wrapper(own, method).__qualname__ = name
    own.__kwdefaults__ = method.__kwdefaults__
    return own


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


class OnDevice(Fixed):
    """Refuses the copy module and pickle, for which memory and programs of a device are nothing."""

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"{name} works on a device and can be neither copied nor pickled: make another one, "
            "or write its fields with pt.io"
        )


class _Visit:
    """One who is in while a call is running; and who has come after."""

    def __init__(self, frame: FrameType | None) -> None:
        self.frame = frame
        self.thread = threading.get_ident()
        self.next: dict[str, _Visit] = {}

    def lasts(self) -> bool:
        """Whether the call is running: only what has ended can be cleared."""
        if self.frame is None:
            return False
        try:
            self.frame.clear()
        except RuntimeError:
            return True
        return False


class Alone:
    """Lets one caller in, and refuses others until that one has gone.

    No lock can be left behind: a caller is in as long as its call is running, however that ends. An
    interrupt may come between any two operations here; what matters is one, `setdefault`. The call is
    that of a plain function: a generator that waits would be ended by the question whether it runs.

    Parameters
    ----------
    words : str
        Tells others why they are refused.

    Examples
    --------
    >>> alone = Alone("somebody has come in by this door")
    >>> with alone:
    ...     pass
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._last = _Visit(None)

    def __enter__(self) -> None:
        visit, last = _Visit(sys._getframe(1)), self._last
        while last is not visit:
            if last.lasts():
                raise RuntimeError(self._words)
            last = last.next.setdefault("visit", visit)  # one alone comes next
        self._last = visit

    def __exit__(self, *_: object) -> None:
        self._last.frame = None

    def or_called(self) -> AbstractContextManager[None]:
        """Let in, too, who is called by the one that is in."""
        last = self._last
        is_called = last.thread == threading.get_ident() and last.lasts()
        return nullcontext() if is_called else self
