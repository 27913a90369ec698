# SPDX-License-Identifier: BSD-3-Clause
"""Threads that work with a device each, so that what the core does is done on all of them at once.

What the core has made for each device stands here as one object, `Several`. Whoever has it calls its
methods as those of the core; nothing above the core knows of threads.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar, cast

from particles.base.kinds import is_a

_T = TypeVar("_T")
_thread = threading.local()  # `works`: it is one of a crew


class _LeftError(Exception):
    """Another thread has failed, and will not come to where this one waits for it."""


class _Round:
    """What each thread brings to one meeting of all."""

    def __init__(self, size: int) -> None:
        self.found: list[Any] = [None] * size
        self.come = self.gone = 0


class _Board:
    """Where threads that work for one call leave for each other what they have.

    All come to the same meetings, in the same order.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._rounds: dict[int, _Round] = {}
        self._met = [0] * size
        self._is_left = False

    def leave(self) -> None:
        """Let nobody wait for a thread that has failed."""
        with self._changed:
            self._is_left = True
            self._changed.notify_all()

    def every(self, rank: int, own: object) -> list[Any]:
        """Return what each thread has brought, as soon as all have come."""
        with self._changed:
            number = self._met[rank]
            self._met[rank] += 1
            meeting = self._rounds.setdefault(number, _Round(self._size))
            meeting.found[rank] = own
            meeting.come += 1
            if meeting.come == self._size:
                self._changed.notify_all()
            while meeting.come < self._size:
                if self._is_left:
                    raise _LeftError
                self._changed.wait()
            meeting.gone += 1
            if meeting.gone == self._size:
                del self._rounds[number]
            return meeting.found


class _Call:
    """What all threads are asked for, and what has come of it."""

    def __init__(self, action: Callable[[int], Any], size: int) -> None:
        self._action, self.board = action, _Board(size)
        self.results: list[Any] = [None] * size
        self.errors: list[BaseException | None] = [None] * size
        self._left = size
        self._lock = threading.Lock()
        self.is_done = False
        self.done: SimpleQueue[None] = SimpleQueue()

    def do(self, rank: int) -> None:
        """Do one thread's part."""
        try:
            self.results[rank] = self._action(rank)
        except BaseException as error:  # noqa: BLE001  whoever has called raises it
            self.errors[rank] = error
            self.board.leave()
        with self._lock:
            self._left -= 1
            if self._left:
                return
        del self._action  # and what it holds
        self.is_done = True
        self.done.put(None)

    def result(self) -> list[Any]:
        """Wait for all; return what each has, or raise what the first has raised that failed."""
        interrupt: BaseException | None = None
        while not self.is_done:
            try:
                self.done.get()
            except BaseException as error:  # noqa: BLE001  the work ends whatever happens
                interrupt = error
        failures = [error for error in self.errors if error is not None]
        causes = [error for error in failures if not is_a(error, _LeftError)]
        self.errors.clear()
        try:
            if interrupt is not None:
                raise interrupt
            if failures:
                raise (causes or failures)[0]
        finally:
            del interrupt, failures, causes  # whose frames hold this one
        return self.results


def _work(
    rank: int, inboxes: Sequence[SimpleQueue[_Call | None]], boards: dict[int, _Board]
) -> None:
    """Do one call after the other; the first thread hands them on, so that all have the same order."""
    inbox, others = inboxes[rank], inboxes[1:] if rank == 0 else ()
    _thread.works = True
    while True:
        call = inbox.get()
        for other in others:
            other.put(call)
        if call is None:
            return
        boards[rank] = call.board
        call.do(rank)
        del call, boards[rank]


