# SPDX-License-Identifier: BSD-3-Clause
"""What works without any OpenCL device, and what is said of the rest; run by ``matrix.py``."""

import numpy as np
import particles as pt
import pytest
from particles.cli.main import main


def test_what_needs_no_device_works():
    grid = pt.Grid((4, 5))
    assert pt.Velocity(grid, lambda x, y: (np.sin(y), x)).grid == grid
    assert pt.kernels.describe("M'6").nodes == 6


def test_a_field_is_refused_with_the_cure():
    with pytest.raises(pt.DeviceError, match=r"pip install|apt-get install|driver"):
        pt.Field(pt.Grid(4))


def test_info_says_what_is_missing(capsys):
    assert main(["info"]) == 1
    assert "OpenCL" in "".join(capsys.readouterr())
