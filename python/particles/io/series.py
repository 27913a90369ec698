# SPDX-License-Identifier: BSD-3-Clause
"""Fields at several times in one file of HDF5."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

from particles.base.checks import as_choice, as_index, as_path, as_real, shown
from particles.base.disk import StrPath, check_regular, replacing
from particles.base.guards import Fixed
from particles.fields.data_arrays import import_xarray
from particles.fields.field import Field
from particles.fields.grid import Grid
from particles.io import series_layout, series_sets, xdmf
from particles.io.atomic import Writer, changing, committed, held
from particles.io.contents import Contents, alone_with, as_named
from particles.io.leading import Maker, Making, Source, led, ranks_for
from particles.io.series_reading import import_h5py, opened, reading_series
from particles.io.sets import SetSource
from particles.runtime.device import Device
from particles.runtime.device_group import place_of
from particles.sets.particle_set import ParticleSet

if TYPE_CHECKING:
    import numpy.typing as npt
    import xarray
    from mpi4py import MPI

_VECTORS = "vectors"
"""Tells that moments have two components as a vector."""


class Series(Fixed):
    """Fields of one grid, and sets of particles, at several times in an HDF5 file.

    It needs the extra ``io``.

    `load` reads one time. ``len(series)`` and `times` tell which times there are. `to_xarray` shows
    all of them at once.

    Beside it is an XDMF file, which ParaView opens. One process at a time can append while others
    read.

    Parameters
    ----------
    path : str or path-like
        The file, made when the first fields are appended. In the name of the XDMF file, ``.xdmf``
        replaces ``.h5`` or ``.hdf5``, or is added to any other suffix.
    mode : {"a", "w", "r"}
        What happens to an existing file: ``"a"`` continues it, ``"w"`` replaces it by a new one when
        the first fields are appended. Until then, and if anything fails, the old file stays. ``"r"``
        is to read alone: there must be a file, and `append` is refused.

    Notes
    -----
    The file has a dataset for each field, with the axes (time, z, y, x) and, if there are several,
    the components, in the order of XDMF; the dataset ``time``; and ``origin``, ``spacing`` and
    ``boundary`` of the grid as attributes of the file. float16 is written as float32, because XDMF
    has no float16, and read back as float16. The group ``moments`` has the values of each time as
    virtual datasets, the only kind that all readers of XDMF accept; nothing is stored twice. XDMF has
    vectors of three: of two components there the third one is 0, and four are four datasets,
    ``name[0]`` and so on.
    A set of particles is a group, in whose datasets all times follow each other: ``positions``, each
    attribute, and where particles are as the set knows it; ``places.counts`` tells how many each time
    has. In XDMF it is a collection of points.
    Checksums of everything are in the "user block" of HDF5 and after its end.

    If an append is cut short (Ctrl-C, a full disk, SIGKILL, a power cut), the file is either as
    before or as after. During a change there is a journal beside it, ``run.h5.journal``. A journal
    that remains is from a process that has ended. Then `Series` reads the state before the change,
    and the next `append`, or the command ``particles repair``, takes the change back and removes
    the journal. Other programs must not open a file that has a journal. If you move the file, move
    the journal with it. Under another hard link the journal is not found. Ctrl-C waits while HDF5
    is at work. When `append` returns, the data are on the disk.

    Everything that is read is compared with its checksums. Damage raises a ValueError that names
    file, time and field; other times can still be read. Changes by other programs are refused.

    Examples
    --------
    >>> import particles as pt
    >>> grid = pt.Grid(32)
    >>> u = pt.Field(grid, name="u")
    >>> u[3] = 1
    >>> transport = pt.Splitting(pt.AdvectionOp(pt.Velocity(grid, lambda x: 1.0)), pt.RemeshOp(u))
    >>> series = pt.io.Series("run.h5")
    >>> for k in range(3):
    ...     transport.run(until=k * 0.25, dt=0.125)
    ...     series.append(transport.time, u)
    >>> series.times
    (0.0, 0.25, 0.5)
    >>> fields, time = series.load(-1)
    >>> bool((fields["u"].get() == u.get()).all())
    True
    """

    _ways: ClassVar = dict.fromkeys(
        ("read", "get", "items", "fields", "values", "open", "isel", "sel"),
        "load(-1), or to_xarray()",
    )

    def __init__(self, path: StrPath, mode: Literal["a", "w", "r"] = "a") -> None:
        self.path = as_path("path", path)
        if self.path.suffix == ".xdmf":
            raise ValueError(
                f"path must name the HDF5 file, not the XDMF file beside it, {shown(path)}"
            )
        self._mode = as_choice("mode", mode, ("a", "w", "r"))
        self._begins_anew = self._mode == "w"
        self._h5py = import_h5py()
        if self._mode == "r" or self.path.exists():
            check_regular(self.path, self.path.stat())
        if self._is_there():
            with reading_series(self.path):
                pass

    @property
    def times(self) -> tuple[float, ...]:
        """The times that have been appended."""
        if not self._is_there():
            return ()
        with reading_series(self.path) as (file, _, _):
            return tuple(file["time"][()].tolist())

    def __reduce__(self) -> tuple[type[Series], tuple[StrPath, str]]:
        return Series, (
            self.path,
            "a" if self._mode == "w" and not self._begins_anew else self._mode,
        )

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: object) -> NoReturn:
        raise TypeError(
            "a Series is read one time after the other, by fields, time = series.load(-1); "
            "series.times tells which there are, and series.to_xarray() shows all"
        )

    def append(
        self, time: float, fields: Field | ParticleSet | Mapping[str, Field | ParticleSet]
    ) -> None:
        """Append fields and sets of particles at a time later than the last one.

        Parameters
        ----------
        time : float
            Time of the fields.
        fields : Field or ParticleSet or dict of str to Field or ParticleSet
            One field, under its name or ``"values"``, a set, under its name or ``"particles"``, or
            several by name. They must be the same at each time, on the same grid; sets may have other
            numbers of particles.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(4)
        >>> series = pt.io.Series("appended.h5")
        >>> series.append(0.0, {"salt": pt.Field(grid), "heat": pt.Field(grid)})
        >>> len(series), series.times
        (1, (0.0,))
        """
        if self._mode == "r":
            raise ValueError(
                f"{self.path} is opened with mode='r', to be read; append needs mode='a'"
            )
        instant, given = as_real("time", time), as_named(fields)

        def write(sources: Mapping[str, Source], sets: Mapping[str, SetSource], _: object) -> None:
            self._append(instant, sources, sets)

        what = f"Series.append({shown(str(self.path))}) of {given.told} at {instant}"
        alone_with(given.sets.values(), lambda: led(given.ranks, what, write, *given))
        self._begins_anew = False

    def _append(
        self, instant: float, named: Mapping[str, Source], sets: Mapping[str, SetSource]
    ) -> None:
        grid = next(iter(named.values())).grid if named else None
        with (
            held() as signals,
            changing(self.path, signals.deliver, lambda: self._begins_anew) as disk,
        ):

            def between() -> None:
                disk.check()
                signals.deliver()

            with opened(self.path, disk, "w" if disk.is_new else "r+") as file:
                if disk.is_new:
                    series_layout.begin(file, named)
                    for name, swarm in sets.items():
                        series_sets.begin(file, name, swarm)
                else:
                    self._check_next(file, instant, named, sets)
                times = file["time"]
                for name, field in named.items():
                    series_layout.write(file[name], len(times), field, between)
                for name, swarm in sets.items():
                    series_sets.write(file, name, len(times), swarm, between)
                self._show(file, len(times), grid, sets)
                times.resize(len(times) + 1, axis=0)
                times[-1] = instant
                description = xdmf.describe(self.path.name, file, grid, list(sets))
            beside = disk.afterwards.enter_context(replacing(self._beside))
            beside.write(description)
            beside.flush()  # nothing but its name is missing when the series is changed
            os.fsync(beside.fileno())
            disk.afterwards.push(self._has_begun)

    def load(
        self,
        index: int,
        device: Device | int | str | None = None,
        *,
        comm: str | MPI.Intracomm | None = None,
        devices: Sequence[Device | int | str] | None = None,
        cuts: npt.ArrayLike | None = None,
    ) -> Contents:
        """Read the fields of one time into new fields.

        Parameters
        ----------
        index : int
            Which of the `times`; negative ones count from the end.
        device : Device, int or str, optional
            Device of the new fields, by default the one of `default_device`.
        comm : "world", "self" or mpi4py.MPI.Intracomm, optional
            As for `Grid`: divides the fields among ranks, which all must call this; the first one
            reads.
        devices : sequence of Device, int or str, optional
            As for `Grid`: divides the fields among devices of this process.
        cuts : array_like of int, optional
            As for `Grid`: into how many parts each axis is cut.

        Returns
        -------
        Contents
            ``fields``, a dict by name, and ``time``.

        Examples
        --------
        >>> import particles as pt
        >>> series = pt.io.Series("loaded.h5")
        >>> series.append(0.5, pt.Field(pt.Grid(4), name="u"))
        >>> fields, time = series.load(-1)
        >>> fields["u"].shape, time
        ((4,), 0.5)
        """
        place, ranks = place_of(device, devices), ranks_for(comm)
        maker = Maker(place, ranks, comm, cuts, own=devices is not None)

        def read(_fields: object, _sets: object, make: Making) -> float:
            return self._load(index, make)

        what = f"Series.load({shown(index)}) of {shown(str(self.path))}"
        time = led(ranks, what, read, {}, {}, maker)
        return Contents({**maker.fields, **maker.sets}, time)

    def _load(self, index: int, make: Making) -> float:
        """Fill what is made; return the time."""
        if not self._is_there():
            raise IndexError(f"index must be that of a time, but {self._nothing}")
        with reading_series(self.path) as (file, disk, signals):
            number = as_index("index", index, len(file["time"]))
            time = float(file["time"][number])
            for name in xdmf.names(file):
                disk.subject = f"field {name!r} at time {time}"
                series_layout.read(file, name, number, make, signals.deliver)
            for name in series_sets.names(file):
                disk.subject = f"set {name!r} at time {time}"
                try:
                    series_sets.read(file, name, number, make, signals.deliver)
                except ValueError as error:
                    raise ValueError(f"{self.path} is damaged in {disk.subject}: {error}") from None
        return time

    def to_xarray(self) -> xarray.Dataset:
        """Return all fields at all times as a dataset of xarray that reads from the file when needed.

        Its dimensions are ``time``, ``component`` where there are several, and ``x``, ``y``, ``z``,
        each with its coordinates. If fields differ in their number of components, the dimensions are
        ``component_2``, ``component_3`` instead of ``component``. It does not contain times that are
        appended later, and cannot read a file that has been replaced. Changes of it stay in memory.
        It needs the extra ``xarray``.

        ``xarray.open_dataset("run.h5")`` does the same.

        Returns
        -------
        xarray.Dataset

        Examples
        --------
        >>> import particles as pt
        >>> u = pt.Field(pt.Grid((4, 8)), name="u")
        >>> series = pt.io.Series("mean.h5", mode="w")
        >>> for time in (0.0, 0.5):
        ...     u.fill(time)
        ...     series.append(time, u)
        >>> runs = series.to_xarray()
        >>> dict(runs.sizes)
        {'time': 2, 'x': 4, 'y': 8}
        >>> runs.u.mean(("x", "y")).values
        array([0. , 0.5], dtype=float32)
        """
        import_xarray("to_xarray")
        from particles.io.xarray_series import dataset_of

        if not self._is_there():
            raise ValueError(self._nothing)
        return dataset_of(self.path)

    def _is_there(self) -> bool:
        """Return whether there is anything to read; an empty file is a series without times."""
        return not self._begins_anew and self.path.exists() and self.path.stat().st_size > 0

    @property
    def _nothing(self) -> str:
        """What to say where there is nothing to read."""
        why = "" if self.path.exists() else ": there is no such file"
        return f"{self.path} has no times{why}"

    def _has_begun(self, failure: type[BaseException] | None, *_: object) -> None:
        """Go on with the file, unless its change has failed."""
        self._begins_anew = self._begins_anew and failure is not None

    def _check_next(
        self,
        file: Any,  # noqa: ANN401
        time: float,
        named: Mapping[str, Source],
        sets: Mapping[str, SetSource],
    ) -> None:
        try:
            series_layout.check_next(file, time, named, sets)
        except ValueError as error:
            raise ValueError(
                f"{error}; {self.path} is continued, unless it is opened with mode='w'"
            ) from None

    def _describe(self, disk: Writer) -> int:
        """Write the file of XDMF beside once more; return the number of times.

        The series is changed only if it shows vectors of two as numbers.
        """
        with disk.afterwards, ExitStack() as end:
            end.callback(disk.discard)
            with reading_series(self.path) as (file, _, _):
                grid, sets = series_layout.grid_of(file), series_sets.names(file)
                times = len(file["time"])
                is_as_described = _VECTORS in file["moments"].attrs
                description = xdmf.describe(self.path.name, file, grid, sets)
            disk.afterwards.enter_context(replacing(self._beside)).write(description)
            if not is_as_described:
                end.pop_all()
                with committed(disk), opened(self.path, disk, "r+") as file:
                    self._show(file, times - 1, grid, sets)
        return times

    @property
    def _beside(self) -> Path:
        name = self.path.name.removesuffix(".h5").removesuffix(".hdf5")
        return self.path.with_name(f"{name}.xdmf")

    def _show(self, file: Any, number: int, grid: Grid | None, sets: Iterable[str]) -> None:  # noqa: ANN401
        """Show the values of one time as virtual datasets, each an attribute in XDMF.

        Of a file that shows vectors of two as numbers, as was done before, all times are shown anew.
        """
        moments = file.require_group("moments")
        for each in range(number if _VECTORS in moments.attrs else 0, number + 1):
            moments.pop(str(each), None)
            if grid is not None:
                points = xdmf.points_of(grid)
                for one in xdmf.attributes(file, grid.ndim):
                    self._show_one(
                        moments, f"{each}/{one.name}", file[one.source], one, points, each
                    )
            for name in sets:
                rows = series_sets.rows_of(file, name, each)
                positions = xdmf.Attribute("positions", "positions", (...,), (3,))
                for one in (positions, *xdmf.attributes_of_set(file[name])):
                    place = f"{each}/{name}/{one.name}"
                    some = slice(rows.start, rows.stop)
                    self._show_one(moments, place, file[name][one.source], one, (len(rows),), some)
        moments.attrs[_VECTORS] = True

    def _show_one(
        self,
        moments: Any,  # noqa: ANN401
        place: str,
        dataset: Any,  # noqa: ANN401
        one: xdmf.Attribute,
        places: tuple[int, ...],
        of_time: int | slice,
    ) -> None:
        shape = *places, *one.shape
        if 0 in shape:  # HDF5 has no virtual dataset of nothing
            moments.create_dataset(place, shape, dataset.dtype)
            return
        name = dataset.name.replace("%", "%%")  # which HDF5 takes for the number of a block
        source = self._h5py.VirtualSource(".", name, dataset.shape, dataset.dtype)
        layout = self._h5py.VirtualLayout(shape, dataset.dtype)
        there = slice(dataset.shape[-1]) if one.shape else slice(None)
        of_place = of_time, *one.part
        layout[..., there] = source[of_place]
        moments.create_virtual_dataset(place, layout, fillvalue=0)

    def __repr__(self) -> str:
        count = f"{len(self)} times" if self.path.exists() else "no file yet"
        return f"Series({str(self.path)!r}, {count})"
