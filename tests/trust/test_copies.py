# SPDX-License-Identifier: BSD-3-Clause
"""What the copy module and pickle make of what works on a device."""

import copy
import pickle

import particles as pt
import pytest

from tests.io.test_checkpoint import plain, unsplit

HOW = [copy.copy, copy.deepcopy, lambda made: pickle.loads(pickle.dumps(made))]
IDS = ["copy", "deepcopy", "pickle"]


def source(device):
    return pt.SourceOp(pt.Field(pt.Grid(4), device=device), lambda u, x: -u)


WORKING = {
    "Splitting": plain,
    "Unsplit": unsplit,
    "AdvectionOp": lambda device: plain(device).advection,
    "RemeshOp": lambda device: plain(device).remesh,
    "SourceOp": source,
}


@pytest.mark.one_device
@pytest.mark.parametrize("name", WORKING)
def test_what_works_on_a_device_is_refused(device, name):
    made = WORKING[name](device)
    for duplicate in HOW:
        with pytest.raises(TypeError, match=f"^{name} works on a device and can be neither copied"):
            duplicate(made)


@pytest.mark.one_device
def test_a_device_is_itself_and_stays_in_its_process(device):
    assert copy.copy(device) is device
    assert copy.deepcopy([device]) == [device]
    with pytest.raises(TypeError, match=r"^a Device belongs to its process and cannot be pickled"):
        pickle.dumps(device)


@pytest.mark.parametrize("duplicate", HOW, ids=IDS)
def test_what_is_on_no_device_is_the_same_afterwards(duplicate):
    grid = pt.Grid((4, 6), boundary=[("inflow", "outflow"), "wall"])
    kernel, form = pt.kernels.get("L6_4"), pt.Form("private", tiles=4)
    assert [duplicate(one) for one in (grid, kernel, form)] == [grid, kernel, form]
    velocity = pt.Velocity(grid, lambda x, y, t: (x * t, y))
    assert repr(duplicate(velocity)) == repr(velocity)


@pytest.mark.parametrize("duplicate", HOW, ids=IDS)
def test_a_series_of_a_file_is_of_the_same_file(duplicate, tmp_path):
    pytest.importorskip("h5py")
    series = pt.io.Series(tmp_path / "u.h5")
    series.append(0.5, pt.Field(pt.Grid(4)))
    assert duplicate(series).times == (0.5,)
