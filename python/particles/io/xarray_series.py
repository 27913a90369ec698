# SPDX-License-Identifier: BSD-3-Clause
"""A series of fields as a dataset of xarray, which reads what is asked for when it is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import xarray
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from particles.base.checks import as_path
from particles.base.disk import check_regular
from particles.base.kinds import is_a
from particles.fields.data_arrays import AXES, COMPONENT, coordinates_of
from particles.io import series_layout, xdmf
from particles.io.atomic.label import MAGIC
from particles.io.series_reading import reading_series


def dataset_of(path: Path) -> xarray.Dataset:
    """Return all fields at all times."""
    dataset: xarray.Dataset = xarray.open_dataset(path, engine=SeriesBackend)
    return dataset


class SeriesBackend(BackendEntrypoint):
    """Opens a `Series` for ``xarray.open_dataset``; other kinds of files are left to others."""

    description = "Series of fields by particles"
    open_dataset_parameters: ClassVar[tuple[str, ...]] = ("filename_or_obj", "drop_variables")

    def open_dataset(
        self,
        filename_or_obj: Any,  # noqa: ANN401  a path, or what other backends open
        *,
        drop_variables: str | Iterable[str] | None = None,
    ) -> xarray.Dataset:
        """Return all fields at all times."""
        path = as_path("path", filename_or_obj).absolute()
        check_regular(path, path.stat())
        with reading_series(path) as (file, disk, _):
            grid = series_layout.grid_of(file)
            if grid is None:
                raise ValueError(
                    f"{path} has sets of particles alone, which are no arrays on a grid: use load"
                )
            kinds = {name: series_layout.kind(file[name]) for name in xdmf.names(file)}
            times, identity = file["time"][()], disk.identity
        taken = {*AXES[: grid.ndim], COMPONENT} & {*kinds}
        if taken:
            raise ValueError(
                f"{path} has fields named {', '.join(sorted(taken))}, as coordinates are: use load"
            )
        counts = {shape[0] for shape, _ in kinds.values() if len(shape) > grid.ndim}
        variables: dict[str, Any] = {}
        for name, (shape, dtype) in kinds.items():
            component = COMPONENT if len(counts) == 1 else f"{COMPONENT}_{shape[0]}"
            components = (component,) if len(shape) > grid.ndim else ()
            values = _Values(path, identity, name, (len(times), *shape), np.dtype(dtype))
            lazy = indexing.LazilyIndexedArray(values)
            variables[name] = (("time", *components, *AXES[: grid.ndim]), lazy)
        coordinates = {"time": ("time", times), **coordinates_of(grid)}
        dataset: xarray.Dataset = xarray.Dataset(variables, coordinates)
        return dataset.drop_vars(drop_variables) if drop_variables else dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:  # noqa: ANN401
        """Whether a file begins as ours do."""
        try:
            with Path(filename_or_obj).open("rb") as file:
                return file.read(len(MAGIC)) == MAGIC
        except (TypeError, ValueError, OSError):
            return False


class _Values(BackendArray):
    """The values of a field at all times, each part of which is compared with its sums when read."""

    def __init__(
        self,
        path: Path,
        identity: tuple[int, int],
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self._path, self._identity, self._name = path, identity, name
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.BASIC, self._read
        )
        return values

    def _read(self, key: tuple[Any, ...]) -> npt.NDArray[Any]:
        """Read by integers and slices; in the file the axes behind the time are the other way round."""
        time, *places = key
        with reading_series(self._path) as (file, disk, _):
            if disk.identity != self._identity:
                raise ValueError(
                    f"{self._path} has been replaced since it was opened: open it again"
                )
            disk.subject = f"field {self._name!r}"
            part = (time, *reversed(places))
            stored = file[self._name][part]
        axes = [*range(np.ndim(stored))[::-1]]
        if is_a(time, slice):
            axes.insert(0, axes.pop())
        return np.transpose(stored, axes).astype(self.dtype, copy=False)
