# SPDX-License-Identifier: BSD-3-Clause
"""A file that is changed in place is as a file in memory, and whole wherever the change is cut."""

import errno
import fcntl
import io
import os
import signal
import struct
import threading
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from particles.io.atomic import changing, held, locks, reading
from particles.io.atomic.journal import MAGIC, journal_of
from particles.io.atomic.pages import PAGE, DamageError
from particles.io.atomic.writer import Writer

from tests.io.cuts import Disk, put
from tests.support import child

NAMES = ["file", "file.journal"]


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    """Wait for no disk: what is flushed and what is not is told by what was noted."""
    monkeypatch.setattr(os, "fsync", lambda number: None)


def never():
    """What is called while somebody waits."""


def content_of(path):
    """Return the content behind the label."""
    if not path.exists():
        return None
    with reading(path, never) as file:
        file.seek(PAGE)
        return file.read(file.size - PAGE)


def change(file, random, steps):
    """Read, write, lengthen at random behind the first page; return what was read."""
    read = []
    for _ in range(steps):
        file.seek(PAGE + int(random.integers(4 * PAGE)))
        if random.random() < 0.5:
            read.append(file.read(int(random.integers(1, 2 * PAGE))))
        else:
            file.write(random.bytes(int(random.integers(1, 2 * PAGE))))
    return read


def store(path, content, then=never):
    with changing(path, never) as file:
        file.seek(PAGE)
        file.write(content)
        then()


