# SPDX-License-Identifier: BSD-3-Clause
"""Threads that work for one call: they meet, fail together, and end."""

import gc
import signal
import threading
import time

import pytest
from particles.runtime.crew import Crew, Several, found_of_each, made

pytestmark = pytest.mark.one_device
SIZE = 3


def test_all_meet_as_often_as_they_are_told():
    crew = Crew(SIZE)

    def sums(rank):
        total = 0
        for turn in range(50):
            total += sum(crew.every(rank, rank * turn))
        return total

    assert crew.call(sums) == [50 * 49 // 2 * 3] * SIZE


def test_what_one_raises_ends_those_that_wait_for_it():
    crew = Crew(SIZE)

    def fail(rank):
        crew.every(rank, None)
        if rank == 1:
            raise ArithmeticError("the first cause")
        crew.every(rank, None)

    for _ in range(3):
        with pytest.raises(ArithmeticError, match="the first cause"):
            crew.call(fail)
        assert crew.call(lambda rank: crew.every(rank, rank)) == [[0, 1, 2]] * SIZE


def test_what_all_raise_is_raised_once():
    crew = Crew(SIZE)

    def fail(rank):
        crew.every(rank, None)
        raise ValueError(f"of {rank}")

    with pytest.raises(ValueError, match="of 0"):
        crew.call(fail)


def test_an_interrupt_is_raised_when_the_work_has_ended():
    crew, ended = Crew(SIZE), []

    def work(rank):
        if rank == 0:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.1)
        crew.every(rank, None)
        ended.append(rank)

    with pytest.raises(KeyboardInterrupt):
        crew.call(work)
    assert sorted(ended) == [0, 1, 2]
    assert crew.call(lambda rank: rank) == [0, 1, 2]


def test_calls_of_several_threads_are_done_one_after_the_other():
    crew, at_work, together = Crew(SIZE), [], []

    def work(rank):
        at_work.append(rank)
        together.append(len(at_work))
        crew.every(rank, None)
        at_work.remove(rank)

    def ask():
        for _ in range(20):
            crew.call(work)

    users = [threading.Thread(target=ask) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert max(together) <= SIZE + 1  # the next may have begun where one has ended
    assert len(together) == 4 * 20 * SIZE


def test_a_thread_of_a_crew_waits_for_none():
    """As what is collected while it works would, in a finalizer."""
    crew, other = Crew(SIZE), Crew(SIZE)
    for one in crew, other:
        with pytest.raises(RuntimeError, match="must not be used by a finalizer"):
            crew.call(lambda rank, one=one: one.call(lambda rank: rank))
    assert crew.call(lambda rank: rank) == [0, 1, 2]


def test_threads_end_with_the_last_that_can_ask_them():
    before = {*threading.enumerate()}
    crew = Crew(SIZE)
    several = Several(crew, [[1], [2], [3]])
    assert several.each("pop") == [1, 2, 3]
    mine = {*threading.enumerate()} - before
    assert len(mine) == SIZE
    del crew, several
    gc.collect()
    for thread in mine:
        thread.join(10)
        assert not thread.is_alive()


def test_what_is_of_several_devices_is_made_and_asked_for_each():
    crew = Crew(SIZE)
    lists = Several(crew, [[1], [2], [3]])
    pairs = made(lambda one, others: [*one, *others[0]], lists, [lists, 5])
    assert pairs.parts == ([1, 1], [2, 2], [3, 3])
    assert found_of_each(len, pairs) == [2, 2, 2]
    assert found_of_each(len, [1]) == [1]
    pairs.append(4)
    assert pairs.parts[2] == [3, 3, 4]
    with pytest.raises(AttributeError):
        pairs.sise  # noqa: B018
    with pytest.raises(TypeError):
        len(pairs)  # the core would take the first for all
