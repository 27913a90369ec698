# SPDX-License-Identifier: BSD-3-Clause
"""Fields at several times in one file of HDF5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from particles import _series_layout, _xdmf
from particles._check import as_index, as_path, as_real, shown
from particles._disk import Place, replacing
from particles._files import Contents, as_named
from particles._fixed import Fixed
from particles._staged import Staged, staged
from particles.device import Device, as_device
from particles.field import Field
from particles.grid import Grid

_FORMAT = "particles series 1"


class Series(Fixed):
    """Fields of one grid at several times, in a file of HDF5; the extra ``particles-opencl[io]``.

    Beside it lies a file of XDMF, which ParaView opens. A file that is there is continued. One
    process at a time may append.

    Parameters
    ----------
    path : str or path-like
        The file; it is made when the first fields are appended. The one beside it has the suffix
        ``.xdmf`` in place of ``.h5`` or ``.hdf5``, or after any other.

    Notes
    -----
    In the file there is a dataset for each field, of the axes (time, z, y, x) and, when there are
    several components, these, as XDMF wants it; the dataset ``time``; and as attributes of the file
    ``origin``, ``spacing`` and ``boundary`` of the grid. float16 is written as float32, which XDMF
    has, and read back as float16. The group ``moments`` shows the values of each time as virtual
    datasets, the only ones that all readers of XDMF take; nothing is stored twice.

    Where a disk is full, or fails, the file stays as it was. What is appended is on the disk before
    anything that was there is changed; a process that is killed in the moment of that change may
    damage the file: for what must not be lost there is `checkpoint`.

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

    def __init__(self, path: Place) -> None:
        self.path = as_path("path", path)
        if self.path.suffix == ".xdmf":
            raise ValueError(f"path must not be of the file of XDMF beside it, {shown(path)}")
        self._h5py = _import_h5py()
        if self.path.exists():
            with self._open():
                pass

    @property
    def times(self) -> tuple[float, ...]:
        """When the fields are those that have been appended."""
        if not self.path.exists():
            return ()
        with self._open() as file:
            return tuple(file["time"][()].tolist()) if "time" in file else ()

    def __reduce__(self) -> tuple[type[Series], tuple[Place]]:
        return Series, (self.path,)

    def __len__(self) -> int:
        return len(self.times)

    def append(self, time: float, fields: Field | Mapping[str, Field]) -> None:
        """Add fields at a time later than the ones before.

        Parameters
        ----------
        time : float
            Of the fields.
        fields : Field or dict of str to Field
            One field, under its name or ``"values"``, or several by name: each time the same, on
            the same grid.

        Examples
        --------
        >>> import particles as pt
        >>> grid = pt.Grid(4)
        >>> series = pt.io.Series("appended.h5")
        >>> series.append(0.0, {"salt": pt.Field(grid), "heat": pt.Field(grid)})
        >>> len(series), series.times
        (1, (0.0,))
        """
        moment, named = as_real("time", time), as_named(fields)
        mode = "r+" if self.path.exists() else "w"
        with staged(self.path) as disk, self._open(mode, disk) as file:
            if "time" not in file:
                _series_layout.begin(file, named)
            times = file["time"]
            _series_layout.check_alike(file, named)
            if len(times) and moment <= times[-1]:
                raise ValueError(f"time must be after the last one, {times[-1]}, not {moment}")
            for name, field in named.items():
                _series_layout.write(file[name], len(times), field, disk)
            grid = next(iter(named.values())).grid
            self._show(file, len(times), grid)
            times.resize(len(times) + 1, axis=0)
            times[-1] = moment
            description = _xdmf.describe(self.path.name, file, grid)
        name = self.path.name.removesuffix(".h5").removesuffix(".hdf5")
        with replacing(self.path.with_name(f"{name}.xdmf")) as beside:
            beside.write(description)

    def load(self, index: int, device: Device | int | str | None = None) -> Contents:
        """Read the fields of one time into new ones.

        Parameters
        ----------
        index : int
            Which of the `times`; negative ones count from the end.
        device : Device, int or str, optional
            Where the fields shall be, by default the one of `default_device`.

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
        place, times = as_device(device), self.times
        if not times:
            raise IndexError(f"index must be of a time, but {self.path} has none")
        number = as_index("index", index, len(times))
        with self._open() as file:
            fields = {
                name: _series_layout.read(file, name, number, place) for name in _xdmf.names(file)
            }
        return Contents(fields, times[number])

    def _show(self, file: Any, number: int, grid: Grid) -> None:  # noqa: ANN401
        """Show the values of one time as virtual datasets, each an attribute in XDMF."""
        moments = file.require_group("moments")
        moments.pop(str(number), None)
        for attribute in _xdmf.attributes(file, grid):
            dataset = file[attribute.field]
            source = self._h5py.VirtualSource(".", dataset.name, dataset.shape, dataset.dtype)
            layout = self._h5py.VirtualLayout(attribute.shape, dataset.dtype)
            place = number, *attribute.part
            layout[...] = source[place]
            moments.create_virtual_dataset(f"{number}/{attribute.name}", layout)

    @contextmanager
    def _open(self, mode: str = "r", disk: Staged | None = None) -> Iterator[Any]:
        """Open the file, or what stands for it; refuse one that is something else."""
        try:
            file = self._h5py.File(disk or self.path, mode)
        except OSError as error:
            raise type(error)(f"{self.path} cannot be opened as a file of HDF5: {error}") from None
        with file:
            if mode == "w":
                file.attrs["format"] = _FORMAT
            elif str(file.attrs.get("format")) != _FORMAT:
                raise ValueError(f"{self.path} is a file of HDF5, but not a series of fields")
            try:
                _series_layout.check_layout(file)
            except Exception as error:  # noqa: BLE001  whatever else h5py finds there
                raise ValueError(f"{self.path} is damaged: {shown(error)}") from None
            yield file

    def __repr__(self) -> str:
        return f"Series({str(self.path)!r}, {len(self)} times)"


def _import_h5py() -> Any:  # noqa: ANN401  it has no types
    try:
        return import_module("h5py")
    except ImportError as error:
        raise ImportError(
            f"Series needs h5py: pip install 'particles-opencl[io]' ({error})"
        ) from error