@pytest.mark.parametrize("seed", range(20))
def test_it_is_as_a_file_in_memory(tmp_path, seed):
    path, memory = tmp_path / "file", io.BytesIO(bytes(PAGE))
    first = bytes(seed * PAGE // 7)
    if first:
        store(path, first)
        memory = io.BytesIO(bytes(PAGE) + first)
    for time in range(3):
        with changing(path, never) as file:
            found = change(file, np.random.default_rng((seed, time)), 12)
            expected = change(memory, np.random.default_rng((seed, time)), 12)
            for got, wanted in zip(found, expected, strict=True):  # beyond the end there are zeros
                assert got == wanted.ljust(len(got), b"\0")
            assert file.seek(0, os.SEEK_END) == len(memory.getvalue())
            assert file.seek(-3, os.SEEK_CUR) == file.tell() == len(memory.getvalue()) - 3
        assert content_of(path) == memory.getvalue()[PAGE:]
        assert list(tmp_path.iterdir()) == [path]


def test_calls_that_do_a_part_are_made_again(tmp_path, monkeypatch):
    """As those for more than 2 GiB are."""
    path, content = tmp_path / "file", np.random.default_rng(0).bytes(5 * PAGE)
    for name in "preadv", "pread", "pwrite":
        usual = getattr(os, name)

        def a_part(number, what, place, name=name, usual=usual):
            if name == "pread":
                return usual(number, min(what, 5000), place)
            part = [what[0][:5000]] if name == "preadv" else what[:5000]
            return usual(number, part, place)

        monkeypatch.setattr(os, name, a_part)
    store(path, content)
    store(path, content[::-1])
    assert content_of(path) == content[::-1]


def test_it_does_not_become_shorter(tmp_path):
    path, content = tmp_path / "file", np.random.default_rng(0).bytes(9 * PAGE // 2)
    store(path, content)
    for size in (4 * PAGE, 4 * PAGE - 1, 5, 0):
        with changing(path, never) as file:
            file.truncate(PAGE + size)
        assert content_of(path) == content


def cut_change(tmp_path, seed):
    """Return what was, what came, and the disk that has noted how."""
    random = np.random.default_rng(seed)
    path = tmp_path / "file"
    if seed % 4:  # the others begin a file
        store(path, random.bytes(int(random.integers(3 * PAGE))))
    before, disk = content_of(path), Disk(tmp_path, NAMES)
    with disk.noted(), changing(path, never) as file:
        change(file, random, 6)
        file.seek(PAGE)
        file.write(b"end")
    return before, content_of(path), disk


def cuts_of(disk, random, times=2):
    """Give contents of the disk after cuts of every kind at every operation, and how many were done."""
    for count in range(len(disk.log) + 1):
        yield count, disk.killed(count)
        yield count, disk.killed(count, part=0.5)
        for _ in range(times):
            yield count, disk.without_power(count, random)


@pytest.mark.parametrize("seed", range(5))
def test_wherever_it_is_cut_it_is_as_before_or_after(tmp_path, seed):
    """For who reads; who writes next finds the same, and leaves no journal."""
    before, after, disk = cut_change(tmp_path, seed)
    random, path, seen = np.random.default_rng(seed), tmp_path / "file", []
    for count, contents in cuts_of(disk, random):
        put(tmp_path, contents)
        found = content_of(path)
        assert found in (before, after), count
        seen.append(found == after)
        with changing(path, never) as file:
            file.seek(0, os.SEEK_END)
            end = max(PAGE, file.tell())
            file.seek(end)
            file.write(b"more")
        assert content_of(path) == (found or b"") + b"more"
        assert list(tmp_path.iterdir()) == [path]
    print(len(seen), "cuts")
    assert 0 < sum(seen) < len(seen)
    put(tmp_path, disk.killed(len(disk.log)))
    assert content_of(path) == after


@pytest.mark.parametrize("seed", [1, 2])
def test_what_takes_a_change_back_may_be_cut_as_well(tmp_path, seed):
    before, _, disk = cut_change(tmp_path, seed)
    random, path = np.random.default_rng(seed), tmp_path / "file"
    count = next(k for k, entry in enumerate(disk.log) if entry == ("flush folder",)) + 2
    put(tmp_path, disk.killed(count, part=0.5))
    again = Disk(tmp_path, NAMES)
    with again.noted(), Writer(path, never) as file:
        assert file.was_changing
        file.discard()
    assert content_of(path) == before
    cuts = list(cuts_of(again, random))
    print(len(cuts), "cuts")
    for _, contents in cuts:
        put(tmp_path, contents)
        assert content_of(path) == before
        store(path, b"")
        assert content_of(path) == before


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("is_for_good", [False, True])
def test_a_disk_that_fails_leaves_it_as_it_was(tmp_path, monkeypatch, is_new, is_for_good):
    """At whichever call; if it does not even let go of the journal, the next use takes it back."""
    path, calls = tmp_path / "file", ("pwrite", "ftruncate", "fsync", "rename", "unlink")
    if not is_new:
        store(path, b"before" * PAGE)
    before, disk = content_of(path), Disk(tmp_path, NAMES)
    with disk.noted():
        store(path, b"after" * 2 * PAGE)
    after, last = content_of(path), sum(entry[0] != "name" for entry in disk.log) - 1
    for fails_at in range(last + 1):
        put(tmp_path, disk.before)
        done = []

        def failing(usual, *given, fails_at=fails_at, done=done):
            done.append(usual)
            if len(done) - 1 == fails_at or (is_for_good and len(done) > fails_at):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return usual(*given)

        with monkeypatch.context() as patch:
            for name in calls:
                usual = getattr(os, name)
                patch.setattr(os, name, lambda *given, usual=usual: failing(usual, *given))
            with pytest.raises(OSError, match="No space left") as caught:
                store(path, b"after" * 2 * PAGE)
            assert caught.value.filename == str(path)
        # The last call has the folder flushed, when all has been done.
        assert content_of(path) == (after if fails_at == last else before), fails_at
        store(path, b"")
        assert [path] == list(tmp_path.iterdir())
        put(tmp_path, disk.before)


def test_what_goes_wrong_in_between_leaves_it_as_it_was(tmp_path):
    for path in (tmp_path / "there", tmp_path / "new"):
        if path.name == "there":
            store(path, b"content")
        with pytest.raises(ValueError, match="range"):
            store(path, 5 * PAGE * b"0", then=lambda: bytes([256]))
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert content_of(tmp_path / "there") == b"content"


@pytest.fixture
def in_the_middle(tmp_path):
    """Return a file in the middle of a change, what it was, and its journal."""
    path = tmp_path / "file"
    store(path, b"before" * PAGE)
    disk = Disk(tmp_path, NAMES)
    with disk.noted():
        store(path, b"after" * PAGE)
    count = disk.log.index(("flush folder",)) + 3
    put(tmp_path, disk.killed(count))
    assert journal_of(path).stat().st_size > PAGE
    assert path.read_bytes() not in (disk.before["file"], disk.killed(len(disk.log))["file"])
    return path, b"before" * PAGE, journal_of(path)


def test_who_may_only_read_sees_what_was(in_the_middle, monkeypatch):
    path, before, _ = in_the_middle
    usual = os.open

    def only_to_read(name, flags, *mode):
        assert not flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT)
        return usual(name, flags, *mode)

    monkeypatch.setattr(os, "open", only_to_read)
    monkeypatch.setattr(os, "pwrite", None)
    assert content_of(path) == before


def test_a_file_without_its_journal_is_not_believed(tmp_path):
    before, after, disk = cut_change(tmp_path, 1)
    refused = 0
    for _, contents in cuts_of(disk, np.random.default_rng(0)):
        put(tmp_path, {"file": contents["file"]})
        try:
            assert content_of(tmp_path / "file") in (before, after)
        except (DamageError, OSError):
            refused += 1
    assert refused > 0


def test_a_journal_that_is_not_whole_has_changed_nothing(tmp_path, in_the_middle):
    _, _, journal = in_the_middle
    whole, random = journal.read_bytes(), np.random.default_rng(0)
    path, other = tmp_path / "other", b"other" * 2 * PAGE
    store(path, other)
    for length in (0, 1, 40, 100, PAGE, *random.integers(len(whole), size=20)):
        torn = whole[:length]
        if length > 40 and random.random() < 0.5:
            torn = torn.ljust(len(whole), b"\0")
        journal_of(path).write_bytes(torn)
        assert content_of(path) == other
        store(path, b"")
        assert not journal_of(path).exists()


def test_a_journal_of_another_file_or_state_is_left_alone(in_the_middle):
    path, before, journal = in_the_middle
    content, whole = path.read_bytes(), journal.read_bytes()
    path.unlink()
    with pytest.raises(FileExistsError, match="journal of another file"):
        store(path, b"new")
    assert not path.exists()
    journal.unlink()
    store(path, b"new")
    journal.write_bytes(whole)
    assert content_of(path) == b"new"
    with pytest.raises(
        FileExistsError, match=r"another file lies beside .* move it away"
    ) as caught:
        store(path, b"newer")
    assert caught.value.filename == str(journal)
    assert (content_of(path), journal.read_bytes()) == (b"new", whole)
    path.write_bytes(content)
    store(path, b"")  # the right one again, played back
    assert content_of(path) == before
    journal.write_bytes(whole)  # a change later
    store_after = content_of(path)
    with pytest.raises(FileExistsError, match="journal of another file"):
        store(path, b"")
    assert content_of(path) == store_after


def test_a_journal_that_claims_much_takes_no_memory(tmp_path):
    path, count = tmp_path / "file", 2**26  # pages, a terabyte of which nothing is written
    store(path, b"content")
    head = struct.pack("<32sQQ", MAGIC, 2 * count * PAGE, count)
    journal_of(path).write_bytes(head)
    os.truncate(journal_of(path), len(head) + 8 * count + (count + 1) * PAGE + 32)
    assert content_of(path) == b"content"
    with pytest.raises(FileExistsError, match="journal of another file"):
        store(path, b"changed")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_strangers_journal_is_not_believed_where_all_may_put_files(in_the_middle, tmp_path):
    path, before, journal = in_the_middle
    os.chown(journal, 12345, -1)
    tmp_path.chmod(0o1777)
    for use in (lambda: content_of(path), lambda: store(path, b"")):
        with pytest.raises(PermissionError, match="somebody else has put a journal beside"):
            use()
    tmp_path.chmod(0o777)  # there a stranger might replace the file as well
    assert content_of(path) == before


@pytest.mark.parametrize("kind", ["text", "link", "folder", "pipe"])
def test_what_only_has_the_name_of_a_journal_is_left_alone(tmp_path, kind):
    path, other = tmp_path / "file", tmp_path / "other"
    store(path, b"content")
    other.write_bytes(b"")
    journal = journal_of(path)
    {
        "text": lambda: journal.write_text("Dear diary"),
        "link": lambda: journal.symlink_to(other),
        "folder": journal.mkdir,
        "pipe": lambda: os.mkfifo(journal),
    }[kind]()
    with pytest.raises((OSError, ValueError), match="journal"):
        store(path, b"changed")
    assert other.read_bytes() == b""
    assert journal.is_symlink() or journal.exists()
    journal.rmdir() if kind == "folder" else journal.unlink()
    assert content_of(path) == b"content"


def test_a_link_is_followed_to_the_file_and_its_journal(tmp_path, in_the_middle):
    path, before, journal = in_the_middle
    (tmp_path / "folder").mkdir()
    link = tmp_path / "folder" / "link"
    link.symlink_to(path)
    assert content_of(link) == before
    store(link, b"")
    assert not journal.exists()
    assert content_of(path) == before


@pytest.fixture
def no_patience(monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.0)


@pytest.mark.usefixtures("no_patience")
def test_one_writes_and_others_read_what_was(tmp_path):
    path = tmp_path / "file"
    store(path, b"before")
    with changing(path, never) as file:
        file.seek(PAGE)
        file.write(b"after!" * PAGE)
        with pytest.raises(OSError, match="in use by others") as caught:
            store(path, b"other")
        assert caught.value.filename == str(path)
        assert content_of(path) == b"before"
    assert content_of(path) == b"after!" * PAGE


@pytest.mark.usefixtures("no_patience")
def test_nobody_changes_what_others_read(tmp_path):
    path = tmp_path / "file"
    store(path, b"before")
    with reading(path, never), pytest.raises(OSError, match="in use by others"):
        store(path, b"after" * PAGE)
    assert content_of(path) == b"before"
    with path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="in use by others"):
            content_of(path)
        with pytest.raises(OSError, match="in use by others"):
            store(path, b"after" * PAGE)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("no_patience")
