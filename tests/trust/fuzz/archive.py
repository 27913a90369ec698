# SPDX-License-Identifier: BSD-3-Clause
"""Archives of NumPy: read as they are, or refused as damaged."""

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import particles as pt

from tests.trust.fuzz.choices import Choices


@cache
def place():
    folder = tempfile.TemporaryDirectory()
    return Path(folder.name, "file.npz"), folder


def run(data):
    path, _ = place()
    choose = Choices(data)
    path.write_bytes(zipped(choose) if choose.below(2) else choose.rest())
    try:
        fields, time = pt.io.load(path)
    except ValueError as error:
        assert "is damaged, or not a file of fields" in str(error)  # noqa: PT017
        return
    pt.io.save(path, {f"u{k}": field for k, field in enumerate(fields.values())}, time)
    again, instant = pt.io.load(path)
    assert instant == time
    for one, other in zip(again.values(), fields.values(), strict=True):
        assert (one.grid, one.shape, one.dtype) == (other.grid, other.shape, other.dtype)
        assert one.get().tobytes() == other.get().tobytes()


def zipped(choose):
    """An archive whose sums are right, whatever is in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        while choose.are_left:
            name = choose.text()
            archive.writestr(zipfile.ZipInfo(name or "-"), choose.bytes(choose.short()))
    return file.getvalue()
