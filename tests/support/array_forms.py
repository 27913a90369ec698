# SPDX-License-Identifier: BSD-3-Clause
"""The same numbers in every form in which arrays come."""

import array
import sys

import h5py
import numpy as np
import xarray


class ByArrayProtocol:
    """What knows `__array__` alone."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


class ByInterface:
    """What knows `__array_interface__` alone."""

    def __init__(self, values):
        self._values = values
        self.__array_interface__ = values.__array_interface__


class ByDLPack:
    """What knows DLPack alone."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


def strided(values):
    wide = np.zeros(tuple(2 * n for n in values.shape), values.dtype)
    part = wide[(np.s_[::2],) * values.ndim]
    part[...] = values
    return part


def backwards(values):
    return values[(np.s_[::-1],) * values.ndim].copy()[(np.s_[::-1],) * values.ndim]


def unaligned(values):
    memory = np.zeros(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    memory[...] = values
    assert not memory.flags.aligned
    return memory


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def mapped(values, folder):
    result = np.memmap(folder / "values", values.dtype, "w+", shape=values.shape)
    result[...] = values
    return result


def in_hdf5(values, folder):
    number = len(list(folder.iterdir()))
    return h5py.File(folder / f"values{number}.h5", "w").create_dataset("values", data=values)


def partly_masked(values):
    return np.ma.masked_array(values, mask=np.arange(values.size).reshape(values.shape) == 1)


RIGHT = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "negative strides": backwards,
    "unaligned": unaligned,
    "byte-swapped": lambda v: v.astype(v.dtype.newbyteorder()),
    "read-only": read_only,
    "float16": lambda v: v.astype(np.float16),
    "float64": lambda v: v.astype(np.float64),
    "long double": lambda v: v.astype(np.longdouble),
    "int8": lambda v: v.astype(np.int8),
    "uint64": lambda v: v.astype(np.uint64),
    "nested lists": lambda v: v.tolist(),
    "matrix-like subclass": lambda v: v.view(type("Special", (np.ndarray,), {})),
    "nothing masked": lambda v: np.ma.masked_array(v, mask=np.zeros(v.shape, bool)),
    "memoryview": lambda v: memoryview(np.ascontiguousarray(v)),
    "xarray": xarray.DataArray,
    "__array__": ByArrayProtocol,
    "__array_interface__": ByInterface,
    "DLPack": ByDLPack,
    "DLPack, strided": lambda v: ByDLPack(strided(v)),
}

IN_FILES = {"memmap": mapped, "h5py": in_hdf5}

CHARACTER = "w" if sys.version_info >= (3, 13) else "u"

WRONG = {
    "masked": partly_masked,
    "object": lambda v: v.astype(object),
    "strings": lambda v: v.astype(str),
    "bytes": lambda v: v.astype("S8"),
    "complex": lambda v: v.astype(complex),
    "dates": lambda v: v.astype("M8[s]"),
    "structured": lambda v: v.astype([("a", np.float32)]),
    "masked in xarray's object": lambda v: xarray.DataArray(v.astype(object)),
    "array of texts": lambda v: array.array(CHARACTER, "a" * v.size) if v.ndim == 1 else [["a"]],
}


def made(name, values, folder):
    """Return the values in a form."""
    if name in IN_FILES:
        return IN_FILES[name](values, folder)
    return (RIGHT | WRONG)[name](values)
