# SPDX-License-Identifier: BSD-3-Clause
"""A file that is changed in place is as a file in memory, or as it was."""

import errno
import io
import os

import numpy as np
import pytest
from particles._staged import PAGE, Staged, staged


def change(file, random, steps):
    """Read, write, lengthen at random; return what was read."""
    read = []
    for _ in range(steps):
        file.seek(int(random.integers(4 * PAGE)))
        if random.random() < 0.5:
            read.append(file.read(int(random.integers(1, 2 * PAGE))))
        else:
            file.write(random.bytes(int(random.integers(2 * PAGE))))
    return read


@pytest.mark.parametrize("size", [0, 1, PAGE, PAGE + 1, 3 * PAGE - 1])
@pytest.mark.parametrize("seed", range(20))
def test_it_is_as_a_file_in_memory(tmp_path, size, seed):
    path, random = tmp_path / "file", np.random.default_rng(seed)
    content = random.bytes(size)
    path.write_bytes(content)
    memory = io.BytesIO(content)
    with staged(path) as file:
        found = change(file, np.random.default_rng(seed), 30)
        expected = change(memory, np.random.default_rng(seed), 30)
        for got, wanted in zip(found, expected, strict=True):  # beyond the end there are zeros
            assert got == wanted.ljust(len(got), b"\0")
        assert file.seek(0, os.SEEK_END) == len(memory.getvalue())
        assert path.read_bytes()[:size] == content
    assert path.read_bytes() == memory.getvalue()


def fill_pages(path, count):
    with staged(path) as file:
        for page in range(count):
            file.seek(page * PAGE)
            file.write(bytes([1 + page]) * 50)
        for page in range(count):
            file.seek(page * PAGE)
            assert file.read(50) == bytes([1 + page]) * 50


@pytest.mark.parametrize("fails_at", range(10))
def test_a_disk_that_fails_leaves_it_as_it_was(tmp_path, monkeypatch, fails_at):
    """At whichever write, of what is appended or what is changed; what was written can be read."""
    path, random = tmp_path / "file", np.random.default_rng(fails_at)
    content = random.bytes(PAGE + 100)
    path.write_bytes(content)
    usual, calls = os.pwrite, []

    def write(number, view, place):
        calls.append(place)
        if len(calls) - 1 == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return usual(number, view, place)

    monkeypatch.setattr(os, "pwrite", write)
    with pytest.raises(OSError, match="No space left") as caught:
        fill_pages(path, 10)
    assert len(calls) > fails_at
    assert caught.value.filename == str(path)
    assert path.read_bytes() == content


def test_what_goes_wrong_in_between_leaves_it_as_it_was(tmp_path):
    for path in (tmp_path / "there", tmp_path / "new"):
        if path.name == "there":
            path.write_bytes(b"content")
        with pytest.raises(ValueError, match="range"):
            fill_pages(path, 300)  # bytes of which 255 is the last
    assert path.exists() is False
    assert (tmp_path / "there").read_bytes() == b"content"


def test_only_one_may_change_it(tmp_path):
    with staged(tmp_path / "file") as file:
        with pytest.raises(OSError, match="in use"):
            Staged(tmp_path / "file")
        file.write(b"a")
    assert (tmp_path / "file").read_bytes() == b"a"