def test_nothing_is_taken_back_while_its_writer_lives(in_the_middle):
    path, before, journal = in_the_middle
    content = path.read_bytes()
    with journal.open("r+b") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="in use by others"):
            store(path, b"")
        assert path.read_bytes() == content
    store(path, b"")
    assert content_of(path) == before


def test_threads_wait_for_each_other(tmp_path):
    path = tmp_path / "file"
    store(path, b"\0" * 8 * PAGE)

    def add(which):
        for _ in range(10):
            with changing(path, never) as file:
                file.seek(PAGE + which)
                (count,) = file.read(1)
                file.seek(PAGE + which)
                file.write(bytes([count + 1]))

    seen = []
    threads = [threading.Thread(target=add, args=(which,)) for which in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        seen.append(content_of(path)[:3])
    for thread in threads:
        thread.join()
    assert content_of(path)[:3] == bytes([10, 10, 10])
    assert all(list(one) <= list(other) for one, other in pairwise(seen))


def test_without_locks_only_who_knows_takes_it_back(in_the_middle, monkeypatch):
    path, before, _ = in_the_middle

    def none(*_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", none)
    assert content_of(path) == before
    with pytest.raises(OSError, match=r"no locks .* repair --alone"):
        store(path, b"")
    with Writer(path, never, is_known_to_be_alone=True) as file:
        file.discard()
    assert content_of(path) == before
    store(path, b"after!")
    assert content_of(path) == b"after!" + before[6:]


def test_another_program_that_changes_it_meanwhile_is_noticed(tmp_path):
    path = tmp_path / "file"
    store(path, b"before")
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    with pytest.raises(OSError, match="another program has changed it"):
        store(path, b"after", then=lambda: path.write_bytes(content))
    assert path.read_bytes() == content


FORK = """
    import os, sys
    from pathlib import Path
    from particles.io.atomic import changing, locks
    from particles.io.atomic.pages import PAGE
    path = Path(sys.argv[1])
    locks.PATIENCE = 0.0

    def store():
        with changing(path, lambda: None) as file:
            file.seek(PAGE)
            file.write(b"1")

    store()
    reading, writing = os.pipe()
    with changing(path, lambda: None) as file:
        if os.fork() == 0:
            file.close()
            os._exit(0)
        os.wait()
        try:
            store()
        except OSError as error:
            print(error)
        child = os.fork()
        if child == 0:
            os.read(reading, 1)
            os._exit(0)
    store()  # though a child still has the files open
    os.write(writing, b"0")
    os.waitpid(child, 0)
"""


def test_children_neither_end_a_lock_nor_keep_it(tmp_path):
    assert "in use by others" in child.check(FORK, tmp_path / "file")


def interrupted(work):
    """Return whether Ctrl-C came out of it."""
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False


def test_signals_wait_until_the_end():
    done, usual = [], signal.getsignal(signal.SIGINT)

    def work():
        with held():
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
            done.append("all")

    assert interrupted(work)
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is usual
    assert interrupted(lambda: signal.raise_signal(signal.SIGINT))


def test_signals_come_where_nothing_is_in_the_middle():
    done, usual = [], signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, lambda number, _: done.append(number))

    def work():
        with held() as signals:
            signal.raise_signal(signal.SIGUSR1)
            assert done == []
            signals.deliver()
            assert done == [signal.SIGUSR1]
            with held():
                signal.raise_signal(signal.SIGINT)
            signals.deliver()
            done.append("never")

    try:
        assert interrupted(work)
    finally:
        signal.signal(signal.SIGUSR1, usual)
    assert done == [signal.SIGUSR1]


def test_an_error_goes_along_with_the_interrupt():
    def work():
        with held():
            signal.raise_signal(signal.SIGINT)
            raise OSError("the disk")

    with pytest.raises(KeyboardInterrupt) as caught:
        work()
    assert isinstance(caught.value.__context__, OSError)


def test_all_that_came_is_delivered_whatever_the_first_raises():
    """And the handlers are back: that of Ctrl-C raises, another only notes."""
    came = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    usual = signal.getsignal(signal.SIGINT)
    try:
        with suppress(KeyboardInterrupt), held():
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)
            assert not came
        assert came == [signal.SIGTERM] * 2
        assert signal.getsignal(signal.SIGINT) is usual
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_have_no_signals_to_hold():
    came, handlers = [], []

    def work():
        with held():
            handlers.append(signal.getsignal(signal.SIGINT))
            came.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert came == [True]
    assert handlers == [signal.getsignal(signal.SIGINT)]