class Crew:
    """Threads, one for each of several devices.

    Attributes
    ----------
    size : int
        How many there are.
    mates : tuple
        What they work on; for who gives them that.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.mates: tuple[Any, ...] = ()
        self._boards: dict[int, _Board] = {}  # of the calls that threads are at
        self._process = 0
        self._starting = threading.Lock()

    def call(self, action: Callable[[int], _T]) -> list[_T]:
        """Have each thread do something with its number; return what comes of it, in their order.

        Calls are done one after the other. An interrupt is raised when all have ended. Where one
        fails, those that wait for it end as well.
        """
        call = self._made(action)
        self._inbox.put(call)
        return call.result()

    def promised(
        self, action: Callable[[int], object]
    ) -> tuple[Callable[[], None], Callable[[], object]]:
        """Return what begins a call, which no interrupt keeps from being done, and what waits for it.

        To begin it is one operation, and whatever is asked for afterwards is done after it.
        """
        call = self._made(action)
        return partial(self._inbox.put, call), call.result

    def _made(self, action: Callable[[int], object]) -> _Call:
        """Return a call that can be put to the threads."""
        if getattr(_thread, "works", False):
            raise RuntimeError(
                "what is on several devices must not be used by a finalizer: one of them runs it, and "
                "would wait for itself"
            )
        if self._process != os.getpid():
            self._start()
        return _Call(action, self.size)

    def every(self, rank: int, own: object) -> list[Any]:
        """Return what each thread has brought to a meeting of all, within a call."""
        return self._boards[rank].every(rank, own)

    def _start(self) -> None:
        with self._starting:
            if self._process == os.getpid():
                return
            inboxes: list[SimpleQueue[_Call | None]] = [SimpleQueue() for _ in range(self.size)]
            self._inbox = inboxes[0]
            for rank in range(self.size):
                name = f"particles device {rank}"
                arguments = rank, inboxes, self._boards
                threading.Thread(target=_work, args=arguments, name=name, daemon=True).start()
            weakref.finalize(self, inboxes[0].put, None).atexit = False
            self._process = os.getpid()


class Several:
    """What the core has made for each of several devices, as one.

    Its attributes are those of the first, as those of all are alike; a method is called of each, in
    the device's thread, with its part of all arguments.

    Attributes
    ----------
    crew : Crew
        The threads.
    parts : tuple
        What there is for each device.
    """

    __slots__ = ("__weakref__", "crew", "parts")

    crew: Crew
    parts: tuple[Any, ...]

    def __init__(self, crew: Crew, parts: Sequence[Any]) -> None:
        object.__setattr__(self, "crew", crew)
        object.__setattr__(self, "parts", tuple(parts))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("_"):  # by such a one pybind11 would take the first for all
            raise AttributeError(name)
        first = getattr(self.parts[0], name)
        return partial(self._call, name) if callable(first) else first

    def __setattr__(self, name: str, value: object) -> None:
        for part in self.parts:
            setattr(part, name, value)

    def _call(self, name: str, *args: object, **options: object) -> Any:  # noqa: ANN401
        return self.each(name, *args, **options)[0]

    def each(self, name: str, *args: Any, **options: Any) -> list[Any]:  # noqa: ANN401
        """Call a method of each; return what comes of each."""
        return self.crew.call(
            lambda rank: getattr(self.parts[rank], name)(
                *part_of(args, rank), **part_of(options, rank)
            )
        )


def parts_of(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """Return what each device has of something."""
    return value.parts if is_a(value, Several) else (value,)


def part_of(value: Any, rank: int) -> Any:  # noqa: ANN401
    """Return what one device has of something, or of what is in a sequence or a dictionary."""
    if is_a(value, Several):
        return value.parts[rank]
    if is_a(value, list | tuple) and crew_of(value) is not None:
        return type(value)(part_of(one, rank) for one in value)
    if is_a(value, dict):
        return {name: part_of(one, rank) for name, one in value.items()}
    return value


def crew_of(value: object) -> Crew | None:
    """Return the threads of the first thing that is of several devices, if there is one."""
    if is_a(value, Several):
        return value.crew
    if is_a(value, list | tuple):
        return next((crew for crew in map(crew_of, value) if crew is not None), None)
    return None


def made(make: Callable[..., _T], *args: Any) -> _T:  # noqa: ANN401
    """Have the core make something: of what several devices have, one for each of them."""
    crew = crew_of(args)
    if crew is None:
        return make(*args)
    found: Any = Several(crew, found_of_each(make, *args))
    return cast("_T", found)


def found_of_each(find: Callable[..., _T], *args: Any) -> list[_T]:  # noqa: ANN401
    """Return what a function finds of each device's part of its arguments."""
    crew = crew_of(args)
    if crew is None:
        return [find(*args)]
    return crew.call(lambda rank: find(*part_of(args, rank)))


def promised(core: object, name: str) -> tuple[Callable[[], None], Callable[[], object]]:
    """Return what has a method of what the core has made called, and what waits for that.

    Once it is begun, no interrupt keeps it from being done.
    """
    if is_a(core, Several):
        return core.crew.promised(lambda rank: getattr(core.parts[rank], name)())
    return getattr(core, name), lambda: None


def of_each(core: object, name: str, *args: object) -> list[Any]:
    """Call a method of what the core has made; return what comes of it on each device."""
    if is_a(core, Several):
        return core.each(name, *args)
    return [getattr(core, name)(*args)]
