# SPDX-License-Identifier: BSD-3-Clause
"""Whatever is written, overwritten, damaged or read at once, files are whole and what was saved."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import particles as pt
import pytest
from hypothesis import seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.support import lot
from tests.support.written import GRIDS, as_vectors, read_vti

NAMES = st.sampled_from(["one.npz", "two.npz"])
TIMES = st.one_of(st.none(), st.floats(-9, 9))
# Of a file: how long it is may depend on which of two threads was the last to save it.
SHARES = st.floats(0, 1, exclude_max=True)


@seed(lot.NUMBER)
class Files(RuleBasedStateMachine):
    """Files beside what was written into them last."""

    def __init__(self):
        super().__init__()
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.archives, self.pictures = {}, {}
        self.grid, self.moments = None, []

    def teardown(self):
        self.temporary.cleanup()

    def fields(self, data, grid=None):
        """Some fields, as values by name, and as they are."""
        grid = grid or data.draw(st.sampled_from(GRIDS), "grid")
        kinds = {"u": (1, "float32"), "v": (3, "float64"), "w": (2, "float16")}
        names = sorted(kinds) if grid is self.grid else data.draw(
            st.lists(st.sampled_from(sorted(kinds)), min_size=1, unique=True), "names"
        )  # fmt: skip
        fields = {}
        for name in names:
            fields[name] = pt.Field(grid, *kinds[name])
            seed = data.draw(st.integers(0, 99), "seed")
            fields[name][...] = np.random.default_rng(seed).normal(size=fields[name].shape)
        return fields

    def check(self, contents, expected):
        fields, time = expected
        assert (sorted(contents.fields), contents.time) == (sorted(fields), time)
        for name, field in fields.items():
            found = contents.fields[name]
            assert (found.grid, found.dtype, found.shape) == (field.grid, field.dtype, field.shape)
            assert found.get().tobytes() == field.get().tobytes()

    @rule(data=st.data(), name=NAMES, time=TIMES)
    def save(self, data, name, time):
        fields = self.fields(data)
        pt.io.save(self.folder / name, fields, time)
        self.archives[name] = fields, time

    @rule(data=st.data(), name=NAMES)
    def write_a_picture(self, data, name):
        fields = self.fields(data)
        pt.io.write_vti(self.folder / f"{name}.vti", fields)
        self.pictures[name] = fields

    @rule(data=st.data(), step=st.floats(-1, 2))
    def append(self, data, step):
        """Fields as before, but perhaps not later."""
        if self.grid is None:
            self.grid = data.draw(st.sampled_from(GRIDS), "grid")
        fields = self.fields(data, self.grid)
        series = pt.io.Series(self.folder / "series.h5")
        time = (self.moments[-1][1] if self.moments else 0.0) + step
        if self.moments and time <= self.moments[-1][1]:
            with pytest.raises(ValueError, match="time must be after the last one"):
                series.append(time, fields)
        else:
            series.append(time, fields)
            self.moments.append((fields, time))

    @precondition(lambda self: self.moments)
    @rule(data=st.data())
    def append_what_does_not_fit(self, data):
        series = pt.io.Series(self.folder / "series.h5")
        fields, time = self.moments[-1]
        other = next(grid for grid in GRIDS if grid != self.grid)
        wrong = [
            {"u": fields["u"]},
            {**fields, "u": fields["v"]},
            {n: pt.Field(other) for n in fields},
        ]
        with pytest.raises(ValueError, match="field"):
            series.append(time + 1, data.draw(st.sampled_from(wrong)))

    @precondition(lambda self: self.archives)
    @rule(data=st.data(), time=TIMES)
    def save_at_once(self, data, time):
        """Two threads save, and another one loads: each sees one of the files, whole."""
        name = data.draw(st.sampled_from(sorted(self.archives)))
        written = [self.archives[name], (self.fields(data), time), (self.fields(data), 0.5)]
        path = self.folder / name
        with ThreadPoolExecutor(3) as threads:
            saves = [threads.submit(pt.io.save, path, *contents) for contents in written[1:]]
            seen = threads.submit(pt.io.load, path)
            for save in saves:
                save.result()
        self.check_one_of(seen.result(), written)
        self.archives[name] = self.check_one_of(pt.io.load(path), written[1:])

    def check_one_of(self, contents, several):
        for expected in several:
            try:
                self.check(contents, expected)
            except AssertionError:
                continue
            return expected
        raise AssertionError("it is none of what was written")

    @precondition(lambda self: self.archives)
    @rule(data=st.data())
    def load_a_damaged_copy(self, data):
        name = data.draw(st.sampled_from(sorted(self.archives)))
        content = bytearray((self.folder / name).read_bytes())
        place = int(data.draw(SHARES) * len(content))
        if data.draw(st.booleans()):
            del content[place:]
        else:
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        path = self.folder / "damaged"
        path.write_bytes(content)
        try:
            contents = pt.io.load(path)
        except ValueError as error:
            assert "is damaged, or not a file of fields" in str(error)  # noqa: PT017
        else:
            self.check(contents, self.archives[name])
        path.unlink()

    @precondition(lambda self: self.moments)
    @rule(data=st.data())
    def load_a_series_that_is_cut_short(self, data):
        content = (self.folder / "series.h5").read_bytes()
        path = self.folder / "short.h5"
        left = content[: int(data.draw(SHARES) * len(content))]
        path.write_bytes(left)
        with pytest.raises((OSError, ValueError) if left else IndexError):
            pt.io.Series(path).load(0)
        path.unlink()

    @precondition(lambda self: self.archives)
    @rule(data=st.data())
    def be_refused(self, data):
        """A save that cannot be done leaves what was there."""
        name = data.draw(st.sampled_from(sorted(self.archives)))
        path, (fields, _) = self.folder / name, self.archives[name]
        u = next(iter(fields.values()))
        for wrong in (
            lambda: pt.io.save(path, {"time": u}),
            lambda: pt.io.save(path, {"a/b": u}),
            lambda: pt.io.save(path, u, time=np.nan),
            lambda: pt.io.save(path / "below", u),
            lambda: pt.io.write_vti(path, {}),
            lambda: pt.io.save(self.folder, u),
        ):
            with pytest.raises((OSError, TypeError, ValueError)):
                wrong()

    @invariant()
    def files_are_what_was_written(self):
        for name, expected in self.archives.items():
            self.check(pt.io.load(self.folder / name), expected)
        for name, fields in self.pictures.items():
            path = self.folder / f"{name}.vti"
            found = read_vti(path, next(iter(fields.values())).grid)
            for key, field in fields.items():
                expected = as_vectors(field).astype(found[key].dtype)
                np.testing.assert_array_equal(found[key], expected)
        if self.moments:
            series = pt.io.Series(self.folder / "series.h5")
            assert series.times == tuple(time for _, time in self.moments)
            for number, expected in enumerate(self.moments):
                self.check(series.load(number), expected)

    @invariant()
    def nothing_else_is_left(self):
        pictures = {f"{name}.vti" for name in self.pictures}
        series = {"series.h5", "series.xdmf"} if self.moments else set()
        assert {path.name for path in self.folder.iterdir()} == {*self.archives} | pictures | series


Files.TestCase.settings = settings(
    max_examples=settings.default.max_examples // 12, stateful_step_count=10
)
TestFiles = pytest.mark.sampled(Files.TestCase)
