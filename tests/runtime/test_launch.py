# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of kernels go by the names that kernels have for them."""

import numpy as np
import pytest
from particles import _core

from tests.support import child

ADD = "__kernel void add(const int n, const float x, __global float* out) { out[0] = n + x; }"


def launch(context, names):
    """Launch ADD with 2, 0.5, its target and perhaps 1 under these names; return its result."""
    out = _core.Array(context, 1, 1, "float32", "out")
    arguments = list(zip(names, (2, 0.5, out, 1), strict=False))
    _core.testing.Queue.of(context).launch(ADD, "add", arguments)
    host = np.empty((1, 1), np.float32)
    out.read([0, 0], [1, 1], [1, 1], host)
    return host.item()


def test_every_argument_gets_to_its_place(device):
    assert launch(device.core, ["n", "x", "out"]) == 2.5


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["n", "y", "out"], "kernel add expects x as argument 1 of 3 and was given y"),
        (["x", "n", "out"], "kernel add expects n as argument 0 of 3 and was given x"),
        (["n", "x"], "kernel add takes 3 arguments and was given 2 on .*; the next is out"),
        (
            ["n", "x", "out", "more"],
            "kernel add takes 3 arguments and was given one more, more",
        ),
    ],
)
def test_a_wrong_argument_is_refused_by_name(device, names, told):
    with pytest.raises(_core.DeviceError, match=told):
        launch(device.core, names)


OF_USERS = """
import sys
from particles import _core
from particles.runtime.devices import as_device
from tests.runtime.test_launch import launch

core = as_device(int(sys.argv[1])).core
assert launch(core, ["n", "anything", "out"]) == 2.5
for names in (["n", "x"], ["n", "x", "out", "more"]):
    try:
        launch(core, names)
    except _core.DeviceError as error:
        print(error)
"""


@pytest.mark.sampled
@pytest.mark.parametrize("checked", [None, "0"])
def test_users_need_no_names_and_are_told_of_a_wrong_number(device, checked):
    told = child.check(OF_USERS, device.index, PARTICLES_CHECK_ARGUMENTS=checked).splitlines()
    assert told == [
        f"kernel add takes 3 arguments and was given 2 on {device.info.name}",
        "kernel add takes 3 arguments and was given one more, more",
    ]
